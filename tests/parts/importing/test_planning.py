"""The plan of an import: what each post becomes, what is told, what is left to a person."""

from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from publisher.blog.writing.posts import LATEST_SCHEDULE
from publisher.installation import Site
from publisher.parts.importing import planning
from publisher.parts.importing.imported import Batch, ImportedPost, ImportedSite
from publisher.parts.importing.planning import Plan, PreparedPost
from tests.conftest import MONDAY_MORNING as NOW
from tests.factories import delete_post, make_author, make_post
from tests.parts.importing.conftest import Importer

PAST, SOON = NOW - timedelta(days=1), NOW + timedelta(seconds=1)


def post(source: str = "<p>x</p>", **more: Any) -> ImportedPost:
    values = {"where": "item 1", "guid": "1", "title": "A", "published_at": PAST, **more}
    return ImportedPost(source=source, **values)


def prepared(*posts: ImportedPost) -> tuple[list[PreparedPost], Batch]:
    batch = Batch(posts)
    return [*planning.prepare(batch, NOW)], batch


def only(source: str = "<p>x</p>", **more: Any) -> PreparedPost:
    ((one,), _) = prepared(post(source, **more))
    return one


@pytest.mark.parametrize(
    ("found", "status", "at", "needs"),
    [
        ({"published_at": NOW}, "published", NOW, 0),
        ({"published_at": SOON}, "scheduled", SOON, 0),
        ({"published_at": SOON, "kind": "page"}, "scheduled", SOON, 0),
        ({"published_at": PAST, "status": "scheduled"}, "scheduled", PAST, 0),
        ({"published_at": SOON, "status": "draft"}, "draft", SOON, 0),
        ({"published_at": SOON, "status": "deleted"}, "deleted", SOON, 0),
        ({"published_at": None}, "draft", None, 0),
        ({"published_at": None, "status": "scheduled"}, "draft", None, 0),
        ({"published_at": None, "status": "scheduled", "kind": "page"}, "draft", None, 0),
        ({"published_at": None, "kind": "page"}, "published", NOW, 0),
        ({"published_at": None, "status": "draft", "kind": "page"}, "draft", None, 0),
        ({"published_at": None, "status": "deleted"}, "deleted", None, 0),
        ({"published_at": LATEST_SCHEDULE}, "scheduled", LATEST_SCHEDULE, 0),
        ({"published_at": LATEST_SCHEDULE + timedelta(days=1)}, "draft", None, 1),
        ({"published_at": LATEST_SCHEDULE + timedelta(days=1), "status": "deleted"}, "deleted",
         None, 0),
    ],
)  # fmt: skip
def test_the_state_fits_the_date(
    found: dict[str, Any], status: str, at: datetime | None, needs: int
) -> None:
    """Without a date a draft, before it scheduled, but for what is so on purpose."""
    one = only(**found).post
    assert (one.status, one.published_at, len(one.needs)) == (status, at, needs)


@pytest.mark.parametrize(
    ("found", "number"),
    [({}, 1), ({"status": "scheduled"}, 1), ({"status": "draft"}, 0), ({"kind": "page"}, 0),
     ({"published_at": NOW}, 0)],
)  # fmt: skip
def test_drafts_for_want_of_a_date_are_counted(found: dict[str, Any], number: int) -> None:
    _, batch = prepared(post(**{"published_at": None, **found}))
    assert batch.notes["post without a date becomes a draft"] == number


A, B = "https://a.example/1", "https://a.example/2"


