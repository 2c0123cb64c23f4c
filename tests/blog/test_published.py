"""What readers see: said in one place, list by list, at present and former addresses."""

import re
from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from publisher.base.errors import Gone, NotFound
from publisher.base.media_files import Attachment
from publisher.blog import post_addresses, published
from publisher.blog.writing import posts
from publisher.blog.writing.content import Content
from publisher.installation import Site
from publisher.storage.tables import blog as tables
from publisher.storage.tables.blog import MovedList, Post, listed
from tests.conftest import FakeClock
from tests.factories import content, delete_post, make_author, make_post

PUBLISHER = Path(published.__file__).parents[1]


def test_the_query_and_the_question_agree(site: Site, clock: FakeClock) -> None:
    """A condition of a query and a question to a post say the same, in every state and kind."""
    make_post(site, "A post.")
    make_post(site, "A page.", kind="page")
    gone, waiting = make_post(site, "Gone."), make_post(site, "Later.", clock().replace(year=2030))
    with site.database.write() as db:
        posts.delete(db, posts.get(db, gone.id), clock())
        posts.create(db, Content("A draft."), None, clock())
    with site.database.read() as db:
        everything = db.scalars(select(Post)).all()
        for condition, question in (
            (published.public(), published.is_public),
            (published.public(by_status=False), published.is_public),
            (listed(), published.is_listed),
        ):
            ids = {post.id for post in db.scalars(select(Post).where(condition))}
            assert ids == {post.id for post in everything if question(post)}
    assert waiting.status == "scheduled"
    assert ids == {1}


def test_nobody_else_says_it() -> None:
    """No other query asks for the state itself; what an import finds is not here yet."""
    says = re.compile(r"Post\.status (==|!=) \"published\"|Post\.kind == \"post\", Post\.status")
    files = [path for path in PUBLISHER.rglob("*.py") if says.search(path.read_text("utf-8"))]
    assert files == [Path(tables.__file__)]


@pytest.fixture
def shelf(site: Site, clock: FakeClock) -> Site:
    """Posts 1 to 7 by ada with the tag walks, each second one at the moment of the one before; and
    a page, a draft, a scheduled post and a deleted one that are like them in everything else."""
    ada = make_author(site)
    for number in range(1, 8):
        make_post(site, f"Post {number}", author_id=ada.id, tags=["walks"])
        clock.forward(minutes=number % 2)
    make_post(site, "A page.", author_id=ada.id, tags=["walks"], kind="page")
    with site.database.write() as db:
        posts.create(db, content("A draft.", tags=["walks"]), ada.id, clock())
    make_post(site, "Later.", clock() + timedelta(days=1), author_id=ada.id, tags=["walks"])
    delete_post(site, make_post(site, "Gone.", author_id=ada.id, tags=["walks"]).id)
    return site


ListOf = Callable[[Session, int, Post | None], Sequence[Post]]
LISTS: dict[str, ListOf] = {
    "all": published.newest,
    "of a tag": lambda db, n, before: published.with_tag(
        db, published.tag_called(db, "Walks"), n, before
    ),
    "of an author": lambda db, n, before: published.by_author(
        db, published.author_called(db, "ada"), n, before
    ),
}


def test_page_by_page_each_post_once(shelf: Site) -> None:
    """Newest first, also where two have one moment; nothing that is no published post."""
    for name, list_of in LISTS.items():
        seen, last = list[int](), None
        with shelf.database.read() as db:
            while page := list_of(db, 3, last):  # a page ends between two of one moment
                seen += [post.id for post in page]
                last = published.shown(db, page[-1].id)
            for nowhere in (9, 99):  # the draft's number, and nobody's
                with pytest.raises(NotFound):
                    published.shown(db, nowhere)
        assert seen == [7, 6, 5, 4, 3, 2, 1], name


