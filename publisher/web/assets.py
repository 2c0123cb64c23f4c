"""Our own style sheets, scripts and icons, under addresses that change when the files change."""

import hashlib
import re
from functools import cache
from pathlib import Path
from posixpath import normpath

from flask import Blueprint, Response, request, send_from_directory

from publisher.base.errors import NotFound
from publisher.base.media_files import SANDBOX

blueprint = Blueprint("assets", __name__)

FOLDER = Path(__file__).parent / "static"
# What a page may load and show in a frame, and who may show it in one: this site's own, and nobody.
PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; "
    "img-src 'self' https: http: data:; media-src 'self' https: http:; connect-src 'self'; "
    "frame-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
# Headers of a page without a form that one of ours shows in a frame.
FRAMED = {
    "Content-Security-Policy": PAGE_POLICY.replace(
        "frame-ancestors 'none'", "frame-ancestors 'self'"
    ),
    "X-Frame-Options": "SAMEORIGIN",
}
FOR_EVER, MINUTES_5 = "public, max-age=31536000, immutable", "public, max-age=300"
_COMMENTS = {
    ".css": re.compile(r"/\*.*?\*/", re.DOTALL),
    ".js": re.compile(r"^\s*//.*\n", re.MULTILINE),
}
_FONT = re.compile(r"\bfonts/[\w-]+\.woff2")


def asset(name: str) -> str:
    """The address of a file of ours, with a hash of its content: it can be cached for a year."""
    return f"/static/{name}?v={fingerprint(name)}"


@cache
def fingerprint(name: str) -> str:
    """A short hash of the file's content; FileNotFoundError for a name that is not there."""
    return hashlib.sha256(_content(name)).hexdigest()[:12]


@cache
def text_of(name: str) -> str:
    """A style sheet or script as it is sent: without comments, style sheets without indents.

    Fonts have their lasting address, so that the studio and the blog ask for the same file.
    """
    text = _COMMENTS[Path(name).suffix].sub("", (FOLDER / name).read_text("utf-8"))
    if name.endswith(".js"):
        return text
    return _FONT.sub(lambda font: asset(font[0]), re.sub(r"\n\s*", "\n", text).strip())


@blueprint.get("/static/<path:name>")
def static(name: str) -> Response:
    """A file of ours; an address with the right hash is cached for a year."""
    if name != normpath(name):  # each spelling would be kept as a file of its own
        raise NotFound("there is no such file")
    response = send_from_directory(FOLDER, name, conditional=True)
    is_file = response.status_code in (200, 304)
    if is_file and name.endswith(tuple(_COMMENTS)):
        response.close()
        response = Response(_content(name), content_type=response.content_type)
        response.add_etag()
        response.make_conditional(request)
    current = is_file and request.args.get("v", "") == fingerprint(name)
    response.headers["Cache-Control"] = FOR_EVER if current else MINUTES_5
    response.headers.pop("Content-Disposition", None)
    response.headers.extend(SANDBOX)  # a page's policy is three times as long
    return response


def _content(name: str) -> bytes:
    own = name.endswith(tuple(_COMMENTS))
    return text_of(name).encode() if own else (FOLDER / name).read_bytes()