@pytest.mark.parametrize(
    ("second", "guids"),
    [
        ({}, ["1"]),
        ({"address": A}, ["1"]),
        ({"address": A, "source": "<p>y</p>"}, ["1"]),
        ({"address": B, "source": "<p>y</p>"}, ["1", B]),
        ({"address": B}, ["1"]),
        ({"source": "<p>y</p>", "address": ""}, ["1", "urn"]),
        ({"source": "<p>y</p>", "address": "/1"}, ["1", "urn"]),
        ({"title": "B", "address": ""}, ["1", "urn"]),
        ({"guid": "2"}, ["1", "2"]),
    ],
)
def test_posts_with_the_same_guid(second: dict[str, Any], guids: list[str]) -> None:
    """The same address or the same text is the same post; another one gets a guid of its own."""
    first = post(address=A, guid_is_permalink=True)
    again: dict[str, Any] = {"guid_is_permalink": True, **second}
    found, batch = prepared(first, post(**again))
    assert [one.post.guid.partition(":sha")[0] for one in found] == guids
    assert [one.post.guid_is_permalink for one in found] == [
        one.post.guid in ("1", "2") for one in found
    ]
    twice = ("A", "it is in the source twice; the first is used")
    assert batch.left_out == ([twice] if len(guids) == 1 else [])


def test_posts_that_share_even_the_guid_of_their_text() -> None:
    """The third of the same text under the same guid is the second again."""
    other = post("<p>y</p>")
    found, batch = prepared(post(), other, other)
    assert (len(found), len(batch.left_out)) == (2, 1)


def test_a_post_without_an_address_is_not_that_of_another_one_without() -> None:
    found, _ = prepared(post(address=""), post("<p>y</p>", address=""))
    assert len(found) == 2


def test_a_title_and_a_text_are_two_things() -> None:
    """Words that moved from one to the other make another post."""
    found, _ = prepared(post("<p>bc</p>", title="a"), post("c</p>", title="a<p>b"))
    assert len(found) == 2


def test_posts_that_cannot_be_are_named() -> None:
    """By the beginning of their title, or where they stand; the others come."""
    deep = "<div>" * 300
    _, batch = prepared(post(deep, title="y" * 90), post(deep, guid="2", title=""))
    assert [name for name, _ in batch.left_out] == ["y" * 80, "item 1"]


def test_an_empty_post_is_left_out() -> None:
    found, batch = prepared(post("", title=""), post("", guid="2", title="B"))
    assert [one.content.title for one in found] == ["B"]
    assert batch.notes["empty post is left out"] == 1


@pytest.mark.parametrize(
    ("found", "label"),
    [({}, "A"), ({"title": ""}, "x"), ({"title": "", "source": f"<p>{'y' * 90}</p>"}, "y" * 80),
     ({"title": "", "source": '<p><img src="/a.png"></p>'}, "item 1")],
)  # fmt: skip
def test_what_a_report_calls_a_post(found: dict[str, Any], label: str) -> None:
    assert only(**{"source": "<p>x</p>", **found}).label == label


@pytest.mark.parametrize(
    ("found", "slug"),
    [({"slug": "Own Words"}, "own-words"), ({"title": "A cup"}, "a-cup"), ({"slug": "!!"}, "a"),
     ({"title": "", "source": "<p>Hot tea</p>"}, "hot-tea")],
)  # fmt: skip
def test_the_slug_that_a_post_should_have(found: dict[str, Any], slug: str) -> None:
    assert only(**{"source": "<p>x</p>", **found}).wanted_slug == slug


def test_former_addresses() -> None:
    """Each once, as paths; what is no address of a post is none."""
    one = only(address=f"{A}?p=1", aliases=("", "/b", f"{A}?p=1", "/", "mailto:x", "/b"))
    assert one.old_paths == ["/1?p=1", "/b"]


@pytest.mark.parametrize(
    ("found", "shown"),
    [({}, True), ({"kind": "page"}, False), ({"status": "draft"}, False),
     ({"published_at": SOON}, False)],
)  # fmt: skip
def test_when_a_post_entered_the_feed(found: dict[str, Any], shown: bool) -> None:
    assert only(**found).shown_at == (PAST if shown else None)


