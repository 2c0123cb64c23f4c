"""The strip of 24 hours: heights, tones, the hairline, and the sentence under it."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from publisher.dynamic_ttl.core.civil import instant
from publisher.dynamic_ttl.core.replay.told import span
from publisher.dynamic_ttl.core.ttl.activity import Activity, fold, histogram
from publisher.dynamic_ttl.core.ttl.counts import EARLY_SECONDS, WARM_UP_DAYS, WARM_UP_UPDATES
from publisher.dynamic_ttl.core.ttl.decision import build_moment, decide
from publisher.dynamic_ttl.core.ttl.rule import TtlRule
from publisher.installation import Site
from publisher.publishing.rebuild import rebuild
from publisher.publishing.signals import signals_at
from publisher.web.day_strip import LEAST, bars, minute_of_day, own_day, strip, tone, walk
from tests.conftest import FakeClock
from tests.factories import make_post

BERLIN = "Europe/Berlin"
MORNING = datetime(2024, 3, 4, 9, 30, tzinfo=UTC)


def habit(hours: dict[int, int], days: int = 30, zone: str = "UTC") -> Activity:
    """`hours` maps an hour to its updates a day, kept up for `days` days before MORNING."""
    first = MORNING.replace(hour=0, minute=0) - timedelta(days=days)
    updates = (
        first + timedelta(days=day, hours=hour, minutes=60 * k / count)
        for day in range(days)
        for hour, count in hours.items()
        for k in range(count)
    )
    return histogram(sorted(updates), MORNING, zone)


@pytest.mark.parametrize(
    ("ttl_minutes", "shade"),
    [(1, 5), (15, 5), (20, 5), (21, 4), (60, 3), (120, 3), (240, 2), (480, 1), (10_080, 1)],
)
def test_a_tone_is_a_ttl(ttl_minutes: int, shade: int) -> None:
    """The same ttl has the same tone in every strip; shorter is never lighter."""
    assert tone(ttl_minutes) == shade


@pytest.mark.parametrize(
    ("minutes", "words"),
    [(1, "1 minute"), (15, "15 minutes"), (60, "60 minutes"), (90, "90 minutes"),
     (120, "2 hours"), (150, "150 minutes"), (480, "8 hours")],
)  # fmt: skip
def test_spans_as_people_say_them(minutes: int, words: str) -> None:
    """Hours only where they are whole."""
    assert span(minutes) == words


def test_the_busiest_hour_is_full_and_a_silent_one_still_shows() -> None:
    """Heights are in proportion to expected updates, with a floor for the tone's sake."""
    day = own_day(habit({9: 8, 14: 4}), MORNING, TtlRule())
    heights = {bar.hour: bar.height for bar in day.bars}
    assert heights[9] == 100.0
    assert heights[14] == pytest.approx(50, abs=2)
    assert heights[3] == LEAST
    assert [bar.hour for bar in day.bars] == list(range(24))


def test_now_and_scheduled_stand_in_local_time() -> None:
    """09:30 UTC is 10:30 in Berlin; posts further away than a day have no place on the strip."""
    near, far = MORNING + timedelta(hours=2), MORNING + timedelta(days=2)
    day = own_day(habit({9: 8}, zone=BERLIN), MORNING, TtlRule(), [far, near])
    assert day.now_minute == 10 * 60 + 30
    assert day.scheduled_minutes == (12 * 60 + 30,)


def test_before_five_updates_there_is_no_chart() -> None:
    """Only what apps are told, and how far the learning is."""
    activity = histogram([MORNING - timedelta(minutes=10)], MORNING, "UTC")
    day = own_day(activity, MORNING, TtlRule(freshness="ttl"))
    assert (day.bars, day.visits) == ((), ())
    assert day.told.most.startswith("An app that looks now, at 09:30, is told to wait until")
    assert f"1 of {WARM_UP_UPDATES} posts, day 1 of {WARM_UP_DAYS}" in day.told.most


def test_an_empty_log_has_an_empty_day() -> None:
    """Nothing known: no bars, and what will be seen here."""
    day = own_day(Activity.empty("UTC"), MORNING, TtlRule())
    assert (day.bars, day.visits) == ((), ())
    assert day.told.most.startswith("This blog learns your hours")


