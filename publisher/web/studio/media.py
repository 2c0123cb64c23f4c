"""`/studio/media`: the library of uploaded files, and uploads by script or form."""

import html
import re
from collections.abc import Mapping
from typing import Any

from flask import Blueprint, Response, flash, jsonify, redirect, render_template, request, url_for
from sqlalchemy.orm import Session

from publisher.base.errors import Conflict, Forbidden, InvalidData, NotFound, TooLarge
from publisher.base.media_files import SANDBOX
from publisher.base.text import clean, whole_number
from publisher.blog import media_names
from publisher.blog.members import permissions
from publisher.blog.post_files import file_kinds, media, pictures
from publisher.blog.writing import enclosures
from publisher.storage.tables.blog import Media, Post
from publisher.web.context import me, now, site, wants_json

blueprint = Blueprint("media", __name__)


@blueprint.get("/media")
def page() -> Any:
    """The library: newest first, searched by name and description, of one `kind` if asked.

    A script gets the page as JSON: what to show of each file, and the text that inserts it.
    """
    words = " ".join(clean(request.args.get("q", "")).split())[:200]
    start = whole_number(request.args.get("before", ""))
    with site().database.read() as db:
        rows = media.find_files(db, words, start, clean(request.args.get("kind", ""))[:20])
        shown = rows[: media.LIBRARY_PAGE]
        if wants_json():
            older = shown[-1].id if len(rows) > len(shown) else None
            return jsonify(files=[_listed(row) for row in shown], older=older)
        return render_template(
            "studio/media.html",
            rows=shown,
            uses=media.uses(db, shown, _seen),
            markdown_of=_markdown_of,
            path_of_file=media.path,
            small=_small,
            may_remove=lambda row: permissions.is_admin(me()) or row.author_id == me().id,
            words=words,
            before=start,
            older=shown[-1].id if len(rows) > len(shown) else None,
        )


def _listed(row: Media) -> dict[str, Any]:
    """A file of the library, for a script that offers it."""
    return {
        "id": row.id,
        "url": media.path(row),
        "name": row.name,
        "alt": row.alt,
        "small": _small(row) if row.content_type.startswith("image/") else "",
        "markdown": _markdown_of(row),
    }


@blueprint.get("/media/<int:media_id>/inputs")
def inputs_of(media_id: int) -> Any:
    """The inputs of a post that a sound or a transcript of the library fills."""
    with site().database.read() as db:
        address = media.path(media.get_file(db, media_id))
    return jsonify(inputs=_inputs(media.accept(media.content(site().environment.media, address))))


@blueprint.post("/media/<int:media_id>")
def describe(media_id: int) -> Any:
    """Change a file's description; it is used when the file is next added to a post."""
    with site().database.write() as db:
        row = _changeable(db, media_id)
        row.alt = _alt()
        text = _markdown_of(row)
    if wants_json():
        return jsonify(markdown=text)
    flash("Saved. Posts that show it keep the description they have.", "done")
    return _back()


@blueprint.post("/media/<int:media_id>/delete")
def delete(media_id: int) -> Any:
    """Delete a file that nothing uses."""
    try:
        with site().database.write() as db:
            row = _changeable(db, media_id)
            name = row.name
            names = media.remove_file(db, row, _seen)
    except Conflict as error:
        flash(f"Not deleted: {error}.", "wrong")
    else:
        media.erase(site().environment.media, names)
        flash(f"{name} is deleted.", "done")
    return _back()


def _back() -> Any:
    """Back to the same page and search of the library."""
    return redirect(url_for(".page", q=request.args.get("q"), before=request.args.get("before")))


def _seen(post: Post) -> bool:
    return permissions.may_see(me(), post)


def _changeable(db: Session, media_id: int) -> Media:
    """The file, if this author uploaded it or is an admin; else NotFound or Forbidden."""
    row = media.get_file(db, media_id)
    if not permissions.is_admin(me()) and row.author_id != me().id:
        raise Forbidden("this file belongs to another author")
    return row


def _small(row: Media) -> str:
    """The address of a picture in miniature."""
    return url_for(".miniature", name=media.path(row).removeprefix(media_names.PREFIX))


@blueprint.get("/media/<name>/small")
def miniature(name: str) -> Response:
    """A picture in miniature, with `?wide` for the preview of a look; a browser keeps it."""
    place, picture = site().environment.media, media_names.responsive(media_names.PREFIX + name)
    if picture is None or place.size(name) is None:
        raise NotFound("there is no such picture")
    smallest = picture.srcset.split(" ")[0].removeprefix(media_names.PREFIX)
    with place.open(smallest) as file:
        response = Response(pictures.miniature(file, "wide" in request.args), mimetype="image/webp")
    response.headers["Cache-Control"] = "private, max-age=31536000, immutable"
    response.headers.extend(SANDBOX)
    return response


@blueprint.post("/media")
def upload() -> Any:
    """Store one file, and go back to the library; a script gets the text to insert and the inputs
    to fill."""
    try:
        accepted = _taken()
    except (InvalidData, TooLarge) as error:
        if wants_json():
            raise
        flash(f"Not added: {error}.", "wrong")
        return _back()
    if not wants_json():
        flash(f"{_file_name()} is added.", "done")
        return _back()
    return jsonify(
        url=accepted.path,
        markdown=_markdown(accepted.path, accepted.content_type, _alt(), _file_name()),
        inputs=_inputs(accepted),
    )


def added(source: str) -> Mapping[str, str]:
    """The inputs that the form's uploaded file changes: a picture is added to the text `source`, a
    sound is the enclosure, a transcript has its field."""
    accepted = _taken()
    if inputs := _inputs(accepted):
        return inputs
    text = _markdown(accepted.path, accepted.content_type, _alt(), _file_name())
    return {"source": f"{source.rstrip()}\n\n{text}\n".lstrip()}


def _taken() -> media.Accepted:
    file = request.files.get("file")
    if file is None or not file.filename:
        raise InvalidData("choose a file first")
    accepted = media.accept(file.stream.read())
    media.store(site().environment.media, accepted)
    with site().database.write() as db:
        media.record(db, accepted, file.filename, me().id, now(), _alt())
    return accepted


def _alt() -> str:
    return " ".join(clean(request.form.get("alt", "")).split())[: media.MAX_ALT]


def _file_name() -> str:
    file = request.files.get("file")
    return " ".join(clean(file.filename or "").split())[-200:] if file else ""


def _markdown_of(row: Media) -> str:
    """The text to insert for a file of the library, with its description."""
    return _markdown(media.path(row), row.content_type, row.alt, row.name)


def _markdown(place: str, content_type: str, alt: str, name: str) -> str:
    """What to insert for a file: a picture, a video player, or a link; in HTML into such posts."""
    if content_type.startswith("video/"):
        return f'<video controls preload="metadata" src="{place}"></video>'
    picture = content_type.startswith("image/")
    words = alt if picture else alt or name or place
    if request.values.get("source_format") == "html":
        safe = html.escape(words)
        return f'<img src="{place}" alt="{safe}">' if picture else f'<a href="{place}">{safe}</a>'
    escaped = re.sub(r"([\\\[\]])", r"\\\1", words)
    return f"![{escaped}]({place})" if picture else f"[{escaped}]({place})"


def _inputs(accepted: media.Accepted) -> dict[str, str]:
    """The inputs that a sound or a transcript fills; none for files inserted into the text."""
    if accepted.content_type in file_kinds.TYPES.values():
        return {"transcript": accepted.path}
    if not accepted.content_type.startswith("audio/"):
        return {}
    return enclosures.to_inputs(accepted.attachment)
