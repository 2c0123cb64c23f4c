"""The Publish button's promise against what happens: "41 of 58 people have it by 09:20".

A week of the real site under a shifted clock, with readers of several kinds. What they have is read
from the bodies that they are sent, not from the program's own counts.
"""

import random
import re
from collections.abc import Callable, Generator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from heapq import heapify, heappop, heappush

import pytest
from flask import Flask

from publisher.blog import update_log
from publisher.dynamic_ttl.core.replay.when_to_publish import Reach, hours_ahead, reach_now
from publisher.installation import Site
from publisher.installation.settings import load_settings
from publisher.parts.readers.fold import fold
from publisher.parts.readers.reporting.audience import AudienceReader, audience
from tests.conftest import FakeClock
from tests.factories import make_post
from tests.parts.readers.simulated import Week

pytestmark = pytest.mark.any_database

MONDAY = datetime(2024, 3, 4, 6, tzinfo=UTC)
UNDO = timedelta(minutes=1)
NNW, NEWSBOAT = "NetNewsWire (RSS Reader; https://netnewswire.com/)", "newsboat/2.38.0 (Linux)"
FEEDLY, INOREADER = "Feedly/1.0 (+https://feedly.com; 42 subscribers)", "Inoreader/1.0 (9 readers)"

Wait = Callable[[float, float, datetime], float]  # ttl and max-age in minutes, now -> minutes


@dataclass
class Person:
    """A program that polls, the people behind it, and when it had which post."""

    agent: str
    people: int
    wait: Wait
    had: dict[int, datetime] = field(default_factory=dict)
    tag: str = ""
    ttl: float = 60.0

    def poll(self, app: Flask, address: str, now: datetime) -> float:
        """One poll; the minutes until the next one."""
        headers = {"User-Agent": self.agent} | ({"If-None-Match": self.tag} if self.tag else {})
        answer = app.test_client().get("/rss.xml", headers=headers,
                                    environ_base={"REMOTE_ADDR": address})  # fmt: skip
        if answer.status_code == 200:
            self.tag = answer.headers["ETag"]
            self.ttl = float((re.search(r"<ttl>(\d+)", answer.text) or ["", "60"])[1])
            for post in re.findall(r"<title>Number (\d+)", answer.text):
                self.had.setdefault(int(post), now)
        max_age = int(answer.headers["Cache-Control"].rpartition("=")[2]) / 60.0
        return self.wait(self.ttl, max_age, now)


def everybody(rng: random.Random) -> list[Person]:
    """Services, desktop programs, phones, and what reads for nobody."""

    def every(minutes: float, share: float = 0.01) -> Wait:
        return lambda _ttl, _max_age, _now: minutes * rng.uniform(1 - share, 1 + share)

    def header(_ttl: float, max_age: float, _now: datetime) -> float:
        return max_age + rng.uniform(0.1, 1.0)

    def element(ttl: float, _max_age: float, _now: datetime) -> float:
        return ttl + rng.uniform(0.1, 1.0)

    def both(ttl: float, max_age: float, _now: datetime) -> float:
        return max(ttl, max_age) + rng.uniform(0.1, 1.0)

    def laptop(_ttl: float, max_age: float, now: datetime) -> float:
        closed = rng.uniform(480, 600) if now.hour >= 22 else rng.choice((0, 0, 0, 150))
        return max_age + closed

    return [
        Person(FEEDLY, 42, every(30)),
        Person(INOREADER, 9, every(60)),
        *(Person(NNW, 1, header) for _ in range(3)),
        *(Person(NEWSBOAT, 1, element) for _ in range(2)),
        *(Person("FreshRSS/1.26.1 (Linux; https://freshrss.org)", 1, every(60)) for _ in range(2)),
        Person("Miniflux/2.2.9 (+https://miniflux.app)", 1, both),
        *(Person("Reeder/5.4 (Mac)", 1, laptop) for _ in range(2)),
        Person("python-requests/2.32", 0, every(90)),
        Person("hourly-script/0.3", 0, every(60)),
        Person("UptimeRobot/2.0", 0, every(30)),
    ]


@dataclass(frozen=True)
class Forecast:
    """What was said of a post, and of it with readers whose last polls were mixed up."""

    number: int
    reach: Reach
    wrong: Reach


