"""Poll policies against what their authors and the theory say of them."""

from math import log, sqrt

import numpy as np
import pytest

from publisher.dynamic_ttl.core.polling import Answer, Memory, PollPolicy, parse
from publisher.dynamic_ttl.core.polling.cho import by_changes, by_likelihood, by_no_changes
from publisher.dynamic_ttl.core.polling.weekly import ring_size

DAY = 86400
NOW = 1_600_000_000
NEWS = Answer(200, new_items=1)
NOTHING = Answer(304)


def hits(policy: PollPolicy, mean_seconds: float, polls: int, seed: int) -> list[bool]:
    """Whether each poll found news, for Poisson updates `mean_seconds` apart in the mean."""
    rng = np.random.default_rng(seed)
    memory, now, due = policy.start(), NOW, NOW + rng.exponential(mean_seconds)
    hits_found = []
    for _ in range(polls):
        hits_found.append(due <= now)
        if due <= now:
            due = now + rng.exponential(mean_seconds)
        memory = policy.remember(memory, NEWS if hits_found[-1] else NOTHING, now)
        now += policy.decide(memory, now).wait_seconds
    return hits_found


@pytest.mark.parametrize(
    ("spec", "grow", "shrink"),
    [
        ("doubling", 2, 1 / 2),
        ("doubling:factor=1.25", 1.25, 1 / 1.25),
        ("doubling:factor=adaptive", 2, 1 / 2),
        ("adaptive:grow=0.4,shrink=0.2", 1.4, 0.8),
        ("adaptive:grow=0.2,shrink=0.2", 1.2, 0.8),
    ],
)
def test_multiplicative_rules_settle_where_theory_says(
    spec: str, grow: float, shrink: float
) -> None:
    """P(hit) = ln grow / (ln grow - ln shrink), whatever the rate; one half when symmetric."""
    expected = log(grow) / (log(grow) - log(shrink))
    tail = hits(parse(spec), 1.5 * DAY, 6000, seed=1)[500:]
    assert np.mean(tail) == pytest.approx(expected, abs=0.02)


def test_adaptive_factor_narrows_on_steady_feeds_and_widens_when_the_rate_changes() -> None:
    """The factor shrinks while hits and misses alternate and grows while one repeats."""
    policy = parse("doubling:factor=adaptive")
    memory, now = policy.start(), NOW
    for turn in range(8):
        memory = policy.remember(memory, NEWS if turn % 2 else NOTHING, now)
    assert policy.explain(memory, now)[0].endswith("divided by 1.1")
    for _ in range(20):
        memory = policy.remember(memory, NOTHING, now)
    assert policy.explain(memory, now)[0].endswith("times 2")


@pytest.mark.parametrize(
    ("grow", "changes", "fetches", "missed"), [(0.2, 322, 563, 3049), (0.4, 322, 509, 3918)]
)
def test_nutchs_own_schedule_test(grow: float, changes: int, fetches: int, missed: int) -> None:
    """The 10,000 daily ticks of the class's own main method give its own figures.

    The page changes once it is older than 30 days; `missed` counts ticks with an unseen change, and
    useless fetches as well, as the original does.
    """
    policy = parse(f"adaptive:grow={grow},shrink=0.2,sync=0.2,floor=1,ceiling=525600,start=43200")
    memory, due, modified = policy.start(), 0, 0
    changed, unseen = True, 0
    seen = [0, 0, 0]
    for now in range(0, 10_000 * DAY, DAY):
        if modified + 30 * DAY < now:
            changed, modified = True, now
            seen[0] += 1
        if due <= now:
            seen[1] += 1
            seen[2] += unseen + (not changed)
            answer = Answer(
                200 if changed else 304, changed=changed, last_modified_at=modified or None
            )
            memory = policy.remember(memory, answer, now)
            due = now + policy.decide(memory, now).wait_seconds
            changed, unseen = False, 0
        unseen += changed
    assert seen == [changes, fetches, missed]


def test_adaptive_keeps_its_floor_however_quiet_the_page() -> None:
    """`sync` brings the next poll closer, though never closer than the shortest wait."""
    for spec, wait in (("floor=40,sync=0.5", 54 * 60), ("floor=60,sync=0.5", 3600)):
        policy = parse(f"adaptive:{spec}")
        answer = Answer(304, last_modified_at=NOW - 3600)
        memory = policy.remember(policy.start(), answer, NOW)  # 84 minutes, less half an hour
        assert policy.decide(memory, NOW).wait_seconds == wait
        assert policy.explain(memory, NOW)[1] == "sooner by 50% of the 1 h since the last change"


