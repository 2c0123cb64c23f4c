"""Readers told apart by what they send back: days of scripted readers against their own record."""

import random
from collections import Counter
from dataclasses import replace
from datetime import timedelta

import pytest

from publisher.dynamic_ttl.core.replay.when_to_publish import EITHER, ELEMENT, HEADERS
from publisher.parts.readers.reporting.report import make
from publisher.parts.readers.sums import ReaderSums, count_interval, rhythm_after
from publisher.parts.readers.tables import ReaderFeed
from tests.parts.readers.polls import Counting
from tests.parts.readers.scripted import (
    Ask,
    Reader,
    World,
    dated,
    fixed_address,
    forgetful,
    polite,
    pool,
    punctual,
    roaming,
    shared_cache,
)

pytestmark = pytest.mark.any_database

FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:120.0) Gecko/20100101 Firefox/120.0"
GOOGLEBOT = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"
NEWSBOAT, NNW = "newsboat/2.30 (Linux x86_64)", "NetNewsWire (RSS Reader; https://netnewswire.com/)"
FEEDLY = "Feedly/1.0 (+http://www.feedly.com/fetcher.html; 42 subscribers; )"


def office(count: int, agent: str = NEWSBOAT, header: bool = False) -> list[Reader]:
    """Several readers of one program behind one address, begun within an hour."""
    where = fixed_address("192.0.2.7")
    return [polite(agent, where, 3.0 + 17.0 * number, header) for number in range(count)]


def verdicts(
    counting: Counting, readers: list[Reader], days: float = 3.5, fold_hours: float = 14.0
) -> list[tuple[str, str, str]]:
    """Program, verdict and evidence of each reader in the report, the busiest first."""
    world = World(counting)
    world.run(readers, days, fold_hours)
    with counting.site.database.read() as session:
        values = make(session, world.now, 30, 15).to_dict()
    assert values["totals"]["requests"] == len(world.log)
    assert values["totals"]["bytes"] == sum(row[2] for row in world.log)
    return [(row["agent"], row["verdict"], row["evidence"]) for row in values["readers"]]


def test_element_and_header_are_both_obedience(counting: Counting) -> None:
    """Who obeys the element, who obeys the header to the minute, and who is woken by cron."""
    at_address = fixed_address
    readers = [
        polite("Element/1", at_address("192.0.2.1"), 1),
        polite("Header/1", at_address("192.0.2.2"), 2, header=True),
        polite("Cron/1", at_address("192.0.2.3"), 3, header=True, tick=5),
        dated("Dated/1", at_address("192.0.2.4"), 4),
        punctual("Hourly/1", at_address("192.0.2.5"), 5, 60),
        punctual("Twenty/1", at_address("192.0.2.6"), 5, 20),
    ]
    rows = {row[0]: row for row in verdicts(counting, readers)}
    assert {name: row[1] for name, row in rows.items()} == {
        "Element": "obedient", "Header": "obedient", "Cron": "obedient", "Dated": "obedient",
        "Hourly": "fixed", "Twenty": "fixed",
    }, rows  # fmt: skip


def test_three_polite_readers_behind_one_address(counting: Counting) -> None:
    """They are three polite ones, and no accusation; by the element and by the header."""
    readers = [*office(3, "Element/1"), *office(3, "Header/1", header=True)]
    rows = Counter(row[:2] for row in verdicts(counting, readers))
    assert rows == {("Element", "obedient"): 3, ("Header", "obedient"): 3}


def test_three_hourly_readers_behind_one_address_are_three(counting: Counting) -> None:
    """A rhythm of its own each; the median is an hour, not twenty minutes."""
    where = fixed_address("192.0.2.7")
    rows = verdicts(counting, [punctual(NEWSBOAT, where, 20.0 * n, 60) for n in range(3)])
    assert [row[1] for row in rows] == ["fixed"] * 3, rows
    assert all("60 min" in row[2] for row in rows), rows


def test_a_phone_whose_address_changes_is_one_reader(counting: Counting) -> None:
    """Among others of its program that stay at home; by the element and by the header."""
    readers = []
    for agent, header, net in (("Element/1", False, "198.51"), ("Header/1", True, "198.52")):
        homes = [fixed_address(f"192.0.2.{n}") for n in range(5)]
        readers += [polite(agent, home, 7.0 * n + 1, header) for n, home in enumerate(homes)]
        readers.append(polite(agent, roaming(random.Random(3), net), 11, header))
    rows = Counter(row[:2] for row in verdicts(counting, readers))
    for program in ("Element", "Header"):
        assert rows[program, "obedient"] == 6, rows
        assert sum(rows[row] for row in rows if row[0] == program) <= 7, rows