def test_each_author_has_a_list(site: Site) -> None:
    """Of authors who have published, whichever came first."""
    people = [make_author(site, name) for name in ("ada", "bob", "eve", "kim")]
    for author in people[:3]:
        make_post(site, f"By {author.name}.", author_id=author.id)
    with site.database.read() as db:
        assert [author.name for author in published.authors(db)] == ["ada", "bob", "eve"]
        lists = [published.by_author(db, author, 9) for author in people]
        with pytest.raises(NotFound):
            published.author_called(db, "kim")
    assert [[post.source for post in own] for own in lists] == [
        ["By ada."], ["By bob."], ["By eve."], []
    ]  # fmt: skip


def test_neighbours_are_those_of_the_list(shelf: Site) -> None:
    """From the newest post to the oldest and back, also where two have one moment."""
    with shelf.database.read() as db:
        pairs = [published.neighbours(db, posts.get(db, number)) for number in range(1, 8)]
    older, newer = zip(*pairs, strict=True)
    assert [post and post.id for post in older] == [None, 1, 2, 3, 4, 5, 6]
    assert [post and post.id for post in newer] == [2, 3, 4, 5, 6, 7, None]


def test_what_was_there_at_a_moment(shelf: Site, clock: FakeClock) -> None:
    """Posts published by then; those in a stretch of time, without its end; deletions by then."""
    with shelf.database.read() as db:
        third = posts.get(db, 3).published_at
        assert third is not None
        ids = [post.id for post in published.newest_until(db, third, 3)]
        assert ids == [3, 2, 1]
        minute_later = third + timedelta(minutes=1)
        assert [post.id for post in published.between(db, third, minute_later)] == [3, 2]
        (deleted,) = published.deleted_lately(db, clock(), 9)
        assert deleted == (posts.get(db, 11).guid, clock())
        assert published.deleted_lately(db, clock() - timedelta(seconds=1), 9) == []
        assert [page.id for page in published.pages(db)] == [8]
        assert [author.name for author in published.authors(db)] == ["ada"]
    make_author(shelf, "bob")
    with shelf.database.read() as db:
        assert [author.name for author in published.authors(db)] == ["ada"]
        with pytest.raises(NotFound):
            published.author_called(db, "bob")
        with pytest.raises(NotFound):
            published.tag_called(db, "runs")


def test_one_of_the_newest_posts_makes_a_podcast(site: Site, clock: FakeClock) -> None:
    """By sound, not by film, and only as long as it is among those that the feed has."""
    film = Attachment("https://a.example/film.mp4", "video/mp4", 9)
    make_post(site, "A film.", enclosure=film)
    with site.database.read() as db:
        assert not published.has_sound(db, 5)
    make_post(site, "Talk.", enclosure=Attachment("https://a.example/talk.mp3", "audio/mpeg", 9))
    make_post(site, "Newer.")
    with site.database.read() as db:
        assert published.has_sound(db, 2)
        assert not published.has_sound(db, 1)


def test_an_address_leads_to_the_post_or_says_that_it_is_gone(site: Site, clock: FakeClock) -> None:
    """Now and before it moved; a draft's tells nothing, nor does one of the other kind."""
    make_post(site, "One.", slug="one")
    make_post(site, "About.", slug="about", kind="page")
    with site.database.write() as db:
        posts.create(db, content("A draft.", slug="draft"), None, clock())
        posts.save(db, 1, content("One.", slug="two"), 1, None, clock())
        db.add(MovedList(path="/old/feed", target="/rss.xml"))
    with site.database.write() as db:
        post = published.at_path(db, "two", "post")
        assert post.id == 1
        assert published.moved(db, "/nothing", "/posts/one") is post
        assert published.moved(db, "/posts/two") is None
        assert published.moved_list(db, "/old/feed/", "/old/feed") == "/rss.xml"
        assert published.moved_list(db, "/old") is None
        assert published.at_path(db, "about", "page").id == 2
        for slug, kind in (
            ("about", "post"), ("draft", "post"), ("one", "post"), ("two", "page"), ("x", "page"),
        ):  # fmt: skip
            with pytest.raises(NotFound):
                published.at_path(db, slug, kind)
        posts.unpublish(db, post, clock())
        for words in ("taken back", "deleted"):
            with pytest.raises(Gone, match=words):
                published.at_path(db, "two", "post")
            with pytest.raises(Gone, match=words):
                published.moved(db, "/posts/one")
            posts.delete(db, post, clock())