def test_adaptive_takes_1970_for_a_date_as_any_other() -> None:
    """Servers of files without a time of their own send it: half a life sooner is the floor."""
    policy = parse("adaptive:floor=40,sync=0.5")
    memory = policy.remember(policy.start(), Answer(304, last_modified_at=0), NOW)
    assert policy.decide(memory, NOW).wait_seconds == 40 * 60


@pytest.mark.parametrize(("days", "retrievals"), [(30, 15), (90, 27), (365, 57)])
def test_delay_skip_in_silence(days: int, retrievals: int) -> None:
    """Retrievals in so many silent days, with the divisor 5 of the text."""
    policy = parse("delay-skip")
    memory, now, done = policy.start(), NOW, 0
    while now + policy.decide(memory, now).wait_seconds <= NOW + days * DAY:
        now += policy.decide(memory, now).wait_seconds
        memory = policy.remember(memory, NOTHING, now)
        done += 1
    assert done == retrievals


def test_delay_skip_starts_afresh_after_news_and_on_demand() -> None:
    """News and a person's wish end the delay; a failed retrieval leaves it as it is."""
    policy = parse("delay-skip:divisor=3")
    memory = policy.start()
    for _ in range(7):
        memory = policy.remember(memory, NOTHING, NOW)
    assert policy.decide(memory, NOW).wait_seconds == 3 * DAY
    assert policy.remember(memory, Answer(503), NOW) == memory
    for answer in (NEWS, Answer(304, on_demand=True)):
        assert policy.decide(policy.remember(memory, answer, NOW), NOW).wait_seconds == DAY


@pytest.mark.parametrize(
    ("changes", "intervals", "mean", "by_count", "by_silence"),
    [
        (4, 4, 100, 100, 100 / -log(0.5 / 4.5)),
        (2, 4, 100, 200, 100 / -log(2.5 / 4.5)),
        (1, 9, 60, 540, 60 / -log(8.5 / 9.5)),
        (0, 4, 100, 800, 100 / -log(4 / 4.5)),
    ],
)
def test_estimators(
    changes: int, intervals: int, mean: float, by_count: float, by_silence: float
) -> None:
    """The two formulas, and half a change where none was seen."""
    assert by_changes(changes, intervals, mean) == pytest.approx(by_count)
    assert by_no_changes(changes, intervals, mean) == pytest.approx(by_silence)


def test_likelihood_finds_the_rate_of_irregular_visits() -> None:
    """Visits at wildly different intervals; counting changes would be four times off."""
    rng = np.random.default_rng(0)
    gaps = rng.choice([600.0, 3600.0, 40_000.0], 4000)
    changed = rng.random(4000) < 1 - np.exp(-gaps / 7200)
    signed = np.where(changed, -gaps, gaps)
    assert by_likelihood(signed.tolist(), 0, 4000) == pytest.approx(7200, rel=0.05)
    assert by_changes(changed.sum(), 4000, gaps.mean()) > 4 * 7200


def test_likelihood_agrees_with_the_closed_form_when_all_visits_found_a_change() -> None:
    """Where regular visits leave no silence to weigh, both estimators say the same."""
    assert by_likelihood([-60.0] * 4, 0, 4) == pytest.approx(by_no_changes(4, 4, 60))


@pytest.mark.parametrize("signs", [(1, 1, 1), (-1, -1, -1), (-1, 1, -1)])
def test_likelihood_is_always_finite(signs: tuple[int, ...]) -> None:
    """Groups in which every visit, or none, found a change."""
    gaps = [sign * gap for sign, gap in zip(signs, (100.0, 5000.0, 900.0), strict=True)]
    assert 50 < by_likelihood(gaps, 0, 3) < 50_000


def test_likelihood_is_at_least_a_ten_thousandth_of_the_time() -> None:
    """A hundred visits a second apart, each with a change, one after a day, and one without."""
    gaps = [*[-1.0] * 100, -100_000.0, 1.0]
    assert by_likelihood(gaps, 0, len(gaps)) == pytest.approx(100_101 / 10_000)


def test_likelihood_and_two_visits_in_one_second() -> None:
    """A visit in the same second as the one before tells nothing."""
    expected = by_likelihood([-3600, 86_400], 0, 2)
    assert by_likelihood([-3600, 0, 86_400], 0, 3) == pytest.approx(expected)


