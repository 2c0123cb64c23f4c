"""A day in the life of the feed: the stated day of the ttl algorithm's author, served over HTTP.

Three weeks of history, a real database, real rebuilds under a fake clock, and readers who do what
the answers tell them.
"""

import heapq
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from flask import Flask
from flask.testing import FlaskClient

from publisher.blog import update_log
from publisher.installation import Site
from publisher.installation.settings import store_setting
from publisher.publishing.rebuild import rebuild, rebuild_if_due
from tests.conftest import FakeClock
from tests.dynamic_ttl.core.ttl.test_decision import MONDAY, NEW_YORK, winers_updates
from tests.factories import make_post

HOUR, MINUTE = timedelta(hours=1), timedelta(minutes=1)


@pytest.fixture(autouse=True)
def history(site: Site, clock: FakeClock) -> None:
    """21 days of updates in New York; it is Monday, midnight there."""
    clock.moment = MONDAY.astimezone(UTC)
    with site.database.write() as db:
        store_setting(db, "timezone", NEW_YORK)
        update_log.record_all(db, winers_updates(), "loaded")
    rebuild(site)


@dataclass
class Reader:
    """Polls, keeps its validator, comes back when the answer's max-age is over."""

    client: FlaskClient
    etag: str = ""
    seen: dict[str, datetime] = field(default_factory=dict)
    polls: int = 0

    def poll(self, now: datetime) -> datetime:
        """Read the feed; returns when to come again."""
        headers = {"If-None-Match": self.etag} if self.etag else {}
        answer = self.client.get("/rss.xml", headers=headers)
        self.polls += 1
        self.etag = answer.headers["ETag"]
        for title in re.findall(r"<item>\s*<title>([^<]*)", answer.text):
            self.seen.setdefault(title, now)
        (seconds,) = re.findall(r"max-age=(\d+)", answer.headers["Cache-Control"])
        return now + timedelta(seconds=int(seconds))


def test_24_hourly_decisions(app: Flask, client: FlaskClient, site: Site, clock: FakeClock) -> None:
    """Without a post all day: 15 in the morning, 60 in the afternoon, 15 before and in the evening,
    480 when the day is done; never a value that sleeps past 8 h, in document or headers."""
    announced: dict[int, int] = {}
    for _ in range(24):
        rebuild_if_due(site)
        app.extensions["front"].refresh()
        answer = client.get("/rss.xml")
        (minutes,) = re.findall(r"<ttl>(\d+)</ttl>", answer.text)
        announced[clock().astimezone(ZoneInfo(NEW_YORK)).hour] = int(minutes)
        (seconds,) = re.findall(r"max-age=(\d+)", answer.headers["Cache-Control"])
        fresh_until = clock().astimezone(ZoneInfo(NEW_YORK)) + timedelta(seconds=int(seconds))
        assert not 8 <= fresh_until.hour < 14 or int(seconds) < 3600
        clock.forward(hours=1)
    wanted = dict.fromkeys(range(7, 14), 15) | dict.fromkeys(range(14, 18), 60)
    wanted |= {19: 15, 20: 15, 22: 480}
    wanted[17] = 15  # updates at 18:00 each day of this history: an hour would hide one
    assert {hour: announced[hour] for hour in wanted} == wanted
    for hour in (-2, -1, 0, 1, 2, 3, 4, 5, 6):  # a copy is read until the next build
        assert hour + 1 + announced[hour % 24] / 60 <= 8, announced


def test_what_an_obedient_reader_learns(app: Flask, site: Site, clock: FakeClock) -> None:
    """Whatever minute it polled in the night, no reader learns of a 7 h update more than 60
    minutes after it; and the night costs it a handful of polls."""
    evening, morning = MONDAY.replace(hour=19), MONDAY.replace(hour=7) + timedelta(days=1)
    readers = [Reader(app.test_client()) for _ in range(0, 10 * 60, 7)]
    events: list[tuple[datetime, int, str, Reader | None]] = []
    hours = [evening + number * HOUR for number in range(14)]
    news = [evening + number * 20 * MINUTE + 10 * MINUTE for number in range(9)]
    news += [morning + minutes * MINUTE for minutes in (0, 4, 29, 58)]
    starts = [MONDAY.replace(hour=21) + 7 * number * MINUTE for number in range(len(readers))]
    for at, kind, reader in (
        *((at, "hour", None) for at in hours),
        *((at, "post", None) for at in news),
        *((at, "poll", reader) for at, reader in zip(starts, readers, strict=True)),
    ):
        heapq.heappush(events, (at, len(events), kind, reader))
    counter = len(events)
    while events and events[0][0] < morning + 2 * HOUR:
        at, _, kind, reader = heapq.heappop(events)
        clock.moment = at.astimezone(UTC)
        if reader is not None:
            counter += 1
            heapq.heappush(events, (reader.poll(at), counter, "poll", reader))
            continue
        if kind == "post":
            make_post(site, "News.", title=f"{at:%H:%M}")
            rebuild(site)
        rebuild_if_due(site)
        app.extensions["front"].refresh()
    for start, reader in zip(starts, readers, strict=True):
        for at in news[-4:]:
            delay = reader.seen[f"{at:%H:%M}"] - at
            assert delay <= 60 * MINUTE, (start, at, delay)
    night = [
        reader.polls for start, reader in zip(starts, readers, strict=True) if start.hour == 22
    ]
    assert max(night) <= 8 + 8  # of the night, and of two hours of news
