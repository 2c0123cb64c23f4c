"""Text helpers: HTML as plain text, on one line, shortening, sentences, cells of a spreadsheet;
numbers that strangers wrote, and with their nouns; links, one a line (`About | /about`).
"""

import re
from collections.abc import Iterable
from functools import cache
from html import unescape
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import SplitResult, urljoin, urlsplit

from publisher.base.errors import InvalidInput

if TYPE_CHECKING:
    import nh3

TITLE_LENGTH = 70

# What XML 1.0 cannot carry: control characters but tab and newlines, lone surrogates, U+FFFE.
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

_MARKED = re.compile("[<&\0\ufeff]")  # markup, and characters that the HTML parser drops
DEEPEST = 200  # elements inside elements
_TAG = re.compile(r"<(/?)((?:area|br|col|hr|img|source|wbr)\b)?")
# The number of a footnote and the arrow back to the text: signs, not words.
_NOTE = re.compile('<sup class="footnote-ref"><a [^<>]{1,300}>\\d{1,6}</a></sup>|\u21a9\ufe0e?')
_FORMULA = re.compile(r"'*[=+\-@\t\r]")  # what a spreadsheet would take for one
_BLOCK = re.compile(r"</?(?:p|h\d|li|td|th|div|blockquote|br|pre|dd|dt)\b", re.IGNORECASE)


def clean(text: str) -> str:
    """`text` without the characters that XML 1.0, and so a feed, cannot carry."""
    return _NOT_XML.sub("", text)


def one_line(text: str) -> str:
    """`text` on one line without control characters: a stranger's text, safe on a terminal."""
    return "".join(character for character in " ".join(text.split()) if character.isprintable())


def sentence(phrase: str) -> str:
    """A phrase, such as a problem in a few words, as a sentence of its own."""
    text = str(phrase).strip()
    address = set("./_") & set(text.partition(" ")[0].rstrip(".:"))  # or a file
    return (
        (text[:1] if address else text[:1].upper())
        + text[1:]
        + ("" if text.endswith((".", "?", "…", "。")) else ".")
    )


@cache
def _words() -> "nh3.Cleaner":
    """The cleaner that leaves text only: made once, and by those who need it."""
    import nh3

    return nh3.Cleaner(tags=set())


def plain_text(markup: str) -> str:
    """The words of some markup on one line; words of different blocks stay apart."""
    if _MARKED.search(markup) is None:  # as most titles are
        return " ".join(markup.split())
    spaced = _BLOCK.sub(r" \g<0>", _NOTE.sub("", markup))
    return " ".join(unescape(_words().clean(spaced)).split())


def nested_too_deeply(html: str) -> bool:
    """Whether cleaned HTML is nested too deeply to be cleaned again for a page or a feed.

    That takes time quadratic in the depth. In cleaned HTML every `<` begins a tag.
    """
    depth = 0
    for slash, void in _TAG.findall(html):
        if not void:
            depth += -1 if slash else 1
            if depth > DEEPEST:
                return True
    return False


def first_words(markup: str, limit: int = TITLE_LENGTH) -> str:
    """The beginning of some markup as one line of text: see `shorten`."""
    return shorten(plain_text(markup[: 20 * limit]), limit)


def first_picture(markup: str) -> str:
    """The address of the first picture in some markup; empty when there is none."""
    match = re.search(r'<img\b[^>]*?\bsrc="([^"]+)"', markup)
    return unescape(match[1]) if match else ""


def shorten(text: str, limit: int = TITLE_LENGTH) -> str:
    """`text` on one line of at most `limit` characters, in whole words."""
    line = " ".join(text[: 20 * limit].split())
    if len(line) <= limit:
        return line
    return (line[:limit].rpartition(" ")[0] or line[:limit]).rstrip(",;:.–- ") + "…"


def as_text(value: object) -> str:
    """Text, cleaned; a number (as old ids are) becomes text, anything else ""."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    return clean(str(value)).strip()


def as_list(value: object) -> list[Any]:
    """The value if it is a list, else an empty list."""
    return value if isinstance(value, list) else []


def to_cell(text: str) -> str:
    """`text` for a CSV file, with an apostrophe before what a spreadsheet would calculate."""
    return f"'{text}" if _FORMULA.match(text) else text


def from_cell(value: str) -> str:
    """The text that `to_cell` made `value` of."""
    return value[1:] if value[:1] == "'" and _FORMULA.match(value, 1) else value


LARGEST_ROW = 2**31 - 1  # what PostgreSQL's INTEGER holds


def whole_number(text: str, most: int = LARGEST_ROW) -> int | None:
    """`text`, in ASCII digits, as a number from 0 to `most`; None for anything else.

    `int` alone would take other scripts' digits, and quadratic time for a long text.
    """
    if not (text.isascii() and text.isdigit() and len(text) <= len(str(most))):
        return None
    number = int(text)
    return number if number <= most else None


def number_in(value: object, most: int = 10**15) -> int:
    """The number that a document has as a value, in digits; 0 for none and for anything else."""
    return whole_number(str(value or "").strip(), most) or 0


def number_up_to(most: int, text: str) -> int | None:
    """As `whole_number`, but `most` for a larger number."""
    if not (text.isascii() and text.isdigit()):
        return None
    number = whole_number(text.lstrip("0") or "0", most)
    return most if number is None else number


def counted(number: int, noun: str, plural: str = "") -> str:
    """0 readers, 1 reader, 1,200 readers: `several` where that is not `one` and an s."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


MOST_LINKS, LONGEST_LABEL, LONGEST_TARGET = 20, 40, 500
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
    if len(lines) > MOST_LINKS:
        raise InvalidInput(f"at most {MOST_LINKS} links fit")
    return [_link(line) for line in lines]


def lines_of(links: Iterable[Link]) -> str:
    """Links as lines, the reverse of `parse_links`; raises InvalidInput for the same links."""
    text = "\n".join(f"{' '.join(link.label.split())} | {link.target.strip()}" for link in links)
    return "\n".join(f"{link.label} | {link.target}" for link in parse_links(text))


def is_of_the_web(address: str) -> bool:
    """Whether this is an http or https address with a host."""
    parts = split_address(address)
    return parts.scheme in ("http", "https") and bool(parts.hostname)


def split_address(address: str) -> SplitResult:
    """The parts of an address; those of "" if it is none."""
    try:
        parts = urlsplit(address)
        _ = parts.port
    except ValueError:  # a bracket out of place in the host, a port beyond the last
        return urlsplit("")
    return parts


def completed(address: str) -> str:
    """An address as people type it, with the scheme that it lacks: https for a name on the web;
    http for a name without a dot, an IP address or one with a port, which are machines at home."""
    text = address.strip()
    if not text or "://" in text or text.startswith(("/", "mailto:")):
        return text
    name, _, port = text.partition("/")[0].partition(":")
    of_the_web = "." in name and not port and not name.replace(".", "").isdigit()
    return f"http{'s' if of_the_web else ''}://{text}"


def check_target(target: str) -> str:
    """A path of this site, or an http, https or mailto address; InvalidInput otherwise."""
    parts = split_address(target)
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
