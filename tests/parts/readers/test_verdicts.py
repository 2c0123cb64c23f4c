"""The verdicts, by the behaviour that earns each of them."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from publisher.parts.readers.reporting.report import make
from publisher.parts.readers.reporting.verdicts import OBEDIENT, in_words, judge
from tests.parts.readers.polls import FULL, NOT_MODIFIED, Counting, FakeDocument

pytestmark = pytest.mark.any_database

MONDAY = datetime(2024, 3, 4, tzinfo=UTC)
WEEK = timedelta(days=7)


def told_at(moment: datetime) -> int:
    """A feed that says 15 in the morning, 480 at night and 60 between them."""
    return 15 if 8 <= moment.hour < 12 else 480 if moment.hour >= 22 or moment.hour < 6 else 60


def obeying(floor: int = 0) -> Iterator[datetime]:
    """Polls when the ttl runs out, or after `floor` minutes if that is later."""
    at = MONDAY
    while at < MONDAY + WEEK:
        yield at
        at += timedelta(minutes=max(told_at(at), floor))


def every(minutes: float, days: float = 7) -> Iterator[datetime]:
    """Polls at a fixed interval."""
    at = MONDAY
    while at < MONDAY + timedelta(days=days):
        yield at
        at += timedelta(minutes=minutes)


CASES = [
    ("strict", obeying(), "good", "obedient", "told to wait 15 min, it waits 15 min"),
    ("floor of half an hour", obeying(30), "good", "obedient", "shortest pause of its own"),
    ("hourly", every(60), "good", "fixed", "comes every 60 min"),
    ("daily", every(1440, 14), "good", "fixed", "comes every 1440 min"),
    ("six days", every(1440, 6), "good", "fixed", "comes every 1440 min"),
    ("careless", every(60), "none", "unconditional", "0 % of 167 repeated requests"),
    ("obeys, but careless", obeying(), "none", "unconditional", "100 % of"),
    ("makes validators up", every(60), "made up", "unconditional", "that it never got here"),
    ("hurried", every(5), "none", "abusive", "sooner than the feed ever asks (15 min)"),
    ("hammers", every(0.5, 1), "good", "abusive", "comes every 30 s"),
    ("hurried, conditional", every(5), "good", "fixed", "comes every 5 min"),
    (
        "once a day, twice",
        every(1440, 3),
        "good",
        "too-few",
        "2 pauses between its visits so far; 5 are needed",
    ),
]


@pytest.mark.parametrize(
    ("agent", "times", "validators", "verdict", "evidence"), CASES, ids=[case[0] for case in CASES]
)
def test_each_behaviour_gets_its_verdict(
    counting: Counting,
    agent: str,
    times: Iterator[datetime],
    validators: str,
    verdict: str,
    evidence: str,
) -> None:
    """A simulated week of polls, through counter, fold and report."""
    last = MONDAY
    for number, at in enumerate(times):
        document = FakeDocument(max_age_seconds=told_at(at) * 60)
        if validators == "good" and number:
            counting.poll(at, NOT_MODIFIED, document, agent=agent, if_none_match=document.etag)
        elif validators == "made up" and number:
            counting.poll(at, FULL, document, agent=agent, if_none_match='"mine"')
        else:
            counting.poll(at, FULL, document, agent=agent)
        last = at
    counting.fold()
    with counting.site.database.read() as session:
        report = make(session, last, 30, 15)
    judged = judge(report.readers[0].sums, report.smallest_ttl_minutes)
    assert judged.name == verdict, judged.evidence
    assert evidence in judged.evidence


def test_one_reader_listens_and_several_listen() -> None:
    """The words agree with the number."""
    assert in_words(OBEDIENT) == in_words(OBEDIENT, 1) == "listens"
    assert in_words(OBEDIENT, 2) == "listen"


def test_one_ttl_alone_proves_little_and_the_evidence_says_so(counting: Counting) -> None:
    """Hourly polls of a feed that always says 60 are obedience, as far as anybody can tell."""
    document = FakeDocument(max_age_seconds=3600)
    for hour in range(10):
        at = MONDAY + timedelta(hours=hour)
        counting.poll(at, NOT_MODIFIED, document, if_none_match=document.etag)
    counting.fold()
    with counting.site.database.read() as session:
        report = make(session, MONDAY + timedelta(days=1), 7, 15)
    judged = judge(report.readers[0].sums, report.smallest_ttl_minutes)
    assert judged.name == "obedient"
    assert "would look the same" in judged.evidence
