"""The stamp: writes the ttl into a static site's feed file, its history, and the host's headers.

It runs as a step of a build. Another run within the hour changes nothing.
"""

import re
import tomllib
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path, PurePosixPath
from string import Template

from publisher.base.errors import InvalidData, InvalidInput
from publisher.base.system.whole_files import check_folder_of, whole_file
from publisher.dynamic_ttl import Advice, ttl_for
from publisher.dynamic_ttl.core.validators import SHARED_MAX_AGE_SECONDS
from publisher.dynamic_ttl.feed_head import HeadChange, NotEditable, edit, outline_of
from publisher.feed_reading.feed_document import NotAFeed, announcing
from publisher.feed_reading.parse import parse_document
from publisher.other_feeds.feed_history import (
    FeedHistory,
    HistoryChange,
    read_feed_file,
    update_history,
)

NEW_FILE_MODE = 0o644  # a site is public, whatever umask we run under
MEDIA_TYPES = {
    "rss": "application/rss+xml", "rdf": "application/rdf+xml", "atom": "application/atom+xml",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class StampOptions:
    """Paths and options. history: default beside the feed. out: default the feed itself. root: the
    site's top folder, which gives the feed's address. headers: a host of `HOSTS`, or none."""

    feed: Path
    history: Path | None = None
    out: Path | None = None
    root: Path | None = None
    headers: str = "none"
    timezone: str = "UTC"
    menu: str = "15/60/480"


@dataclass(frozen=True, slots=True)
class Stamped:
    """What was done. kind: rss, rdf or atom. written: the files that were changed."""

    advice: Advice
    change: HistoryChange
    kind: str
    written: tuple[Path, ...]


def stamp(options: StampOptions, now: datetime) -> Stamped:
    """Put ttl and sy into a feed file. Raises InvalidData, and writes nothing, if it is no feed or
    ill-formed, or the history belongs to another feed."""
    feed, out = options.feed, options.out or options.feed
    history_file = options.history or feed.with_name(f"{feed.name}.history.json")
    address = _address(options, out)
    for path in (out, history_file):
        check_folder_of(path)
    before = read_feed_file(feed)
    try:
        kind = outline_of(before).kind
        document = parse_document(before, "", feed.resolve().as_uri())
        change = update_history(_stored_history(history_file), document, now, options.timezone)
        updates = change.history.updates
        advice = ttl_for(updates, now, options.timezone, menu=options.menu)
        after = edit(before, HeadChange(ttl_minutes=advice.ttl_minutes))
    except (NotEditable, NotAFeed) as problem:
        raise InvalidData(f"{feed}: {_what_else(before, feed) or problem}") from problem
    files = {out: after, history_file: change.history.to_json().encode()}
    if options.headers != "none":
        file = (options.root or feed.parent) / HOSTS[options.headers]["file"]
        # The header stays the same until the next build, so its max-age is the element's ttl.
        text = with_feed(
            _text(file), options.headers, address, MEDIA_TYPES[kind], advice.ttl_minutes * 60
        )
        files[file] = text.encode()
    written = tuple(path for path, content in files.items() if _write(path, content, like=feed))
    return Stamped(advice, change, kind, written)


def _stored_history(history_file: Path) -> FeedHistory:
    text = _text(history_file)
    if not text:
        return FeedHistory()
    try:
        return FeedHistory.from_json(text)
    except InvalidData as problem:
        raise InvalidData(f"{history_file}: {problem}") from problem


def _text(path: Path) -> str:
    """What a file holds; "" where there is none."""
    try:
        return path.read_text("utf-8")
    except FileNotFoundError:
        return ""
    except UnicodeDecodeError as error:
        raise InvalidData(f"{path}: not a text in UTF-8") from error


def _address(options: StampOptions, out: Path) -> str:
    """The path at which the site serves the feed."""
    root = (options.root or out.parent).resolve()
    try:
        address = "/" + str(PurePosixPath(out.resolve().relative_to(root)))
    except ValueError:
        raise InvalidInput(f"{out} is not inside the site's folder {root}") from None
    if options.headers != "none" and not re.fullmatch(r"[\w./~+-]+", address, re.ASCII):
        raise InvalidInput(f"{address}: a host's file cannot have such a path; use --headers none")
    return address


def _what_else(document: bytes, feed: Path) -> str:
    """If the file is a web page, not a feed: words about the feeds that it announces."""
    with suppress(InvalidData):
        try:
            parse_document(document, "", feed.resolve().as_uri())
        except NotAFeed as refusal:
            words = f"{refusal}{announcing(refusal.alternates)}"
            return words if "web page" in words else ""
    return ""


def _write(path: Path, content: bytes, like: Path) -> bool:
    """Write `content` to a file atomically; False if the file has it already."""
    old = path.read_bytes() if path.exists() else None
    if old == content:
        return False
    mode = path.stat().st_mode if old is not None else like.stat().st_mode & 0o777
    with whole_file(path) as file:
        file.write(content)
    path.chmod(mode | 0o400 if old is not None else mode | NEW_FILE_MODE)
    return True


# Files that tell hosts of static sites which headers to send (`stamp.toml`): all other content of
# such a file stays; our lines are between two marks, and are replaced.
BEGIN = "# begin of what `publisher stamp` says of {}"
END = "# end of what `publisher stamp` says of {}"
HOSTS: dict[str, dict[str, str]] = tomllib.loads(
    Path(__file__).with_suffix(".toml").read_text("utf-8")
)


def with_feed(present: str, host: str, path: str, kind: str, max_age_seconds: int) -> str:
    """The file `present` of a host with our lines for the feed at `path` in it, once.

    kind: the feed's media type. max_age_seconds: what Cache-Control is to say.
    """
    begin, end = BEGIN.format(path), END.format(path)
    values = {"path": path, "kind": kind, "age": max_age_seconds, "shared": SHARED_MAX_AGE_SECONDS}
    ours = f"{begin}\n{Template(HOSTS[host]['lines']).substitute(values)}\n{end}"
    block = re.compile(f"{re.escape(begin)}\n.*?{re.escape(end)}", re.DOTALL)
    if block.search(present):
        return block.sub(lambda _: ours, present, count=1)
    gap = "" if not present else "\n" if present.endswith("\n") else "\n\n"
    return f"{present}{gap}{ours}\n"
