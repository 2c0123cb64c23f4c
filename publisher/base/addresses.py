"""Web addresses, put together."""

from urllib.parse import urljoin


def joined(base: str, link: str) -> str:
    """The address that a link on the page `base` leads to; "" for a link that is none."""
    try:
        return urljoin(base, link)
    except ValueError:
        return ""
