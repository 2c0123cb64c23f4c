"""Send a Webmention to a page that a post links to: find its endpoint and notify it."""

from urllib.parse import urljoin

from publisher.base.net import OutgoingError, Reply, check_url, request_public
from publisher.base.system.confined import Limits, Unreadable, read
from publisher.publishing.mentioning.mention_documents import endpoint_in_header, endpoint_in_page

TIMEOUT_SECONDS = 10.0
MAX_PAGE, MAX_ANSWER = 1_000_000, 65_536
READING = Limits(seconds=5.0)


def send(source: str, target: str, site_url: str, allow_private: bool) -> Reply | None:
    """Notify the page at `target` that `source` links to it, or did; None if it has no endpoint.

    Raises OutgoingError if another try may help.
    """
    if target.startswith(f"{site_url}/"):
        return None
    agent = f"Publisher (+{site_url}/) Webmention"
    page = request_public(
        target, user_agent=agent, headers={"Accept": "text/html, */*;q=0.5"},
        allow_private=allow_private, max_bytes=MAX_PAGE, beginning=True,
        timeout_seconds=TIMEOUT_SECONDS,
    )  # fmt: skip
    if page.status >= 500 or page.status == 429:
        raise OutgoingError(f"the page answered {page.status}")
    endpoint = endpoint_of(page)
    if endpoint is None:
        return None
    return request_public(
        endpoint, user_agent=agent, method="POST", form={"source": source, "target": target},
        allow_private=allow_private, max_bytes=MAX_ANSWER, beginning=True,
        timeout_seconds=TIMEOUT_SECONDS,
    )  # fmt: skip


def endpoint_of(page: Reply) -> str | None:
    """A page's Webmention endpoint: from its Link header, else from its first such element."""
    found = endpoint_in_header(page.headers.get("link", ""))
    try:
        if found is not None:
            return check_url(urljoin(page.url, found))
        if "html" not in page.headers.get("content-type", "html"):
            return None
        found = read(endpoint_in_page, READING, page.body, page.url)
        return None if found is None else check_url(found)
    except (ValueError, Unreadable):
        return None
