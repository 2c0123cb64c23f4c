"""Our own style sheets, scripts and icons, under addresses that change when the files change."""

import hashlib
from functools import cache
from pathlib import Path

from flask import Blueprint, request, send_from_directory
from werkzeug.wrappers import Response

blueprint = Blueprint("assets", __name__)

FOLDER = Path(__file__).parent / "static"
# What a page may load, and who may show it in a frame: this site's own files, and nobody.
PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; "
    "img-src 'self' https: http: data:; media-src 'self' https: http:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
YEAR_SECONDS, MINUTES_5 = 31_536_000, 300


def asset(name: str) -> str:
    """The address of a file of ours, with a hash of its content: it can be cached for a year."""
    return f"/static/{name}?v={fingerprint(name)}"


@cache
def fingerprint(name: str) -> str:
    """A short hash of the file's content; FileNotFoundError for a name that is not there."""
    return hashlib.sha256((FOLDER / name).read_bytes()).hexdigest()[:12]


@blueprint.get("/static/<path:name>")
def static(name: str) -> Response:
    """A file of ours; an address with the right hash is cached for a year."""
    response = send_from_directory(FOLDER, name, conditional=True)
    asked = request.args.get("v", "")
    known = response.status_code in (200, 304) and asked == fingerprint(name)
    lasting = f"public, max-age={YEAR_SECONDS}, immutable"
    response.headers["Cache-Control"] = lasting if known else f"public, max-age={MINUTES_5}"
    return response