@pytest.mark.parametrize(
    ("found", "source", "source_format", "noted"),
    [
        ({"as_markdown": True}, "*x*", "markdown", 0),
        ({"as_markdown": False}, "<em>x</em>", "html", 0),
        ({"as_markdown": True, "source_format": "markdown"}, "<em>x</em>", "markdown", 0),
        ({"as_markdown": True, "source": "<dl><dt>x</dt></dl>"}, "<dl><dt>x</dt></dl>", "html", 1),
        ({"as_markdown": True, "source": " "}, "", "html", 0),
    ],
)
def test_html_becomes_markdown_where_that_is_wanted_and_exact(
    found: dict[str, Any], source: str, source_format: str, noted: int
) -> None:
    (one,), batch = prepared(post(**{"source": "<em>x</em>"} | found))
    assert (one.content.source.strip(), one.content.source_format) == (source, source_format)
    assert batch.notes["post stays HTML: Markdown cannot say all of it"] == noted


def test_pictures_that_load_late_are_those_of_html() -> None:
    """In Markdown, too, whose code stays as it is."""
    lazy = '<img src="data:x" data-src="https://a.example/a.png">'
    assert 'src="https://a.example/a.png"' in only(lazy).content.source
    code = f"> `{lazy}`\n\n```\n{lazy}\n```"
    text = only(lazy + code, source_format="markdown").content.source
    assert text.startswith('<img src="https://a.example/a.png"')
    assert text.endswith(code)


def test_what_does_not_fit_is_noted_but_for_pictures() -> None:
    """The picture of a post is told of each one, when pictures were copied."""
    _, batch = prepared(post(image="https://a.example/a.png", title="x" * 5000))
    assert len(batch.notes) == 1
    assert "picture" not in next(iter(batch.notes))


# -- what is left to a person


@pytest.mark.parametrize(
    ("found", "pictures", "told"),
    [
        ({"needs": ("one", "two")}, None, ["one", "two"]),
        ({"source": ""}, None, ["it has no text"]),
        ({"source": " \n"}, None, ["it has no text"]),
        ({"source": "<p><img alt='x'></p>"}, None, ["a picture has no address"]),
        ({"source": '<p><img src="https://a.example/a.png"></p>'}, None, []),
        ({"source": '<p><img src="https://a.example/a.png"></p>'}, {}, []),
        ({"source": '<p><img src="https://a.example/a.png?x&amp;y"></p>'},
         {"https://a.example/a.png?x&y": "gone"},
         [("a picture could not be copied and is shown from its old address: "
           "https://a.example/a.png?x&y (gone)")]),
        ({"source": '<p><img src="https://a.example/a.png"></p>'},
         {"https://a.example/a.png": ""}, []),
        ({"source": "![](a.png) ![](a.png)", "source_format": "markdown"}, None,
         ["a picture is not here, as pictures were not copied (--images): a.png"]),
        ({"source": "![](a.png)", "source_format": "markdown"}, {"a.png": ""}, []),
        ({"source": "![](a.png)", "source_format": "markdown"}, {"a.png": "too large"},
         ["a picture could not be copied: a.png (too large)"]),
        ({"source": "![](a.png)", "source_format": "markdown"}, {},
         ["a picture could not be copied: a.png (it is not in the source)"]),
        ({"source": f"![](/media/{'a' * 20}.png)", "source_format": "markdown"}, None, []),
        ({"source": "![](/media/a.png)", "source_format": "markdown"}, None,
         ["a picture is not here, as pictures were not copied (--images): /media/a.png"]),
        ({"image": "a.png", "source_format": "markdown"}, None, ["its picture is not here: a.png"]),
        ({"image": "a.png", "source_format": "markdown"}, {"a.png": "gone"},
         ["its picture is not here: a.png (gone)"]),
        ({"image": f"/media/{'a' * 20}.png"}, {}, []),
    ],
)  # fmt: skip
def test_what_a_post_needs(
    found: dict[str, Any], pictures: dict[str, str] | None, told: list[str]
) -> None:
    """Its own needs, a text, and pictures; why one could not be copied is said."""
    one = only(**{"source": "<p>x</p>", **found})
    assert [*planning._of_post(one, pictures)] == told


LEADING = (
    "/posts/old /posts/old/ /posts/old#x /about /posts/a /former / #x  https://a.example/gone "
    "//a.example/gone mailto:a@b /media/x.png /archives old /posts/ "
    "/former?x=1 /posts/old?x=1 /b/?p=1"
)
LOST = "/gone gone /posts/gone /b?p=1 /b/?p=2 /posts/gone?x=1 /a&b http://[x"


