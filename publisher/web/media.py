"""`/media/<name>`: uploaded files. Names are hashes of the content, so copies are good for ever."""

from flask import Blueprint, Response, request, send_from_directory

from publisher.base.errors import NotFound
from publisher.blog import media
from publisher.web.context import site

blueprint = Blueprint("media", __name__)

FOR_EVER = "public, max-age=31536000, immutable"


@blueprint.get("/media/<name>")
def file(name: str) -> Response:
    """One file, with byte ranges for players that seek."""
    folder = site().environment.media
    if not media.is_name(name) or not (folder / name).is_file():
        raise NotFound("there is no such file")
    wanted = request.range
    if wanted is None or wanted.units != "bytes" or len(wanted.ranges) != 1:
        request.environ.pop("HTTP_RANGE", None)  # not understood: ignored, says RFC 9110
    elif -wanted.ranges[0][0] > (folder / name).stat().st_size:
        request.environ["HTTP_RANGE"] = "bytes=0-"  # more of the end than there is: all of it
    kind = media.CONTENT_TYPES[name.rpartition(".")[2]]
    response = send_from_directory(folder, name, mimetype=kind, etag=name)
    response.headers["Cache-Control"] = FOR_EVER
    if kind == "application/pdf":  # browsers' own viewers do not run in a sandbox
        response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    response.headers["Content-Security-Policy"] = "default-src 'none'; sandbox"
    return response
