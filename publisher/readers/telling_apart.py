"""Which reader made a poll: told apart by address, agent and the validators that come back.

Each reader's document remembers the ETag that it was given last, and at which moment. From this:

- A poll from a new address whose ETag one reader of that program holds is that reader: a phone.
- A copy that went out to an address where a reader already was is remembered (`given`). When its
  ETag comes back at a moment that fits that copy and not the known reader, or after the known
  reader has exchanged it, a second reader lives there.
- A reader that sends the ETag from before the one it was given last forgets what it fetches,
  unless the last was given at another address: then they are two.
- Where two could have made a poll, the one whose interval fits best is taken, and the poll is
  marked as unsure. No tag is ever made for one reader.

The one thing to get right: never make a reader from a request without validators at a known
address. A careless program would become hundreds.
"""

import secrets
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from math import log
from typing import NamedTuple

from publisher.readers.agents import parse_agent
from publisher.readers.identity import NOBODY
from publisher.readers.poll_batches import PollGroup
from publisher.readers.sums import came_early, came_late, came_on_time
from publisher.storage.tables.readers import ReaderFeed

MOST_GIVEN = 8  # unclaimed copies that are remembered of one address
MOST_CANDIDATES = 500  # readers of one program with the same tag, of which one may have moved
STALE = 10.0  # what a candidate costs that stays away
SAME_COST = 0.05
RHYTHM_SHARE = 0.25  # an interval this much longer or shorter than the last one keeps its rhythm

Feeds = dict[tuple[int, str], ReaderFeed]


class Made(NamedTuple):
    """Who made a poll: `unsure` where another could have; `aside`: a copy for somebody unknown,
    which says nothing of the reader's intervals."""

    client: int
    unsure: bool = False
    aside: bool = False


