"""The compiled kernel with its jump over quiet polls, against plain poll-by-poll Python."""

from dataclasses import replace

import numpy as np
import pytest

from publisher.dynamic_ttl.core.replay.reader_polls import ReaderPoll
from publisher.simulator import poll_trace
from publisher.simulator.clients import CLIENTS, parse_client
from publisher.simulator.publishers import parse_publisher
from publisher.simulator.replaying import compiled, counted, engine, kernel
from publisher.simulator.replaying.figures import Tally
from publisher.simulator.replaying.on_demand import Documents
from publisher.simulator.timelines import scoring
from tests.simulator.cases import (
    ALL_CLIENTS,
    DAY,
    EPOCH,
    count,
    counts_at,
    random_documents,
    random_timeline,
    timeline,
)

needs_numba = pytest.mark.skipif(not compiled.available(), reason="numba is not installed")


def same(own: Tally, other: Tally) -> bool:
    """Equal in every figure that does not say how it was computed."""
    ours, theirs = (list(sums.counts[: counted.REAL]) for sums in (own, other))
    steps = own.counts[counted.STEPS] == other.counts[counted.STEPS]
    return ours == theirs and steps and own.delays == other.delays


@pytest.mark.parametrize("client", ALL_CLIENTS)
def test_jumping_equals_polling_one_by_one(client: str) -> None:
    """For every policy, skipping quiet polls and compiling change no figure."""
    policy = parse_client(client)
    for seed in range(6):
        rng = np.random.default_rng([seed, len(client)])
        line = random_timeline(rng, rate=float(rng.choice([0.5, 6, 40])))
        documents = random_documents(rng, line)
        feeds = engine.one_feed(line, documents)
        window = int(rng.integers(1, 12))
        fast = engine.replay(feeds, policy, phases=3, window=window, seed=seed)
        starts = engine.first_polls(feeds, policy, 3, seed)[0]
        slow = [
            count(poll_trace.walk(line, documents, policy, int(start), window), line)
            for start in starts
        ]
        assert same(fast, slow[0] + slow[1] + slow[2]), (client, seed)