def test_links_that_lead_nowhere(site: Site) -> None:
    """To no post of here or to come, and to no page of the program; elsewhere they may lead."""
    make_post(site, "old")
    one = only(address="/former", aliases=("/b/?p=1",))
    links = [*LEADING.split(" "), *LOST.split(" ")]
    html = "".join(f'<a href="{link.replace("&", "&amp;")}">x</a>' for link in links)
    shown = PreparedPost(one.post, one.content, html, one.words)
    with site.database.read() as db:
        steps = [*planning.manual_steps(db, lambda: [shown], {}, stored=False)]
    told = [f"a link leads nowhere here: {link}" for link in LOST.split(" ")]
    assert steps == [("1", "A", what, "") for what in told]


def test_posts_come_some_at_a_time() -> None:
    assert [len(some) for some in planning.in_batches(range(1001))] == [500, 500, 1]


# -- the plan


def plan(**values: Any) -> Plan:
    return Plan(**values)


@pytest.mark.parametrize(
    ("names", "known", "number"),
    [
        (["Ada"], {"ada": 1}, 1), (["Bo", "Ada"], {"ada": 1}, 1), (["Bo"], {"ada": 1}, None),
        (["Ada", "Bo"], {"ada": 1, "bo": 2}, 1), (["Bo"], {"": 3}, 3), ([], {"": 3}, 3),
        ([], {"ada": 1}, None), (["Ada"], {"ada": 1, "": 3}, 1),
    ],
)  # fmt: skip
def test_our_author_for_names(names: list[str], known: dict[str, int], number: int | None) -> None:
    """The first that we know, in any case, else the one who gets all other posts."""
    assert plan(author_ids=known).author_id(names) == number


def test_a_post_of_a_counted_second_is_no_update() -> None:
    assert plan(counted={PAST}).update_at(only()) is None
    assert plan(counted={NOW}).update_at(only()) == PAST


def test_what_a_plan_counts(site: Site, importer: Importer) -> None:
    """States, updates with the first and the last of them, addresses, posts that lost theirs, and
    authors who are not here."""
    make_author(site, "ada")
    posts = [
        post(guid="1", address="/1", by=("Zoe",)),
        post(guid="2", published_at=PAST - timedelta(days=9), by=("x", "Zoe")),
        post(guid="3", published_at=PAST - timedelta(days=3), by=("Ada",)),
        post(guid="4", status="draft", by=("", "Yan"), published_at=None),
        post(guid="5", status="draft"),
        post(guid="6", kind="page", address="/6", aliases=("/66",), by=("",)),
        post(guid="7", published_at=SOON),
    ]
    found = importer(Batch(posts))
    assert found.states == {"published": 3, "page": 1, "draft": 2, "scheduled": 1}
    assert (found.updates, found.span) == (3, (PAST - timedelta(days=9), PAST))
    assert (found.addresses, found.lost) == (3, 2)
    assert found.strangers == {"Zoe": 2, "Yan": 1}
    assert "".join(found.posts[place].post.guid for place in found.new) == "2315674"


def test_what_is_known_already(site: Site, importer: Importer) -> None:
    """Unchanged, changed in the source, edited or deleted here."""
    make_author(site, "ada")
    batch = [post(guid=str(n), formerly=("old",) if n == 1 else ()) for n in range(1, 4)]
    importer(Batch(batch))
    delete_post(site, 3)
    again = importer(Batch([
        post(guid="new", formerly=("gone", "1")), post("<p>y</p>", guid="2"),
        post("<p>y</p>", guid="3"), post(guid="4"),
    ]))  # fmt: skip
    assert (again.unchanged, again.changed, again.edited_here) == (1, [(2, 1)], 1)
    assert (again.new, again.concerned) == ([3], [3, 1])


