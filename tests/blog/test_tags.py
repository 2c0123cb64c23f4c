"""Tags: one for each slug, renamed, merged and removed, and where their former names lead."""

from datetime import timedelta

import pytest
from sqlalchemy import select, update

from publisher.base.errors import FieldErrors, NotFound
from publisher.blog import published
from publisher.blog.writing import posts, tags
from publisher.installation import Site
from publisher.storage.tables.blog import Tag
from tests.conftest import FakeClock
from tests.factories import content, delete_post, make_post


def counts(site: Site) -> dict[str, tuple[int, int]]:
    """Of each tag's posts: those that readers see, and all that are not deleted."""
    with site.database.read() as db:
        return {row.name: (row.shown, row.posts) for row in tags.used(db)}


@pytest.fixture
def tagged(site: Site, clock: FakeClock) -> Site:
    """Two posts with walks, one of them with hills too, a draft with hills; a minute has passed."""
    make_post(site, "One.", tags=["Walks"])
    make_post(site, "Two.", tags=["walks", "hills"])
    with site.database.write() as db:
        posts.create(db, content("Three.", tags=["Hills"]), None, clock())
    clock.forward(minutes=1)
    return site


def test_a_tag_counts_its_posts(tagged: Site) -> None:
    """By the name that was typed first, in the order of slugs; deleted posts do not count."""
    assert list(counts(tagged).items()) == [("hills", (1, 2)), ("Walks", (2, 2))]
    delete_post(tagged, 2)
    assert counts(tagged) == {"hills": (0, 1), "Walks": (1, 1)}


def test_a_tag_changes_when_its_list_does(tagged: Site, clock: FakeClock) -> None:
    """Readers see when the page of a tag last changed; a draft is in no list."""
    before = clock.forward(minutes=-1)
    clock.forward(minutes=1)
    with tagged.database.write() as db:
        posts.save(db, 3, content("Three.", tags=["Hills", "New"]), 1, None, clock())
        moments = {tag.name: tag.changed_at for tag in db.scalars(select(Tag))}
        assert moments == {"Walks": before, "hills": before, "New": clock()}
        posts.save(db, 2, content("Two.", tags=["Walks"]), 1, None, clock())
        db.expire_all()
        assert {tag.changed_at for tag in db.scalars(select(Tag))} == {clock()}


def test_a_former_name_leads_on_until_it_is_taken(tagged: Site, clock: FakeClock) -> None:
    """Through a new name and a merge; a post that uses it makes a tag of its own."""
    with tagged.database.write() as db:
        walks, hills = published.tag_called(db, "walks"), published.tag_called(db, "hills")
        assert tags.rename(db, walks, " Long,\nstrolls ", clock()) is None
        assert (walks.name, walks.slug, walks.changed_at) == (
            "Long strolls", "long-strolls", clock(),
        )  # fmt: skip
        assert published.tag_called(db, "Walks") is walks
        assert tags.rename(db, walks, "HILLS", clock()) is hills
        assert tags.rename(db, walks, "Long Strolls", clock()) is None  # only other letters
        tags.merge(db, walks, hills, clock())
        assert hills.changed_at == clock()
        for name in ("hills", "walks", "long-strolls"):
            assert published.tag_called(db, name) is hills
    assert counts(tagged) == {"hills": (2, 3)}
    make_post(tagged, "Four.", tags=["walks"])
    assert counts(tagged) == {"hills": (2, 3), "walks": (1, 1)}
    with tagged.database.write() as db:
        hills = published.tag_called(db, "hills")
        assert tags.rename(db, hills, "Mountains", clock()) is None
        assert tags.rename(db, hills, "Hills", clock()) is None  # back: its own address again
        assert published.tag_called(db, "Mountains") is hills
        tags.remove(db, hills, clock())
        for name in ("hills", "mountains", "long-strolls"):
            with pytest.raises(NotFound):
                published.tag_called(db, name)
        with pytest.raises(NotFound):
            tags.get(db, 99)
    assert counts(tagged) == {"walks": (1, 1)}


def test_a_name_that_is_none(tagged: Site, clock: FakeClock) -> None:
    """It is refused beside its field."""
    for name in ("", " ,", "++", "x" * 61):
        with tagged.database.write() as db, pytest.raises(FieldErrors) as refused:
            tags.rename(db, published.tag_called(db, "walks"), name, clock())
        assert list(refused.value.fields) == ["name"], name
    with tagged.database.write() as db:
        assert tags.rename(db, published.tag_called(db, "walks"), "x" * 60, clock()) is None


