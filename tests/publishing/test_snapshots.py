"""Which validators a new document gets, given the one before it."""

import gzip
from datetime import UTC, datetime, timedelta
from typing import Any

from publisher.dynamic_ttl.core.ttl.activity import histogram
from publisher.dynamic_ttl.core.ttl.decision import decide
from publisher.dynamic_ttl.core.ttl.rule import TtlRule
from publisher.installation import Site
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