def test_deletions_of_late(site: Site, clock: FakeClock) -> None:
    """The latest first, of posts that readers had; as many as are asked for."""
    for number in range(1, 5):
        make_post(site, f"Post {number}.")
    make_post(site, "A page.", kind="page")
    with site.database.write() as db:
        posts.create(db, content("A draft."), None, clock())
        for minutes, number in ((0, 3), (1, 1), (1, 2), (1, 5), (1, 6)):
            moment = clock() + timedelta(minutes=minutes)
            posts.delete(db, posts.get(db, number), moment)
        guids = [posts.get(db, number).guid for number in (2, 1, 3)]
        later = clock.forward(minutes=1)
        gone = published.deleted_lately(db, later, 9)
        assert [guid for guid, _ in gone] == guids
        assert published.deleted_lately(db, later, 2) == gone[:2]
        assert published.deleted_lately(db, later - timedelta(seconds=1), 9) == gone[2:]


def test_pages_are_in_the_order_of_their_titles(site: Site) -> None:
    """Those that are out."""
    for title in ("B", "C", "A"):
        make_post(site, "x", title=title, kind="page")
    make_post(site, "x", title="A post")
    delete_post(site, make_post(site, "x", title="Gone", kind="page").id)
    with site.database.read() as db:
        assert [page.title for page in published.pages(db)] == ["A", "B", "C"]


def test_addresses_that_stand_alone_are_shown_by_parts(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One after the other; a text without one is left alone."""
    shows = [lambda _, html: html + "1", lambda _, html: html + "2"]
    monkeypatch.setattr(published, "hooked", lambda _, name: shows if name == "show_links" else [])
    with site.database.read() as db:
        for kind, added in (("card", "12"), ("video", "12"), ("file", "")):
            html = f'<p>a</p><p class="{kind}"><a href="https://a.example/">b</a></p>'
            assert published.with_links_shown(db, html) == html + added


def test_each_old_address_leads_to_its_own_post(site: Site, clock: FakeClock) -> None:
    """Among those of the posts before and after; the best spelling first."""
    for number in (1, 2, 3):
        make_post(site, f"Post {number}.", slug=f"old-{number}")
    with site.database.write() as db:
        for number in (1, 2, 3):
            posts.save(db, number, content("x", slug=f"new-{number}"), 1, None, clock())
        for number in (1, 2, 3):
            post = published.moved(db, f"/posts/old-{number}", "/posts/old-2")
            assert post is posts.get(db, number)
            assert published.at_address(db, f"/posts/old-{number}") is post
            assert published.at_address(db, f"/posts/new-{number}") is post
        draft = posts.create(db, content("y", slug="draft"), None, clock())
        post_addresses.given_out(db, draft)
        posts.save(db, 4, content("y", slug="draft-too"), 1, None, clock())
        assert published.moved(db, "/posts/draft") is None
        for target in ("/a", "/b", "/c"):
            db.add(MovedList(path=f"{target}-old", target=target))
        db.flush()
        assert [published.moved_list(db, f"/{name}-old") for name in "abc"] == ["/a", "/b", "/c"]


def test_each_part_is_told(site: Site, clock: FakeClock, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the post, its address, the moment and the text of before."""
    told: list[tuple[object, ...]] = []
    tells = [lambda _db, *words, name=name: told.append((name, *words)) for name in ("a", "b")]
    monkeypatch.setattr(published, "hooked", lambda _, hook: tells * (hook == "public_change"))
    with site.database.read() as db:
        published.tell_parts(db, post := Post(), "/posts/a", clock(), "before")
    assert told == [(name, post, "/posts/a", clock(), "before") for name in ("a", "b")]
