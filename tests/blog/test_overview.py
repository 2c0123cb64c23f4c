"""The author's own list of posts."""

from datetime import timedelta

import pytest

from publisher.blog import update_log
from publisher.blog.writing import autosave, overview, posts
from publisher.installation import Site
from tests.conftest import FakeClock
from tests.factories import content, make_author, make_post


@pytest.fixture
def filled(site: Site, clock: FakeClock) -> Site:
    """Five posts of two authors: published, scheduled, a page, a draft, a deleted one."""
    ada, bob = make_author(site), make_author(site, "bob")
    make_post(site, "Of cats.", author_id=ada.id, tags=["Pets"], title="Cats")
    clock.forward(minutes=1)
    make_post(site, "About me and my cats.", author_id=bob.id, kind="page", title="About")
    make_post(site, "Later.", at=clock() + timedelta(days=1), author_id=ada.id)
    clock.forward(minutes=1)
    with site.database.write() as db:
        posts.create(db, content("A draft of 100% cats."), bob.id, clock())
        gone = posts.create(db, content("Gone."), ada.id, clock())
        posts.delete(db, gone, clock())
    return site


FILTERED: list[tuple[dict[str, str | int], list[str]]] = [
    ({}, ["Later.", "A draft of 100% cats.", "About me and my cats.", "Of cats."]),
    ({"state": "draft"}, ["A draft of 100% cats."]),
    ({"state": "deleted"}, ["Gone."]),
    ({"state": "published"}, ["About me and my cats.", "Of cats."]),
    ({"state": "scheduled"}, ["Later."]),
    ({"state": "?"}, ["Later.", "A draft of 100% cats.", "About me and my cats.", "Of cats."]),
    ({"kind": "post"}, ["Later.", "A draft of 100% cats.", "Of cats."]),
    ({"author_id": 1}, ["Later.", "Of cats."]),
    ({"kind": "page"}, ["About me and my cats."]),
    ({"kind": "post", "state": "published"}, ["Of cats."]),
    ({"tag": "pets"}, ["Of cats."]),
    ({"tag": "unknown"}, []),
    ({"author_id": 2}, ["A draft of 100% cats.", "About me and my cats."]),
    ({"words": "cats"}, ["A draft of 100% cats.", "About me and my cats.", "Of cats."]),
    ({"words": "100%"}, ["A draft of 100% cats."]),
    ({"words": "%"}, ["A draft of 100% cats."]),
    ({"words": "'\"; DROP"}, []),
]


def test_filters(filled: Site) -> None:
    """Each filter shows what it says, newest first."""
    wrong = []
    for wanted, expected in FILTERED:
        # As they come from an address: no constants of the program.
        sent = {name: "".join(v) if isinstance(v, str) else v for name, v in wanted.items()}
        with filled.database.read() as db:
            rows = overview.rows(db, overview.Filter(**sent), 1)  # type: ignore[arg-type]
        if (shown := [row.began for row in rows]) != expected:
            wrong.append((wanted, shown))
    assert not wrong


def test_pages_follow_each_other(site: Site, clock: FakeClock) -> None:
    """Page by page nothing is missing and nothing twice, also where moments are the same."""
    for number in range(7):
        make_post(site, f"Post {number}")
        clock.forward(minutes=number % 2)
    seen: list[str] = []
    after = None
    with site.database.read() as db:
        while rows := overview.rows(db, overview.Filter(), 1, limit=2, after=after):
            seen += [row.began for row in rows]
            after = rows[-1].when, rows[-1].id
    assert seen == [f"Post {number}" for number in reversed(range(7))]


