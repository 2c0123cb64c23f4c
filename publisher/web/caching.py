"""ETag and 304 for HTML pages: a browser that has the page gets no body."""

from flask import Response, request


def cacheable(response: Response) -> Response:
    """Add an ETag to a page, and answer 304 when the request names it.

    Not kept without asking: an author who just published must see it.
    """
    if request.method in ("GET", "HEAD") and response.status_code == 200:
        response.headers.setdefault("Cache-Control", "no-cache")
        if not response.is_streamed:
            response.add_etag(weak=True)
            response.make_conditional(request)
    return response