def visits(spec: str, changes: list[bool]) -> int:
    """The wait after visits an hour apart that found these changes."""
    policy = parse(spec)
    memory = policy.start()
    for step, changed in enumerate(changes):
        memory = policy.remember(memory, Answer(200, changed=changed), NOW + step * 3600)
    return policy.decide(memory, NOW + len(changes) * 3600).wait_seconds


def test_cho_counts_changes_between_neighbours() -> None:
    """Five visits are four intervals; the original form counts distinct contents in five."""
    pattern = [True, True, False, True, False]  # the first is compared with nothing
    assert visits("cho-changes", pattern) == 3600 * 4 // 2
    assert visits("cho-changes:form=original", pattern) == round(3600 * 5 / 3)
    assert visits("cho-nochanges", pattern) == round(3600 / -log(2.5 / 4.5))
    assert visits("cho-nochanges:form=original", pattern) == round(3600 / -log(2.5 / 5.5))
    assert visits("cho-changes", pattern[:4]) == 3600  # the group is not complete
    four = "form=original,visits=4"  # with the first content three of four are distinct
    assert visits(f"cho-changes:{four}", pattern[:4]) == 3600 * 4 // 3
    assert visits(f"cho-nochanges:{four}", pattern[:4]) == round(3600 / -log(1.5 / 4.5))


def test_cho_sees_changes_between_two_groups() -> None:
    """A page that changes each time a group of five visits begins changes in one visit of five;
    one that never does is asked much more seldom."""
    every_fifth = [False] * 5 + [True, False, False, False, False]
    assert visits("cho-changes:start=60,form=corrected", [False] * 10) > 7 * 3600
    changing = visits("cho-changes", every_fifth)
    assert changing < visits("cho-changes", [False] * 10)
    policy, memory, now = parse("cho-changes"), parse("cho-changes").start(), 3600
    for change in every_fifth:
        memory = policy.remember(memory, Answer(200, changed=change), now)
        now += 3600
    assert policy.explain(memory, now)[0].startswith("1 change in 5 polls")


def test_cho_changes_can_only_lengthen_and_nochanges_can_shorten() -> None:
    """With a change at every visit the first estimator stays, the second comes closer."""
    busy = [True] * 5
    assert visits("cho-changes", busy) == 3600
    assert visits("cho-changes:form=original", busy) == 3600
    assert visits("cho-nochanges", busy) < 3600


def test_cho_nochanges_uses_likelihood_for_irregular_visits() -> None:
    """A long silent gap among short ones weighs by its length."""
    policy = parse("cho-nochanges")
    memory, now = policy.start(), NOW
    for gap, changed in ((0, True), (3600, True), (3600, False), (86400, False), (3600, True)):
        now += gap
        memory = policy.remember(memory, Answer(200, changed=changed), now)
    likely = by_likelihood([-3600, 3600, 86400, -3600], 0, 4)
    assert policy.decide(memory, now).wait_seconds == round(likely)


@pytest.mark.parametrize(("longest", "regular"), [(3960, True), (3961, False), (5400, False)])
def test_cho_takes_intervals_for_regular_up_to_a_tenth_longer(longest: int, regular: bool) -> None:
    """Of an hour, once an hour and a tenth: the closed form for their mean; else by likelihood."""
    policy = parse("cho-nochanges:visits=3")
    memory, now = policy.start(), NOW
    for gap, changed in ((0, True), (3600, False), (longest, True)):
        now += gap
        memory = policy.remember(memory, Answer(200, changed=changed), now)
    likely = by_likelihood([3600, -longest], 0, 2)
    estimate = by_no_changes(1, 2, (3600 + longest) / 2) if regular else likely
    assert policy.decide(memory, now).wait_seconds == round(estimate)


def test_histogram_waits_through_the_night_and_not_through_the_morning() -> None:
    """A feed that posts from 8 to 12 UTC is polled little in the evening, often in the morning."""
    policy = parse("histogram")
    midnight = NOW // DAY * DAY
    memory = policy.start()
    for day in range(30):
        for hour in range(8, 12):
            at = midnight + day * DAY + hour * 3600
            answer = Answer(200, new_items=1, item_dates=(at - 60,))
            memory = policy.remember(memory, answer, at)

    def wait(hour: int) -> int:
        return policy.decide(memory, midnight + 30 * DAY + hour * 3600).wait_seconds

    assert wait(8) < 2 * 3600
    assert wait(20) > 10 * 3600
    assert wait(20) + 20 * 3600 < (24 + 9.5) * 3600  # back soon after the morning begins
    sentences = [
        policy.explain(memory, midnight + 30 * DAY + at)[0] for at in (9 * 3600, 10 * 3600 + 1)
    ]
    assert sentences[0].endswith(
        "the busiest hour begins 1 h later"
    )  # no clock: whose would it be?
    assert sentences[1].endswith("the busiest hour is this one")


