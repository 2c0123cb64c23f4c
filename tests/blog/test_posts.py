"""The life of a post, and what each step of it records."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import event, select

from publisher.base.errors import Conflict, Gone, InvalidInput, NotFound
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


def test_what_cannot_be_published(site: Site, clock: FakeClock) -> None:
    """A date that no calendar here has, and what is out or deleted already."""
    post = make_post(site)
    with site.database.write() as db:
        post, draft = posts.get(db, post.id), posts.create(db, content("x"), None, clock())
        with pytest.raises(InvalidInput, match="too far"):
            posts.publish_or_schedule(db, draft, datetime(9999, 1, 1, tzinfo=UTC), clock())
        with pytest.raises(Conflict, match="is published"):
            posts.publish_or_schedule(db, post, clock(), clock())
        posts.delete(db, post, clock())
        with pytest.raises(Conflict, match="is deleted"):
            posts.publish_or_schedule(db, post, clock(), clock())
        with pytest.raises(NotFound, match="no post 99"):
            posts.get(db, 99)


def test_another_date_moves_a_post(site: Site, clock: FakeClock) -> None:
    """An update, unless it comes with a save that is one; of a page none; never to the future."""
    first, second = make_post(site, "First."), make_post(site, "Second.")
    page = make_post(site, "A page.", kind="page")
    yesterday = clock() - timedelta(days=1)
    with site.database.write() as db:
        posts.redate(db, posts.get(db, second.id), yesterday, clock())
        assert [post.id for post in published.newest(db, 5)] == [first.id, second.id]
        posts.redate(db, posts.get(db, first.id), yesterday, clock(), counted=False)
        posts.redate(db, posts.get(db, page.id), yesterday, clock())
        assert [post.id for post in published.newest(db, 5)] == [second.id, first.id]
        with pytest.raises(InvalidInput, match="future"):
            posts.redate(db, posts.get(db, first.id), clock() + timedelta(seconds=1), clock())
    assert logged(site) == ["publish", "publish", "edit"]


def test_an_old_date_is_no_news_and_a_return_is(site: Site, clock: FakeClock) -> None:
    """A post with an old date counts then; one that was taken back and returns counts now."""
    long_ago = clock() - timedelta(days=9)
    post = make_post(site, at=long_ago)
    with site.database.write() as db:
        post = posts.get(db, post.id)
        posts.unpublish(db, post, clock())
        assert (post.status, post.published_at, published.newest(db, 5)) == ("draft", None, [])
        with pytest.raises(Gone):
            published.at_path(db, post.slug, "post")
        with pytest.raises(Conflict, match="a draft already"):
            posts.unpublish(db, post, clock())
        posts.publish_or_schedule(db, post, long_ago, clock.forward(hours=1))
        rows = db.execute(select(Update.kind, Update.at).order_by(Update.id)).all()
    assert [tuple(row) for row in rows] == [("backdate", long_ago), ("restore", clock())]


def test_as_if_it_had_never_been_out(site: Site, clock: FakeClock) -> None:
    """Its address then knows nothing of it, also if that is asked for later."""
    post = make_post(site)
    with site.database.write() as db:
        post = posts.get(db, post.id)
        posts.unpublish(db, post, clock())
        posts.unpublish(db, post, clock(), as_if_never=True)
        with pytest.raises(NotFound):
            published.at_path(db, post.slug, "post")
        with pytest.raises(Conflict, match="a draft already"):
            posts.unpublish(db, post, clock(), as_if_never=True)
        posts.delete(db, post, clock())
        with pytest.raises(Conflict, match="deleted"):
            posts.unpublish(db, post, clock(), as_if_never=True)


def test_what_waits_can_be_held_back_until_it_is_out(site: Site, clock: FakeClock) -> None:
    """The next one is known; back as a draft it is not due any more."""
    later, sooner = (make_post(site, at=clock() + timedelta(hours=h)) for h in (2, 1))
    with site.database.write() as db:
        assert posts.next_due(db) == sooner.scheduled_at
        posts.unpublish(db, posts.get(db, sooner.id), clock())
        assert posts.next_due(db) == later.scheduled_at
        posts.publish_due(db, clock.forward(hours=2))
        assert posts.next_due(db) is None
        with pytest.raises(Conflict, match="too late"):
            posts.unschedule(db, posts.get(db, later.id))
    assert logged(site) == ["publish"]


def test_what_returns_from_the_bin(site: Site, clock: FakeClock) -> None:
    """As it was, or as a draft; a draft comes back as one, and what was not deleted stays."""
    post, draft_again = make_post(site, "One."), make_post(site, "Two.")
    with site.database.write() as db:
        draft = posts.create(db, content("Three."), None, clock())
        for number, as_draft in ((post.id, False), (draft_again.id, True), (draft.id, False)):
            row = posts.get(db, number)
            for _ in range(2):
                posts.delete(db, row, clock())
            for _ in range(2):
                posts.restore(db, row, clock(), as_draft)
        statuses = [posts.get(db, n).status for n in (post.id, draft_again.id, draft.id)]
        assert statuses == ["published", "draft", "draft"]
        with pytest.raises(Gone):
            published.at_path(db, posts.get(db, draft_again.id).slug, "post")
    assert logged(site) == ["publish", "publish", "delete", "restore", "delete"]


def test_an_address_that_a_post_takes_again_is_its_own(site: Site, clock: FakeClock) -> None:
    """There and back: the first one leads to itself, the second one to it; nobody else gets it."""
    post = make_post(site, "x", slug="one")
    with site.database.write() as db:
        for version, slug in ((1, "two"), (2, "one")):
            posts.save(db, post.id, content("x", slug=slug), version, None, clock())
        assert published.moved(db, "/posts/one") is None
        assert published.moved(db, "/posts/two") is not None
    assert make_post(site, "y", slug="two").slug == "two-2"
    assert make_post(site, "z", slug="archives").slug == "archives-2"


def test_neighbouring_pictures_are_a_gallery_unless_the_author_does_not_want_one(
    site: Site,
) -> None:
    pictures = "![a](/media/a.png)\n![b](/media/b.png)"
    assert '<div class="gallery">' in make_post(site, pictures).html
    assert "gallery" not in make_post(site, pictures, gallery="off").html


@pytest.mark.parametrize(
    ("seconds", "first", "again"),
    [(0, "publish", "publish"), (59, "publish", "publish"), (60, "backdate", "restore"),
     (61, "backdate", "restore")],
)  # fmt: skip
def test_a_minute_ago_is_an_old_date(
    site: Site, clock: FakeClock, seconds: int, first: str, again: str
) -> None:
    """For a new post and for one that returns, which is news now."""
    at = clock() - timedelta(seconds=seconds)
    post = make_post(site, at=at)
    with site.database.write() as db:
        post = posts.get(db, post.id)
        posts.unpublish(db, post, clock())
        posts.publish_or_schedule(db, post, at, clock())
        assert (post.former_date, post.published_at) == (None, at)
        rows = db.execute(select(Update.kind, Update.at).order_by(Update.id)).all()
    counted = clock() if again == "restore" else at
    assert [tuple(row) for row in rows] == [(first, at), (again, counted)]


def test_what_is_due(site: Site, clock: FakeClock) -> None:
    """Each at its own moment, soonest first, and nothing that is not scheduled any more."""
    for minutes in (3, 1, 2, 2):
        make_post(site, at=clock() + timedelta(minutes=minutes))
    with site.database.write() as db:
        for minutes, due in ((0, []), (1, [2]), (2, [2, 3, 4]), (3, [2, 3, 4, 1])):
            moment = clock() + timedelta(minutes=minutes)
            assert [post.id for post in posts.due_until(db, moment)] == due
        assert posts.next_due(db) == clock() + timedelta(minutes=1)
        posts.delete(db, posts.get(db, 2), clock())
        assert posts.get(db, 2).scheduled_at is None
        third = posts.unschedule(db, posts.get(db, 3))
        assert (third.status, third.scheduled_at) == ("draft", None)
        with pytest.raises(Conflict, match="too late"):
            posts.unschedule(db, third)
        assert posts.next_due(db) == clock() + timedelta(minutes=2)
        out = posts.publish_due(db, clock.forward(minutes=5))
        assert [(post.id, post.published_at) for post in out] == [
            (4, clock() - timedelta(minutes=3)), (1, clock() - timedelta(minutes=2)),
        ]  # fmt: skip
        assert posts.next_due(db) is None
        waiting = posts.create(db, content("x"), None, clock())
        posts.publish_or_schedule(db, waiting, clock() + timedelta(seconds=1), clock())
        posts.unpublish(db, waiting, clock())
        assert (waiting.status, waiting.scheduled_at, waiting.former_date) == ("draft", None, None)
        posts.delete(db, waiting, clock())
        with pytest.raises(Conflict, match="deleted"):
            posts.unpublish(db, waiting, clock(), as_if_never=True)


def test_a_save_from_another_version_is_refused(site: Site, clock: FakeClock) -> None:
    """From an earlier one or one that is not there; and changes nothing."""
    make_post(site)
    with site.database.write() as db:
        for base in (0, 2, 9):
            with pytest.raises(Conflict, match="another tab"):
                posts.save(db, 1, content("x"), base, None, clock())
    with site.database.read() as db:
        assert posts.get(db, 1).version == 1


def test_parts_are_told_of_what_readers_see(
    site: Site, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the text of before: changes of a public text, not a minor one, a title or a draft."""
    told: list[tuple[Any, ...]] = []
    monkeypatch.setattr(published, "tell_parts", lambda _db, _post, *words: told.append(words))
    make_post(site, "One.", slug="one")
    path, now = "/posts/one", clock()
    with site.database.write() as db:
        post = posts.get(db, 1)

        def save(source: str, minor: bool = False, **fields: str) -> None:
            value = content(source, slug="one", **fields)
            posts.save(db, 1, value, post.version, None, clock(), minor)

        assert told == [(path, now)]
        save("Two.", minor=True)
        save("Two.", title="A title")
        assert told == [(path, now)]
        save("Three.")
        assert told[1:] == [(path, now, "<p>Two.</p>\n")]
        posts.unpublish(db, post, now)
        save("Four.")
        assert told[2:] == [(path, now)]
        posts.publish_or_schedule(db, post, now, now)
        posts.delete(db, post, now)
        posts.delete(db, post, now)
        posts.restore(db, post, now)
        posts.restore(db, post, now)
        assert told[3:] == [(path, now)] * 3
        draft = posts.create(db, content("x"), None, now)
        posts.delete(db, draft, now)
        posts.restore(db, draft, now)
        assert len(told) == 6