@dataclass
class Watched(Week):
    """The week, with moments at which somebody looks at the button and presses it."""

    due: list[datetime] = field(default_factory=list)

    def watch(
        self, readers: list[Person], moments: list[datetime], ahead: int | None
    ) -> list[Forecast]:
        """Let the week pass; ahead: schedule for that hour of those that are offered, not now."""
        forecasts: list[Forecast] = []
        heap: list[tuple[datetime, int]] = [
            (self.clock() + timedelta(minutes=self.rng.uniform(0, 60)), number)
            for number in range(len(readers))
        ]
        heap += [(moment, -1) for moment in moments]
        heapify(heap)
        end = max(moments) + timedelta(hours=26)
        while heap[0][0] < end:
            at, number = heappop(heap)
            self.go_to(at)
            if number < 0:
                forecasts.append(self.press(len(forecasts), ahead))
                continue
            wait = readers[number].poll(self.app, f"192.0.2.{number}", at)
            heappush(heap, (at + timedelta(minutes=wait), number))
        return forecasts

    def go_to(self, moment: datetime) -> None:
        """As in a week, but what is due is done at quarters of an hour, and when a post is."""
        due = [at for at in self.due if at <= moment]
        quarter = moment.replace(minute=moment.minute // 15 * 15, second=0, microsecond=0)
        if due or quarter > self.clock():
            self.due = [at for at in self.due if at > moment]
            super().go_to(moment)
        self.clock.moment = moment

    def press(self, number: int, ahead: int | None) -> Forecast:
        """Look, then publish."""
        now = self.clock()
        self.app.extensions["polls"].flush()
        fold(self.site.database, 15)
        with self.site.database.read() as session:
            readers = audience(session, now)
            log, rule = update_log.load(session), load_settings(session).rule
        mixed = mixed_up(readers)
        if ahead is None:
            reach, wrong = reach_now(readers, now, now + UNDO), reach_now(mixed, now, now + UNDO)
        else:
            reach = hours_ahead(log, now, rule, readers)[ahead]
            wrong = hours_ahead(log, now, rule, mixed)[ahead]
        assert reach is not None
        assert wrong is not None
        self.due.append(reach.at)
        make_post(self.site, at=reach.at, title=f"Number {number}")
        return Forecast(number, reach, wrong)


def mixed_up(readers: list[AudienceReader]) -> list[AudienceReader]:
    """The same people, but each reader's last poll is thought to be half an interval earlier."""
    return [
        replace(reader, last_at=reader.last_at - reader.wait_seconds / 2 * (reader.due > 0))
        for reader in readers
    ]


@pytest.fixture
def week(site: Site, app: Flask, clock: FakeClock) -> Generator[Watched]:
    clock.moment = MONDAY
    watched = Watched(site, app, clock, random.Random(7))
    watched.remember(21)
    yield watched
    app.extensions["polls"].stop()


def had_by(readers: list[Person], number: int, by: datetime) -> int:
    """How many people really had a post by a moment."""
    return sum(
        reader.people for reader in readers if number in reader.had and reader.had[number] <= by
    )


def rows_of(forecasts: list[Forecast], readers: list[Person]) -> list[tuple[int, int, int, int]]:
    """Of each forecast: people it said, people who had the post, all people, minutes."""
    return [
        (reach.have, had_by(readers, forecast.number, reach.by), reach.people, round(reach.minutes))
        for forecast in forecasts
        for reach in (forecast.reach,)
    ]


def mean_error(forecasts: list[tuple[int, Reach]], readers: list[Person]) -> float:
    """The mean of |people told - people who had it|, as a share of all people."""
    misses = [abs(reach.have - had_by(readers, number, reach.by)) for number, reach in forecasts]
    people = sum(reader.people for reader in readers)
    return sum(misses) / len(misses) / people


def test_so_many_people_have_it_by_then(week: Watched) -> None:
    """Twenty-one posts of a week, day and night: the number is right within a few people in a
    hundred, and one that has the readers' phases wrong would not be."""
    readers = everybody(random.Random(3))
    clocks = ((7, 10), (9, 35), (12, 50), (16, 20), (19, 25), (22, 40), (3, 5))
    moments = [
        MONDAY.replace(hour=0) + timedelta(days=day, hours=hour, minutes=minute + day)
        for day in range(1, 8)
        for hour, minute in clocks[day % 3 :: 3] + clocks[day % 2 :: 6]
    ][:21]
    forecasts = week.watch(readers, moments, None)
    # Of a service due within the minute nothing is sure: its waits differ by 18 seconds, so it may
    # come just before the post, and again after half an hour.
    sure = [forecast for forecast in forecasts if round(forecast.reach.minutes) > 1]
    error = mean_error([(forecast.number, forecast.reach) for forecast in sure], readers)
    wrong = mean_error([(forecast.number, forecast.wrong) for forecast in sure], readers)
    rows = rows_of(forecasts, readers)
    print(f"error {error:.3f}, with wrong phases {wrong:.3f}: {rows}")
    assert len(forecasts) == 21
    assert {forecast.reach.people for forecast in forecasts} == {
        sum(reader.people for reader in readers)
    }
    assert len({round(forecast.reach.minutes) for forecast in forecasts}) > 8, "the times differ"
    assert all(
        had_by(readers, forecast.number, forecast.reach.by) >= forecast.reach.have
        for forecast in sure
    ), rows
    assert error <= 0.05 < wrong, rows


def test_the_hour_that_is_offered_keeps_its_promise(week: Watched) -> None:
    """Posts scheduled in the evening for the next morning: as many as told, or up to a quarter
    more, as readers with an interval of their own are only known to come within it."""
    readers = everybody(random.Random(4))
    moments = [MONDAY.replace(hour=20, minute=10) + timedelta(days=day) for day in range(2, 7)]
    forecasts = week.watch(readers, moments, 12)
    rows = rows_of(forecasts, readers)
    print(rows)
    assert all(0 <= had - have <= 0.25 * people for have, had, people, _ in rows), rows
