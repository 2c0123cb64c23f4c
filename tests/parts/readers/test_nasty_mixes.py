"""Mixes that are hard to tell apart: no reader is accused of another's polls, none becomes dozens.

Days of scripted readers, as in `test_identification`.
"""

import random
import secrets
from collections import Counter

import pytest

from publisher.parts.readers.reporting.audience import audience, progress
from publisher.parts.readers.reporting.report import make
from tests.conftest import FakeClock
from tests.factories import make_post
from tests.parts.readers.polls import Counting
from tests.parts.readers.scripted import (
    Ask,
    Reader,
    Where,
    World,
    dated,
    fixed_address,
    polite,
    pool,
    punctual,
    restarted,
    retrying,
    roaming,
    twice,
)
from tests.parts.readers.test_identification import NEWSBOAT, NNW, office, verdicts

pytestmark = pytest.mark.any_database


@pytest.fixture(autouse=True)
def _the_same_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Readers' numbers are random and break ties, so a count may differ by one from run to run."""
    monkeypatch.setattr(secrets, "randbits", random.Random(1).getrandbits)


SCRIPT, SERVICE = "python-requests/2.31", "AggBot/1.0 (+https://agg.example)"
OFFICE = fixed_address("192.0.2.7")


def always_new(net: str) -> Where:
    """A new address each time."""
    turns = iter(range(10**6))
    return lambda: f"{net}.{(turn := next(turns)) // 250}.{turn % 250}"


def private_ipv6(prefix: str = "2001:db8:1:2") -> Where:
    """An address whose lower half is new each time."""
    rng = random.Random(1)
    return lambda: f"{prefix}:{rng.randrange(65536):x}:{rng.randrange(65536):x}::1"


def careless(agent: str, where: Where, begin: float) -> Reader:
    """Comes when the element says, and names nothing."""
    ttl, wait = 60.0, begin
    while True:
        answer = yield Ask(wait, where(), agent)
        ttl = float(answer.ttl or ttl)
        wait = ttl + 0.2


def by_hand(agent: str, where: Where, low: float, high: float, tags: bool = True) -> Reader:
    """Opened when somebody feels like it."""
    rng = random.Random(7)
    tag, wait = "", 5.0
    while True:
        answer = yield Ask(wait, where(), agent, tag)
        tag, wait = answer.tag if tags else "", rng.uniform(low, high)


def homes(count: int, agent: str = NNW, net: str = "192.0.2") -> list[Reader]:
    """Polite readers of one program, each at an address of its own."""
    rng = random.Random(6)
    return [polite(agent, fixed_address(f"{net}.{n}"), rng.uniform(0, 600)) for n in range(count)]


def test_changing_addresses_without_validators_are_one_line(counting: Counting) -> None:
    """Nothing tells those of a program apart, and the report says so instead of listing dozens:
    a function in a cloud, two of them, a phone, no agent, addresses in turn and at random."""
    readers = [
        punctual(SCRIPT, always_new("198.51"), 1, 60, tags=False),
        punctual("Two/1", always_new("198.52"), 1, 60, tags=False),
        punctual("Two/1", always_new("198.53"), 17, 120, tags=False),
        careless("Phone/1", always_new("198.54"), 3),
        punctual("", always_new("198.55"), 1, 60, tags=False),
        punctual(SERVICE, pool("203.0.113", 20), 1, 30, tags=False),
        punctual("Random/1", roaming(random.Random(1), "204"), 1, 30, tags=False),
    ]
    rows = verdicts(counting, readers)
    assert len({row[0] for row in rows}) == len(rows) == 6, rows
    several = "one reader or several, they cannot be told apart"
    assert not [row for row in rows if row[1] != "too-few" or several not in row[2]]


def test_a_program_whose_cache_is_lost_stays_one_reader(counting: Counting) -> None:
    """The copy that it fetches anew and names seconds later is not another reader's."""
    rows = verdicts(counting, [restarted(NNW, OFFICE, 3)])
    assert [row[1] for row in rows] == ["obedient"], rows


def test_readers_from_before_the_counting_are_told_apart(counting: Counting) -> None:
    """Two that have had the feed for long, at one address: the first poll of each names a copy that
    was never counted. They are two polite ones, not one that comes twice as often as it should."""
    first = 'W/"00000000.003c"'  # of the document at the start
    rows = verdicts(counting, [polite(NNW, OFFICE, begin, tag=first) for begin in (3, 33)])
    assert [row[1] for row in rows] == ["obedient"] * 2, rows