def test_all_rows_and_those_that_are_due_first(
    filled: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Page after page, up to a limit; the other way round for what is to come."""
    monkeypatch.setattr(overview, "PAGE", 2)
    with filled.database.read() as db:
        everything = [row.id for row in overview.walk(db, overview.Filter())]
        assert everything == [3, 4, 2, 1]
        assert [row.id for row in overview.walk(db, overview.Filter(), 3)] == everything[:3]
        soonest = overview.rows(db, overview.Filter(), 1, soonest=True)
        assert [row.id for row in soonest] == everything[::-1]


def test_what_a_list_takes_of_a_text(filled: Site, clock: FakeClock) -> None:
    """Its beginning; and of what is looked for, the first twelve words."""
    begin = "w" * 90
    with filled.database.write() as db:
        posts.save(db, 4, content(f"{begin}x cats"), 1, 2, clock())
        sent = autosave.Sent({"source": f"{begin}y"}, "tab")
        autosave.keep(db, 1, 1, 1, sent, clock())
    with filled.database.read() as db:
        for state in ("draft", "published"):
            wanted = overview.Filter(state=state, kind="post")
            assert [row.began for row in overview.rows(db, wanted, 1)] == [f"{begin}…"]
        assert [row.unsaved_at for row in overview.walk(db, overview.Filter())] == [None] * 4
        for words, found in (("cats " * 12 + "dogs", [4]), ("cats " * 11 + "dogs", [])):
            wanted = overview.Filter(state="draft", words=words)
            assert [row.id for row in overview.rows(db, wanted, 1)] == found


def test_a_common_tag_is_found_as_a_rare_one(filled: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """With as many posts as are looked up one by one, and with more."""
    for most in (2, 1):
        monkeypatch.setattr(overview, "_MAX_SORTED", most)
        with filled.database.read() as db:
            assert [row.id for row in overview.rows(db, overview.Filter(tag="PETS"), 1)] == [1]


def test_words_that_are_typed_and_not_saved_are_found(filled: Site, clock: FakeClock) -> None:
    """By who typed them alone, all words together."""
    with filled.database.write() as db:
        sent = autosave.Sent({"source": "Of Wolves", "title": "Northern"})
        autosave.keep(db, 1, 1, 1, sent, clock())
    found = {}
    with filled.database.read() as db:
        for viewer, words in ((1, "wolves NORTH"), (2, "wolves"), (1, "wolves cats")):
            rows = overview.rows(db, overview.Filter(words=words), viewer)
            found[viewer, words] = [row.id for row in rows]
    assert list(found.values()) == [[1], [], []]
    with filled.database.write() as db:
        seen = autosave.stamp(autosave.current(db, 1, 1, 1))
        autosave.keep(db, 1, 1, 1, autosave.Sent({"source": "Of Bears"}, "phone", seen), clock())
        apart = autosave.Sent({"source": "Of Foxes"}, "desk", autosave.APART)
        autosave.keep(db, 1, 2, 1, apart, clock())
    with filled.database.read() as db:
        for words, ids in (("wolves", []), ("bears", [1]), ("foxes", [])):
            rows = overview.rows(db, overview.Filter(words=words), 1)
            assert [row.id for row in rows] == ids


def test_row_says_what_it_did(filled: Site, clock: FakeClock) -> None:
    """A row counts the updates that readers got, and shows what is not saved yet."""
    with filled.database.write() as db:
        posts.save(db, 1, content("Of many cats.", tags=["Pets"]), 1, 1, clock())
        sent = autosave.Sent({"source": "Of all cats.", "title": ""})
        autosave.keep(db, 1, 1, 2, sent, clock())
    with filled.database.read() as db:
        row = overview.rows(db, overview.Filter(tag="pets"), 1)[0]
        (draft,) = overview.rows(db, overview.Filter(state="draft"), 1)
        others_row = overview.rows(db, overview.Filter(tag="pets"), 2)[0]
    assert (row.updates, row.tags, row.author) == (2, ["Pets"], "ada")
    assert (draft.updates, draft.tags, draft.author) == (0, (), "bob")
    assert (row.began, row.unsaved_at) == ("Of all cats.", clock())
    assert (others_row.began, others_row.unsaved_at) == ("Of many cats.", None)
    assert (row.title, others_row.title) == ("", "")


def test_a_row_tells_its_own_post(site: Site, clock: FakeClock) -> None:
    """Its tags, updates and unsaved text, not those of the rows before and after; an update that
    belongs to no post counts nowhere; a long text is cut."""
    make_author(site)
    for number, count in ((1, 3), (2, 1), (3, 2)):
        make_post(site, f"Post {number}.", title=f"T{number}", tags=[f"b{number}", f"a{number}"])
        with site.database.write() as db:
            update_log.record(db, clock(), "loaded")
            for version in range(1, count):
                text = content(f"Post {number}, {version}.", tags=[f"b{number}", f"a{number}"])
                posts.save(db, number, text, version, None, clock())
    with site.database.write() as db:
        sent = autosave.Sent({"tags": "only these"}, "tab")
        autosave.keep(db, 1, 2, 1, sent, clock())
    with site.database.read() as db:
        rows = overview.rows(db, overview.Filter(), 1)
        assert [(row.id, row.updates, row.tags, row.unsaved_at) for row in rows] == [
            (3, 2, ["a3", "b3"], None), (2, 1, ["a2", "b2"], clock()), (1, 3, ["a1", "b1"], None),
        ]  # fmt: skip
        assert [(row.began, row.title) for row in rows] == [
            ("Post 3, 1.", ""), ("Post 2.", "T2"), ("Post 1, 2.", ""),
        ]  # fmt: skip
