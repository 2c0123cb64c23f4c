"""The one step behind the author's form."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import cast

import pytest
from sqlalchemy import delete, select

from publisher.base.dates import format_rfc3339
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
from publisher.storage.tables.blog import Attempt, Post, Revision, UnsavedText, Update
from publisher.storage.tables.credentials import Author
from tests.conftest import FakeClock
from tests.factories import content, delete_post, make_author, make_post


def submit(
    site: Site, who: Author, intent: Intent, source: str = "Hello there.", post: Post | None = None
) -> Post:
    with site.database.write() as db:
        post_id, version = (post.id, post.version) if post else (0, 0)
        value = content(source)
        action = "".join(intent.action)  # as it comes from a form: no constant of the program
        intent = replace(intent, action=cast("editing.PublishAction", action))
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
    """The twenty-fourth "Untitled" gets an address too, after few questions."""
    untitled = content("x", title="Untitled")
    with site.database.write() as db:
        slugs = {posts.create(db, untitled, None, site.clock()).slug for _ in range(24)}
    assert len(slugs) == 24
    assert {"untitled", *(f"untitled-{number}" for number in range(2, 21))} <= slugs
    assert "untitled-21" not in slugs


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


def logged(site: Site) -> list[str]:
    """The kinds of the updates that readers got."""
    with site.database.read() as db:
        return list(db.scalars(select(Update.kind).order_by(Update.id)))


def test_a_text_and_another_date_are_one_update(site: Site, clock: FakeClock) -> None:
    """So is either alone; the same date again is none, nor is anything minor."""
    ada = make_author(site)
    post = make_post(site, author_id=ada.id)
    at, expected = clock(), ["publish"]
    for intent, source, updates in (
        (Intent(at=at - timedelta(days=1)), "One.", 1), (Intent(at=at), "One.", 1),
        (Intent(at=at), "One.", 0), (Intent(at=at), "Two.", 1),
        (Intent(at=at - timedelta(days=2), minor=True), "Two.", 0),
        (Intent(at=at - timedelta(days=1), minor=True), "Three.", 0), (Intent(), "Four.", 1),
    ):  # fmt: skip
        post = submit(site, ada, intent, source, post)
        expected += ["edit"] * updates
        assert logged(site) == expected
        assert post.published_at == intent.at or intent.at is None


def test_where_the_calendar_ends(site: Site, clock: FakeClock) -> None:
    """The last moment that can be scheduled, and what was scheduled goes back to the drafts."""
    ada = make_author(site)
    post = submit(site, ada, Intent("later", posts.LATEST_SCHEDULE))
    assert post.scheduled_at == posts.LATEST_SCHEDULE
    with pytest.raises(FieldErrors):
        submit(site, ada, Intent("later", posts.LATEST_SCHEDULE + timedelta(seconds=1)))
    late = posts.LATEST_SCHEDULE + timedelta(seconds=1)
    with site.database.write() as db, pytest.raises(InvalidInput):
        posts.publish_or_schedule(db, posts.get(db, post.id), late, clock())
    post = submit(site, ada, Intent("back"), post=post)
    assert (post.status, post.scheduled_at) == ("draft", None)
    post = submit(site, ada, Intent("later", clock()), post=post)
    assert (post.status, post.published_at) == ("published", clock())


@pytest.mark.parametrize(("undo", "soon"), [(60, 60), (0, 1)])
def test_the_undo_window_is_ones_own(site: Site, clock: FakeClock, undo: int, soon: int) -> None:
    """A post in it can still be held back, for a second at least; not those of others, nor what is
    scheduled for later."""
    for name in ("ada", "ben", "cleo"):
        author = make_author(site, name)
        for seconds in (soon, soon + 1):
            make_post(site, at=clock() + timedelta(seconds=seconds), author_id=author.id)
    with site.database.read() as db:
        shown = [
            [post.id for post in editing.in_undo_window(db, author, clock(), undo)]
            for author in db.scalars(select(Author).order_by(Author.id))
        ]
    assert shown == [[1], [3], [5]]


@pytest.mark.parametrize(
    ("action", "origin", "source", "number"),
    [("now", "", "One.", 1), ("now", "", "Two.", 2), ("now", "tab", "Two.", 1),
     ("draft", "", "Two.", 1)],
)  # fmt: skip
def test_a_form_that_back_has_brought(
    site: Site,
    clock: FakeClock,
    action: editing.PublishAction,
    origin: str,
    source: str,
    number: int,
) -> None:
    """Without our script it has the name of what it made already: another text is another post,
    unless that one is a draft still."""
    ada = make_author(site)
    for text in ("One.", source):
        with site.database.write() as db:
            sent = autosave.Sent({"source": text}, origin)
            post = editing.submit(
                db, ada, 0, content(text), 0, Intent(action), clock(), 60, sent, attempt="a"
            )
    assert (post.id, post.source) == (number, source)


@pytest.mark.parametrize(("seconds", "same"), [(86_399, True), (86_400, False)])
def test_a_request_is_known_for_a_day(
    site: Site, clock: FakeClock, seconds: int, same: bool
) -> None:
    """By its name and its author: others may use the name."""
    for name in ("ada", "ben", "cleo"):
        author = make_author(site, name)
        with site.database.write() as db:
            editing.submit(
                db, author, 0, content(name), 0, Intent("draft"), clock(), 60, attempt="a"
            )
    clock.forward(seconds=seconds)
    with site.database.write() as db:
        found = [editing.earlier_attempt(db, n, "a", clock()) for n in (1, 2, 3)]
        assert [row and row.post_id for row in found] == ([1, 2, 3] if same else [None] * 3)
        editing.note_attempt(db, 2, "b", posts.get(db, 2), clock())
        rows = db.scalars(select(Attempt.post_id).order_by(Attempt.made_at, Attempt.post_id)).all()
    assert rows == ([1, 2, 3, 2] if same else [2])


def test_each_unsaved_text_belongs_to_one_author_and_one_post(site: Site, clock: FakeClock) -> None:
    """What happens to one happens to no other, of the people and posts before and after."""
    for name in ("ada", "ben", "cleo"):
        make_author(site, name)
    for _ in range(3):
        make_post(site)
    places = [(author, post) for author in (1, 2, 3) for post in (0, 1, 2, 3)]
    with site.database.write() as db:
        kept = {
            place: autosave.keep(
                db, *place, 1, autosave.Sent({"source": f"text {place}"}, "tab"), clock()
            )
            for place in places
        }
        for place, row in kept.items():
            assert autosave.current(db, *place, 1) is row
            assert autosave.other_texts(db, *place, {"source": ""}) == [row]
            assert autosave.current(db, *place, 0) is autosave.current(db, *place, 2) is None
        assert list(autosave.everything(db, 2)) == [kept[2, post] for post in (3, 2, 1, 0)]
        assert autosave.unsaved(db, 2, [1, 2, 9]) == {1: kept[2, 1], 2: kept[2, 2]}
        for stranger in (1, 3):
            with pytest.raises(NotFound):
                autosave.get(db, stranger, kept[2, 2].id)
        assert autosave.get(db, 2, kept[2, 2].id) is kept[2, 2]
        autosave.saved(db, 2, 2, autosave.Sent(kept[2, 2].fields, "tab"))
        autosave.forget(db, 2, 1, autosave.stamp(kept[2, 1]))
        db.flush()
        del kept[2, 2], kept[2, 1]
        left = db.scalars(select(UnsavedText).order_by(UnsavedText.id)).all()
        assert left == list(kept.values())
        assert {row.state for row in left} == {"current"}
        own = autosave.keep(db, 2, 2, 1, autosave.Sent({"source": "x"}, "tab"), clock())
        assert own.state == "current"


def test_a_save_makes_only_its_own_texts_superfluous(site: Site) -> None:
    """Not those that are older or newer than the one that it was typed on, which is kept as one
    that was replaced, if it came from another tab."""
    make_post(site, author_id=make_author(site).id)
    rows = [
        keep(site, text, tab, autosave.APART) for text, tab in (("a", "1"), ("b", "2"), ("c", "3"))
    ]

    def save(text: str, tab: str, seen: UnsavedText | None) -> dict[str, str]:
        with site.database.write() as db:
            autosave.saved(db, 1, 1, autosave.Sent({"source": text}, tab, autosave.stamp(seen)))
        return unsaved_sources(site)

    assert save("other", "2", None) == {"a": "apart", "b": "apart", "c": "apart"}
    assert save("other", "desk", rows[1]) == {"a": "apart", "b": "replaced", "c": "apart"}
    assert save("abc", "desk", None) == {"a": "apart", "c": "apart"}  # it is within
    assert save("other", "1", rows[0]) == {"c": "apart"}  # the tab's own
    assert save("c", "desk", None) == {}  # the same text


def test_what_was_typed_where_nothing_is_current(site: Site) -> None:
    """The first text is current; one that was typed on what is gone is not, and offered."""
    make_post(site, author_id=make_author(site).id)

    def forget(row: UnsavedText) -> None:
        with site.database.write() as db:
            autosave.forget(db, 1, 1, autosave.stamp(row))

    lost = keep(site, "lost", "tab", "7 2024-01-01T00:00:00Z")
    assert lost.state == "apart"
    assert keep(site, "lost", "other tab", autosave.APART).id == lost.id  # its answer was lost
    assert keep(site, "lost, found", "tab", autosave.stamp(lost)).state == "current"
    forget(lost)
    first = keep(site, "one")
    second = keep(site, "quite different", "phone", autosave.stamp(first))
    forget(second)
    assert keep(site, "one and more", seen=autosave.stamp(first)).state == "apart"
    with site.database.write() as db:
        sent = autosave.Sent({"source": "x"}, "device", device="\x00" + "y" * 301)
        row = autosave.keep(db, 1, 2, 1, sent, site.clock())
        assert row.device == "y" * 300
        long = autosave.Sent({"source": "x" * 1_999_999, "title": "y"}, "long")
        assert autosave.keep(db, 1, 3, 1, long, site.clock()).state == "current"


def test_what_is_offered_is_kept_for_thirty_days(site: Site, clock: FakeClock) -> None:
    """To the second: what was replaced or is apart, and what was typed on another version."""
    make_author(site)
    for _ in range(3):
        make_post(site)
    with site.database.write() as db:
        for post in (1, 2, 3):
            posts.save(db, post, content(f"Text {post}."), 1, None, clock())
            sent = autosave.Sent({"source": f"on version {post}"}, "tab")
            autosave.keep(db, 1, post, post, sent, clock())  # all three posts have version 2
        assert list(autosave.unsaved(db, 1, [1, 2, 3])) == [2]
        posts.save(db, 1, content("Again."), 2, None, clock())  # the version of post 3's text
        assert list(autosave.unsaved(db, 1, [1, 2, 3])) == [2]
        sent = autosave.Sent({"source": "apart"}, "phone", autosave.APART)
        autosave.keep(db, 1, 2, 2, sent, clock())
        clock.forward(hours=24 * 30)
        autosave.prune(db, clock())
        assert len(autosave.everything(db, 1)) == 4
        autosave.prune(db, clock.forward(seconds=1))
        assert [row.fields["source"] for row in autosave.everything(db, 1)] == ["on version 2"]


def test_each_post_has_versions_of_its_own(site: Site, clock: FakeClock) -> None:
    """Those of the posts before and after it, and the other ones of its own, are others."""
    for number in (1, 2, 3):
        make_post(site, f"Text {number}.1", slug=f"post-{number}")
    for version in (2, 3):
        for number in (1, 2, 3):
            with site.database.write() as db:
                value = content(f"Text {number}.{version}", slug=f"post-{number}")
                posts.save(db, number, value, version - 1, None, clock.forward(minutes=1))
    with site.database.write() as db:
        post = posts.get(db, 2)
        rows = {version: revisions.get(db, post, version) for version in (1, 2, 3)}
        sources = [row.content["source"] for row in rows.values()]
        assert sources == ["Text 2.1", "Text 2.2", "Text 2.3"]
        assert revisions.before(db, rows[3]) is rows[2]
        assert revisions.before(db, rows[1]) is None
        for missing in (0, 4):
            with pytest.raises(NotFound):
                revisions.get(db, post, missing)
        assert [row.version for row in revisions.history(db, post)] == [3, 2, 1]
        assert [row.version for row in revisions.history(db, post, 2)] == [3, 2]
        mark = revisions.mark(db, post)
        assert mark == f"3 {format_rfc3339(rows[3].saved_at)}"
        for text, number in (
            (mark, 3), ("3 2020-01-01T00:00:00Z", 0), ("3 2030-01-01T00:00:00Z", 0),
            ("2 2020-01-01T00:00:00Z", 2), ("4 2020-01-01T00:00:00Z", 4), ("3", 3),
        ):  # fmt: skip
            assert revisions.marked(db, post, text) == number
