"""`/studio/media`: uploads of pictures and sounds, by script or with the form itself."""

from typing import Any

from flask import Blueprint, jsonify, request

from publisher.base.attachment import Attachment
from publisher.base.errors import InvalidData
from publisher.base.text import clean
from publisher.blog import enclosures, media
from publisher.web.context import login_required, me, now, site
from publisher.web.studio.forms import Typed

blueprint = Blueprint("media", __name__)


@blueprint.post("/media")
@login_required
def upload() -> Any:
    """Take one file; the answer says what to put where."""
    accepted = _taken()
    return jsonify(
        url=accepted.path,
        markdown=_markdown(accepted),
        sound=_enclosure(accepted) if accepted.content_type.startswith("audio/") else None,
    )


def added(typed: Typed) -> Typed:
    """The form with the file that came with it: a picture in the text, a sound as enclosure."""
    accepted = _taken()
    if accepted.content_type.startswith("audio/"):
        return typed.with_texts(_enclosure(accepted))
    source = f"{typed.source.rstrip()}\n\n{_markdown(accepted)}\n".lstrip()
    return typed.with_texts({"source": source})


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


def _markdown(accepted: media.Accepted) -> str:
    alt = _alt().replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]")
    return f"![{alt}]({accepted.path})"


def _enclosure(accepted: media.Accepted) -> dict[str, str]:
    address = site().site_url + accepted.path
    file = Attachment(address, accepted.content_type, accepted.bytes, accepted.seconds)
    return enclosures.to_inputs(file)
