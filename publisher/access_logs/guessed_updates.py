"""The update history of a feed, guessed from the sizes of answers in an access log.

If a reader gets the document in another size than before, it changed between that reader's last
two visits; its visits without news, and other readers, narrow that down. Each change is dated by
the first reader that saw it. A change that nobody fetched is not known, two posts between two
visits are one, and other changes of the document (comments, adverts) look like posts.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from statistics import median
from typing import NamedTuple

from publisher.access_logs import line_formats
from publisher.access_logs.line_formats import LogLine, read_line
from publisher.base.errors import InvalidData

FEED_LIKE = re.compile(r"rss|atom|feed|\.xml$|\.rdf$|\.json$", re.IGNORECASE)
MOST_PATHS = 1000  # counted at most, so that a hostile log cannot exhaust memory
TRIED_LINES = 20
TTL_BYTES = 8  # a smaller difference in size may be another ttl or date alone


class GuessedChange(NamedTuple):
    """The document changed after `after` and by `seen`, seconds since 1970."""

    after: int
    seen: int


class GuessedUpdates(NamedTuple):
    """The changes of the feed at `path`, in order of time; how many polls and readers were seen
    there, and until when."""

    path: str
    changes: tuple[GuessedChange, ...]
    polls: int
    readers: int
    end: int

    def in_words(self) -> str:
        """The result and its accuracy, in a sentence."""
        span = median(change.seen - change.after for change in self.changes) / 60
        return (
            f"{self.path}: {len(self.changes)} updates guessed from {self.polls} polls of"
            f" {self.readers} readers, each placed where the first of them saw it, at most"
            f" {span:.0f} minutes late in the median; what came between two visits counts as one"
        )


def is_access_log(path: Path) -> bool:
    """Whether one of the first lines is a request; False for what cannot be read."""
    try:
        with line_formats.opened(path) as stream:
            lines = line_formats.lines_from(stream, 0, last_too=True).lines[:TRIED_LINES]
    except (OSError, EOFError):
        return False
    return any(_request(line) is not None for line in lines)


def guess_updates(path: Path) -> GuessedUpdates:
    """The history of the feed that is requested most in the log `path`; InvalidData if there is
    none."""
    polls: dict[str, int] = {}
    for line in _polls(path):
        if FEED_LIKE.search(line.path) and (line.path in polls or len(polls) < MOST_PATHS):
            polls[line.path] = polls.get(line.path, 0) + 1
    if not polls:
        raise InvalidData(f"{path}: nobody asks for a feed in this log")
    feed = max(polls, key=polls.__getitem__)
    who: dict[tuple[str, str], int] = {}
    visits = sorted(
        (
            line.at_ms // 1000,
            who.setdefault((line.address, line.agent), len(who)),
            line.status,
            line.sent,
        )
        for line in _polls(path)
        if line.path == feed
    )
    changes = tuple(fewest_changes(intervals(visits)))
    if not changes:
        raise InvalidData(f"{path}: nobody was sent {feed} twice with a change in between")
    return GuessedUpdates(feed, changes, len(visits), len(who), visits[-1][0])


def intervals(visits: Iterable[tuple[int, int, int, int]]) -> Iterator[GuessedChange]:
    """A change for each visit at which a reader got another size than before. visits: when, a
    number for the reader, status and bytes, in order of time."""
    before: dict[int, int] = {}
    sizes: dict[int, int] = {}
    for at, who, status, sent in visits:
        if status == 200:
            if who in sizes and abs(sent - sizes[who]) > TTL_BYTES:
                yield GuessedChange(before[who], at)
            sizes[who] = sent
        before[who] = at


def fewest_changes(guesses: Iterable[GuessedChange]) -> list[GuessedChange]:
    """The fewest changes that explain all `guesses`, which come in order of `seen`."""
    changes: list[GuessedChange] = []
    for change in guesses:
        if not changes or change.after >= changes[-1].seen:
            changes.append(change)
        elif change.after > changes[-1].after:
            changes[-1] = changes[-1]._replace(after=change.after)
    return changes


def _polls(path: Path) -> Iterator[LogLine]:
    """The GET requests of a log that were answered with 200 or 304."""
    try:
        with line_formats.opened(path) as stream:
            offset = 0
            while (some := line_formats.lines_from(stream, offset, last_too=True)).lines:
                offset = some.end
                for text in some.lines:
                    line = _request(text)
                    if line is not None and line.method == "GET" and line.status in (200, 304):
                        yield line
    except (OSError, EOFError) as error:
        raise InvalidData(f"{path}: {error}") from None


def _request(text: bytes | None) -> LogLine | None:
    if text is None:
        return None
    try:
        return read_line(text.decode("utf-8", "replace").strip())
    except ValueError:
        return None