def test_a_page_has_another_address_than_a_post(site: Site, clock: FakeClock) -> None:
    """The old one leads there, if readers had it; a note without words keeps its name."""
    make_post(site, "One.", slug="one")
    with site.database.write() as db:
        posts.save(db, 1, content("One.", slug="one", kind="page"), 1, None, clock())
        assert posts.path(posts.get(db, 1)) == "/one"
        assert published.moved(db, "/posts/one") is posts.get(db, 1)
        draft = posts.create(db, content("Two."), None, clock())
        posts.save(db, 2, content("Three."), 1, None, clock())
        assert draft.slug == "three"
        assert published.moved(db, "/posts/two") is None
        note = posts.create(db, content("<https://a.example/>"), None, clock())
        before = note.slug
        posts.save(db, 3, content("<https://b.example/>"), 1, None, clock())
        assert note.slug == before
        assert before.startswith("note-")
        posts.save(db, 3, content("Some words."), 2, None, clock())
        assert note.slug == "some-words"


def test_a_post_is_published_in_few_questions(site: Site) -> None:
    """Others wait meanwhile. Its own row is written three times: made, filled, published."""
    make_post(site, "The first makes what there is one of.")
    statements = list[str]()
    event.listen(
        site.database.engine, "before_cursor_execute", lambda *call: statements.append(call[2])
    )
    make_post(site, "Some words.")
    of_the_post = ("INSERT INTO posts ", "UPDATE posts ")
    assert len([text for text in statements if text.startswith(of_the_post)]) == 3
    assert len(statements) < 25
