"""The river's default policy: learnt, asked, bounded, and never an item missed."""

import pytest

from publisher.dynamic_ttl.core.polling import Answer, Memory, parse

DAY = 86400
START = 20_000 * DAY
POLICY = parse("attentive")


def wait_minutes(memory: Memory, now: int = START) -> float:
    return POLICY.decide(memory, now).wait_seconds / 60


def learn(*answers: Answer, now: int = START) -> Memory:
    memory = POLICY.start()
    for answer in answers:
        memory = POLICY.remember(memory, answer, now)
    return memory


def busy(hints: Answer | None = None) -> Memory:
    """A feed of twenty items a day, seen whole at the first poll."""
    dates = tuple(START - number * DAY // 20 for number in range(20))
    given = hints or Answer(200)
    said = {
        "ttl_minutes": given.ttl_minutes,
        "max_age_seconds": given.max_age_seconds,
        "skip_hours": given.skip_hours,
    }
    return learn(Answer(200, new_items=20, item_dates=dates, **said))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("hints", "low", "high"),
    [
        (Answer(200), 60, 60),
        (Answer(200, ttl_minutes=15), 15, 60),
        (Answer(200, ttl_minutes=480), 480, 480),
        (Answer(200, max_age_seconds=7200), 120, 120),
        (Answer(200, ttl_minutes=5000), 1440, 1440),
    ],
)
def test_the_feed_is_listened_to(hints: Answer, low: float, high: float) -> None:
    """Not sooner than it asks, not below an hour unless it says less, a day at most."""
    assert low <= wait_minutes(busy(hints)) <= high


def test_a_silent_feed_is_left_alone() -> None:
    """Without any item the wait grows to about a day."""
    assert wait_minutes(learn(Answer(200), now=START), START + 400 * DAY) > 1200


def test_hints_are_remembered_across_304s() -> None:
    """A 304 keeps the document's ttl and renews the headers' part."""
    memory = busy(Answer(200, ttl_minutes=480, max_age_seconds=28800))
    memory = POLICY.remember(memory, Answer(304, max_age_seconds=7200), START + 60)
    assert wait_minutes(memory, START + 60) == 480
    memory = POLICY.remember(memory, Answer(200, max_age_seconds=7200), START + 120)
    assert wait_minutes(memory, START + 120) == 120


def test_skipped_hours_are_skipped() -> None:
    """The next poll lies in no hour that the feed excludes."""
    excluded = frozenset(range(1, 24))
    decision = POLICY.decide(busy(Answer(200, skip_hours=excluded)), START)
    assert (START + decision.wait_seconds) // 3600 % 24 == 0


def test_no_item_leaves_the_document_unseen() -> None:
    """A feed whose document turns over in a day is polled before half of it is new."""
    lazy = parse("attentive:poll-minutes=100000")
    memory = busy()
    assert 9 * 3600 < lazy.decide(memory, START).wait_seconds <= 12 * 3600
    assert "before 50% of them are new" in " ".join(lazy.explain(memory, START))
    early = parse("attentive:poll-minutes=100000,turnover=0.25")
    assert early.decide(memory, START).wait_seconds <= 6 * 3600
    assert "before 25% of them are new" in " ".join(early.explain(memory, START))


def test_every_decision_is_explained() -> None:
    """The chain names what was learnt, what was said and what decided."""
    reasons = POLICY.explain(busy(Answer(200, ttl_minutes=480)), START)
    assert any("learned day" in reason for reason in reasons)
    assert "ttl 8 h" in reasons
    assert reasons[-2:] == ["not sooner than the feed asks: 8 h", "next poll in 8 h"]


def test_a_hint_beyond_the_ceiling_is_told_as_it_is() -> None:
    """A ttl of a week is kept for a day, and the reason says both."""
    policy = parse("attentive")
    memory = policy.remember(policy.start(), Answer(status=200, ttl_minutes=7 * 1440), START)
    reasons = policy.explain(memory, START)
    assert "the feed asks for 7 d, of which at most 1 d is kept" in reasons


@pytest.mark.parametrize(("items", "minutes"), [(20, 60.5), (1, 30.0)])
def test_the_document_is_watched_until_the_ceiling(items: int, minutes: float) -> None:
    """An item an hour: half of 20 come after the longest wait, half of one in half an hour."""
    policy = parse("attentive:poll-minutes=100000,ceiling=60.5,half-life=3650,unasked=1")
    dates = tuple(START - number * 3600 for number in range(24 * 30))
    answer = Answer(200, new_items=items, item_dates=dates)
    memory = policy.remember(policy.start(), answer, START)
    assert policy.decide(memory, START).wait_seconds / 60 == pytest.approx(minutes, rel=0.01)
