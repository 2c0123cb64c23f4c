"""When to publish: what is foretold of readers against what the simulator's readers do."""

from datetime import UTC, datetime, timedelta
from random import Random

import pytest

from publisher.core.replay.reader_groups import USUAL_READERS, ReaderGroup, group_by_habit
from publisher.core.replay.when_to_publish import PublishingAdvice, Reach, in_words, when_to_publish
from publisher.core.ttl.activity import Activity, histogram
from publisher.core.ttl.rule import TtlRule

MONDAY = datetime(2024, 5, 6, tzinfo=UTC)
DAY = timedelta(days=1)


def author(until: datetime, days: int = 60) -> list[datetime]:
    """Four posts a day between 9 and 12, one in the evening."""
    rng = Random(8)
    return sorted(
        until.replace(hour=0) - DAY * day + timedelta(minutes=minute)
        for day in range(days, 0, -1)
        for minute in [*(540 + rng.randrange(180) for _ in range(4)), 1200 + rng.randrange(60)]
    )


@pytest.fixture(scope="module")
def known() -> Activity:
    return histogram(author(MONDAY), MONDAY, "UTC")


def test_fixed_readers_have_it_in_parts_of_their_interval(known: Activity) -> None:
    """Half of those that come each hour within 30 minutes, three of four within 45, whenever."""
    advice = when_to_publish(known, MONDAY, TtlRule(), [ReaderGroup(1.0, 60)])
    for reach in (advice.now, *advice.later):
        assert (reach.half_minutes, reach.most_minutes) == pytest.approx((30.0, 45.0))
    assert advice.better is None
    assert in_words(advice, "UTC").endswith("no hour of the coming day is clearly better.")


def test_who_is_pushed_has_it_at_once(known: Activity) -> None:
    """A pushed reader counts as come in the first minute; a weekly one not within a day."""
    pushed = [ReaderGroup(3.0, pushed=True), ReaderGroup(1.0, 7 * 1440, most_minutes=7 * 1440)]
    advice = when_to_publish(known, MONDAY, TtlRule(), pushed)
    assert advice.now.most_minutes <= 1.0
    late = when_to_publish(known, MONDAY, TtlRule(), pushed[1:])
    assert late.now.half_minutes == float("inf")
    assert "within a day or more" in in_words(late, "UTC")


def test_listeners_are_back_for_a_post_that_is_scheduled(known: Activity) -> None:
    """In the night copies are good for hours; a post that is scheduled in the evening for the
    morning is known, and readers of the headers come within two minutes of it. Scheduled in the
    night it comes too late for those who were told before."""
    listeners = [ReaderGroup(1.0, 1, hears_headers=True)]
    night = when_to_publish(known, MONDAY.replace(hour=1), TtlRule(), listeners)
    assert night.now.most_minutes > 120.0
    assert night.better is not None
    evening = when_to_publish(known, MONDAY - timedelta(hours=4), TtlRule(), listeners)
    morning = next(reach for reach in evening.later if reach.at == MONDAY.replace(hour=8))
    assert morning.most_minutes <= 2.0
    assert next(reach for reach in night.later if reach.at == morning.at).most_minutes > 60.0


def test_the_usual_readers_are_all_of_them() -> None:
    """Their shares add up; a site's own readers are grouped by interval and verdict."""
    assert sum(group.share for group in USUAL_READERS) == pytest.approx(1.0)
    fixed = [(10, 59.6, "fixed"), (0, 60.2, "unconditional"), (1, None, "too-few")]
    found = group_by_habit([*fixed, (3, 7.0, "obedient")])
    assert found == (ReaderGroup(3, 1, hears_ttl=True, hears_headers=True), ReaderGroup(11, 60))


def test_the_advice_is_a_sentence() -> None:
    """Local time, minutes, hours."""
    later = Reach(MONDAY.replace(hour=7), 3.0, 8.4)
    advice = PublishingAdvice(Reach(MONDAY, 10.0, 20.3), (later,), later)
    told = "Now: most have it within 20 minutes; at 09:00, within 8 minutes."
    assert in_words(advice, "Europe/Berlin") == told


def test_the_prediction_is_what_happens(known: Activity) -> None:
    """Readers of the headers and hourly ones, replayed up to a post that nobody expects: half and
    most of them have it when it was foretold, at any hour."""
    pytest.importorskip("numpy")
    from publisher.simulator.clients import parse_client
    from publisher.simulator.histories.timelines import from_instants
    from publisher.simulator.publishers import parse_publisher
    from publisher.simulator.replaying.plain_replay import walk

    groups = [ReaderGroup(2, 60), ReaderGroup(1, 1, hears_headers=True)]
    foretold, happened = [], []
    for hour in (2, 5, 8, 11, 14, 17, 20, 23):
        post = MONDAY + timedelta(hours=hour, minutes=20)
        at = int(post.timestamp())
        log = [int(update.timestamp()) for update in author(MONDAY)]
        line = from_instants("log", [*log, at], "UTC", end=at + 86_400)
        documents = parse_publisher("forward")(line)
        delays = []
        for client in ("fixed:60", "fixed:60", "max-age"):
            for phase in range(24):
                start = at - 2 * 86_400 + phase * 150
                polls = walk(line, documents, parse_client(client), start)
                delays.append(next(poll.at for poll in polls if poll.at >= at) - at)
        delays.sort()
        reach = when_to_publish(known, post, TtlRule(), groups).now
        foretold += [reach.half_minutes, reach.most_minutes]
        happened += [delays[len(delays) // 2] / 60, delays[len(delays) * 3 // 4] / 60]
    misses = [abs(told - seen) for told, seen in zip(foretold, happened, strict=True)]
    assert max(happened) > 3 * min(happened)
    assert sum(misses) < 0.2 * sum(happened), (foretold, happened)
