"""Readers by how they poll, and when each group's polls come while nothing new is published.

Polls are followed minute by minute as shares of a group: what polls in one minute comes back after
the wait that it was told then. So the figures are expectations over readers whose phases nobody
knows.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

MINUTES_A_DAY = 1440


@dataclass(frozen=True, slots=True)
class ReaderGroup:
    """Readers that poll alike. `share`: of all readers, in any unit. `every_minutes`: the time
    between two polls, or the least where they hear more: the feed's ttl (`hears_ttl`), the headers'
    max-age (`hears_headers`), the larger of both. `most_minutes`: never longer than that.
    `tick_minutes`: they poll only at multiples of so many minutes of the clock; 0: at any time.
    `pushed`: they are told at once (WebSub, rssCloud)."""

    share: float
    every_minutes: int = 60
    hears_ttl: bool = False
    hears_headers: bool = False
    most_minutes: int = MINUTES_A_DAY
    tick_minutes: int = 0
    pushed: bool = False


USUAL_READERS = (
    ReaderGroup(0.40, 60),  # newsboat, rss2email and whatever else comes each hour
    ReaderGroup(0.15, 30),  # services that poll at intervals of their own
    ReaderGroup(0.15, 60, hears_ttl=True, hears_headers=True),  # Miniflux
    ReaderGroup(0.15, 60, hears_headers=True, tick_minutes=30),  # FreshRSS
    ReaderGroup(0.10, 120, hears_headers=True, most_minutes=300),  # NetNewsWire
    ReaderGroup(0.05, 10, hears_headers=True),  # HTTP caches, CommaFeed, lion-reader
)
"""A mix of the readers of docs/for-readers.md, for a blog that does not know its own yet."""


@dataclass(frozen=True, slots=True)
class ToldByMinute:
    """What the feed says to a poll in each minute from some beginning: minutes, by both channels
    (`headers` may be fractions)."""

    ttl: Sequence[int]
    headers: Sequence[float]


def group_by_habit(readers: Iterable[tuple[int, float | None, str]]) -> tuple[ReaderGroup, ...]:
    """Groups of the readers that a site knows: (subscribers, median minutes between two polls,
    verdict of the readers report). Those that obey hear both channels; who came too seldom to have
    an interval is left out."""
    shares: dict[tuple[int, bool], int] = {}
    for subscribers, minutes, verdict in readers:
        if minutes is not None:
            obedient = verdict == "obedient"
            key = (1 if obedient else max(round(minutes), 1), obedient)
            shares[key] = shares.get(key, 0) + max(subscribers, 1)
    return tuple(
        ReaderGroup(share, every, hears_ttl=obedient, hears_headers=obedient)
        for (every, obedient), share in sorted(shares.items())
    )


class GroupPolls:
    """The polls of one group, followed from minute to minute. `minute` is the one to come, counted
    from midnight UTC of some day; `due` says which share of the group comes so many minutes after
    it."""

    def __init__(self, group: ReaderGroup, minute: int) -> None:
        self.group, self.minute = group, minute
        first = max(group.every_minutes, group.tick_minutes, 1)
        self.due = [0.0] * (max(first, group.most_minutes) + group.tick_minutes + 1)
        for start in range(first):
            self.due[self._at_a_tick(minute + start) - minute] += 1.0 / first

    def pass_minutes(self, ttl: Sequence[int], headers: Sequence[float]) -> None:
        """Let a minute pass for each answer; a poll is told the answer of its minute."""
        due, minutes = self.due, len(ttl)
        due += [0.0] * minutes
        for place in range(minutes):
            if due[place] > 0.0:
                now = self.minute + place
                back = self._at_a_tick(now + self._wait(ttl[place], headers[place]))
                due[back - self.minute] += due[place]
        self.due = due[minutes:]
        self.minute += minutes

    def copy(self) -> "GroupPolls":
        """The same polls, to be followed on another way."""
        other = object.__new__(GroupPolls)
        other.group, other.minute, other.due = self.group, self.minute, list(self.due)
        return other

    def _wait(self, ttl: int, headers: float) -> int:
        group, wait = self.group, float(self.group.every_minutes)
        if group.hears_ttl:
            wait = max(wait, ttl)
        if group.hears_headers:
            wait = max(wait, headers)
        return max(min(round(wait), group.most_minutes), 1)

    def _at_a_tick(self, minute: int) -> int:
        tick = self.group.tick_minutes
        return minute if tick == 0 else -(-minute // tick) * tick
