"""Links: those at the top of each page, one a line (`About | /about`), and in documents."""

from collections.abc import Iterable
from typing import NamedTuple
from urllib.parse import SplitResult, urljoin, urlsplit

from publisher.base.errors import InvalidInput

MOST, LONGEST_LABEL, LONGEST_TARGET = 20, 40, 500
BUILT_IN = (
    "Posts | /\nArchive | /archives\nAbout | /about\nSubscribe | /subscribe\nSearch | /search"
)


class Link(NamedTuple):
    """What a link says and where it leads: a path of this site or a web address."""

    label: str
    target: str


def parse_links(text: str) -> list[Link]:
    """The links in `text`, one a line; InvalidInput names the first that is not valid."""
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) > MOST:
        raise InvalidInput(f"at most {MOST} links fit")
    return [_link(line) for line in lines]


def lines_of(links: Iterable[Link]) -> str:
    """Links as lines, the reverse of `parse_links`; raises InvalidInput for the same links."""
    text = "\n".join(f"{' '.join(link.label.split())} | {link.target.strip()}" for link in links)
    return "\n".join(f"{link.label} | {link.target}" for link in parse_links(text))


def is_of_the_web(address: str) -> bool:
    """Whether this is an http or https address with a host."""
    parts = _split(address)
    return parts.scheme in ("http", "https") and bool(parts.hostname)


def _split(address: str) -> SplitResult:
    try:
        parts = urlsplit(address)
        _ = parts.port
    except ValueError:  # a bracket out of place in the host, a port beyond the last
        return urlsplit("")
    return parts


def check_target(target: str) -> str:
    """A path of this site, or an http, https or mailto address; InvalidInput otherwise."""
    parts = _split(target)
    own = target.startswith("/") and not target.startswith(("//", "/\\"))
    mail = parts.scheme == "mailto" and "@" in parts.path
    printable = target.isprintable() and " " not in target and "|" not in target
    if not (own or mail or is_of_the_web(target)) or not printable or len(target) > LONGEST_TARGET:
        raise InvalidInput(
            f"{target[:60]!r} is not an address such as /about, https://example.org/ or mailto:me@…"
        )
    return target


def _link(line: str) -> Link:
    label, bar, target = (part.strip() for part in line.rpartition("|"))
    label = " ".join(label.split())
    if not bar:
        raise InvalidInput(f"{line.strip()[:60]!r}: a link is written About | /about")
    if not 1 <= len(label) <= LONGEST_LABEL or not label.isprintable():
        raise InvalidInput(
            f"{label[:60]!r} is not a label: 1 to {LONGEST_LABEL} characters are needed"
        )
    return Link(label, check_target(target))


def joined(base: str, link: str) -> str:
    """The absolute address of `link` on the page `base`; "" if it cannot be parsed."""
    try:
        return urljoin(base, link)
    except ValueError:
        return ""