class Readers:
    """The readers of the origins and programs that a fold deals with; grows as it meets new ones.

    `here`: the readers of each origin. `feeds`: what they know, changed in place by the fold.
    `names`: each reader's program; `roaming`: readers that were seen at several origins. `room`:
    how many new readers may still be made.
    """

    def __init__(
        self,
        here: Mapping[int, Sequence[int]],
        feeds: Feeds,
        names: Mapping[int, str],
        roaming: Iterable[int],
        room: int,
    ) -> None:
        self.here: dict[int, list[int]] = defaultdict(list)
        for origin, clients in here.items():
            self.here[origin] = list(clients)
        self.feeds, self.room = feeds, room
        self.left: set[tuple[int, int]] = set()  # (origin, client) that turned out to be two
        self._names, self._roaming = dict(names), set(roaming)
        self._holders: dict[tuple[str, str, str | float], set[int]] = defaultdict(set)
        for (client, document), feed in feeds.items():
            self._hold(client, names.get(client, ""), document, feed)

    def who(self, poll: PollGroup, document: str, at: float) -> Made:
        """The reader that made this poll of `document` (seconds since 1970); perhaps a new one."""
        if poll.origin == NOBODY:
            return Made(NOBODY)
        agent, here = parse_agent(poll.agent), self.here[poll.origin]
        if here and agent.one_program:
            return Made(here[0])
        sent = poll.validators
        known = [client for client in here if (client, document) in self.feeds]
        if not known:
            joined = self._elsewhere(poll, agent.name, document, sent, at)
            if joined is not None:
                return joined
            return Made(here[-1]) if here else Made(self._new(poll.origin, agent.name))
        if not sent and poll.status != 304:
            return self._without_tag(known, document, at)
        return self._with_tag(poll, agent.name, document, known, sent, at)

    def holds(self, client: int, document: str, feed: ReaderFeed, tag: str, origin: int) -> None:
        """Note that a reader was given a tag, or that it still has it, at this origin."""
        feed.origin = origin
        if tag == feed.tag:
            return
        name = self._names.get(client, "")
        self._holders[name, document, feed.tag].discard(client)
        feed.tag_before, feed.tag = feed.tag, tag
        self._hold(client, name, document, feed)

    def _hold(self, client: int, name: str, document: str, feed: ReaderFeed) -> None:
        self._holders[name, document, feed.tag].add(client)
        self._holders[name, document, _date_of(feed)].add(client)

    def _with_tag(
        self,
        poll: PollGroup,
        name: str,
        document: str,
        known: list[int],
        sent: set[str | float],
        at: float,
    ) -> Made:
        holders = [c for c in known if _holds(self.feeds[c, document], sent)]
        if holders or not sent or "*" in sent:
            best = self._best(holders or known, document, at)
            feed = self.feeds[best.client, document]
            if holders and came_early(feed, at - feed.last_at):
                claimed = self._claimed(poll.origin, name, document, known, sent, at)
                return claimed or self._elsewhere(poll, name, document, sent, at, True) or best
            return best
        claimed = self._claimed(poll.origin, name, document, known, sent, None)
        if claimed is not None:
            return claimed
        forgetful = [c for c in known if self.feeds[c, document].tag_before in sent]
        if forgetful:
            return self._forgetful(poll, name, document, known, forgetful, sent, at)
        joined = self._elsewhere(poll, name, document, sent, at)
        return joined or self._best(known, document, at)

    def _without_tag(self, known: list[int], document: str, at: float) -> Made:
        """A whole document for an address where readers are: one of them again, or another."""
        feeds = {client: self.feeds[client, document] for client in known}
        careless = [c for c, feed in feeds.items() if not feed.returned]
        late = [c for c, feed in feeds.items() if came_late(feed, at - feed.last_at)]
        full = [c for c, feed in feeds.items() if len(feed.given) >= MOST_GIVEN]
        if again := careless or late or full:
            made = self._best(again, document, at)
            feed = feeds[made.client]
            _remember(feed, (feed.last_at, feed.told_minutes, feed.max_age, feed.seen_at, feed.tag))
            interval = at - feed.last_at
            steady = came_on_time(feed, interval) or _keeps_rhythm(feed, interval)
            return made._replace(unsure=made.unsure or not steady)
        return self._best(known, document, at)._replace(aside=True)

    def _claimed(
        self,
        origin: int,
        name: str,
        document: str,
        known: list[int],
        sent: set[str | float],
        at: float | None,
    ) -> Made | None:
        """A new reader that holds a copy nobody claimed; with `at`, one that is due then."""
        for client in known:
            feed = self.feeds[client, document]
            for copy in feed.given:
                given = ReaderFeed(copy[0], copy[1], copy[2], copy[3], copy[0], tag=copy[4])
                fits = at is None or came_on_time(given, at - given.last_at)
                if _holds(given, sent) and fits and self.room > 0:
                    feed.given.remove(copy)
                    for other in known:
                        self.feeds[other, document].rhythm = 0.0
                    return Made(self._sibling(origin, name, document, given))
        return None

    def _sibling(self, origin: int, name: str, document: str, feed: ReaderFeed) -> int:
        """A reader of this origin that does not know the document yet, else a new one."""
        here = self.here[origin]
        free = next((c for c in here if (c, document) not in self.feeds), None)
        client = self._new(origin, name) if free is None else free
        feed.returned, feed.origin = True, origin
        self.feeds[client, document] = feed
        self._hold(client, name, document, feed)
        return client

    def _forgetful(
        self,
        poll: PollGroup,
        name: str,
        document: str,
        known: list[int],
        forgetful: list[int],
        sent: set[str | float],
        at: float,
    ) -> Made:
        """One that sends an older tag than it was given: it forgets, or there are two."""
        for client in forgetful:
            last = self.feeds[client, document].origin
            if last not in (poll.origin, poll.before, 0) and self.room > 0:
                self.here[poll.origin].remove(client)
                self.left.add((poll.origin, client))
                joined = self._elsewhere(poll, name, document, sent, at)
                return joined or Made(self._new(poll.origin, name))
        feeds = [self.feeds[client, document] for client in known]
        uncounted = any(feed.foreign for feed in feeds) and all(feed.returned for feed in feeds)
        if uncounted and self.room > 0:
            return Made(self._new(poll.origin, name))
        fresh = [c for c in forgetful if not self.feeds[c, document].returned]
        return self._best(fresh or forgetful, document, at)

    def _elsewhere(
        self,
        poll: PollGroup,
        name: str,
        document: str,
        sent: set[str | float],
        at: float,
        due_only: bool = False,
    ) -> Made | None:
        """The reader of this program that holds the tag, seen at another address until now."""
        found: set[int] = set()
        found = found.union(*(self._holders.get((name, document, tag), ()) for tag in sent))
        found -= set(self.here[poll.origin])
        if poll.since and not poll.tags:
            found = {c for c in found if _holds(self.feeds[c, document], sent)}
        if len(found) > MOST_CANDIDATES:  # hopeless but for those that move about
            found &= self._roaming
        due = [c for c in found if self._on_time(c, document, at)]
        roaming = [c for c in found if c in self._roaming]
        awaited = [c for c in roaming if not self._early(c, document, at)]
        likely = awaited or due  # a new address is likelier that of one that moves about
        if not likely and not due_only:
            likely = list(found) if len(found) == 1 else roaming
        if not likely or "*" in sent:
            return None
        made = self._best(sorted(likely), document, at)
        self.here[poll.origin].append(made.client)
        self._roaming.add(made.client)
        return made._replace(unsure=len(found) > 1 and len(likely) != 1)

    def _best(self, clients: Sequence[int], document: str, at: float) -> Made:
        """The reader whose interval fits best; of equals, the one that waited longest."""
        ranked = sorted(
            (round(self._cost(feed, at), 3), feed.rhythm == 0.0, feed.last_at, client)
            for client in clients
            for feed in (self.feeds[client, document],)
        )
        best, *others = ranked
        return Made(best[-1], unsure=any(other[0] <= best[0] + SAME_COST for other in others))

    def _cost(self, feed: ReaderFeed, at: float) -> float:
        interval = max(at - feed.last_at, 1.0)
        expected = [feed.told_minutes * 60.0, float(feed.max_age), feed.rhythm]
        cost = min(abs(log(interval / span)) for span in expected if span > 0.0)
        return cost + STALE * (interval > 3.0 * max(expected) + 3600.0)

    def _on_time(self, client: int, document: str, at: float) -> bool:
        feed = self.feeds[client, document]
        return came_on_time(feed, at - feed.last_at)

    def _early(self, client: int, document: str, at: float) -> bool:
        feed = self.feeds[client, document]
        return came_early(feed, at - feed.last_at)

    def _new(self, origin: int, name: str) -> int:
        if self.room <= 0:
            return NOBODY
        self.room -= 1
        client = secrets.randbits(62) + 1
        self.here[origin].append(client)
        self._names[client] = name
        return client


def rhythm_after(feed: ReaderFeed, interval: float) -> float:
    """A reader's own interval after this one: 0 while it comes when it is told to."""
    if not came_on_time(feed, interval):
        return max(interval, 0.0)
    return feed.rhythm if _keeps_rhythm(feed, interval) else 0.0


def _keeps_rhythm(feed: ReaderFeed, interval: float) -> bool:
    return abs(interval - feed.rhythm) <= RHYTHM_SHARE * feed.rhythm


def _holds(feed: ReaderFeed, sent: set[str | float]) -> bool:
    return feed.tag in sent or _date_of(feed) in sent


def _date_of(feed: ReaderFeed) -> float:
    """What a reader that sends the date alone sends back of what it holds."""
    return float(round(feed.seen_at))


def _remember(feed: ReaderFeed, copy: tuple[float, int, int, float, str]) -> None:
    """Keep a copy that went out; of many, the newest."""
    feed.given = [*feed.given, list(copy)][-MOST_GIVEN:]
