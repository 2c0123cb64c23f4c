"""The one step behind the author's form."""

from datetime import UTC, datetime, timedelta

import pytest

from publisher.base.errors import Conflict, FieldErrors, Forbidden, NotFound, TooLarge
from publisher.blog.members import permissions
from publisher.blog.writing import autosave, editing, posts, previews, revisions
from publisher.blog.writing.editing import Intent
from publisher.installation import Site
from publisher.storage.tables.blog import Post
from publisher.storage.tables.credentials import Author
from tests.conftest import FakeClock
from tests.factories import content, make_author, make_post


def submit(
    site: Site, who: Author, intent: Intent, source: str = "Hello there.", post: Post | None = None
) -> Post:
    with site.database.write() as db:
        post_id, version = (post.id, post.version) if post else (0, 0)
        value = content(source)
        return editing.submit(db, who, post_id, value, version, intent, site.clock(), 60)


def test_places(site: Site, clock: FakeClock) -> None:
    """Draft, later, now: one control moves a post, and "now" leaves time to undo."""
    ada = make_author(site)
    post = submit(site, ada, Intent("draft"))
    assert post.status == "draft"
    tomorrow = clock() + timedelta(days=1)
    post = submit(site, ada, Intent("later", tomorrow), post=post)
    assert (post.status, post.scheduled_at) == ("scheduled", tomorrow)
    post = submit(site, ada, Intent("keep"), "Changed.", post=post)
    assert (post.status, post.scheduled_at) == ("scheduled", tomorrow)
    post = submit(site, ada, Intent("now"), "Changed.", post=post)
    assert (post.status, post.scheduled_at) == ("scheduled", clock() + timedelta(seconds=60))
    with site.database.read() as db:
        assert [p.id for p in editing.leaving(db, ada, clock(), 60)] == [post.id]
    post = submit(site, ada, Intent("draft"), "Changed.", post=post)
    assert (post.status, post.scheduled_at) == ("draft", None)


@pytest.mark.parametrize(
    "at",
    [None, datetime(9999, 1, 1, tzinfo=UTC)],
    ids=["missing", "year 9999"],
)
def test_bad_schedules(site: Site, at: datetime | None) -> None:
    """A schedule that is missing or never comes is refused, and nothing is saved."""
    ada = make_author(site)
    with pytest.raises(FieldErrors) as caught:
        submit(site, ada, Intent("later", at))
    assert list(caught.value.fields) == ["at"]
    with site.database.read() as db:
        assert db.query(Post).count() == 0


def test_roles(site: Site) -> None:
    """Authors change their own posts, admins all."""
    admin, author = make_author(site), make_author(site, "bob")
    of_admin, of_bob = make_post(site, author_id=admin.id), make_post(site, author_id=author.id)
    submit(site, admin, Intent(), "By the admin.", of_bob)
    with pytest.raises(Forbidden):
        submit(site, author, Intent(), "By Bob.", of_admin)
    with site.database.read() as db:
        assert permissions.editable(db, author, of_bob.id).source == "By the admin."


def test_deleted_meanwhile(site: Site, clock: FakeClock) -> None:
    """A save over a post that another tab deleted is refused, not swallowed."""
    ada = make_author(site)
    post = make_post(site, author_id=ada.id)
    with site.database.write() as db:
        posts.delete(db, posts.get(db, post.id), clock())
    with pytest.raises(Conflict, match="deleted"):
        submit(site, ada, Intent(), "Still typing.", post)


def test_slug_follows_a_draft_and_stays_with_readers(site: Site, clock: FakeClock) -> None:
    """A draft's address follows its words until it is published; a chosen one never moves."""
    ada = make_author(site)
    post = submit(site, ada, Intent("draft"), "Hel")
    assert post.slug == "hel"
    post = submit(site, ada, Intent("draft"), "Hello wide world", post)
    assert post.slug == "hello-wide-world"
    with site.database.write() as db:
        post = posts.save(db, post.id, content("Text", slug="mine"), post.version, ada.id, clock())
        post = posts.save(db, post.id, content("Other"), post.version, ada.id, clock())
    assert post.slug == "mine"
    other = make_post(site, "One two three.")
    post = submit(site, ada, Intent(), "Entirely different.", other)
    assert post.slug == "one-two-three"


