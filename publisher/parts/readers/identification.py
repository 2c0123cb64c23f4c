"""Which reader made a poll: found by address, User-Agent and the validators that are sent back.

For each reader and document, the ETag that it was given last is stored, and when. From this:

- A poll from a new address, with the ETag that one reader of that program holds, is by that
  reader: it has moved, as a phone does.
- A poll that comes too early for the reader at its address, and not at that reader's own interval,
  may be by a reader that is due: by one that moves, or by any where readers move.
- A copy that went to an address with a known reader is remembered (`given`). If its ETag comes back
  at a moment that fits that copy and not the known reader, or after the known reader has got
  another ETag, a second reader is at that address.
- A reader that sends the ETag before its last one does not keep what it fetches, unless the last
  one was given at another address: then they are two.
- If several could have made a poll, the one whose interval fits best is taken, and the poll is
  marked as unsure. An ETag is never made for a single reader.
- A request within seconds is part of the same visit, from another address too: a phone whose
  network changed before the answer came, a program that fetches everything twice.

The one thing to get right: never make a reader from a request without validators at a known
address. A careless program would become hundreds.
"""

import secrets
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from math import log
from typing import NamedTuple

from publisher.parts.readers.agents import parse_agent
from publisher.parts.readers.poll_batches import NOBODY, PollGroup
from publisher.parts.readers.sums import (
    MOST_GIVEN,
    came_early,
    came_late,
    came_on_time,
    date_of,
    feed_of,
    holds_one_of,
    keeps_rhythm,
    remember,
    same_visit,
)
from publisher.parts.readers.tables import ReaderFeed

MOST_CANDIDATES = 500  # readers of one program with the same tag; of more, only roaming ones
STALE = 10.0  # added to the cost of a candidate that has stayed away for long
SAME_COST = 0.05

Feeds = dict[tuple[int, str], ReaderFeed]


class Attribution(NamedTuple):
    """The reader of a poll. `unsure`: another may have made it. `provisional`: possibly another
    reader's poll; it closes no interval."""

    client: int
    unsure: bool = False
    provisional: bool = False


class _Sighting(NamedTuple):
    """A poll that is to be told apart: its program's name, its document, the validators that it
    sent, and when it came."""

    poll: PollGroup
    name: str
    document: str
    sent: set[str | float]
    at: float


