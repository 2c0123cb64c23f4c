"""Which validators a new document gets, given the one before it."""

import gzip
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from publisher.dynamic_ttl.core.ttl.activity import histogram
from publisher.dynamic_ttl.core.ttl.decision import decide
from publisher.dynamic_ttl.core.ttl.headers import Expiries
from publisher.dynamic_ttl.core.ttl.rule import TtlRule
from publisher.feeds.validation import Problem
from publisher.installation import Site
from publisher.publishing import snapshots
from publisher.publishing.snapshots import Build, keep
from publisher.storage.tables.publishing import Snapshot

NOON = datetime(2024, 3, 4, 12, 0, 0, 300_000, tzinfo=UTC)


def stored(site: Site, body: bytes, at: datetime = NOON, **changes: Any) -> Snapshot:
    """Keep `body` as the document `rss`, built at `at`."""
    values: dict[str, Any] = {
        "content_hash": "c1",
        "content_changed_at": NOON,
        "decision": decide(histogram([], at, "UTC").by_dates(), at, TtlRule()),
        "reasons": [],
        "built_at": at,
    }
    with site.database.write() as session:
        return keep(session, "rss", "text/xml", body, Build(**{**values, **changes}))


def test_first_document(site: Site) -> None:
    """Weak tag of the bytes, Last-Modified in whole seconds, gzip that unpacks to the body."""
    row = stored(site, b"one")
    assert row.etag.startswith('W/"')
    assert row.last_modified == NOON.replace(microsecond=0)
    assert gzip.decompress(row.body_gzip) == b"one"
    assert row.body_gzip[4:8] == bytes(4)  # no time in it: the same bytes every time
    assert row.serial == 1
    assert row.etag.startswith('W/"c1.')  # a tag tells which content its holder has
    assert stored(site, b"two", content_hash="0123456789").etag.startswith('W/"01234567.')


def test_same_bytes_keep_their_validators(site: Site) -> None:
    """A build that changes nothing moves neither the tag nor Last-Modified."""
    first = stored(site, b"one")
    second = stored(site, b"one", NOON + timedelta(hours=1))
    assert (second.etag, second.last_modified) == (first.etag, first.last_modified)
    assert second.serial == 2


def test_there_and_back(site: Site) -> None:
    """Going back to earlier bytes brings the earlier tag back, and a later Last-Modified."""
    first = stored(site, b"480")
    stored(site, b"60", NOON + timedelta(hours=1))
    third = stored(site, b"480", NOON + timedelta(hours=2))
    assert third.etag == first.etag
    assert third.last_modified == first.last_modified + timedelta(hours=2)


def test_two_builds_in_one_second_are_marked(site: Site) -> None:
    """H5: the second document of a second says so, until a later one replaces it."""
    assert not stored(site, b"one").second_shared
    assert stored(site, b"two", NOON + timedelta(milliseconds=300)).second_shared
    assert stored(site, b"two", NOON + timedelta(seconds=5)).second_shared
    assert not stored(site, b"three", NOON + timedelta(seconds=9)).second_shared


def test_last_modified_never_goes_back(site: Site) -> None:
    """H5: a clock that was set back does not leave readers stuck in 304."""
    first = stored(site, b"one")
    second = stored(site, b"two", NOON - timedelta(hours=3))
    assert second.last_modified == first.last_modified
    assert second.second_shared


def test_quiet_tag_follows_the_content_alone(site: Site) -> None:
    """With the quiet rule a new ttl changes the bytes, but neither tag nor Last-Modified."""
    first = stored(site, b"ttl 15", etag="quiet")
    second = stored(site, b"ttl 60", NOON + timedelta(hours=1), etag="quiet")
    third = stored(
        site, b"ttl 60, post", NOON + timedelta(hours=2), etag="quiet", content_hash="c2"
    )
    assert (second.etag, second.last_modified) == (first.etag, first.last_modified)
    assert (second.body, gzip.decompress(second.body_gzip)) == (b"ttl 60", b"ttl 60")
    assert third.etag != second.etag
    assert third.last_modified > second.last_modified


