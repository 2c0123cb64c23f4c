"""Parity: 48 hours of the real application are what the simulator says they are.

Real database, real builds, real HTTP in process, a clock that the test moves; one reader that obeys
the ttl through the river's own policy. Three weeks of Winer's days lie before it.
"""

import re
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select

from publisher.blog import update_log
from publisher.dynamic_ttl.core.polling import Answer, parse
from publisher.installation import Site
from publisher.installation.settings import store_setting
from publisher.publishing.rebuild import rebuild
from publisher.storage.tables.blog import Update
from tests.conftest import FakeClock
from tests.factories import make_post

pytest.importorskip("numpy")

from publisher.simulator.poll_trace import walk
from publisher.simulator.publishers import parse_publisher
from publisher.simulator.timelines import from_instants

ZONE = ZoneInfo("America/New_York")
MONDAY = datetime(2024, 3, 4, tzinfo=ZONE)
HOURS = 48
FIRST_POLL_MINUTE = 7
POLICIES = "ttl", "max-age"
# Minutes after Monday 00:00 at which somebody posts; the second day is another kind of day.
POSTS = (7 * 60 + 5, 9 * 60 + 20, 9 * 60 + 22, 12 * 60 + 40, 19 * 60 + 31,
         32 * 60 + 3, 39 * 60 + 15, 45 * 60 + 59)  # fmt: skip
WINERS_HOURS = {hour: range(0, 60, 6) for hour in range(7, 14)} | {
    15: (10,), 18: (40,), 19: (5, 25, 45), 20: (5, 25, 45), 21: (5, 25),
}  # fmt: skip


def history() -> list[datetime]:
    """Three weeks of the stated day before MONDAY."""
    return [
        (MONDAY - timedelta(days=day)).replace(hour=hour, minute=minute).astimezone(UTC)
        for day in range(21, 0, -1)
        for hour, minutes in WINERS_HOURS.items()
        for minute in minutes
    ]


class Reader:
    """Polls the feed over HTTP as a policy says."""

    def __init__(self, http: FlaskClient, policy: str) -> None:
        self.http, self.policy = http, parse(policy)
        self.memory = self.policy.start()
        self.validators: dict[str, str] = {}
        self.seen_guids: set[bytes] = set()
        self.polls: list[int] = []
        self.announcements: list[tuple[int | None, int]] = []

    def poll(self, now: datetime) -> datetime:
        """One conditional request; when the next one is due."""
        at = int(now.timestamp())
        answer = self.http.get("/rss.xml", headers=self.validators)
        fresh = int(re.findall(r"max-age=(\d+)", answer.headers["Cache-Control"])[0])
        guids = set(re.findall(rb"<guid[^>]*>([^<]+)", answer.data))
        ttl = re.findall(rb"<ttl>(\d+)</ttl>", answer.data)
        if answer.status_code == 200:
            self.validators = {"If-None-Match": answer.headers["ETag"]}
        self.polls.append(at)
        self.announcements.append((int(ttl[0]) if ttl else None, fresh))
        announced = Answer(
            answer.status_code,
            new_items=len(guids - self.seen_guids),
            ttl_minutes=int(ttl[0]) if ttl else None,
            max_age_seconds=fresh,
        )
        self.seen_guids |= guids
        self.memory = self.policy.remember(self.memory, announced, at)
        return now + timedelta(seconds=self.policy.decide(self.memory, at).wait_seconds)


def live(site: Site, app: Flask, http: FlaskClient, clock: FakeClock) -> list[Reader]:
    """Run the application minute by minute for 48 hours: builds, posts, polls."""
    front, readers = app.extensions["front"], [Reader(http, policy) for policy in POLICIES]
    due = dict.fromkeys(readers, MONDAY + timedelta(minutes=FIRST_POLL_MINUTE))
    for minute in range(HOURS * 60):
        clock.moment = (MONDAY + timedelta(minutes=minute)).astimezone(UTC)
        if minute in POSTS:
            make_post(site, f"Posted at minute {minute}.")
        if minute in POSTS or minute % 60 == 0:
            rebuild(site)
            front.refresh()
        for reader in sorted(readers, key=lambda number: due[number]):  # those of this minute
            if due[reader] < clock.moment.replace(second=0) + timedelta(minutes=1):
                clock.moment = due[reader].astimezone(UTC)
                due[reader] = reader.poll(clock())
    return readers


def test_48_hours_live_and_simulated_are_the_same(
    site: Site, app: Flask, client: FlaskClient, clock: FakeClock
) -> None:
    """The same element and the same headers at every poll, and the same seconds of polling, for a
    reader of the element and for one of the headers."""
    clock.moment = MONDAY.astimezone(UTC)
    with site.database.write() as db:
        store_setting(db, "timezone", "America/New_York")
        update_log.record_all(db, history(), "loaded")
    readers = live(site, app, client, clock)

    with site.database.read() as db:
        log = [int(at.timestamp()) for at in db.scalars(select(Update.at))]
    end = MONDAY + timedelta(hours=HOURS)
    line = from_instants("live", log, "America/New_York", int(end.timestamp()))
    start = MONDAY + timedelta(minutes=FIRST_POLL_MINUTE)
    documents = parse_publisher("forward")(line)
    for reader in readers:
        polls = list(walk(line, documents, reader.policy, int(start.timestamp())))
        assert [poll.at for poll in polls] == reader.polls
        announced = [(poll.answer.ttl_minutes, poll.answer.max_age_seconds) for poll in polls]
        assert announced == reader.announcements
        assert len(set(announced)) > 8
    assert len(log) == len(history()) + len(POSTS)
