"""Groups of readers by how they poll, and when each group polls while nothing new is published.

Polls are followed minute by minute as shares of a group: the share that polls in one minute polls
again after the wait announced then. So the figures are expectations over unknown phases.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

MINUTES_A_DAY = 1440


@dataclass(frozen=True, slots=True)
class ReaderGroup:
    """Readers that poll alike. `share`: of all readers, in any unit. `every_minutes`: the shortest
    time between two polls. `hears_ttl`, `hears_headers`: they wait at least for the feed's ttl, the
    headers' max-age. `most_minutes`: the longest wait. `tick_minutes`: they poll only at multiples
    of so many minutes of the clock; 0: at any time. `pushed`: notified at once (WebSub, rssCloud).
    """

    share: float
    every_minutes: int = 60
    hears_ttl: bool = False
    hears_headers: bool = False
    most_minutes: int = MINUTES_A_DAY
    tick_minutes: int = 0
    pushed: bool = False


USUAL_READERS = (
    ReaderGroup(0.40, 60),  # newsboat, rss2email and others that poll each hour
    ReaderGroup(0.15, 30),  # services that poll at intervals of their own
    ReaderGroup(0.15, 60, hears_ttl=True, hears_headers=True),  # Miniflux
    ReaderGroup(0.15, 60, hears_headers=True, tick_minutes=30),  # FreshRSS
    ReaderGroup(0.10, 120, hears_headers=True, most_minutes=300),  # NetNewsWire
    ReaderGroup(0.05, 10, hears_headers=True),  # HTTP caches, CommaFeed, lion-reader
)
"""A mix of the readers in docs/for-readers.md, for a blog whose own readers are not known yet."""


@dataclass(frozen=True, slots=True)
class ToldByMinute:
    """What the feed announces in each minute from some beginning on, in minutes: the ttl of the
    document and the max-age of the headers (`headers` may be fractions)."""

    ttl: Sequence[int]
    headers: Sequence[float]


def group_by_habit(readers: Iterable[tuple[int, float | None, str]]) -> tuple[ReaderGroup, ...]:
    """Groups of a site's known readers, each given as (subscribers, median minutes between two
    polls, verdict of the readers report). Obedient ones follow ttl and headers. Readers with too
    few polls for an interval (None) are left out."""
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
    """The polls of one group, followed minute by minute. `minute`: the next one, counted from
    midnight UTC of some day; ``due[k]``: the share of the group that polls k minutes later."""

    def __init__(self, group: ReaderGroup, minute: int) -> None:
        self.group, self.minute = group, minute
        first = max(group.every_minutes, group.tick_minutes, 1)
        self.due = [0.0] * (max(first, group.most_minutes) + group.tick_minutes + 1)
        for start in range(first):
            self.due[self._at_a_tick(minute + start) - minute] += 1.0 / first

    def pass_minutes(self, ttl: Sequence[int], headers: Sequence[float]) -> None:
        """Advance by a minute for each value; polls in a minute get that minute's ttl and
        max-age."""
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
        """A copy that can be advanced independently."""
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
