"""The names and addresses of stored files: the hash of the content and, of a picture, its size, so
that a page shows it without asking the database."""

import hashlib
import re
from dataclasses import dataclass

PREFIX = "/media/"
WIDTHS = (480, 960, 1600)
NAME = re.compile(r"([0-9a-f]{20})(?:-(\d{1,5})x(\d{1,5})(a?)(?:-(\d{3,4}))?)?\.([a-z0-9]{3,4})")


@dataclass(frozen=True)
class Responsive:
    """Size and srcset of a stored picture, so that the layout is stable and phones load little."""

    width: int
    height: int
    srcset: str


def responsive(address: str) -> Responsive | None:
    """Size and smaller versions of a stored picture, read from its address alone."""
    name = address.removeprefix(PREFIX)
    match = NAME.fullmatch(name)
    if name == address or match is None or not match[2] or match[5]:
        return None
    width, height = int(match[2]), int(match[3])
    stem, extension = name.rsplit(".", 1)
    smaller = [] if match[4] else widths_of(width)
    sources = [f"{PREFIX}{stem}-{small}.{extension} {small}w" for small in smaller]
    return Responsive(width, height, ", ".join([*sources, f"{address} {width}w"]))


def digest_of(data: bytes) -> str:
    """The hash that names a file; the same content has the same name everywhere."""
    return hashlib.sha256(data).hexdigest()


def name_of(
    digest: str, width: int, height: int, several: bool, extension: str, small: int = 0
) -> str:
    """A file's name: hash, size, width of a smaller version, `a` for an animation without any."""
    alone = "" if several or not widths_of(width) else "a"
    size = f"-{width}x{height}{alone}" if width else ""
    return f"{digest[:20]}{size}{f'-{small}' if small else ''}.{extension}"


def widths_of(width: int) -> list[int]:
    """The smaller widths in which a picture of this width is stored as well."""
    return [smaller for smaller in WIDTHS if smaller < width]
