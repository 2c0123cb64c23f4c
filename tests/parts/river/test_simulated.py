"""The river and the simulator agree: same policies, same feeds, same seconds."""

import asyncio
import itertools
import random
from bisect import bisect_right
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from publisher.base.dates import format_rfc822
from publisher.feed_fetching.answers import Credentials, HttpResult, Validators
from publisher.installation import Site
from publisher.parts.river.following import subscriptions
from publisher.parts.river.tables import RiverFeed, RiverVisit
from tests.conftest import FakeClock
from tests.parts.river.fast import FastRounds
from tests.parts.river.test_worker import OPTIONS

pytest.importorskip("numpy")


from publisher.dynamic_ttl.core.polling import PollPolicy, parse
from publisher.simulator.poll_trace import walk
from publisher.simulator.publishers import parse_publisher
from publisher.simulator.replaying.on_demand import Documents
from publisher.simulator.timelines import Timeline, cut, read_timeline

pytestmark = pytest.mark.any_database
FOLDER = Path(__file__).parents[4] / "shared" / "timelines"
needs_timelines = pytest.mark.skipif(not FOLDER.is_dir(), reason="the timelines are not here")
DAYS, WINDOW = 30, 20
HOUR, DAY = 3600, 86400
LEARNING = 3 * DAY  # seconds that the publishers have seen before the river comes
MARCH = datetime(2024, 3, 1, tzinfo=UTC)
CASES = [
    ("linux-unplugged", "ttl"),
    ("natalian", "doubling"),
    ("hugo-releases", "weekly-average"),
    ("coder-radio", "delay-skip"),
    ("davenet", "histogram"),
    ("lifehacker", "attentive"),
]
DAYS_OF_THE_BUSIEST = {"lifehacker": 5}  # as many polls as the others make in a month


class Publishers:
    """Answers as the timelines' publishers would at the clock's moment, without sockets."""

    def __init__(self, clock: FakeClock) -> None:
        self._clock = clock
        self.readers = asyncio.Semaphore(2)
        self.feeds: dict[str, tuple[list[int], list[int], list[int]]] = {}

    def publish(self, url: str, timeline: Timeline, documents: Documents) -> None:
        """Be the publisher of `timeline` at `url`."""
        lists = documents.as_lists()
        self.feeds[url] = (list(timeline.times), list(lists.built), list(lists.ttls))

    @asynccontextmanager
    async def open(self, **_: Any) -> AsyncIterator["Publishers"]:
        yield self

    def stop_waiting(self) -> None:
        """Nobody waits for a turn here."""

    async def fetch(
        self,
        url: str,
        validators: Validators,
        _credentials: Credentials | None,
        _held: object,
        **_: object,
    ) -> HttpResult:
        """200 with the newest items and the ttl of the moment, or 304 when neither changed."""
        times, built, ttls = self.feeds[url]
        now = int(self._clock().timestamp())
        last = bisect_right(times, now)
        ttl = ttls[max(bisect_right(built, now) - 1, 0)]
        tag = f'"{last}-{ttl}"'
        headers = {"etag": tag, "cache-control": f"max-age={ttl * 60}"}
        if validators.etag == tag:
            return HttpResult(url, url, 304, headers, conditional=True)
        newest = times[max(last - WINDOW, 0) : last]
        return HttpResult(url, url, 200, headers, _document(newest, ttl))


def _document(moments: Sequence[int], ttl_minutes: int) -> bytes:
    items = "".join(
        f"<item><title>t</title><guid>{at}</guid>"
        f"<pubDate>{format_rfc822(datetime.fromtimestamp(at, UTC))}</pubDate></item>"
        for at in reversed(moments)
    )
    head = f"<title>x</title><link>http://x.example/</link><ttl>{ttl_minutes}</ttl>"
    return f'<rss version="2.0"><channel>{head}{items}</channel></rss>'.encode()


def _last_month(name: str) -> Timeline:
    whole = read_timeline(FOLDER / f"{name}.csv", "UTC")
    last = cut(whole, last_days=DAYS + 30)
    return replace(last, start=whole.end - (DAYS + 30) * 86400)  # watched before there was anything


