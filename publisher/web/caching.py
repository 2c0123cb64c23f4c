"""ETag, Last-Modified and 304 for HTML pages: a browser that has the page gets no body."""

from datetime import datetime, timedelta
from typing import Any

from flask import Response, current_app, request

from publisher.storage import content_serial
from publisher.web.context import now, site

# Pages that nothing but a change of the site's content changes. The others show what was counted
# or what time it is.
_OF_CONTENT = {
    "blog.home.home", "blog.posts.post", "blog.tags.tag", "blog.authors.author",
    "blog.pages.page", "blog.archives.index", "blog.archives.month",
}  # fmt: skip


def cacheable(response: Response) -> Response:
    """Add validators to a page, and answer 304 when the request names them.

    Not kept without asking: an author who just published must see it.
    """
    if request.method in ("GET", "HEAD") and response.status_code == 200:
        response.headers.setdefault("Cache-Control", "no-cache")
        if not response.is_streamed:
            plain = request.endpoint in _OF_CONTENT and not request.cookies
            if plain and (moment := _last_modified()):
                response.last_modified = moment
            response.add_etag(weak=True)
            response.make_conditional(request)
    return response


def _last_modified() -> datetime | None:
    """The second after this process first saw the content that there is; None before it is over.

    Read after the page was made, so whatever the page lacks has a later moment. A process that
    begins knows no earlier one: what its own code and templates changed counts as well.
    """
    kept: dict[str, Any] = current_app.extensions.setdefault("content_seen", {})
    with site().database.read() as db:
        serial = content_serial.current(db)
    seen, moment = kept.get("seen", (None, None))
    if seen != serial:
        moment = site().clock().replace(microsecond=0) + timedelta(seconds=1)
        kept["seen"] = serial, moment
    return moment if moment is not None and moment <= now() else None
