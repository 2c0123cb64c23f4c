"""`/media/<name>`: uploaded files. Names are hashes of the content, so they are cached for ever.

`/cards/<post>-<hash>.png`: the card of a post without a picture, kept as a file. `/favicon.ico`,
which browsers and feed readers request by default: the site's icon, or ours.
"""

from contextlib import suppress
from pathlib import Path
from threading import Lock

from flask import Blueprint, Response, redirect, request, send_file, send_from_directory
from werkzeug.wrappers import Response as AnyResponse
from werkzeug.wsgi import wrap_file

from publisher.base.errors import NotFound, must_exist
from publisher.base.media_files import SANDBOX, MediaFolder
from publisher.base.system.whole_files import whole_file
from publisher.blog import media_names, published
from publisher.blog.post_files import cards, media
from publisher.blog.post_files.cards import Card
from publisher.storage.tables.blog import Post
from publisher.web.assets import FOR_EVER, static
from publisher.web.context import settings, site
from publisher.web.style import card_colours

blueprint = Blueprint("media", __name__)


@blueprint.get("/media/<name>")
def file(name: str) -> Response:
    """One file, with byte ranges for players that seek."""
    place = site().environment.media
    size = must_exist(place.size(name) if media.is_name(name) else None, "there is no such file")
    wanted = request.range
    if wanted is None or wanted.units != "bytes" or len(wanted.ranges) != 1:
        request.environ.pop("HTTP_RANGE", None)  # an unknown unit: ignored, as RFC 9110 requires
    elif -wanted.ranges[0][0] > size:
        request.environ["HTTP_RANGE"] = "bytes=0-"  # a suffix longer than the file means all of it
    kind = media.CONTENT_TYPES[name.rpartition(".")[2]]
    if isinstance(place, MediaFolder):
        response = send_from_directory(place.path, name, mimetype=kind, etag=name)
    else:
        response = Response(wrap_file(request.environ, place.open(name)), mimetype=kind)
        response.direct_passthrough = True
        response.content_length = size
        response.set_etag(name)
        response.make_conditional(request.environ, accept_ranges=True, complete_length=size)
    response.headers["Cache-Control"] = FOR_EVER
    if kind == "application/pdf":  # browsers' own viewers do not run in a sandbox
        response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    response.headers.extend(SANDBOX)
    return response


card_blueprint = Blueprint("cards", __name__)

_drawing = Lock()  # one at a time: a crawl of the whole site must not take every thread


def card_address(post: Post) -> str:
    """The address of a post's card; "" without a title, or without a font for its characters."""
    if not cards.drawable(post.title):
        return ""
    return f"/cards/{post.id}-{_card(post).digest}.png"


@card_blueprint.get("/cards/<int:post_id>-<digest>.png")
def card(post_id: int, digest: str) -> AnyResponse:
    """The card of a published post; the address of an older version redirects to the present."""
    with site().database.read() as db:
        post = db.get(Post, post_id)
        if post is None or not published.is_public(post) or not cards.drawable(post.title):
            raise NotFound("there is no such picture")
        wanted = _card(post)
    if digest != wanted.digest:
        return redirect(f"/cards/{post_id}-{wanted.digest}.png")
    response: Response = send_file(_card_file(post_id, wanted), mimetype="image/png", etag=digest)
    response.headers["Cache-Control"] = FOR_EVER
    return response


def _card(post: Post) -> Card:
    chosen = settings()
    serif = chosen.look in ("book", "plain")
    round_portrait = chosen.logo if chosen.logo_shape == "round" else ""
    return Card(
        post.title,
        chosen.title,
        post.summary,
        *card_colours(chosen),
        font="serif-whole.woff2" if serif else "",
        portrait=round_portrait,
    )


def _card_file(post_id: int, wanted: Card) -> Path:
    """The file of a card, made if it is missing; the post's older cards are then deleted."""
    folder = site().environment.instance / "cards"
    target = folder / f"{post_id}-{wanted.digest}.png"
    if target.is_file():
        return target
    with _drawing:
        if not target.is_file():
            folder.mkdir(exist_ok=True)
            name = wanted.portrait.removeprefix(media_names.PREFIX)
            face = b""
            if name:
                with suppress(OSError), site().environment.media.open(name) as picture:
                    face = picture.read()
            drawn = cards.draw(wanted, face)
            for old in folder.glob(f"{post_id}-*.png"):
                old.unlink(missing_ok=True)
            with whole_file(target) as file:
                file.write(drawn)
    return target


icon_blueprint = Blueprint("favicon", __name__)


@icon_blueprint.get("/favicon.ico")
def favicon() -> AnyResponse:
    """The uploaded icon, or the built-in one."""
    return redirect(settings().icon) if settings().icon else static("favicon.ico")
