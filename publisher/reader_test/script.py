"""The scripted week: stretches of time with what the feed says in them (`script.toml`), and posts.

Times are hours since the beginning of the test. Nothing here depends on requests, so what is served
is a function of the time and the request alone.
"""

import tomllib
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

WEEK_HOURS = 168.0
HOUR, DAY_SECONDS = 3600, 86_400
OWN_SECONDS = 3600.0


@dataclass(frozen=True, slots=True)
class Stretch:
    """A part of the week. `begins`: hours. `purpose`: what it shows, as a sentence.

    ttl: minutes; max_age, expires: seconds, None where the header is left out; max_age_304: on 304,
    if that differs; sy_daily: updateFrequency, of the updatePeriod daily. skip_hours: the first
    hour of the test that skipHours names, and the first one after; skip_day: an hour of the test
    whose weekday skipDays names.
    etag: `weak`, `strong` (with a comma, a space and a backslash), `hourly` (changes every hour
    without any new content), or empty. fault: `silent`, `closed` or `cut` (see `answering`).
    """

    name: str
    begins: float
    purpose: str
    ttl: int | None = None
    max_age: int | None = None
    max_age_304: int | None = None
    expires: int | None = None
    no_store: bool = False
    sy_daily: int | None = None
    skip_hours: Sequence[int] = ()
    skip_day: float | None = None
    etag: str = "weak"
    last_modified: bool = True
    wrong_self: bool = False
    status: int = 200
    retry_after: int | None = None
    retry_as_date: bool = False
    fault: str = ""

    def seconds(self, hint: str) -> float:
        """The wait that a hint asks for: `ttl`, `sy` or one of the names above; "own": the shortest
        interval where a feed says nothing."""
        if hint == "ttl":
            return (self.ttl or 0) * 60.0
        if hint == "sy":
            return DAY_SECONDS / (self.sy_daily or 1)
        return OWN_SECONDS if hint == "own" else float(getattr(self, hint))


_DATA = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
WEEK = tuple(Stretch(**row) for row in _DATA["stretch"])
_BEGINS = [stretch.begins for stretch in WEEK]

# The addresses, relative to a tester's own: the feed's, and where it moves.
FIRST, MOVED, FOR_NOW, FOR_NOW_TOO, LAST = (
    "feed.xml", "moved.xml", "for-now.xml", "for-now-too.xml", "last.xml"
)  # fmt: skip
FEEDS = (FIRST, MOVED, FOR_NOW, FOR_NOW_TOO, LAST)
WRONG_SELF, HUB, CLOUD = "self.xml", "hub", "cloud"
ARCHIVES = ("archive-2.xml", "archive-1.xml")  # newest first; each names the next one


@dataclass(frozen=True, slots=True)
class Move:
    """From `begins` to `ends`, the address `source` answers with `status` and the address `to`."""

    source: str
    begins: float
    ends: float
    status: int
    to: str


MOVES = (
    Move(FIRST, 22, WEEK_HOURS, 301, MOVED),
    Move(MOVED, 58, 60, 302, FOR_NOW),
    Move(MOVED, 60, 62, 307, FOR_NOW_TOO),
    Move(MOVED, 120, WEEK_HOURS, 308, LAST),
)


@dataclass(frozen=True, slots=True)
class WeekPost:
    """A post: in the document from hour `at`; then edited or removed, if at all. dated: the date
    that it claims, in hours of the test; None for a text that is no date."""

    number: int
    at: float
    edited: float | None = None
    removed: float | None = None
    dated: float | None = None
    guid: str = ""

    @property
    def identity(self) -> str:
        """What its guid element says, without the tester's address."""
        return self.guid or f"post/{self.number}"


_BURST = (6.2, 6.6, 7.1, 7.6, 8.1, 8.6, 9.1, 9.6)
_HOURS = (
    *(-200.0 + 12 * place for place in range(15)), -3.0,
    1.3, 2.4, 4.2, *_BURST, 10.1, 22.05, 24.0, 26.0, 28.0, 30.05, 44.02, 47.0, 52.03, 55.0, 62.05,
    72.05, 82.05, 88.05, 94.05, 120.05, 126.05, 132.05, 140.05, 143.0,
)  # fmt: skip
WINDOW = 10
DELTAS_UNTIL = 10.0  # 226 is answered before this hour, so that who cannot take it is seen later
# What is odd about some posts: edited, removed, with a date in the future, without a date.
_ODD: dict[float, dict[str, Any]] = {
    1.3: {"edited": 4.5}, 2.4: {"removed": 5.0}, 24.0: {"dated": 744.0}, 26.0: {"dated": None},
}  # fmt: skip
TWICE_AT = 28.0  # the post that stands there once more under the same guid
_ONCE = [WeekPost(n, at, **{"dated": at, **_ODD.get(at, {})}) for n, at in enumerate(_HOURS, 1)]
_TWICE = [replace(p, number=1000 + p.number, guid=p.identity) for p in _ONCE if p.at == TWICE_AT]
POSTS = (*_ONCE, *_TWICE)
# The instants at which the document or its tag changes; between them both stay as they are.
CHANGES = sorted({
    *(stretch.begins for stretch in WEEK), 59.0, 60.0, 61.0,
    *(at for post in POSTS for at in (post.at, post.edited, post.removed)
      if at is not None and at > 0),
})  # fmt: skip


def stretch_at(hours: float) -> Stretch:
    """The stretch at an hour of the test; after the end the last one."""
    return WEEK[max(bisect_right(_BEGINS, hours) - 1, 0)]


def changed_at(hours: float) -> float:
    """The hour of the last change of the document at or before `hours`."""
    return CHANGES[max(bisect_right(CHANGES, hours) - 1, 0)]


def posts_at(hours: float) -> list[WeekPost]:
    """The posts in the document, newest first."""
    there = [
        post
        for post in POSTS
        if post.at <= hours and (post.removed is None or hours < post.removed)
    ]
    return sorted(there, key=lambda post: (-post.at, -post.number))[:WINDOW]


def move_at(path: str, hours: float) -> Move | None:
    """Where the address `path` leads at that hour; None where it serves the feed itself."""
    return next(
        (move for move in MOVES if move.source == path and move.begins <= hours < move.ends), None
    )