def test_a_strangers_document_is_stored_as_it_was_packed(site: Site) -> None:
    """It has no history of items."""
    build = Build(
        "c1", NOON, decide(histogram([], NOON, "UTC").by_dates(), NOON, TtlRule()), [], NOON
    )
    with site.database.write() as session:
        for packed in (b"packed", b"packed again"):
            row = keep(session, "other", "text/xml", b"one", build, packed)
            assert (row.body_gzip, row.item_history) == (packed, None)
        assert stored_history(keep(session, "own", "text/xml", b"<rss/>", build)) == ["c1"]


def stored_history(row: Snapshot) -> list[str]:
    """The contents that a document's readers may hold."""
    return list((row.item_history or {}).get("contents", {}))


@pytest.mark.parametrize(("etag", "renewed"), [("renewed", True), ("document", False)])
def test_how_long_a_document_is_fresh(site: Site, etag: str, renewed: bool) -> None:
    """One of an earlier release has only its ttl."""
    row = stored(site, b"one", etag=etag)
    assert snapshots.freshness(row).renewed is renewed
    assert snapshots.freshness(row).expiries is not None
    row.decision = {name: fact for name, fact in row.decision.items() if name != "expiries"}
    assert snapshots.freshness(row).expiries is None
    row.decision = {**row.decision, "expiries": {"top": 1, "instants": [2, 3]}}
    assert snapshots.freshness(row).expiries == Expiries(1, (2, 3))


def test_problems_are_known_since_they_were_found(site: Site) -> None:
    """They are news once, and again when they are other ones or none."""
    one, two = (Problem("rss", rule, "is wrong") for rule in ("R1", "R2"))
    steps: list[tuple[list[Problem], bool, int | None]] = [
        ([], False, None), ([one], True, 1), ([one], False, 1), ([one, two], True, 3),
        ([], True, None), ([], False, None),
    ]  # fmt: skip
    for hour, (problems, news, since) in enumerate(steps):
        at = NOON.replace(microsecond=0) + timedelta(hours=hour)
        with site.database.write() as session:
            assert snapshots.keep_problems(session, problems, at) is news
        found_at = None if since is None else NOON.replace(microsecond=0, hour=12 + since)
        with site.database.read() as session:
            assert snapshots.known_problems(session) == (found_at, problems)


def test_versions_of_a_document_are_its_own(site: Site) -> None:
    """From the one in force at a moment on; the present one of each is never forgotten."""
    with site.database.write() as session:
        for number in range(3):
            for name in ("atom", "json", "rss"):
                at = NOON + timedelta(hours=number)
                decision = decide(histogram([], at, "UTC").by_dates(), at, TtlRule())
                build = Build(f"{name}{number}", at, decision, [], at)
                row = keep(session, name, "text/xml", f"{name} {number}".encode(), build)
                for _ in range(2):
                    snapshots.note_version(session, row, at)
                    session.flush()

        def hours(name: str, since: timedelta) -> list[int]:
            rows = snapshots.versions_since(session, name, NOON + since)
            assert all(row.content_hash.startswith(name) for row in rows)
            return [row.built_at.hour - 12 for row in rows]

        hour, second = timedelta(hours=1), timedelta(seconds=1)
        for name in ("atom", "json", "rss"):
            for since, found in (
                (-second, [0, 1, 2]), (0 * hour, [0, 1, 2]), (hour - second, [0, 1, 2]),
                (hour, [1, 2]), (2 * hour, [2]), (9 * hour, [2]),
            ):  # fmt: skip
                assert hours(name, since) == found
        assert snapshots.versions_since(session, "x", NOON) == []
        for before, left in ((hour, [1, 2]), (hour + second, [2]), (9 * hour, [2])):
            snapshots.prune_versions(session, NOON + before)
            assert [hours(name, -second) for name in ("atom", "json", "rss")] == [left] * 3