def test_early_readers_beside_polite_ones_of_their_program(counting: Counting) -> None:
    """Each at an address of its own: an early poll is not by whoever else is due just then."""
    rng = random.Random(8)
    homes = [fixed_address(f"192.0.2.{number}") for number in range(20)]
    polite_ones = [polite(NNW, home, rng.uniform(0, 60)) for home in homes[:10]]
    early = [punctual(NNW, home, rng.uniform(0, 60), 15) for home in homes[10:]]
    rows = Counter(row[1] for row in verdicts(counting, [*polite_ones, *early], days=2))
    assert rows == {"obedient": 10, "fixed": 10}


def test_early_readers_beside_phones(counting: Counting) -> None:
    """Phones are due again and again; what comes at a reader's own interval is that reader's."""
    rng = random.Random(8)
    homes = [fixed_address(f"192.0.2.{number}") for number in range(10)]
    early = [punctual(NNW, home, rng.uniform(0, 60), 15) for home in homes]
    phones = [polite(NNW, roaming(rng, f"198.{n}"), rng.uniform(0, 60)) for n in range(5)]
    rows = Counter(row[1] for row in verdicts(counting, [*early, *phones], days=2))
    assert rows["fixed"] == 10, rows
    assert rows.total() <= 17, rows


@pytest.mark.parametrize(
    ("minutes", "rhythm"),
    [
        ((200,), None),
        ((200, 70, 200), None),
        ((200, 400), None),
        ((200, 70, 230, 62), None),
        ((200, 210), 210),
        ((70, 66, 90, 88), 88),
        ((20,), 20),
        ((20, 200), 200),
    ],
)
def test_one_late_visit_is_no_interval_of_its_own(
    minutes: tuple[int, ...], rhythm: int | None
) -> None:
    """Two alike are, and an early one is at once; told: an hour."""
    feed = ReaderFeed(0.0, 60, 3600, 0.0, 0.0)
    for interval in minutes:
        feed.rhythm = rhythm_after(feed, interval * 60.0)
    assert feed.rhythm == rhythm * 60 if rhythm else feed.rhythm <= 0


@pytest.mark.parametrize(
    ("announced", "minutes", "follows"),
    [
        ((60, 120), (62,), ELEMENT),
        ((60, 120), (121,), HEADERS),
        ((480, 300), (482,), ELEMENT),
        ((480, 300), (301,), HEADERS),
        ((60, 120), (61, 122, 30), HEADERS),  # an early one says nothing
        ((60, 66), (61, 66), EITHER),  # too close together
        ((60, 120), (400, 20), EITHER),
    ],
)
def test_what_a_reader_obeys_is_what_it_came_by_last(
    announced: tuple[int, int], minutes: tuple[int, ...], follows: int
) -> None:
    """By the ttl element or by the header, where the two differ."""
    feed, at = ReaderFeed(0.0, announced[0], announced[1] * 60, 0.0, 0.0), 0.0
    for interval in minutes:
        at += interval * 60.0
        count_interval(ReaderSums(), feed, at, 15)
    assert feed.follows == follows


def test_two_phones(counting: Counting) -> None:
    """Two phones of one program, each with many addresses, are about two."""
    rng = random.Random(4)
    rows = verdicts(counting, [polite(NNW, roaming(rng, "198.51"), 5.0 + 23 * n) for n in (0, 1)])
    assert 2 <= len(rows) <= 4, rows
    assert "fixed" not in {row[1] for row in rows}, rows


def test_an_aggregator_is_one_program_with_its_subscribers_once(counting: Counting) -> None:
    """Every 30 minutes from five addresses: 30 minutes, 42 subscribers."""
    rows = verdicts(counting, [punctual(FEEDLY, pool("203.0.113", 5), 1, 30)])
    assert [row[:2] for row in rows] == [("Feedly", "fixed")]
    assert "30 min" in rows[0][2]


def test_programs_behind_one_cache_are_not_accused(counting: Counting) -> None:
    """Each comes with a tag that another was given, and less often than it asks the cache."""
    agents = [NEWSBOAT, NNW, "Liferea/1.14"]
    rows = verdicts(counting, [shared_cache(agents, fixed_address("192.0.2.9"), 25)])
    assert {row[1] for row in rows} <= {"obedient", "too-few"}, rows
    assert len(rows) == 3


