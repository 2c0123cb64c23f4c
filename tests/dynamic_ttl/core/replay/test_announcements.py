"""What a feed announced, hour by hour, against the live decision; and one reader of it."""

from datetime import UTC, datetime
from itertools import pairwise
from random import Random

import pytest

from publisher.dynamic_ttl.core.civil import DAY_SECONDS, HOUR_SECONDS, instant, seconds
from publisher.dynamic_ttl.core.polling import parse
from publisher.dynamic_ttl.core.replay import poll_worth_choices
from publisher.dynamic_ttl.core.replay.announcements import DOCUMENT, QUIET, RENEWED, Announced
from publisher.dynamic_ttl.core.replay.poll_worth_choices import OwnLog, announced
from publisher.dynamic_ttl.core.replay.reader_polls import walk
from publisher.dynamic_ttl.core.ttl.activity import Activity, fold, histogram
from publisher.dynamic_ttl.core.ttl.decision import build_moment, decide
from publisher.dynamic_ttl.core.ttl.rule import TtlRule

ZONE = "Europe/London"
END = seconds(datetime(2024, 4, 1, 19, tzinfo=UTC))  # clocks changed the day before
MINUTE = 60


def posts() -> list[int]:
    """Some in the morning hours of most days, some late."""
    rng = Random(7)
    return sorted(
        END - DAY_SECONDS * day + HOUR_SECONDS * rng.choice([-10, -9, 1]) + rng.randrange(5000)
        for day in range(40, 0, -1)
        for _ in range(rng.randrange(3))
    )


@pytest.mark.parametrize("freshness", ["exact", "ttl"])
def test_the_replay_announces_what_the_live_site_decides(
    monkeypatch: pytest.MonkeyPatch, freshness: str
) -> None:
    """At any moment: the ttl and the max-age of the document that would have been served."""
    monkeypatch.setattr(poll_worth_choices, "REPLAYED_DAYS", 2)
    own, rule = OwnLog(posts(), ZONE, END), TtlRule.parse(freshness=freshness)
    start = END - 3 * DAY_SECONDS
    known = fold(Activity.empty(ZONE), [instant(at) for at in own.times if at <= start])
    announcements = announced(own, known, rule)
    assert announcements.built[0] == start
    assert announcements.built[-1] < END
    assert all(earlier < other for earlier, other in pairwise(announcements.built))
    assert all(
        earlier != other for earlier, other in pairwise(announcements.ttls)
    )  # equal ones are merged
    assert bool(announcements.begins) is (freshness == "exact")
    assert all(start <= earlier < other < END for earlier, other in pairwise(announcements.begins))
    for now in range(start, END, 1717):
        activity = histogram(map(instant, own.times), instant(now), ZONE)
        decision = decide(activity, build_moment(activity.last_update, instant(now), ZONE), rule)
        assert (
            announcements.ttls[sum(at <= now for at in announcements.built) - 1]
            == decision.ttl_minutes
        )
        if announcements.begins:
            expiry = announcements.expiries[sum(at <= now for at in announcements.begins) - 1]
            assert max(expiry - now - MINUTE, MINUTE) == decision.max_age_seconds(instant(now))


ITEMS = [100, 1000, 5000]
HOURLY = Announced([0, 3600], [60, 15], [], [])


def polls(
    said: Announced, etag: int, client: str = "ttl", window: int = 20
) -> list[tuple[int, ...]]:
    """When the reader came from second 50 on, the status, the new items, and the max-age."""
    came = walk(ITEMS, 7200, said, etag, parse(client), 50, 20)
    return [
        (poll.at, poll.answer.status, poll.answer.new_items, poll.answer.max_age_seconds or 0)
        for poll in came
    ]


def test_a_reader_that_obeys_comes_when_it_was_told_to() -> None:
    """After 60 minutes, then every 15; 200 where something is new to it, else 304."""
    assert polls(HOURLY, DOCUMENT) == [
        (50, 200, 0, 3600),
        (3650, 200, 2, 900),
        (4550, 304, 0, 900),
        (5450, 200, 1, 900),
        (6350, 304, 0, 900),
    ]


def test_what_has_left_the_document_is_missed() -> None:
    """One item in the document: the older of two new ones is never seen."""
    second = list(walk(ITEMS, 7200, HOURLY, DOCUMENT, parse("ttl"), 50, 1))[1]
    assert (second.first, second.kept, second.last, second.answer.new_items) == (0, 1, 2, 1)
    assert second.answer.item_dates == (1000,)
    assert second.answer.last_modified_at == 1000


def test_a_quiet_tag_changes_with_items_only() -> None:
    """A new ttl without a new item is not sent, so the reader keeps to the old one."""
    late = HOURLY._replace(built=[0, 40])
    assert polls(late, DOCUMENT)[0][1] == 200
    early = Announced([0, 3620, 3640], [60, 30, 15], [], [])
    moved = [poll[:2] for poll in polls(early, QUIET) if poll[0] > 4000]
    assert moved == [(4550, 304), (5450, 200), (6350, 304)]
    changed = Announced([0, 4000], [15, 30], [], [])
    assert [poll[:2] for poll in polls(changed, DOCUMENT)] == [
        (50, 200), (950, 200), (1850, 200), (2750, 304), (3650, 304), (4550, 200), (6350, 200),
    ]  # fmt: skip
    assert [poll[:2] for poll in polls(changed, QUIET)] == [
        (50, 200), (950, 200), (1850, 200), (2750, 304), (3650, 304), (4550, 304), (5450, 200),
    ]  # fmt: skip


def test_headers_are_good_until_their_expiry_and_an_hour_with_news() -> None:
    """A minute less than the expiry, a minute at least; an hour where the answer brings items, but
    not with the first document."""
    announcements = Announced([0], [60], [0, 200, 4000], [500, 30, 20_000])
    assert polls(announcements, DOCUMENT, "max-age") == [
        (50, 200, 0, 390),
        (440, 200, 1, 60),
        (740, 304, 0, 60),  # five minutes are the reader's own least
        (1040, 200, 1, 60),
        *((at, 304, 0, 60) for at in range(1340, 4000, 300)),
        (4040, 304, 0, 15_900),
    ]
    late = announcements._replace(begins=[0, 4990], expiries=[5100, 20_000])
    assert polls(late, DOCUMENT, "max-age") == [(50, 200, 0, 4990), (5040, 200, 3, 3600)]


def test_in_a_long_silence_a_renewed_tag_brings_the_document_again() -> None:
    """Every four hours where max-age is two hours or more."""

    def statuses(minutes: int, etag: int) -> list[int]:
        announcements = Announced([0], [minutes], [], [])
        return [
            poll.answer.status
            for poll in walk([], 90_000, announcements, etag, parse("ttl"), 0, 20)
        ]

    assert statuses(120, RENEWED) == [200, 304] * 6 + [200]
    assert statuses(120, DOCUMENT) == [200] + [304] * 12
    assert statuses(119, RENEWED) == [200] + [304] * 12