@needs_timelines
@pytest.mark.parametrize(("name", "policy"), CASES)
def test_thirty_days_like_the_simulator(
    site: Site, clock: FakeClock, monkeypatch: pytest.MonkeyPatch, name: str, policy: str
) -> None:
    """A feed under each of six policies for thirty days, the busiest for five: the instants of all
    polls are equal."""
    publishers = Publishers(clock)
    monkeypatch.setattr("publisher.parts.river.worker.open_fetcher", publishers.open)
    timeline = _last_month(name)
    documents = parse_publisher("forward:freshness=ttl,etag=document")(timeline)
    url = "http://feed.example/rss"
    publishers.publish(url, timeline, documents)
    begin = datetime.fromtimestamp(timeline.start + LEARNING + 1234, UTC)
    end = begin + timedelta(days=DAYS_OF_THE_BUSIEST.get(name, DAYS))
    clock.moment = begin
    with site.database.write() as db:
        subscriptions.subscribe(db, url, begin, begin, policy=policy)
    FastRounds(site, clock, OPTIONS).go(end)
    with site.database.read() as db:
        polled = db.scalars(select(RiverVisit.at).order_by(RiverVisit.at)).all()
    simulated = walk(timeline, documents, parse(policy), int(begin.timestamp()), WINDOW)
    expected = [poll.at for poll in simulated if poll.at <= end.timestamp()]
    assert len(expected) >= 10
    assert [int(at.timestamp()) for at in polled] == expected


@dataclass(frozen=True)
class Case:
    """One of many publishers: a month out of a timeline, and the policy it is followed with."""

    url: str
    spec: str
    timeline: Timeline
    documents: Documents


def _cases(number: int, quiet: int) -> list[Case]:
    """Months at random out of all timelines, with some days to learn from before, all at MARCH.

    The policies take turns; all but the first six publishers make at most `quiet` updates.
    """
    rng = random.Random(200)
    paths = sorted(path for path in FOLDER.glob("*.csv") if path.stem not in ("index", "holes"))
    wholes = itertools.cycle([read_timeline(path, "UTC") for path in paths])
    publish, specs = (
        parse_publisher("forward:freshness=ttl,etag=document"),
        [spec for _, spec in CASES],
    )
    cases: list[Case] = []
    while len(cases) < number:
        month = _some_month(next(wholes), rng)
        if month is not None and (len(cases) < len(specs) or len(month.times) <= quiet):
            place = len(cases)
            spec = specs[(place + place // len(specs)) % len(specs)]
            cases.append(Case(f"http://h{place}.example/rss", spec, month, publish(month)))
    return cases


def _some_month(whole: Timeline, rng: random.Random) -> Timeline | None:
    """A month of `whole`, moved to MARCH; None when nothing happened in it."""
    seconds = LEARNING + DAYS * DAY + HOUR
    start = rng.randrange(whole.start, max(whole.end - seconds, whole.start + 1))
    if not any(start <= at < start + seconds for at in whole.times):
        return None
    part = cut(whole, start, start + seconds)
    moved = int(MARCH.timestamp()) - LEARNING - start
    times = [at + moved for at in part.times]
    end = start + seconds + moved
    return replace(part, times=times, start=part.start + moved, end=end, holes=())


def _ticking(spec: str) -> PollPolicy:
    """The policy `spec` of a client whose clock shows full hours only."""
    policy = parse(spec)

    def decide(state: Sequence[float], options: Sequence[float], now: int) -> tuple[int, int, int]:
        wait, valid_until, reason = policy.rule.decide(list(state), options, now)
        return -(-(now + wait) // HOUR) * HOUR - now, valid_until, reason

    return replace(policy, rule=replace(policy.rule, decide=decide))


@needs_timelines
def test_thirty_days_with_two_hundred_publishers(
    site: Site, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One river, 200 feeds, six policies: each feed is polled at the simulator's instants.

    The clock shows full hours only, to the simulator's clients as well, so that the river meets
    many due feeds at once, as it does in life.
    """
    publishers = Publishers(clock)
    monkeypatch.setattr("publisher.parts.river.worker.open_fetcher", publishers.open)
    cases = _cases(200, quiet=50)
    with site.database.write() as db:
        for case in cases:
            publishers.publish(case.url, case.timeline, case.documents)
            subscriptions.subscribe(db, case.url, MARCH, MARCH, policy=case.spec)
    clock.moment = MARCH
    wide = replace(OPTIONS, in_flight=len(cases))
    FastRounds(site, clock, wide, step_seconds=HOUR).go(MARCH + timedelta(days=DAYS))
    polled: dict[str, list[int]] = {case.url: [] for case in cases}
    with site.database.read() as db:
        rows = select(RiverFeed.url, RiverVisit.at).join(
            RiverVisit, RiverVisit.feed_id == RiverFeed.id
        )
        for url, at in db.execute(rows.order_by(RiverVisit.at)):
            polled[url].append(int(at.timestamp()))
    for case in cases:
        simulated = walk(
            case.timeline, case.documents, _ticking(case.spec), int(MARCH.timestamp()), WINDOW
        )
        end = (MARCH + timedelta(days=DAYS)).timestamp()
        assert polled[case.url] == [poll.at for poll in simulated if poll.at <= end], case
    assert sum(map(len, polled.values())) > 10_000
