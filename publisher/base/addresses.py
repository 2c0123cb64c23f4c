"""Links resolved against the address of the page that they stand on."""

from urllib.parse import urljoin


def joined(base: str, link: str) -> str:
    """The absolute address of `link` on the page `base`; "" if it cannot be parsed."""
    try:
        return urljoin(base, link)
    except ValueError:
        return ""