def test_a_careless_reader_beside_a_polite_one_is_seen(counting: Counting) -> None:
    """Copies that nobody ever names are at some time one reader's, who fetches them all."""
    rows = verdicts(counting, [polite(NNW, OFFICE, 3), careless(NNW, OFFICE, 33)])
    assert sorted(row[1] for row in rows) == ["obedient", "unconditional"], rows


def test_phones_that_send_dates_alone_are_no_more_than_they_are(counting: Counting) -> None:
    """A date that somebody held this morning is no longer that reader's."""
    rng = random.Random(3)
    phones = [dated(NNW, roaming(rng, f"198.{51 + n}"), 11.0 + 20 * n, 60) for n in range(2)]
    rows = verdicts(counting, phones)
    assert len(rows) == 2, rows


def test_an_ipv6_address_is_known_by_its_network(counting: Counting) -> None:
    """Privacy addresses change each day; the network does not: with tags and without."""
    readers = [
        punctual("Tagged/1", private_ipv6(), 3, 60),
        punctual("Bare/1", private_ipv6("2001:db8:1:3"), 3, 60, tags=False),
    ]
    rows = sorted(row[:2] for row in verdicts(counting, readers))
    assert rows == [("Bare", "unconditional"), ("Tagged", "fixed")]


def test_careless_readers_at_their_own_addresses_stay_as_many(counting: Counting) -> None:
    """Each with an hour of its own: twelve, and not one program with twelve addresses."""
    rng = random.Random(3)
    readers = [
        punctual(SCRIPT, fixed_address(f"192.0.2.{n}"), rng.uniform(0, 60), 60, tags=False)
        for n in range(12)
    ]
    assert [row[1] for row in verdicts(counting, readers)] == ["unconditional"] * 12


def test_hourly_careless_readers_behind_one_address_are_not_abusive(counting: Counting) -> None:
    """Twelve of them together come every five minutes; none of them does."""
    rng = random.Random(3)
    readers = [punctual(SCRIPT, OFFICE, rng.uniform(0, 60), 60, tags=False) for _ in range(12)]
    rows = verdicts(counting, readers)
    assert [row[1] for row in rows] == ["unconditional"], rows
    assert "One reader, or several at one address" in rows[0][2]


def test_a_polite_reader_beside_one_with_an_interval_of_its_own(counting: Counting) -> None:
    """The same program behind the same address: each gets its own verdict. A program, at an address
    of its own, for each interval."""
    programs = {f"Every{minutes}": minutes for minutes in (20, 30, 60)}
    readers = []
    for program, minutes in programs.items():
        where = fixed_address(f"192.0.2.{minutes}")
        readers += [
            polite(f"{program}/1", where, 3), punctual(f"{program}/1", where, 9, minutes)
        ]  # fmt: skip
    rows = sorted(row[:2] for row in verdicts(counting, readers))
    assert rows == [(name, word) for name in sorted(programs) for word in ("fixed", "obedient")]


def test_polite_readers_beside_careless_ones(counting: Counting) -> None:
    """Three that behave, one that fetches every hour whole."""
    readers = [*office(3), punctual(NEWSBOAT, OFFICE, 13, 60, tags=False)]
    rows = Counter(row[1] for row in verdicts(counting, readers))
    assert rows == {"obedient": 3, "unconditional": 1}


def test_five_intervals_behind_one_address(counting: Counting) -> None:
    """Five readers with five intervals are five; none of them is called polite."""
    readers = [
        punctual(NEWSBOAT, OFFICE, 11.0 * number, minutes)
        for number, minutes in enumerate((20, 30, 45, 60, 90))
    ]
    rows = Counter(row[1] for row in verdicts(counting, readers))
    assert rows.total() == 5
    assert not rows.keys() - {"fixed", "too-few"}, rows


def test_forty_phones_of_one_carrier(counting: Counting) -> None:
    """Ten addresses for forty polite phones: forty polite phones, or up to three more (by chance:
    equally good candidates are told apart by their random numbers)."""
    rng = random.Random(5)
    readers = [
        polite(NNW, lambda: f"100.64.0.{rng.randrange(10)}", rng.uniform(0, 600)) for _ in range(40)
    ]
    rows = Counter(row[1] for row in verdicts(counting, readers, fold_hours=8))
    assert rows["obedient"] >= 39, rows
    assert rows.total() <= 43, rows
    assert not rows.keys() - {"obedient", "too-few"}, rows


