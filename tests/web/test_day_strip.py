"""The strip of 24 hours: heights, tones, the hairline, and the sentence under it."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from publisher.core.civil import instant
from publisher.core.ttl.activity import Activity, histogram
from publisher.core.ttl.counts import EARLY_SECONDS, WARM_UP_DAYS, WARM_UP_UPDATES
from publisher.core.ttl.decision import build_moment, decide
from publisher.core.ttl.rule import TtlRule
from publisher.web.day_strip import LEAST, bars, minute_of_day, own_day, span, tone

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


def test_sentence_of_a_busy_morning() -> None:
    """When a polite reader comes, and the habit behind it."""
    day = own_day(habit(dict.fromkeys(range(7, 14), 9)), MORNING, TtlRule(freshness="ttl"))
    assert day.sentence == (
        "A polite reader that comes now, at 09:30, is asked to come back at 09:45, then at 10:00. "
        "Around this hour, expect about nine updates an hour."
    )
    assert day.why[0] == "You publish often at this hour, so readers come back soon, at 09:45."
    assert day.why[2] == "Next check: 10:00, or when you publish."


def test_the_walk_of_a_night() -> None:
    """Nobody comes while the author sleeps; strip, sentence and reasons say the same moments."""
    night = MORNING.replace(hour=23, minute=10)
    day = own_day(habit(dict.fromkeys(range(7, 14), 9)), night, TtlRule())
    back = day.visits[1].clock
    assert day.visits[0].clock == "23:10"
    assert "06:30" <= back <= "07:30"
    assert f"at 23:10, is asked to come back at {back} tomorrow" in day.sentence
    assert day.why[0] == f"You rarely publish at this hour; readers come back at {back} tomorrow."
    minutes = [visit.minute for visit in day.visits]
    assert not [minute for minute in minutes[1:] if minute < 6 * 60]


def test_the_refused_ttl_is_told_by_a_post_that_would_wait() -> None:
    """What a longer absence would cost: a post of the hour that is usually busy would wait."""
    late = MORNING.replace(hour=2, minute=0)
    day = own_day(habit(dict.fromkeys(range(7, 14), 9)), late, TtlRule())
    assert re.fullmatch(
        r"If they stayed away for 8 hours, a post at \d\d:00 would wait until 10:00\.", day.why[1]
    )


def test_a_scheduled_post_and_the_longest_ttl_are_told_as_they_are() -> None:
    """The ttl that a post shortens is not the longest; a post of tomorrow is not one of today."""
    activity, night = habit({1: 1}, days=60), MORNING.replace(hour=23, minute=50)
    post = night + timedelta(minutes=40)
    day = own_day(activity, night, TtlRule.parse(menu="15/60"), [post])
    assert day.why[1] == "No ttl is longer than 60 minutes."
    assert day.why[2].startswith("Your next post is scheduled for 00:30 tomorrow, and no reader")
    rule = TtlRule.parse(menu="15/10080", poll_minutes=100_000)
    day = own_day(activity, night, rule, [post + timedelta(days=3)])
    assert "scheduled for 00:30 on Friday, and no reader" in day.why[2]


def test_a_reader_that_waits_more_than_a_day() -> None:
    """It comes in a day, not "at tomorrow"."""
    rule = TtlRule.parse(menu="1440", freshness="ttl")
    day = own_day(habit({9: 1}), MORNING.replace(second=1), rule)
    assert day.why[0] == "At this hour you publish every hour; readers come back in a day."


def test_sentence_of_the_warm_up() -> None:
    """A new blog says how far it is, and when readers come until then."""
    activity = histogram([MORNING - timedelta(minutes=10)], MORNING, "UTC")
    day = own_day(activity, MORNING, TtlRule(freshness="ttl"))
    assert "at 09:30, is asked to come back at 09:45" in day.sentence
    learning = f"(1 of {WARM_UP_UPDATES} updates, day 1 of {WARM_UP_DAYS})"
    assert f"Still learning when this blog publishes {learning}" in day.sentence
    assert day.why[0] == f"Still learning when you publish {learning}."


def test_an_empty_log_has_an_empty_day() -> None:
    """Nothing known: no bars, and what will be seen here."""
    day = own_day(Activity.empty("UTC"), MORNING, TtlRule())
    assert (day.bars, day.visits) == ((), ())
    assert day.sentence.startswith("The day is still empty.")


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
    if activity.last_update is not None:
        built = build_moment(activity.last_update, now, zone)
        told = decide(activity, built, TtlRule()).max_age_seconds(now)
        back = (now + timedelta(seconds=max(told, 60) + 59)).replace(second=0)
        if back <= now + timedelta(days=1):
            assert minute_of_day(back, zone) == day.visits[1].minute
            assert f"is asked to come back at {day.visits[1].clock}" in day.sentence
        else:  # five seconds after the same minute of the next day
            assert told <= 86_400 + EARLY_SECONDS
            assert "is asked to come back in a day" in day.sentence
    assert all(LEAST <= bar.height <= 100 for bar in day.bars)
    assert 0 <= day.now_minute < 1440
    assert minute_of_day(instant(0), "UTC") == 0
