"""The river and the simulator agree: same policies, same feeds, same seconds."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from publisher.dates import format_rfc822
from publisher.river import feeds
from publisher.river.answers import Credentials, Fetched, Validators
from publisher.site import Site
from publisher.storage.river import RiverVisit
from tests.conftest import FakeClock
from tests.river.fast import FastRounds
from tests.river.test_rounds import OPTIONS

pytest.importorskip("numpy")

from publisher.core.polling import parse
from publisher.simulator.publishers import Documents, parse_publisher
from publisher.simulator.timelines import Timeline, cut, read_timeline
from publisher.simulator.walk import walk

FOLDER = Path(__file__).parents[3] / "shared" / "timelines"
DAYS, WINDOW = 30, 20
CASES = [
    ("linux-unplugged", "ttl"),
    ("natalian", "doubling"),
    ("hugo-releases", "weekly-average"),
    ("coder-radio", "delay-skip"),
    ("davenet", "histogram"),
    ("lifehacker", "attentive"),
]


class Publishers:
    """Answers as the timelines' publishers would at the clock's moment, without sockets."""

    def __init__(self, clock: FakeClock) -> None:
        self._clock = clock
        self.feeds: dict[str, tuple[Timeline, Documents]] = {}

    @asynccontextmanager
    async def open(self, **_: Any) -> AsyncIterator[Publishers]:
        yield self

    async def fetch(
        self, url: str, validators: Validators, _credentials: Credentials | None
    ) -> Fetched:
        """200 with the newest items and the ttl of the moment, or 304 when neither changed."""
        timeline, (built, ttls) = self.feeds[url]
        now = int(self._clock().timestamp())
        last = bisect_right(timeline.times.tolist(), now)
        ttl = int(ttls[max(bisect_right(built.tolist(), now) - 1, 0)])
        tag = f'"{last}-{ttl}"'
        headers = {"etag": tag, "cache-control": f"max-age={ttl * 60}"}
        if validators.etag == tag:
            return Fetched(url, url, 304, headers, conditional=True)
        newest = timeline.times[max(last - WINDOW, 0) : last].tolist()
        return Fetched(url, url, 200, headers, _document(newest, ttl))


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


@pytest.mark.parametrize(("name", "policy"), CASES)
@pytest.mark.skipif(not FOLDER.is_dir(), reason="the timelines are not here")
def test_thirty_days_like_the_simulator(
    site: Site, clock: FakeClock, monkeypatch: pytest.MonkeyPatch, name: str, policy: str
) -> None:
    """A feed under each of six policies for thirty days: the instants of all polls are equal."""
    publishers = Publishers(clock)
    monkeypatch.setattr("publisher.river.rounds.open_fetcher", publishers.open)
    timeline = _last_month(name)
    documents = parse_publisher("forward")(timeline)
    url = "http://feed.example/rss"
    publishers.feeds[url] = (timeline, documents)
    begin = datetime.fromtimestamp(timeline.start + 3 * 86400 + 1234, UTC)
    end = begin + timedelta(days=DAYS)
    clock.moment = begin
    with site.database.write() as db:
        feeds.subscribe(db, url, begin, begin, policy=policy)
    FastRounds(site, clock, OPTIONS).go(end)
    with site.database.read() as db:
        polled = db.scalars(select(RiverVisit.at).order_by(RiverVisit.at)).all()
    told = walk(timeline, documents, parse(policy), int(begin.timestamp()), WINDOW)
    expected = [poll.at for poll in told if poll.at <= end.timestamp()]
    assert len(expected) >= 10
    assert [int(at.timestamp()) for at in polled] == expected
