"""The life of a post, and what each step of it records."""

from datetime import timedelta

import pytest
from sqlalchemy import select

from publisher.base.errors import Conflict
from publisher.blog import published, update_log
from publisher.blog.writing import posts
from publisher.installation import Site
from publisher.storage.tables.blog import Update
from tests.conftest import FakeClock
from tests.factories import content, make_post


def logged(site: Site) -> list[str]:
    with site.database.read() as db:
        return list(db.scalars(select(Update.kind).order_by(Update.id)))


def test_publishing_records_one_update_at_its_time(site: Site, clock: FakeClock) -> None:
    """A published post is one row of the log and one count in its hour's slot."""
    make_post(site)
    assert logged(site) == ["publish"]
    with site.database.read() as db:
        assert update_log.load(db).decayed(clock())[9] == pytest.approx(1.0)


def test_schedule_missed_while_down_keeps_its_own_time(site: Site, clock: FakeClock) -> None:
    """A post scheduled for a time when nothing ran is published later, dated as promised."""
    promised = clock() + timedelta(hours=2)
    make_post(site, at=promised)
    assert logged(site) == []
    now = clock.forward(days=3)
    with site.database.write() as db:
        (post,) = posts.publish_due(db, now)
    assert post.published_at == promised
    with site.database.read() as db:
        assert update_log.last_update(db, now) == promised


def test_two_tabs(site: Site, clock: FakeClock) -> None:
    """The second of two saves from the same version is refused and changes nothing."""
    post = make_post(site)
    with site.database.write() as db:
        posts.save(db, post.id, content("First tab."), 1, None, clock())
    with pytest.raises(Conflict), site.database.write() as db:
        posts.save(db, post.id, content("Second tab."), 1, None, clock())
    with site.database.read() as db:
        assert posts.get(db, post.id).source == "First tab."


def test_minor_edit_records_nothing(site: Site, clock: FakeClock) -> None:
    """An edit is an update unless it is minor; saving the same text is neither."""
    post = make_post(site)
    with site.database.write() as db:
        posts.save(db, post.id, content("Typo mended."), 1, None, clock(), minor=True)
        posts.save(db, post.id, content("Typo mended."), 2, None, clock())
    assert logged(site) == ["publish"]
    with site.database.write() as db:
        posts.save(db, post.id, content("Rewritten."), 2, None, clock())
    assert logged(site) == ["publish", "edit"]


def test_delete_and_undo(site: Site, clock: FakeClock) -> None:
    """Deleting takes a post out of the lists and records it; restoring brings it back."""
    post = make_post(site)
    with site.database.write() as db:
        posts.delete(db, posts.get(db, post.id), clock())
        assert published.newest(db, 5) == []
        posts.restore(db, posts.get(db, post.id), clock())
        assert [row.id for row in published.newest(db, 5)] == [post.id]
    assert logged(site) == ["publish", "delete", "restore"]