def test_no_table_no_bars() -> None:
    """A feed of which nothing is known yet can be drawn."""
    assert bars([]) == ()


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.integers(0, 60 * 86_400), max_size=60),
    st.sampled_from(["UTC", BERLIN, "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe"]),
    st.integers(0, 400 * 24 * 60),
)
def test_the_strip_tells_the_truth(offsets: list[int], zone: str, later_minutes: int) -> None:
    """For any log and moment: what the sentence says is the walk of the dots and what the headers
    say, every bar stays inside, and the hairline lies in the day."""
    start = datetime(2024, 1, 1, tzinfo=UTC)
    now = start + timedelta(days=60, minutes=later_minutes)
    activity = histogram(sorted(start + timedelta(seconds=s) for s in offsets), now, zone)
    day = own_day(activity, now, TtlRule())
    if activity.updates >= WARM_UP_UPDATES:
        built = build_moment(activity.last_update, now, zone)
        max_age = decide(activity, built, TtlRule()).max_age_seconds(now)
        back = (now + timedelta(seconds=max(max_age, 60) + 59)).replace(second=0)
        if back <= now + timedelta(days=1):
            assert minute_of_day(back, zone) == day.visits[1].minute
            assert f"is told to wait until {day.visits[1].clock}" in day.told.most
        else:  # five seconds after the same minute of the next day
            assert max_age <= 86_400 + EARLY_SECONDS
    assert all(LEAST <= bar.height <= 100 for bar in day.bars)
    assert 0 <= day.now_minute < 1440
    assert minute_of_day(instant(0), "UTC") == 0


@settings(max_examples=20, deadline=None)
@given(
    posts=st.lists(st.integers(1, 86_400), max_size=8),
    hours=st.dictionaries(st.integers(0, 23), st.integers(1, 6), max_size=5),
    start=st.integers(0, 1_439),
    freshness=st.sampled_from(["exact", "ttl"]),
)
def test_the_visits_are_those_of_a_reader_that_asks(
    posts: list[int], hours: dict[int, int], start: int, freshness: str
) -> None:
    """With any queue: each visit is when the document that is served at the one before runs out,
    in which the posts that are out are updates; never two within the shortest wait, but where a
    scheduled post lies between."""
    begin = MORNING + timedelta(minutes=start)
    activity = habit(hours)
    queue = sorted(begin + timedelta(seconds=second) for second in posts)
    rule = TtlRule(freshness=freshness)
    visits = walk(activity, begin, rule, queue)
    for visit, following in pairwise(visits):
        activity_then = fold(activity, [at for at in queue if at <= visit])
        document = decide(
            activity_then, build_moment(activity_then.last_update, visit, "UTC"), rule,
            [at for at in queue if at > visit],
        )  # fmt: skip
        max_age = max(document.max_age_seconds(visit), 60)
        assert 0 <= (following - visit).total_seconds() - max_age < 60
        between = any(visit < at <= following for at in queue)
        assert between or following - visit >= timedelta(minutes=9)


def test_a_day_of_the_served_site_is_the_day_that_was_drawn(site: Site, clock: FakeClock) -> None:
    """The strip of now, against what the site really says at each of its visits, scheduled posts
    coming out on the way."""
    start = clock()
    for day in range(14, 0, -1):
        make_post(site, f"Day {day}.", at=start - timedelta(days=day))
    for minutes in (3, 240, 245, 600):
        make_post(site, f"In {minutes} minutes.", at=start + timedelta(minutes=minutes))
    rebuild(site)
    with site.database.read() as db:
        drawn = strip(db, start)
    real = [start]
    while len(real) < len(drawn.visits):
        with site.database.read() as db:
            max_age = signals_at(db, clock()).decision.max_age_seconds(clock())
        following = real[-1] + timedelta(seconds=max(max_age, 60) + 59)
        real.append(following.replace(second=0, microsecond=0))
        clock.forward(seconds=(real[-1] - clock()).total_seconds())
        rebuild(site)
    assert len(real) > 4
    assert [visit.clock for visit in drawn.visits] == [f"{at:%H:%M}" for at in real]
