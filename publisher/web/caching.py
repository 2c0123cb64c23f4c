"""Pages are kept by browsers and asked about again: same content, no body."""

from flask import Response, request


def cacheable(response: Response) -> Response:
    """Give a page its validator and answer 304 to whoever has it already.

    Not kept without asking: an author who just published must see it.
    """
    if request.method in ("GET", "HEAD") and response.status_code == 200:
        response.headers.setdefault("Cache-Control", "no-cache")
        if not response.is_streamed:
            response.add_etag(weak=True)
            response.make_conditional(request)
    return response