def test_careless_and_forgetful_readers_stay_one_each(counting: Counting) -> None:
    """No validators, or always the first tag: one row each, whatever the feed does."""
    readers = [
        punctual("Careless/1", fixed_address("192.0.2.1"), 1, 60, tags=False),
        forgetful("Forgetful/1", fixed_address("192.0.2.2"), 2, 60),
        punctual("Hurried/1", fixed_address("192.0.2.3"), 2, 4, tags=False),
    ]
    rows = {row[0]: row[1] for row in verdicts(counting, readers)}
    assert rows == {"Careless": "unconditional", "Forgetful": "fixed", "Hurried": "abusive"}


def test_others_are_classes_of_their_own(counting: Counting) -> None:
    """Checks with HEAD, a person's browser, a search engine and a monitor are not judged."""
    readers = [
        punctual("Checker/1", fixed_address("192.0.2.1"), 1, 60, tags=False, method="HEAD"),
        punctual(FIREFOX, fixed_address("192.0.2.2"), 2, 300, tags=False),
        punctual(GOOGLEBOT, pool("66.249.66", 9), 3, 120, tags=False),
        punctual("UptimeRobot/2.0", fixed_address("192.0.2.4"), 4, 5, tags=False),
        polite("newsboat/2.30", fixed_address("192.0.2.5"), 5),
    ]
    world = World(counting)
    world.run(readers, 3)
    with counting.site.database.read() as session:
        values = make(session, world.now, 30, 15).to_dict()
    kinds = {row["agent"]: (row["kind"], row["verdict"]) for row in values["readers"]}
    assert kinds == {
        "Checker": ("HEAD only", "too-few"),
        "Firefox": ("browser", "too-few"),
        "Googlebot": ("search engine", "too-few"),
        "UptimeRobot": ("monitor", "too-few"),
        "newsboat": ("reader", "obedient"),
    }
    head = next(row for row in values["readers"] if row["agent"] == "Checker")
    assert "nothing went out" in head["evidence"]
    assert values["totals"]["readers"] == 1
    assert values["totals"]["full"] == sum(
        status == 200 and method == "GET" for _, status, _, method in world.log
    )


def test_a_phone_that_sends_dates_alone_is_one_reader(counting: Counting) -> None:
    """Without tags, Last-Modified joins its addresses."""
    rows = verdicts(counting, [dated(NNW, roaming(random.Random(3), "198.51"), 5)])
    assert [row[1] for row in rows] == ["obedient"], rows


def test_a_burst_at_the_start_is_no_abuse(counting: Counting) -> None:
    """Whoever subscribes may ask eight times at once; and be polite from then on."""

    def asks_at_once(agent: str, address: str, polls: int) -> Reader:
        tag, ttl = "", 60.0
        for poll in range(polls):
            answer = yield Ask(0.1 if poll < 8 else ttl + 0.2, address, agent, tag)
            tag, ttl = answer.tag, float(answer.ttl or ttl)

    readers = [asks_at_once("Looks/1", "192.0.2.1", 8), asks_at_once("Stays/1", "192.0.2.2", 999)]
    rows = {row[0]: row for row in verdicts(counting, readers)}
    assert {name: row[1] for name, row in rows.items()} == {
        "Looks": "too-few",
        "Stays": "obedient",
    }
    assert "perhaps it has only just begun" in rows["Looks"][2]


def test_readers_that_sleep_at_night_and_are_woken_by_cron(counting: Counting) -> None:
    """Late in the morning, at a tick of their own: never early, and polite."""

    def sleeper(agent: str, tick: float) -> Reader:
        awake = polite(agent, fixed_address("192.0.2.1"), 4, header=True, tick=tick)
        ask = next(awake)
        while True:
            answer = yield ask
            ask = awake.send(answer)
            wakes = answer.at + timedelta(minutes=ask.after)
            if wakes.hour >= 23 or wakes.hour < 7:
                night = timedelta(hours=(31 - wakes.hour) % 24)
                ask = replace(ask, after=ask.after + night.total_seconds() / 60)

    rows = sorted(verdicts(counting, [sleeper("Quarter/1", 15), sleeper("Hour/1", 60)]))
    assert [row[:2] for row in rows] == [("Hour", "obedient"), ("Quarter", "obedient")], rows
