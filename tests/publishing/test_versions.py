"""Which versions of a document were served, and when."""

from datetime import timedelta

from publisher.installation import Site
from publisher.publishing import snapshots
from publisher.publishing.rebuild import rebuild
from tests.conftest import FakeClock
from tests.factories import make_post


def ttls(site: Site, clock: FakeClock, hours: float) -> list[int]:
    """The ttl of each version of the last hours."""
    with site.database.read() as session:
        rows = snapshots.versions_since(session, "rss", clock() - timedelta(hours=hours))
        return [row.ttl_minutes for row in rows]


def test_a_row_each_time_the_bytes_change(site: Site, clock: FakeClock) -> None:
    """Rebuilding the same bytes adds nothing; a new ttl adds a version with the same content."""
    make_post(site)
    for _ in range(5):
        rebuild(site)
        clock.forward(hours=1)
    assert ttls(site, clock, 24) == [15, 60, 480]
    assert ttls(site, clock, 3) == [60, 480]
    with site.database.read() as session:
        rows = snapshots.versions_since(session, "rss", clock() - timedelta(days=1))
        assert len({row.content_hash for row in rows}) == 1
        assert len({row.etag for row in rows}) == 3


def test_old_versions_go_and_the_present_one_stays(site: Site, clock: FakeClock) -> None:
    """However quiet the blog: the version that is served is never forgotten."""
    make_post(site)
    for _ in range(5):
        rebuild(site)
        clock.forward(hours=1)
    clock.forward(days=90)
    with site.database.write() as session:
        snapshots.prune_versions(session, clock() - timedelta(days=30))
    assert ttls(site, clock, 24 * 365) == [480]