def test_many_posts_of_one_name_cost_no_more(site: Site) -> None:
    """The fortieth "Untitled" gets an address too, after few questions."""
    slugs = {make_post(site, title="Untitled").slug for _ in range(40)}
    assert len(slugs) == 40
    assert {"untitled", "untitled-2", "untitled-20"} <= slugs


def test_autosave_is_kept_until_saved(site: Site, clock: FakeClock) -> None:
    """What was typed stays until it is saved, cleaned of what no page can show."""
    ada = make_author(site)
    post = make_post(site, author_id=ada.id)
    with site.database.write() as db:
        autosave.keep(db, ada.id, post.id, 1, {"source": "a\x00b\ud800c"}, "", clock())
    with site.database.read() as db:
        kept = autosave.load(db, ada.id, post.id)
        assert kept is not None
        assert kept.fields == {"source": "abc"}
    submit(site, ada, Intent(), "abc", post)
    with site.database.read() as db:
        assert autosave.load(db, ada.id, post.id) is None


def test_a_save_leaves_the_autosave_of_another_tab(site: Site, clock: FakeClock) -> None:
    """Only the text that the saved one was typed on is not needed any more."""
    ada = make_author(site)
    post = make_post(site, author_id=ada.id)
    with site.database.write() as db:
        other = autosave.stamp(
            autosave.keep(db, ada.id, post.id, 1, {"source": "theirs"}, "", clock())
        )
        for version, seen in ((1, ""), (2, "2024-01-01T00:00:00Z")):
            value = content(f"mine, {version}")
            editing.submit(db, ada, post.id, value, version, Intent(), clock(), 60, seen)
            kept = autosave.load(db, ada.id, post.id)
            assert kept is not None
            assert kept.fields == {"source": "theirs"}
        editing.submit(db, ada, post.id, content("theirs, more"), 3, Intent(), clock(), 60, other)
        assert autosave.load(db, ada.id, post.id) is None


def test_autosaves_of_two_tabs(site: Site, clock: FakeClock) -> None:
    """A tab that does not know the latest autosave cannot wipe it out."""
    ada = make_author(site)
    with site.database.write() as db:
        first = autosave.stamp(autosave.keep(db, ada.id, 0, 0, {"source": "one"}, "", clock()))
        clock.forward(seconds=5)
        with pytest.raises(Conflict):
            autosave.keep(db, ada.id, 0, 0, {"source": "two"}, "", clock())
        autosave.keep(db, ada.id, 0, 0, {"source": "one and more"}, first, clock())
        with pytest.raises(TooLarge):
            autosave.keep(db, ada.id, 1, 0, {"source": "x" * 2_000_001}, "", clock())


def test_revision_is_brought_back_as_a_new_one(site: Site, clock: FakeClock) -> None:
    """Restoring keeps everything in between; the history names who, when and how much."""
    ada = make_author(site)
    post = submit(site, ada, Intent("draft"), "First text here.")
    post = submit(site, ada, Intent("draft"), "Second.", post)
    with site.database.write() as db:
        post = posts.get(db, post.id)
        first = revisions.get(db, post, 1)
        assert revisions.before(db, first) is None
        revisions.restore(db, post, first, ada.id, clock())
        assert (post.source, post.version) == ("First text here.", 3)
        entries = revisions.history(db, post)
        assert [(e.version, e.author, e.words) for e in entries] == [
            (3, "ada", 3), (2, "ada", 1), (1, "ada", 3),
        ]  # fmt: skip
        with pytest.raises(NotFound):
            revisions.get(db, post, 9)


def test_preview_link_dies(site: Site) -> None:
    """A revoked link leads nowhere, the new one to the post."""
    post = submit(site, make_author(site), Intent("draft"))
    with site.database.write() as db:
        found = previews.find(db, post.preview_token)
        previews.revoke(found)
        with pytest.raises(NotFound):
            previews.find(db, post.preview_token)
        assert previews.find(db, found.preview_token).id == post.id
