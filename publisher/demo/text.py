"""One post of the demonstration, as it is written down."""

from dataclasses import dataclass

from publisher.storage.tables.blog import PostKind, PostStatus


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
    status: PostStatus = "published"
    kind: PostKind = "post"
    episode: bool = False