def steady(spec: str, an_hour: int, days: int = 30) -> tuple[PollPolicy, Memory]:
    """What a policy remembers at NOW of a feed with so many evenly spread items an hour."""
    policy = parse(spec)
    dates = tuple(NOW - number * 3600 // an_hour for number in range(days * 24 * an_hour))
    return policy, policy.remember(policy.start(), Answer(200, item_dates=dates), NOW)


@pytest.mark.parametrize("an_hour", [1, 4, 20])
@pytest.mark.parametrize("minutes", [10, 100, 600])
def test_histogram_on_a_steady_feed(an_hour: int, minutes: int) -> None:
    """Items at a rate r have waited r t^2 / 2 after the time t: the worth of a poll, `minutes`."""
    policy, memory = steady(f"histogram:poll-minutes={minutes},floor=1", an_hour)
    wait = policy.decide(memory, NOW).wait_seconds / 60
    assert wait == pytest.approx(sqrt(2 * minutes / (an_hour / 60)), rel=0.02)
    assert policy.explain(memory, NOW)[1].endswith(f"would have waited {minutes} minutes")


def test_histogram_names_the_busiest_hour() -> None:
    """From its first to its last second it is this one; before any item nobody knows it."""
    policy, midnight = parse("histogram"), 20_000 * 86_400
    memory = policy.remember(policy.start(), Answer(304), midnight)
    assert policy.explain(memory, midnight)[0] == "its learned day: hardly any items"
    item = Answer(200, new_items=1, item_dates=(midnight - 20 * 3600 + 5,))  # at four
    memory = policy.remember(memory, item, midnight)
    sentences = {
        at: policy.explain(memory, midnight + at)[0] for at in (14_399, 14_400, 17_999, 18_000)
    }
    assert [words.partition("busiest hour ")[2] for words in sentences.values()] == [
        "begins 1 s later",
        "is this one",
        "is this one",
        "begins 23 h later",
    ]


@pytest.mark.parametrize("hour", [0, 11, 23])
def test_any_hour_can_be_the_busiest(hour: int) -> None:
    policy, midnight = parse("histogram"), 20_000 * DAY
    memory = policy.start()
    for day in range(3):
        at = midnight + day * DAY + hour * 3600
        memory = policy.remember(memory, Answer(200, new_items=1, item_dates=(at,)), at)
    assert policy.explain(memory, at)[0].endswith("the busiest hour is this one")


@pytest.mark.parametrize(
    ("floor", "size"), [(10_080, 2), (5_041, 2), (5_040, 4), (60, 256), (5, 2048), (1, 16_384)]
)
def test_the_ring_holds_more_dates_than_a_week_has_shortest_waits(floor: int, size: int) -> None:
    """The smallest power of two above it, and two at least."""
    assert ring_size((floor, 1440)) == size


def test_histogram_keeps_its_limits() -> None:
    """However busy or silent a feed is, the shortest and the longest wait hold."""
    policy, memory = steady("histogram", 100)
    assert policy.explain(memory, NOW)[1:] == ["never sooner than 15 min", "next poll in 15 min"]
    policy = parse("histogram:ceiling=600")
    memory, later = policy.remember(policy.start(), Answer(200), NOW), NOW + 300 * DAY
    assert policy.explain(memory, later)[1:] == ["never later than 10 h", "next poll in 10 h"]


@pytest.mark.parametrize(("age", "words"), [(0, "ttl 1 h"), (1, "ttl 1 h, heard 1 s ago")])
def test_a_hint_of_this_second_has_no_age(age: int, words: str) -> None:
    policy = parse("ttl")
    memory = policy.remember(policy.start(), Answer(200, ttl_minutes=60), NOW)
    assert policy.explain(memory, NOW + age)[0] == words


def test_attentive_on_a_steady_feed() -> None:
    """Where a poll is worth much, half of a document's items decide: half of its time."""
    policy, memory = steady("attentive:poll-minutes=100000,half-life=3650", 1)
    document = Answer(200, new_items=20, item_dates=(NOW,))
    memory = policy.remember(memory, document, NOW)
    assert policy.decide(memory, NOW).wait_seconds / 3600 == pytest.approx(10, rel=0.02)
