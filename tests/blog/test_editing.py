"""The one step behind the author's form."""

from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import delete, select

from publisher.base.errors import (
    Conflict,
    FieldErrors,
    Forbidden,
    InvalidInput,
    NotFound,
    TooLarge,
)
from publisher.blog import post_addresses
from publisher.blog.writing import autosave, editing, posts, revisions
from publisher.blog.writing.editing import Intent
from publisher.installation import Site
from publisher.storage.tables.blog import Post, Revision, UnsavedText, Update
from publisher.storage.tables.credentials import Author
from tests.conftest import FakeClock
from tests.factories import content, delete_post, make_author, make_post


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
        assert [p.id for p in editing.in_undo_window(db, ada, clock(), 60)] == [post.id]
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
        assert posts.editable(db, author, of_bob.id).source == "By the admin."


def test_deleted_meanwhile(site: Site, clock: FakeClock) -> None:
    """A save over a post that another tab deleted is refused, not swallowed."""
    ada = make_author(site)
    post = make_post(site, author_id=ada.id)
    delete_post(site, post.id)
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
    other_post = make_post(site, "One two three.")
    post = submit(site, ada, Intent(), "Entirely different.", other_post)
    assert post.slug == "one-two-three"


def test_many_posts_of_one_name_cost_no_more(site: Site) -> None:
    """The fortieth "Untitled" gets an address too, after few questions."""
    slugs = {make_post(site, title="Untitled").slug for _ in range(40)}
    assert len(slugs) == 40
    assert {"untitled", "untitled-2", "untitled-20"} <= slugs


def keep(
    site: Site, text: str, origin: str = "laptop", seen: str = "", post: int = 1, base: int = 1
) -> UnsavedText:
    """An autosave of ada's, of a post that has version 1."""
    with site.database.write() as db:
        sent = autosave.Sent({"source": text}, origin, seen)
        return autosave.keep(db, 1, post, base, sent, site.clock(), version=1)


def unsaved_sources(site: Site) -> dict[str, str]:
    """Ada's unsaved texts, and their states."""
    with site.database.read() as db:
        return {row.fields["source"]: row.state for row in autosave.everything(db, 1)}


def test_autosave_is_kept_until_saved(site: Site, clock: FakeClock) -> None:
    """What was typed stays until it is saved, cleaned of what no page can show."""
    ada = make_author(site)
    post = make_post(site, author_id=ada.id)
    seen = autosave.stamp(keep(site, "a\x00b\ud800c"))
    assert unsaved_sources(site) == {"abc": "current"}
    with site.database.write() as db:
        sent = autosave.Sent({"source": "abc, more"}, "laptop", seen)
        editing.submit(db, ada, post.id, content("abc, more"), 1, Intent(), clock(), 60, sent)
    assert unsaved_sources(site) == {}
    with pytest.raises(TooLarge):
        keep(site, "x" * 2_000_001)


def test_a_text_typed_on_another_replaces_it_and_the_other_stays(site: Site) -> None:
    """The newest of a chain is current; what it replaced is kept, whatever became of its words."""
    make_post(site, author_id=make_author(site).id)
    first = keep(site, "one")
    second = keep(site, "quite different", "phone", autosave.stamp(first))
    assert unsaved_sources(site) == {"one": "replaced", "quite different": "current"}
    keep(site, "one and more", "laptop", autosave.stamp(first))
    assert unsaved_sources(site) == {"one and more": "apart", "quite different": "current"}
    keep(site, "quite different, too", "phone", autosave.stamp(second))
    assert unsaved_sources(site) == {"one and more": "apart", "quite different, too": "current"}


@pytest.mark.parametrize("seen", ["", autosave.APART, "7 2024-01-01T00:00:00Z"])
def test_a_text_that_was_not_typed_on_the_current_one_is_apart(site: Site, seen: str) -> None:
    """A tab that does not know the newest autosave replaces nothing."""
    make_post(site, author_id=make_author(site).id)
    keep(site, "an hour of work", "phone")
    assert keep(site, "older", seen=seen).state == "apart"
    assert unsaved_sources(site) == {"an hour of work": "current", "older": "apart"}


def test_a_text_on_an_older_version_is_apart(site: Site) -> None:
    """What was typed before a save does not come back by itself."""
    make_post(site, author_id=make_author(site).id)
    assert keep(site, "older", base=0).state == "apart"


