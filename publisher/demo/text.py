"""One post of the demonstration, as it is written down."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Text:
    """`day`: how many days ago (negative: to come); `time`: local civil time, hh:mm.

    In the source, `{lighthouse}` and other names of `pictures` stand for addresses.
    """

    day: int
    time: str
    source: str
    title: str = ""
    tags: tuple[str, ...] = ()
    by: str = "mara"
    summary: str = ""
    status: str = "published"
    kind: str = "post"
    episode: bool = False