@pytest.mark.parametrize("client", ["ttl", "fixed:7", "miniflux", "max-age"])
def test_polls_at_equal_waits_are_those_of_the_walk(
    client: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where a feed always says the same, going by items counts what going by polls counts."""
    policy = parse_client(client)
    for seed in range(20):
        rng = np.random.default_rng([seed, 5])
        line = random_timeline(rng, rate=float(rng.choice([0.5, 6, 40])))
        ttl = int(rng.choice([15, 60, 300]))
        feeds = engine.one_feed(line, parse_publisher(f"fixed:{ttl}")(line))
        window = int(rng.integers(1, 12))
        fast = engine.replay(feeds, policy, phases=3, window=window, seed=seed)
        with monkeypatch.context() as patched:
            patched.setattr(engine, "steady_wait", lambda feeds, policy, jitter: 0)
            slow = engine.replay(feeds, policy, phases=3, window=window, seed=seed)
        assert same(fast, slow), seed


@pytest.mark.parametrize("client", ["ttl", "histogram", "oracle"])
def test_jitter_is_the_same_in_both_engines(client: str) -> None:
    """Each wait moves by the same seconds in kernel and walk; that of the oracle does not."""
    policy = parse_client(client)
    rng = np.random.default_rng(3)
    line = random_timeline(rng)
    documents = random_documents(rng, line)
    feeds = engine.one_feed(line, documents)
    salt = int(engine.salts(feeds, 7)[0])
    starts = engine.first_polls(feeds, policy, 2, 7)[0]
    slow = [
        count(
            poll_trace.walk(line, documents, policy, int(start), jitter=20,
                      salt=salt + phase * kernel.PHASE_SALT),
            line,
        )
        for phase, start in enumerate(starts)
    ]  # fmt: skip
    moved, still = (engine.replay(feeds, policy, 2, seed=7, jitter=jitter) for jitter in (20, 0))
    assert same(moved, slow[0] + slow[1])
    assert same(moved, still) == (client == "oracle")
    if client != "oracle":
        assert moved.counts[counted.REAL] == moved.counts[counted.STEPS]


def test_jitter_is_even_and_symmetrical() -> None:
    """Up to 20 per cent either way, each tenth of the span as often, nothing in the mean."""
    waits = np.array([kernel.jittered(3600, 20, 5, EPOCH + 3600 * k) for k in range(5000)])
    assert waits.min() >= 2880
    assert waits.max() <= 4320
    assert abs(waits.mean() - 3600) < 20
    assert (np.histogram(waits, 10, (2880, 4320))[0] > 420).all()


def test_every_policy_is_among_the_cases() -> None:
    """A policy that is added is held against the plain walk as well."""
    assert {parse_client(client).name for client in ALL_CLIENTS} == set(CLIENTS)


@needs_numba
@pytest.mark.parametrize("client", ["ttl", "weekly-average", "cho-nochanges", "oracle"])
def test_plain_python_gives_the_same_without_numba(
    client: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The fallback runs the same text on lists and comes to the same figures."""
    rng = np.random.default_rng(5)
    line = random_timeline(rng)
    feeds = engine.one_feed(line, random_documents(rng, line))
    fast = engine.replay(feeds, parse_client(client))
    monkeypatch.setattr(compiled, "available", lambda: False)
    compiled._specialised.cache_clear()
    compiled.rule.cache_clear()
    try:
        slow = engine.replay(feeds, parse_client(client))
    finally:
        compiled._specialised.cache_clear()
        compiled.rule.cache_clear()
    assert same(fast, slow)
    assert fast.counts[counted.REAL] == slow.counts[counted.REAL]


def _one_more(number: int) -> int:
    return number + 1


def test_where_numba_may_write_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """The program's folder belongs to somebody else and there is no home: compiled, not cached."""
    caching = pytest.importorskip("numba.core.caching")
    monkeypatch.setattr(caching.CacheImpl, "_locator_classes", [])
    assert compiled.specialise(_one_more, "nowhere")(1) == 2


@pytest.mark.parametrize("seed", range(6))
def test_brute_force_second_by_second(seed: int) -> None:
    """A loop over every second of three days, written from the definitions, agrees."""
    rng = np.random.default_rng(seed)
    days, minutes, window = 3, int(rng.integers(7, 200)), 3
    offsets = sorted({int(at) for at in rng.integers(0, days * DAY, 30)})
    hole = (int(1.5 * DAY), int(1.6 * DAY))
    line = timeline(offsets, days, [hole])
    policy = parse_client(f"fixed:{minutes}")
    feeds = engine.one_feed(line, parse_publisher("fixed:60")(line))
    start = int(engine.first_polls(feeds, policy, 1, seed)[0, 0]) - EPOCH

    begin, last_scored = days * DAY // 4, (days - 1) * DAY
    updates = set(offsets)
    unseen: list[int] = []
    polls = hits = stale = missed = 0
    delays: list[int] = []
    for second in range(days * DAY):
        scored = begin <= second and not hole[0] <= second < hole[1]
        if second in updates:
            unseen.append(second)
        if second >= start and (second - start) % (minutes * 60) == 0:
            polls += scored
            hits += scored and bool(unseen)
            for age, at in enumerate(reversed(unseen)):
                if begin <= at <= last_scored and not hole[0] <= at < hole[1]:
                    if age >= window:
                        missed += 1
                    else:
                        delays.append(second - at)
            unseen = []
        stale += scored and bool(unseen)
    tally = engine.replay(feeds, policy, phases=1, window=window, seed=seed)
    assert tally.counts[counted.POLLS] == polls
    assert tally.counts[counted.HITS] == hits
    assert tally.counts[counted.DELAY] == sum(delays)
    assert tally.counts[counted.SEEN] == len(delays)
    assert tally.counts[counted.MISSED] == missed
    assert tally.counts[counted.STALE] == stale
    assert tally.counts[counted.LONGEST] == max(delays, default=0)


@pytest.mark.parametrize("client", [name for name in ALL_CLIENTS if name != "oracle"])
def test_no_client_looks_ahead(client: str) -> None:
    """Updates that are added later leave every earlier poll where it was."""
    rng = np.random.default_rng(8)
    line = random_timeline(rng)
    documents = random_documents(rng, line)
    policy = parse_client(client)
    cut = EPOCH + 8 * DAY
    extra = np.unique(np.concatenate([line.times, cut + rng.integers(0, DAY, 50)]))
    more = replace(line, times=extra.tolist())

    def before(polls: list[ReaderPoll]) -> list[tuple[int, int]]:
        return [(poll.at, poll.answer.new_items) for poll in polls if poll.at < cut]

    polls = before(list(poll_trace.walk(line, documents, policy, EPOCH + 77)))
    assert polls == before(list(poll_trace.walk(more, documents, policy, EPOCH + 77)))
    assert len(polls) > 3


def test_an_update_is_visible_to_a_poll_in_the_same_second() -> None:
    """Delay 0 for a poll at the very second of the update."""
    line = timeline([DAY, 2 * DAY, 3 * DAY], 6)
    tally = engine.replay(
        engine.one_feed(line, parse_publisher("fixed:60")(line)), parse_client("oracle"), 1
    )
    assert tally.counts[counted.SEEN] == 2
    assert tally.counts[counted.DELAY] == 0
    assert tally.counts[counted.STALE] == 0


def test_first_polls_are_uniform_over_the_first_interval_and_modulo_each_menu_value() -> None:
    """Whole seconds, no lattice: 4,000 phases of an 8 h ttl look uniform modulo 15, 60 and 480."""
    line = timeline([DAY, 2 * DAY], 6)
    feeds = engine.one_feed(line, Documents([EPOCH, EPOCH + DAY], [15, 480]))
    starts = engine.first_polls(feeds, parse_client("ttl"), 4000, 3)[0] - EPOCH
    assert starts.min() >= 0
    assert starts.max() < 480 * 60
    for minutes in (15, 60, 480):
        shares = np.histogram(starts % (minutes * 60), bins=10, range=(0, minutes * 60))[0]
        assert (abs(shares - 400) < 40).all(), (minutes, shares)


def test_a_feed_keeps_its_clients_whatever_else_is_replayed() -> None:
    """First polls depend on the seed and the feed's name, not on its place in the batch."""
    line = timeline([DAY, 2 * DAY], 6)
    other = replace(line, name="other")
    documents = parse_publisher("fixed:60")(line)
    policy = parse_client("fixed:45")
    pair = engine.first_polls(
        engine.lay_out([line, other], [documents] * 2, [scoring(line)] * 2), policy, 16, 9
    )
    swapped = engine.first_polls(
        engine.lay_out([other, line], [documents] * 2, [scoring(line)] * 2), policy, 16, 9
    )
    assert pair[0].tolist() == swapped[1].tolist()
    assert pair[0].tolist() != pair[1].tolist()
    again = engine.first_polls(engine.one_feed(line, documents), policy, 16, 10)
    assert pair[0].tolist() != again[0].tolist()


def test_scoring_leaves_out_learning_cool_down_and_holes() -> None:
    """Counted seconds: from a quarter (at most 28 days) to the end, without the holes."""
    line = timeline([0, DAY, 7 * DAY], 8, [(DAY, 3 * DAY), (5 * DAY, 6 * DAY)])
    plan = scoring(line)
    assert plan.begin == EPOCH + 2 * DAY
    assert plan.seconds == (8 - 3 - 1) * DAY
    assert [counts_at(plan, EPOCH + day * DAY) for day in (1, 2, 3, 5, 6, 7)] == [
        False,
        False,
        True,
        False,
        True,
        True,
    ]
    long = scoring(timeline([0, 200 * DAY], 400))
    assert long.begin == EPOCH + 28 * DAY