class ReaderIndex:
    """The readers of the origins and programs that a fold deals with; grows as it meets new ones.

    `clients_at`: the readers of each origin. `feeds`: what they know, changed in place by the fold.
    `names`: each reader's program; `roaming`: readers that were seen at several origins. `room`:
    how many new readers may still be made.
    """

    def __init__(
        self,
        clients_at: Mapping[int, Iterable[int]],
        feeds: Feeds,
        names: Mapping[int, str],
        roaming: Iterable[int],
        room: int,
    ) -> None:
        self.clients_at: dict[int, list[int]] = defaultdict(list)
        for origin, clients in clients_at.items():
            self.clients_at[origin] = list(clients)
        self.feeds, self.room = feeds, room
        self.left: set[tuple[int, int]] = set()  # (origin, client): another reader is there
        self.changed: set[tuple[int, str]] = set()  # feeds of readers beside the one that polled
        self._names, self._roaming = dict(names), set(roaming)
        self._holders: dict[tuple[str, str, str | float], set[int]] = defaultdict(set)
        for (client, document), feed in feeds.items():
            self._hold(client, names.get(client, ""), document, feed)

    def identify(self, poll: PollGroup, document: str, at: float) -> Attribution:
        """The reader that made this poll of `document` (seconds since 1970); perhaps a new one."""
        if poll.origin == NOBODY:
            return Attribution(NOBODY)
        agent, present = parse_agent(poll.agent), self.clients_at[poll.origin]
        if present and agent.one_program:
            return Attribution(present[0])
        sighting = _Sighting(poll, agent.name, document, poll.validators, at)
        candidates = [client for client in present if (client, document) in self.feeds]
        if not candidates:
            if (joined := self._elsewhere(sighting)) is not None:
                return joined
            return (
                Attribution(present[-1])
                if present
                else Attribution(self._new(poll.origin, agent.name))
            )
        if not sighting.sent and poll.status != 304:
            return self._without_tag(candidates, document, at)
        return self._with_tag(sighting, candidates)

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
        for held in (feed.tag, date_of(feed), f"before {feed.tag_before}"):
            self._holders[name, document, held].add(client)

    def _with_tag(self, sighting: _Sighting, candidates: list[int]) -> Attribution:
        _, name, document, sent, at = sighting
        holders = [c for c in candidates if holds_one_of(self.feeds[c, document], sent)]
        if holders or not sent or "*" in sent:
            best = self._best(holders or candidates, document, at)
            feed = self.feeds[best.client, document]
            if holders and unexpected(feed, at):
                if visiting := [c for c in holders if same_visit(self.feeds[c, document], at)]:
                    return self._best(visiting, document, at)
                claimed = self._claimed(sighting, candidates, due_only=True)
                return claimed or self._elsewhere(sighting, due_only=True) or best
            return best
        visiting = [c for c in candidates if self._visits(c, document, sent, at)]
        moved = self._holding(name, document, sent) & self._roaming
        if visiting and not self._on_the_dot(moved, document, at):
            return self._best(visiting, document, at)
        if (claimed := self._claimed(sighting, candidates)) is not None:
            return claimed
        if forgetful := [c for c in candidates if self.feeds[c, document].tag_before in sent]:
            return self._forgetful(sighting, candidates, forgetful)
        return self._elsewhere(sighting) or self._best(candidates, document, at)

    def _without_tag(self, candidates: list[int], document: str, at: float) -> Attribution:
        """A poll without validators from an address with readers: one of them again, or another."""
        feeds = {client: self.feeds[client, document] for client in candidates}
        if visiting := [c for c, feed in feeds.items() if same_visit(feed, at)]:
            return self._best(visiting, document, at)._replace(provisional=True)
        careless = [c for c, feed in feeds.items() if not feed.returned]
        late = [c for c, feed in feeds.items() if came_late(feed, at)]
        full = [c for c, feed in feeds.items() if len(feed.given) >= MOST_GIVEN]
        if again := careless or late or full:
            attribution = self._best(again, document, at)
            feed = feeds[attribution.client]
            remember(feed, (feed.last_at, feed.told_minutes, feed.max_age, feed.seen_at, feed.tag))
            steady = came_on_time(feed, at) or keeps_rhythm(feed, at)
            return attribution._replace(unsure=attribution.unsure or not steady)
        return self._best(candidates, document, at)._replace(provisional=True)

    def _claimed(
        self, sighting: _Sighting, candidates: list[int], due_only: bool = False
    ) -> Attribution | None:
        """A new reader that holds an unclaimed copy; perhaps only one that is due."""
        poll, name, document, sent, at = sighting
        for client in candidates:
            feed = self.feeds[client, document]
            for copy in feed.given:
                claim = feed_of(copy)
                fits = same_visit(claim, at) or came_on_time(claim, at) or not due_only
                if holds_one_of(claim, sent) and fits and self.room > 0:
                    feed.given.remove(copy)
                    self.changed.add((client, document))
                    return Attribution(self._sibling(poll.origin, name, document, claim))
        return None

    def _sibling(self, origin: int, name: str, document: str, feed: ReaderFeed) -> int:
        """A reader of this origin that does not know the document yet, else a new one."""
        present = self.clients_at[origin]
        free = next((c for c in present if (c, document) not in self.feeds), None)
        client = self._new(origin, name) if free is None else free
        feed.returned, feed.origin = True, origin
        self.feeds[client, document] = feed
        self._hold(client, name, document, feed)
        return client

    def _forgetful(
        self, sighting: _Sighting, candidates: list[int], forgetful: list[int]
    ) -> Attribution:
        """A poll with the tag before the last: the reader does not keep tags, or there are two."""
        poll, name, document, _, at = sighting
        for client in forgetful:
            last = self.feeds[client, document].origin
            if last not in (poll.origin, poll.before, 0) and self.room > 0:
                self.clients_at[poll.origin].remove(client)
                self.left.add((poll.origin, client))
                return self._elsewhere(sighting) or Attribution(self._new(poll.origin, name))
        feeds = [self.feeds[client, document] for client in candidates]
        uncounted = any(feed.foreign for feed in feeds) and all(feed.returned for feed in feeds)
        if uncounted and self.room > 0:
            return Attribution(self._new(poll.origin, name))
        return self._best(forgetful, document, at)

    def _elsewhere(self, sighting: _Sighting, due_only: bool = False) -> Attribution | None:
        """The reader of this program that holds the tag, seen at another address until now."""
        poll, name, document, sent, at = sighting
        present = self.clients_at[poll.origin]
        settled = due_only and self._roaming.isdisjoint(present)
        holding = self._holding(name, document, sent)
        absent = (holding & self._roaming if settled else holding).difference(present)
        if poll.since and not poll.tags:
            absent = {c for c in absent if holds_one_of(self.feeds[c, document], sent)}
        roaming = [c for c in absent if c in self._roaming]
        # A new address is more likely a roaming reader's.
        likely = [c for c in roaming if not came_early(self.feeds[c, document], at)]
        if not likely and not settled:
            likely = [c for c in absent if came_on_time(self.feeds[c, document], at)]
        if not due_only:
            before = self._holding(name, document, (f"before {tag}" for tag in sent))
            visitors = absent | before.difference(present)
            likely = self._still_visiting(sighting, visitors, likely) or likely
        if not likely and not due_only:
            likely = list(absent) if len(absent) == 1 else roaming
        if not likely or "*" in sent:
            return None
        attribution = self._best(sorted(likely), document, at)
        present.append(attribution.client)
        self._roaming.add(attribution.client)
        return attribution._replace(unsure=len(absent) > 1 and len(likely) != 1)

    def _still_visiting(self, sighting: _Sighting, visitors: set[int], due: list[int]) -> list[int]:
        """Of `visitors`, those that polled elsewhere seconds ago. None if one of `due` is expected
        right now; one that never moved only if it is the only candidate."""
        _, _, document, sent, at = sighting
        if self._on_the_dot(due, document, at):
            return []
        feeds = {client: self.feeds[client, document] for client in visitors}
        lately = [
            client
            for client, feed in feeds.items()
            if same_visit(feed, at) and (holds_one_of(feed, sent) or feed.tag_before in sent)
        ]
        return [c for c in lately if c in self._roaming] or (lately if len(visitors) == 1 else [])

    def _visits(self, client: int, document: str, sent: set[str | float], at: float) -> bool:
        """Whether a reader polls again in the same visit: with its previous tag, as the answer was
        lost, or with that of a copy that it has just fetched without a tag."""
        feed = self.feeds[client, document]
        if same_visit(feed, at):
            return feed.tag_before in sent
        fetched = any(copy[4] in sent and same_visit(feed_of(copy), at) for copy in feed.given)
        return fetched and not came_early(feed, at)

    def _best(self, clients: Sequence[int], document: str, at: float) -> Attribution:
        """The reader whose interval fits best; of equals, the one that waited longest."""
        if len(clients) == 1:
            return Attribution(clients[0])
        ranked = sorted(
            (round(self._cost(feed, at), 3), feed.rhythm <= 0.0, feed.last_at, client)
            for client in clients
            for feed in (self.feeds[client, document],)
        )
        best, *runners_up = ranked
        return Attribution(
            best[-1], unsure=any(candidate[0] <= best[0] + SAME_COST for candidate in runners_up)
        )

    def _cost(self, feed: ReaderFeed, at: float) -> float:
        interval = max(at - feed.last_at, 1.0)
        expected = [feed.told_minutes * 60.0, float(feed.max_age), feed.rhythm]
        cost = min(abs(log(interval / span)) for span in expected if span > 0.0)
        return cost + STALE * (interval > 3.0 * max(expected) + 3600.0)

    def _holding(self, name: str, document: str, tags: Iterable[str | float]) -> set[int]:
        """The readers of a program that hold one of these tags; of too many, the roaming ones."""
        holding: set[int] = set()
        holding = holding.union(*(self._holders.get((name, document, tag), ()) for tag in tags))
        return holding if len(holding) <= MOST_CANDIDATES else holding & self._roaming

    def _on_the_dot(self, clients: Iterable[int], document: str, at: float) -> bool:
        """Whether one of them is expected at this very moment."""
        return any(self._cost(self.feeds[c, document], at) <= SAME_COST for c in clients)

    def _new(self, origin: int, name: str) -> int:
        if self.room <= 0:
            return NOBODY
        self.room -= 1
        client = secrets.randbits(62) + 1
        self.clients_at[origin].append(client)
        self._names[client] = name
        return client


def unexpected(feed: ReaderFeed, at: float) -> bool:
    """Whether a poll comes too early for this reader, by what it was told and by its interval."""
    return came_early(feed, at) and not keeps_rhythm(feed, at)
