"""`/media/<name>`: uploaded files. Names are hashes of the content, so they are cached for ever."""

from flask import Blueprint, Response, request, send_from_directory
from werkzeug.wsgi import wrap_file

from publisher.base.errors import NotFound
from publisher.base.media_files import SANDBOX, MediaFolder
from publisher.blog.post_files import media
from publisher.web.context import site

blueprint = Blueprint("media", __name__)

FOR_EVER = "public, max-age=31536000, immutable"


@blueprint.get("/media/<name>")
def file(name: str) -> Response:
    """One file, with byte ranges for players that seek."""
    place = site().environment.media
    size = place.size(name) if media.is_name(name) else None
    if size is None:
        raise NotFound("there is no such file")
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