def test_authors_to_come_are_no_strangers(site: Site) -> None:
    one = only(by=("Zoe",))
    with site.database.read() as db:
        assert planning.make_plan(db, [one], None).strangers == {"Zoe": 1}
        assert planning.make_plan(db, [one], None, ["Zoe"]).strangers == {}


@pytest.mark.parametrize(
    ("values", "lines"),
    [
        ({}, ["0 new posts"]),
        ({"new": [1], "states": Counter(published=1)}, ["1 new post (1 published)"]),
        ({"new": [1, 2, 3], "states": Counter(draft=1, published=2)},
         ["3 new posts (2 published, 1 draft)"]),
        ({"unchanged": 1}, ["0 new posts", "1 known post, unchanged"]),
        ({"changed": [(1, 2)]},
         ["0 new posts", "1 known post, changed in the source: a minor edit here"]),
        ({"edited_here": 2},
         ["0 new posts", "2 known posts, edited or deleted here since: left alone"]),
        ({"span": (PAST, PAST), "updates": 1},
         ["0 new posts", "counted in the day of this blog, by date: 1 post, 2024-03-03"]),
        ({"span": (PAST, NOW), "updates": 2},
         ["0 new posts",
          "counted in the day of this blog, by date: 2 posts, 2024-03-03 to 2024-03-04"]),
        ({"addresses": 1}, ["0 new posts", "1 old address to redirect"]),
        ({"addresses": 2}, ["0 new posts", "2 old addresses to redirect"]),
        ({"lost": 1},
         ["0 new posts",
          "1 post without an old address: --permalink can say how it was made"]),
        ({"strangers": Counter(Zoe=2)},
         ["0 new posts", "2 posts by 'Zoe', who is not an author here: without an author"]),
        ({"strangers": Counter(Zoe=2), "author_ids": {"": 1}},
         ["0 new posts",
          "2 posts by 'Zoe', who is not an author here: given to the one you chose"]),
    ],
)  # fmt: skip
def test_the_report_in_sentences(values: dict[str, Any], lines: list[str]) -> None:
    """One for each fact that there is."""
    assert [*planning.sentences(plan(**values), Batch())] == lines


def test_what_a_report_says_of_a_source() -> None:
    """Notes, the largest first, posts that are not imported, old feeds and old pages of authors."""
    batch = Batch(
        notes=Counter(a=1, b=2),
        left_out=[("x", "y")],
        old_feeds=[f"/{n}" for n in range(6)],
        author_pages={"/z": ("Zoe",), "/a": ("Ada",), "/also": ("Ada",)},
    )
    assert [*planning.sentences(plan(), batch)][1:] == [
        "2 × b", "1 × a", "1 post not imported, see the list",
        "the old feed is led here from /0 /1 /2 /3 /4",
        "2 old pages of authors not led on, as no author here has the posts: /a /z",
    ]  # fmt: skip
    batch = Batch(author_pages={"/a": ("Ada",)})
    assert [*planning.sentences(plan(), batch)][1:] == [
        "1 old page of an author not led on, as no author here has the posts: /a"
    ]


def test_what_a_report_says_of_an_export_of_ours() -> None:
    """Its log instead of dates; it has no old addresses to lose."""
    batch = Batch(site=ImportedSite(updates=[(PAST, "publish", "1")]))
    found = plan(span=(PAST, PAST), updates=1, lost=3)
    assert [*planning.sentences(found, batch)] == [
        "0 new posts",
        "1 update in the log of the export",
    ]


def test_no_more_than_twenty_names_are_told() -> None:
    names = [f"name{n:02}" for n in range(25)]
    batch = Batch(author_pages={f"/{name}": (name,) for name in names})
    lines = [*planning.sentences(plan(strangers=Counter(names)), batch)]
    assert len(lines) == 22
    assert lines[-1].endswith("/name19")


def test_days_are_those_of_the_blogs_zone() -> None:
    late = datetime(2024, 3, 3, 23, 30, tzinfo=UTC)
    found = plan(span=(late, late), updates=1)
    (_, line) = planning.sentences(found, Batch(), ZoneInfo("Europe/Berlin"))
    assert line.endswith("2024-03-04")