def test_one_tab_overwrites_only_what_it_has_seen(site: Site) -> None:
    """An answer that was lost, or a page of the same tab that did not show its other text."""
    make_post(site, author_id=make_author(site).id)
    keep(site, "one")
    keep(site, "one two")
    assert unsaved_sources(site) == {"one two": "current"}
    keep(site, "quite different")
    assert unsaved_sources(site) == {"one two": "replaced", "quite different": "current"}
    keep(site, "what Back brought", seen=autosave.APART)
    assert unsaved_sources(site)["quite different"] == "current"


def test_a_save_leaves_the_autosave_of_another_tab(site: Site, clock: FakeClock) -> None:
    """Only the tab's own, and what was replaced and is within the saved text, are not needed."""
    ada = make_author(site)
    post = make_post(site, author_id=ada.id)
    first = keep(site, "one")
    keep(site, "one, two", "phone", autosave.stamp(first))
    keep(site, "apart", "tablet")
    with site.database.write() as db:
        value, sent = content("mine: one"), autosave.Sent({"source": "mine: one"}, "desk")
        editing.submit(db, ada, post.id, value, 1, Intent(), clock(), 60, sent)
    assert unsaved_sources(site) == {"one, two": "current", "apart": "apart"}
    with site.database.read() as db:
        assert autosave.current(db, ada.id, post.id, 2) is None  # it is offered


def test_texts_that_were_replaced_are_kept_for_thirty_days(site: Site, clock: FakeClock) -> None:
    """What the editor shows stays; what it does not show goes after thirty days."""
    make_post(site, author_id=make_author(site).id)
    keep(site, "in the box", post=0, base=1)
    first = keep(site, "one")
    keep(site, "two", "phone", autosave.stamp(first))
    for days, left in ((29, {"one", "two", "in the box"}), (2, {"two", "in the box"})):
        clock.forward(hours=24 * days)
        with site.database.write() as db:
            autosave.prune(db, clock())
        assert set(unsaved_sources(site)) == left


def test_one_name_makes_one_post(site: Site, clock: FakeClock) -> None:
    """The second request of a name saves over the first one's post; after a day it is a new one."""
    ada = make_author(site)

    def send(source: str, name: str = "a") -> Post:
        with site.database.write() as db:
            value = content(source)
            intent = Intent("now")
            return editing.submit(db, ada, 0, value, 0, intent, clock(), 60, attempt=name)

    first = send("One.")
    clock.forward(seconds=30)
    again = send("One.")
    assert (again.id, again.version, again.scheduled_at) == (first.id, 1, first.scheduled_at)
    assert (send("One, and more.").version, send("One, and more.").id) == (2, first.id)
    with site.database.write() as db:
        posts.save(db, first.id, content("Elsewhere."), 2, ada.id, clock())
    with pytest.raises(Conflict):
        send("One, two.")
    assert send("One.", "b").id != first.id
    assert send("One.", "").id != send("One.", "").id
    clock.forward(hours=25)
    assert send("One.").id != first.id


def test_a_name_whose_post_was_deleted_makes_another(site: Site, clock: FakeClock) -> None:
    """A text that is sent again is not lost because its first post was deleted."""
    ada = make_author(site)
    with site.database.write() as db:
        for _ in range(2):
            post = editing.submit(
                db, ada, 0, content("One."), 0, Intent("draft"), clock(), 60, attempt="a"
            )
            posts.delete(db, post, clock())
        assert post.id == 2


def test_a_save_that_is_sent_again_is_no_conflict(site: Site, clock: FakeClock) -> None:
    """Its answer was lost, and more was typed."""
    ada = make_author(site)
    post = make_post(site, author_id=ada.id)
    for source in ("One.", "One. Two."):
        with site.database.write() as db:
            saved = editing.submit(
                db, ada, post.id, content(source), 1, Intent(), clock(), 60, attempt="a"
            )
    assert (saved.source, saved.version) == ("One. Two.", 3)


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
        assert [(e.version, e.author, len(e.content["source"].split())) for e in entries] == [
            (3, "ada", 3), (2, "ada", 1), (1, "ada", 3),
        ]  # fmt: skip
        with pytest.raises(NotFound):
            revisions.get(db, post, 9)


def test_preview_link_dies(site: Site) -> None:
    """A revoked link leads nowhere, the new one to the post."""
    post = submit(site, make_author(site), Intent("draft"))
    with site.database.write() as db:
        previewed = post_addresses.preview_of(db, post.preview_token)
        post_addresses.revoke_preview(previewed)
        with pytest.raises(NotFound):
            post_addresses.preview_of(db, post.preview_token)
        assert post_addresses.preview_of(db, previewed.preview_token).id == post.id


