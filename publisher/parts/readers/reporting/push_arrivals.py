"""Whether push works: fetches within a minute of a ping, and after how many seconds they came.

Only fetches of something new to the reader count. A reader that would have come anyway in that
minute is counted too; with few readers that is rare.
"""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import NamedTuple
from urllib.parse import urlsplit

from sqlalchemy import select
from sqlalchemy.orm import Session

from publisher.part import other_feed_at
from publisher.parts.readers.agents import is_hub
from publisher.parts.readers.poll_batches import BROUGHT, PollGroup
from publisher.parts.readers.sums import merged, quantile
from publisher.parts.readers.tables import PushArrival
from publisher.storage.tables.publishing import Delivery

PINGS = ("websub", "rsscloud")  # these make readers fetch; mentions and purges do not
WITHIN_SECONDS = 60.0


class _Ping(NamedTuple):
    at: float
    delivery_id: int
    protocol: str
    mirror: str


@dataclass(frozen=True, slots=True)
class PushResult:
    """The effect of the pings to one hub or cloud. `pings` were accepted, `answered` of them were
    followed by a fetch; `arrivals`: all these fetches, of which `hub_fetches` were by hubs."""

    target: str
    pings: int
    answered: int
    arrivals: int
    hub_fetches: int
    median_seconds: int | None


class Arrivals:
    """The pings that may have caused polls between two moments (milliseconds), and the fetches that
    followed them."""

    def __init__(self, session: Session, first_ms: int, last_ms: int) -> None:
        begin = datetime.fromtimestamp(first_ms / 1000, UTC) - timedelta(seconds=WITHIN_SECONDS)
        end = datetime.fromtimestamp(last_ms / 1000, UTC)
        rows = session.execute(
            select(Delivery.delivered_at, Delivery.id, Delivery.protocol, Delivery.topic)
            .where(Delivery.delivered_at >= begin, Delivery.delivered_at <= end)
            .where(Delivery.protocol.in_(PINGS))
            .order_by(Delivery.delivered_at)
        )
        self._pings = [
            _Ping(at.timestamp(), number, name, _mirror_of(topic))
            for at, number, name, topic in rows
            if at
        ]
        self._times = [ping.at for ping in self._pings]
        self._delays: dict[int, Counter[int]] = defaultdict(Counter)
        self._hubs: Counter[int] = Counter()

    def count(self, at: float, poll: PollGroup, news: bool, polls: int) -> None:
        """Count equal fetches for the last ping that may have caused them.

        For a hub's own fetch a WebSub ping is preferred, for a reader's an rssCloud ping: hubs
        bring readers the content themselves.
        """
        if not self._pings or poll.status not in BROUGHT or poll.method != "GET":
            return
        hub = is_hub(poll.agent)
        if not (news or hub):
            return
        index = bisect_right(self._times, at)
        before = [ping for ping in self._pings[:index] if ping.mirror == other_feed_at(poll.path)]
        near = [ping for ping in before if at - ping.at <= WITHIN_SECONDS]
        cloud = [ping for ping in near if ping.protocol == "rsscloud"]
        last = ([ping for ping in near if ping.protocol == "websub"] if hub else cloud) or near
        if last:
            ping = last[-1]
            self._delays[ping.delivery_id][round(at - ping.at)] += polls
            self._hubs[ping.delivery_id] += hub * polls

    def save(self, session: Session) -> None:
        """Add what was counted to the table."""
        for delivery_id, delays in self._delays.items():
            row = session.get(PushArrival, delivery_id)
            if row is None:
                row = PushArrival(delivery_id=delivery_id, hub=0, delays={})
                session.add(row)
            total = _counted(row.delays)
            total.update(delays)
            row.hub += self._hubs[delivery_id]
            row.delays = {str(span): count for span, count in sorted(total.items())}


def results(session: Session, begin: datetime, mirror: str = "") -> list[PushResult]:
    """The effect of pings since `begin`, by target: those for the blog's feeds, or a mirror's."""
    rows = session.execute(
        select(Delivery.target, PushArrival.hub, PushArrival.delays, Delivery.topic)
        .outerjoin(PushArrival, PushArrival.delivery_id == Delivery.id)
        .where(Delivery.delivered_at >= begin, Delivery.protocol.in_(PINGS))
        .order_by(Delivery.target)
    ).all()
    by_target: dict[str, list[tuple[int, Counter[int]]]] = defaultdict(list)
    for target, hub, delays, topic in rows:
        if _mirror_of(topic) == mirror:
            by_target[target].append((hub or 0, _counted(delays or {})))
    return [_push_result(target, pings) for target, pings in by_target.items()]


def _mirror_of(topic: str) -> str:
    return other_feed_at(urlsplit(topic).path)


def _push_result(target: str, pings: Sequence[tuple[int, Counter[int]]]) -> PushResult:
    delays = merged(spans for _, spans in pings)
    answered, by_hubs = sum(bool(spans) for _, spans in pings), sum(hub for hub, _ in pings)
    median = quantile(delays, 0.5)
    return PushResult(target, len(pings), answered, delays.total(), by_hubs, median)


def _counted(delays: Mapping[str, int]) -> Counter[int]:
    return Counter({int(seconds): count for seconds, count in delays.items()})