def test_each_of_three_tags_is_itself(site: Site, clock: FakeClock) -> None:
    """Whatever becomes of one, those before and after it keep their posts, dates and names."""
    began = clock()
    for number in (1, 2, 3):
        make_post(site, f"Post {number}.", tags=["a", "b", "c"])

    def tagged_posts(name: str) -> list[int]:
        with site.database.read() as db:
            tag = published.tag_called(db, name)
            return sorted(post.id for post in published.with_tag(db, tag, 9))

    clock.forward(minutes=1)
    with site.database.write() as db:
        posts.save(db, 2, content("Post 2.", tags=["b", "d"]), 1, None, clock())
        assert [tags.names_of(db, number) for number in (1, 2, 3)] == [
            ("a", "b", "c"), ("b", "d"), ("a", "b", "c"),
        ]  # fmt: skip
    assert [tagged_posts(name) for name in "abcd"] == [[1, 3], [1, 2, 3], [1, 3], [2]]
    with site.database.write() as db:
        for name in "cba":
            tags.rename(db, published.tag_called(db, name), f"new {name}", clock())
        assert [published.tag_called(db, name).name for name in "abc"] == [
            "new a",
            "new b",
            "new c",
        ]
    with site.database.write() as db:
        db.execute(update(Tag).values(changed_at=began))
        posts.delete(db, posts.get(db, 2), clock())
    with site.database.read() as db:
        changed = {tag.name: tag.changed_at - began for tag in db.scalars(select(Tag))}
        minute = timedelta(minutes=1)
        assert changed == {
            "new a": timedelta(0), "new b": minute, "new c": timedelta(0), "d": minute,
        }  # fmt: skip
    assert [tagged_posts(name) for name in "abcd"] == [[1, 3], [1, 3], [1, 3], []]
    with site.database.write() as db:
        into, tag = (published.tag_called(db, name) for name in "cb")
        tags.merge(db, tag, into, clock())
        names = {name: published.tag_called(db, name).name for name in ("a", "b", "c", "new b")}
        assert names == {"a": "new a", "b": "new c", "c": "new c", "new b": "new c"}
    assert [tagged_posts(name) for name in "acd"] == [[1, 3], [1, 3], []]
    with site.database.write() as db:
        tags.remove(db, published.tag_called(db, "c"), clock())
        assert published.tag_called(db, "a").name == "new a"
    assert [tagged_posts(name) for name in "ad"] == [[1, 3], []]
    assert counts(site) == {"d": (0, 0), "new a": (2, 2)}


def test_a_tag_of_the_middle_goes(site: Site, clock: FakeClock) -> None:
    """With its former names; those of the others lead on."""
    make_post(site, tags=["a", "b", "c"])
    with site.database.write() as db:
        for name in "abc":
            tags.rename(db, published.tag_called(db, name), f"{name} too", clock())
        tags.remove(db, published.tag_called(db, "b"), clock())
        assert [published.tag_called(db, name).name for name in "ac"] == ["a too", "c too"]
        assert tags.names_of(db, 1) == ("a too", "c too")


def test_a_save_leaves_a_post_in_the_lists_it_is_in(tagged: Site, clock: FakeClock) -> None:
    """A published one in those of its tags, a draft in none; a clock put back changes no date."""
    before = clock()
    with tagged.database.write() as db:
        posts.save(db, 2, content("Two!", tags=["walks", "hills"]), 1, None, clock())
        posts.save(db, 3, content("Three!", tags=["hills"]), 1, None, clock())
    assert counts(tagged) == {"hills": (1, 2), "Walks": (2, 2)}
    clock.forward(minutes=-30)
    with tagged.database.write() as db:
        posts.save(db, 2, content("Two.", tags=["walks"]), 2, None, clock())
        tags.rename(db, published.tag_called(db, "hills"), "Hills!", clock())
        assert {tag.changed_at for tag in db.scalars(select(Tag))} == {before}


def test_publishing_changes_the_lists_of_a_drafts_tags(site: Site, clock: FakeClock) -> None:
    with site.database.write() as db:
        draft = posts.create(db, content("x", tags=["walks"]), None, clock())
        clock.forward(minutes=5)
        posts.publish_or_schedule(db, draft, clock(), clock())
    with site.database.read() as db:
        assert published.tag_called(db, "walks").changed_at == clock()
