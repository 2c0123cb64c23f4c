"""ETag, Last-Modified and 304 for HTML pages: a browser that has the page gets no body."""

from datetime import datetime, timedelta
from typing import Any

from flask import Response, current_app, request

from publisher.storage import database
from publisher.web.context import now, site

# Pages that change only when the site's content does. The others show counts or the time.
_OF_CONTENT = {
    "blog.posts.post", "blog.posts.page", "blog.lists.home", "blog.lists.archive_page",
    "blog.lists.month", "blog.lists.all_tags", "blog.lists.tag", "blog.lists.author",
}  # fmt: skip


def cacheable(response: Response) -> Response:
    """Add validators to a page, and answer 304 when the request names them.

    Browsers must revalidate each time: an author who just published must see the new page.
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
    """One second after this process first saw the present content; None until that moment.

    Read after the page was made, so that any content missing in the page has a later moment. In a
    new process the moment is its own start, because its code and templates may have changed.
    """
    kept: dict[str, Any] = current_app.extensions.setdefault("content_seen", {})
    with site().database.read() as db:
        serial = database.content_serial(db)
    seen, moment = kept.get("seen", (None, None))
    if seen != serial:
        moment = site().clock().replace(microsecond=0) + timedelta(seconds=1)
        kept["seen"] = serial, moment
    return moment if moment is not None and moment <= now() else None
