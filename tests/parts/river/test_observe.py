"""Crawl results in, new intervals out."""

import json
from collections.abc import Sequence
from typing import Any

import pytest
from sqlalchemy import select

from publisher.base.errors import InvalidInput, NotFound
from publisher.dynamic_ttl.core.polling import Answer, parse
from publisher.installation import Site
from publisher.parts.river.observe import Estimator, Observed, apply, history, observe, prune_visits
from publisher.parts.river.tables import RiverCrawl, RiverCrawlVisit
from tests.conftest import FakeClock
from tests.parts.river.origin import Origin, conditional, rss
from tests.parts.river.test_worker import River

DAY = 86400


def line(at: float | str, content_hash: str, url: str = "http://a.example/", **more: Any) -> bytes:
    return json.dumps({"url": url, "timestamp": at, "hash": content_hash, **more}).encode()


def feed(site: Site, estimator: Estimator, lines: Sequence[bytes], batch: int = 1000) -> Observed:
    """Observe lines in batches, each in a transaction of its own."""
    total = Observed()
    for start in range(0, len(lines), batch):
        with site.database.write() as db:
            part = observe(db, list(enumerate(lines, 1))[start : start + batch], estimator)
        total.answers += part.answers
        total.complaints += part.complaints
    return total


@pytest.mark.parametrize("batch", [1, 3, 1000])
@pytest.mark.parametrize("name", ["changes", "nochanges"])
def test_an_answer_per_group(site: Site, name: str, batch: int) -> None:
    """After every fifth visit there is an answer, the same whatever the batches."""
    lines = [line(n * DAY, "ABABAAAAAACDEFG"[n]) for n in range(15)]
    answers = feed(site, Estimator.of(name, 5), lines, batch).answers
    policy = parse(f"cho-{name}:visits=5,floor=1,ceiling=525600")
    memory, expected, before = policy.start(), [], ""
    for n in range(15):
        now = "ABABAAAAAACDEFG"[n]
        changed = bool(before) and now != before
        memory = policy.remember(memory, Answer(200, int(changed), changed), n * DAY)
        if n % 5 == 4:
            expected.append(policy.decide(memory, n * DAY).wait_seconds)
        before = now
    assert [answer["estimated_frequency_seconds"] for answer in answers] == expected
    assert expected[0] < expected[1]
    assert answers[1]["next_interval_seconds"] == min(expected[1], 7 * DAY)
    assert all(answer["reasons"] for answer in answers)


def test_visits_and_metadata_are_kept(site: Site) -> None:
    """Each visit is kept in its group, with the named fields and no others."""
    lines = [line(n * DAY + 1, "x", status=200, size=n, secret="s") for n in range(6)]
    feed(site, Estimator.of("changes", 3, ["status", "size"]), lines)
    with site.database.read() as db:
        rows = db.scalars(select(RiverCrawlVisit).order_by(RiverCrawlVisit.id)).all()
        crawl = db.scalars(select(RiverCrawl)).one()
    assert [row.group for row in rows] == [0, 0, 0, 1, 1, 1]
    assert json.loads(rows[2].extra or "") == {"status": 200, "size": 2}
    assert (crawl.visits, crawl.last_visit_epoch) == (6, 5 * DAY + 1)
    assert crawl.estimated_frequency_seconds is not None


def test_both_forms_of_time(site: Site) -> None:
    """RFC 3339 and seconds name the same moment, which then counts once."""
    lines = [line("2026-03-01T11:00:00+01:00", "x"), line(1_772_359_200, "y")]
    feed(site, Estimator.of("changes", 5), lines)
    with site.database.read() as db:
        assert db.scalars(select(RiverCrawl.visits)).one() == 1


def test_late_and_repeated_lines_change_nothing(site: Site) -> None:
    """What is not later than the last visit is left out."""
    lines = [line(5, "a"), line(5, "b"), line(4, "c"), line(6, "a")]
    feed(site, Estimator.of("changes", 5), lines)
    with site.database.read() as db:
        assert db.scalars(select(RiverCrawl.visits)).one() == 2


BAD = [
    b"not json",
    b"[]",
    b"3",
    b"{}",
    b'{"url": "x"}',
    b'{"url": "", "hash": "a", "timestamp": 1}',
    b'{"url": "x", "hash": null, "timestamp": 1}',
    b'{"url": "x", "hash": "a", "timestamp": "soon"}',
    b'{"url": "x", "hash": "a", "timestamp": -1}',
    b'{"url": "x", "hash": "a", "timestamp": 1e300}',
    b'{"url": "x", "hash": "a", "timestamp": true}',
    b'{"url": "x", "hash": "a", "timestamp": NaN}',
    b"\xff\xfe",
    b"[" * 100_000,
]


@pytest.mark.parametrize("bad", BAD)
def test_bad_lines_are_named_and_left_out(site: Site, bad: bytes) -> None:
    """A line that makes no sense costs one complaint with its number, the others count."""
    observed = feed(site, Estimator.of("changes", 2), [line(1, "a"), bad, b"", line(2, "b")])
    assert len(observed.answers) == 1
    assert len(observed.complaints) == 1
    assert observed.complaints[0].startswith("line 2: ")


def test_unknown_estimators_are_refused() -> None:
    """The names are those that the documentation lists."""
    with pytest.raises(InvalidInput, match="known: changes, nochanges"):
        Estimator.of("magic", 5)


def test_the_history_of_an_address_is_readable_and_pruned(site: Site) -> None:
    """By time, with the fields that were kept; older visits than the setting says are forgotten."""
    estimator = Estimator.of("changes", 5, ["depth"])
    at = site.clock().timestamp()
    feed(site, estimator, [line(at - 9 * 86400, "a"), line(at - 86400, "b", depth=3)])
    with site.database.write() as db:
        visits = history(db, "http://a.example/")
        assert [(row["hash"], row.get("depth")) for row in visits] == [("a", None), ("b", 3)]
        prune_visits(db, site.clock(), 7)
        assert [row["hash"] for row in history(db, "http://a.example/")] == ["b"]
        with pytest.raises(NotFound, match="no visit to"):
            history(db, "http://b.example/")


def test_estimates_reach_the_running_river(site: Site, clock: FakeClock, origin: Origin) -> None:
    """A feed under `observed` is polled by its estimate, and a new one moves its plan at once."""
    river = River(site, clock)
    url = origin.serve("/f", conditional(rss("a"), '"1"'))
    second_url = origin.serve("/g", conditional(rss("a"), '"1"'))
    river.add(url, "observed")
    river.add(second_url)
    assert river.poll() == 2
    assert river.wait(url) == 60  # nothing is known yet: the default

    def report(hours: float) -> int:
        """Six visits with a change at each, so far apart, and what comes of them."""
        begin = clock().timestamp() - 6 * hours * 3600
        lines = [line(begin + n * hours * 3600, str(n), url) for n in range(6)]
        with site.database.write() as db:
            observed = observe(db, list(enumerate(lines, 1)), Estimator.of("changes", 6))
            assert len(observed.answers) == 1
            return apply(db, observed.answers, clock())

    clock.forward(minutes=1)
    assert report(hours=0.1) == 1
    assert river.wait(url) == 15  # the floor
    assert "estimate" in river.feed(url).reasons[0]
    river.later(minutes=14)
    assert "crawler" in river.feed(url).reasons[0]
    assert river.wait(url) == 15
    clock.forward(days=3)
    assert report(hours=10) == 1
    assert river.feed(url).next_poll_at == clock()  # ten hours are over
    river.poll()
    assert 60 < river.wait(url) <= 12 * 60
