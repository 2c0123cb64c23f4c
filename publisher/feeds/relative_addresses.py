"""Relative addresses in a post's HTML, which feed readers cannot resolve."""

import re
from functools import lru_cache
from html.parser import HTMLParser

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")


@lru_cache(maxsize=512)
def relative_addresses(html: str) -> tuple[str, ...]:
    """Values of href and src without a scheme; fragments (#note) are allowed."""
    parser = _Addresses()
    parser.feed(html)
    parser.close()
    wrong = (text for text in parser.found if not (_SCHEME.match(text) or text.startswith("#")))
    return tuple(wrong)


class _Addresses(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, _tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [(value or "").strip() for name, value in attrs if name in ("href", "src")]