def test_a_version_shows_the_fields_that_it_changed(site: Site, clock: FakeClock) -> None:
    """The first one what was written, without choices that nobody made; tags in another order and
    a field that one of the two does not know yet are no change."""
    post = make_post(site, "One.", title="A title", tags=["b", "a"])
    with site.database.write() as db:
        value = content("Two.", title="A title", tags=["a", "b"], gallery="off")
        post = posts.save(db, post.id, value, 1, None, clock())
        first, second = revisions.get(db, post, 1), revisions.get(db, post, 2)
        assert revisions.before(db, second) is first
        changed = {change.name: change for change in revisions.changes(first, second)}
        assert list(changed) == ["gallery", "source"]
        assert "".join(piece.text for piece in changed["source"].pieces) == "OneTwo."
        assert [c.name for c in revisions.changes(None, first)] == [
            "title", "slug", "tags", "source",
        ]  # fmt: skip
        first.content = {k: v for k, v in first.content.items() if k not in ("gallery", "tags")}
        assert [c.name for c in revisions.changes(first, second)] == ["source"]
        post = revisions.restore(db, post, first, None, clock())
        assert (post.source, post.gallery) == ("One.", "off")
        assert posts.content(db, post).tags == ("a", "b")


def test_a_version_of_a_restored_database_is_another_one(site: Site, clock: FakeClock) -> None:
    """It has the number, but was saved at another moment; a bare number is taken at its word."""
    post = make_post(site)
    with site.database.write() as db:
        post = posts.get(db, post.id)
        mark = revisions.mark(db, post)
        asked = (mark, "1", "1 2024-01-01T00:00:00Z", "7 2024-01-01T00:00:00Z", "", "x")
        assert [revisions.marked(db, post, text) for text in asked] == [1, 1, 0, 7, 0, 0]
        db.execute(delete(Revision))
        assert revisions.mark(db, post) == "1"


def test_unsaved_texts_are_offered_chosen_and_discarded(site: Site, clock: FakeClock) -> None:
    """To their author alone; the editor offers what it does not show itself."""
    make_post(site, author_id=make_author(site).id)
    first = keep(site, "one")
    clock.forward(minutes=1)
    second = keep(site, "quite different", "phone", autosave.stamp(first))
    with site.database.write() as db:
        assert autosave.unsaved(db, 1, [1, 2])[1].id == second.id
        assert [row.id for row in autosave.other_texts(db, 1, 1, {"source": "one"})] == [second.id]
        assert [row.id for row in autosave.other_texts(db, 1, 1, {"source": "two"})] == [
            second.id, first.id,
        ]  # fmt: skip
        for author, number in ((2, first.id), (1, 99)):
            with pytest.raises(NotFound):
                autosave.get(db, author, number)
        autosave.choose(db, autosave.get(db, 1, first.id), 1, clock.forward(minutes=1))
    assert unsaved_sources(site) == {"one": "current", "quite different": "replaced"}
    with site.database.write() as db:
        autosave.forget(db, 1, 1, autosave.stamp(autosave.get(db, 1, first.id)))
        autosave.forget(db, 1, 1, "")
    assert unsaved_sources(site) == {"quite different": "replaced"}
    with site.database.read() as db:
        assert autosave.unsaved(db, 1, [1]) == {}


def test_what_is_already_out_is_changed_only_on_purpose(site: Site, clock: FakeClock) -> None:
    """Saved as a draft by a page that does not know it: refused; taken back: it is a draft. With
    another date, one save is one update; a date to come is refused beside its field."""
    ada = make_author(site)
    post = make_post(site, author_id=ada.id)
    with pytest.raises(InvalidInput, match="published by now"):
        submit(site, ada, Intent("draft"), "Not ready.", post)
    yesterday = clock() - timedelta(days=1)
    post = submit(site, ada, Intent(at=yesterday), "Changed.", post)
    assert (post.published_at, post.version) == (yesterday, 2)
    post = submit(site, ada, Intent(at=clock()), "Changed.", post)
    post = submit(site, ada, Intent(at=yesterday, minor=True), "Changed.", post)
    with pytest.raises(FieldErrors) as refused:
        submit(site, ada, Intent(at=clock() + timedelta(days=1)), "Changed.", post)
    assert list(refused.value.fields) == ["at"]
    post = submit(site, ada, Intent("back"), "Secret.", post)
    assert (post.status, post.source) == ("draft", "Secret.")
    with site.database.read() as db:
        kinds = db.scalars(select(Update.kind).order_by(Update.id)).all()
    assert kinds == ["publish", "edit", "edit"]
