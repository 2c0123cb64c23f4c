"""The posts of the demonstration, read from the Markdown files in `posts/`."""

from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from publisher.exchange.importing.formats import front_matter
from publisher.storage.tables.blog import PostKind, PostStatus


@dataclass(frozen=True)
class Text:
    """A post as in its file; all fields but `source` are in the front matter.

    `day`: how many days ago (negative: in the future); `time`: local civil time, hh:mm. In the
    source, `{lighthouse}` and other names of `drawings` are replaced by addresses.
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


def all_texts() -> list[Text]:
    """Every post, in the order of the files' names."""
    found = sorted(files(__package__).joinpath("posts").iterdir(), key=lambda path: path.name)
    return [_text(path.read_text("utf-8")) for path in found if path.name.endswith(".md")]


def _text(file: str) -> Text:
    fields, source = front_matter.split(file)
    values: dict[str, Any] = {
        **fields,
        "day": int(fields["day"]),
        "tags": tuple(fields.get("tags", ())),
        "episode": "episode" in fields,
    }
    return Text(source=source, **values)