def test_phones_among_homes_and_one_that_is_opened_by_hand(counting: Counting) -> None:
    """All hold the same tags; those that move are not taken for those that stay."""
    rng = random.Random(6)
    phones = [polite(NNW, roaming(rng, f"198.{n}"), rng.uniform(0, 600)) for n in range(3)]
    hand = by_hand(NNW, always_new("203.0"), 120, 540)
    rows = Counter(row[1] for row in verdicts(counting, [*homes(10), *phones, hand]))
    assert rows["obedient"] == 13, rows
    assert rows.total() == 14, rows


def test_who_never_came_again_is_not_waited_for(counting: Counting, clock: FakeClock) -> None:
    """A post is on its way to the two who read, not to a function's last hundred addresses."""
    readers = [
        punctual(SCRIPT, always_new("198.51"), 1, 60, tags=False),
        polite(NEWSBOAT, fixed_address("192.0.2.1"), 2),
        polite(NNW, fixed_address("192.0.2.2"), 3),
    ]
    world = World(counting)
    world.run(readers, 3)
    clock.moment = world.now
    make_post(counting.site, "News.")
    with counting.site.database.read() as session:
        on_its_way = progress(session, world.now, audience(session, world.now))
    assert on_its_way is not None
    assert on_its_way.people == 2


def test_a_phone_that_asks_again_when_its_address_changes(counting: Counting) -> None:
    """Its second request within seconds is not an early visit, and at most one more reader; whether
    the first answer was lost or came."""
    readers = [
        *homes(3, "Lost/1"),
        retrying("Lost/1", roaming(random.Random(3), "198.51"), 4, True),
        *homes(3, "Came/1", "192.0.3"),
        retrying("Came/1", roaming(random.Random(3), "198.52"), 4, False),
    ]
    rows = Counter(row[:2] for row in verdicts(counting, readers))
    assert rows.keys() == {("Lost", "obedient"), ("Came", "obedient")}, rows
    assert set(rows.values()) <= {4, 5}, rows


def test_a_visit_may_lie_in_two_folds(counting: Counting) -> None:
    """The scheduler folds every few seconds: the second request is known for the first one's."""
    world = World(counting)
    world.run([retrying(NNW, roaming(random.Random(3), "198.51"), 4, True)], 1, fold_hours=0)
    with counting.site.database.read() as session:
        rows = make(session, world.now, 30, 15).to_dict()["readers"]
    assert [(row["verdict"], row["requests"]) for row in rows] == [("obedient", len(world.log))]


def test_a_program_that_fetches_twice_each_visit(counting: Counting) -> None:
    """It comes when it is told to, and the report says how often it asks then: both times with its
    old tag, or then with the new one."""
    readers = [twice("Old/1", OFFICE, 4, True), twice("New/1", OFFICE, 4, False)]
    rows = sorted(verdicts(counting, readers))
    assert [row[:2] for row in rows] == [("New", "obedient"), ("Old", "obedient")]
    assert all("it asks 2 times each time that it comes" in row[2] for row in rows), rows


def test_three_that_fetch_twice_behind_one_address(counting: Counting) -> None:
    """Three polite ones, and no accusation."""
    rows = verdicts(counting, [twice("Twice/1", OFFICE, 4 + 17 * n, False) for n in range(3)])
    assert [row[1] for row in rows] == ["obedient"] * 3, rows


def test_asking_all_the_time_is_no_visit(counting: Counting) -> None:
    """Who hammers is abusive, and its mean interval is what it is; with tags and without."""
    readers = [
        punctual("Hammer/1", OFFICE, 3, 3 / 60),
        punctual("Pickaxe/1", OFFICE, 3, 12 / 60, tags=False),
    ]
    hammer, pickaxe = sorted(verdicts(counting, readers, days=0.1))
    assert (hammer[:2], pickaxe[:2]) == (("Hammer", "abusive"), ("Pickaxe", "abusive"))
    assert "comes every 3 s" in hammer[2]
    assert "comes every 12 s" in pickaxe[2]
