"""What an import writes: addresses that lead on, people, the log, media."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import select

from publisher.base.errors import InvalidData
from publisher.blog.members import authors
from publisher.installation import Site
from publisher.installation.settings import load_settings
from publisher.parts.importing import planning, writer
from publisher.parts.importing.imported import Batch, ImportedPost, ImportedRevision, ImportedSite
from publisher.parts.importing.planning import Plan
from publisher.storage.tables.blog import Media, MovedList, Post, Redirect, Revision, Update
from tests.conftest import MONDAY_MORNING as NOW
from tests.factories import make_author, make_post
from tests.parts.importing.conftest import Importer

PAST = NOW - timedelta(days=9)


def post(guid: str = "1", **more: Any) -> ImportedPost:
    values = {
        "where": "x",
        "guid": guid,
        "title": guid,
        "published_at": PAST,
        "source": "<p>x</p>",
        **more,
    }
    return ImportedPost(**values)


def stored(site: Site) -> dict[str, Post]:
    with site.database.read() as db:
        return {found.guid: found for found in db.scalars(select(Post))}


def test_each_time_of_a_post(site: Site, importer: Importer) -> None:
    """As the source says, else by its date; nothing is changed in the future."""
    at = [PAST + timedelta(hours=n) for n in range(3)]
    importer(Batch([
        post("all", created_at=at[1], changed_at=at[2]), post("some"), post("none", status="draft",
        published_at=None),
        post("late", changed_at=NOW + timedelta(days=1)), post("soon",
        published_at=NOW + timedelta(days=1)),
        post("gone", status="deleted", deleted_at=at[1], deleted_status="draft"), post("gone2",
        status="deleted"),
        post("kept", deleted_at=at[1], deleted_status="draft"), post("draft", status="draft"),
    ]))  # fmt: skip
    found = stored(site)
    assert {guid: (p.created_at, p.changed_at) for guid, p in found.items()} == {
        "all": (at[1], at[2]), "some": (PAST, PAST), "none": (NOW, NOW), "late": (PAST, NOW),
        "soon": (NOW + timedelta(days=1), NOW), "gone": (PAST, PAST), "gone2": (PAST, PAST),
        "kept": (PAST, PAST),
        "draft": (PAST, PAST),
    }  # fmt: skip
    dates = {guid: (p.published_at, p.scheduled_at) for guid, p in found.items()}
    late = NOW + timedelta(days=1)
    assert dates == dict.fromkeys(found, (PAST, None)) | {
        "none": (None, None), "soon": (None, late), "draft": (None, None),
    }  # fmt: skip
    deleted = {guid: (p.deleted_at, p.deleted_status) for guid, p in found.items()}
    assert deleted == dict.fromkeys(found, (None, "")) | {
        "gone": (at[1], "draft"), "gone2": (NOW, ""),
    }  # fmt: skip
    assert len({p.preview_token for p in found.values()}) == 9


def test_revisions_of_a_post(site: Site, importer: Importer) -> None:
    """Those of the source with their authors; without any, one as it is now."""
    make_author(site, "ada")
    people = ((1, "Ada"), (2, ""), (3, "zoe"))
    revisions = tuple(ImportedRevision(n, PAST, {"source": str(n)}, by, n == 2) for n, by in people)
    importer(Batch([post("1", revisions=revisions, version=4), post("2", version=7, slug="own")]))
    with site.database.read() as db:
        rows = [
            (r.post_id, r.version, r.author_id, r.saved_at, r.minor, r.content["source"])
            for r in db.scalars(select(Revision).order_by(Revision.id))
        ]
        last = db.scalars(select(Revision).order_by(Revision.id.desc())).first()
    assert rows == [
        (1, 1, 1, PAST, False, "1"), (1, 2, None, PAST, True, "2"),
        (1, 3, None, PAST, False, "3"), (2, 7, None, NOW, False, "<p>x</p>"),
    ]  # fmt: skip
    assert last is not None
    assert last.content["slug"] == "own"


def test_a_post_without_words_has_the_same_name_each_time(site: Site, importer: Importer) -> None:
    importer(Batch([post("1", title="", source='<p><img src="/a.png"></p>')]))
    assert stored(site)["1"].slug == "note-6b86b273"


def test_where_posts_will_be(site: Site) -> None:
    """Each old address, with the name that is free."""
    make_post(site, "x", title="same")
    posts = [
        *planning.prepare(
            Batch(
                [
                    post("1", title="same", address="/a", aliases=("/b",)),
                    post("2", kind="page", address="/c"),
                ]
            ),
            NOW,
        )
    ]
    with site.database.read() as db:
        planned = planning.make_plan(db, posts, None)
        assert [*writer.moved(db, planned)] == [
            ("/a", "/posts/same-2"),
            ("/b", "/posts/same-2"),
            ("/c", "/2"),
        ]


def test_old_addresses_of_posts(site: Site, importer: Importer) -> None:
    """The first post that claims one gets it; those of posts that are here are not taken."""
    make_post(site, "x", title="here")
    importer(
        Batch([post("1", address="/a"), post("2", address="/a", aliases=("/posts/here", "/b"))])
    )
    importer(Batch([post("3", address="/b", aliases=("/c",))]))
    with site.database.read() as db:
        found = {row.path: row.post_id for row in db.scalars(select(Redirect))}
    assert found == {"/a": 2, "/b": 3, "/c": 4}


def test_old_feeds(site: Site) -> None:
    """New ones that are paths and not ours; at most two hundred."""
    with site.database.write() as db:
        assert writer.old_feeds(
            db, ["/rss", "/feed.xml", "no path", "/rss", "/atom/"], {"/feed.xml", "/atom"}
        ) == ["/rss"]
        assert load_settings(db).old_feeds == "/rss"
        assert writer.old_feeds(db, ["/rss", "/other"], ()) == ["/other"]
        assert load_settings(db).old_feeds.split() == ["/rss", "/other"]
        assert writer.old_feeds(db, [], ()) == []
        many = [f"/{n}" for n in range(250)]
        assert writer.old_feeds(db, many, ()) == many[:200]


def test_lists_that_moved(site: Site, importer: Importer) -> None:
    """What leads elsewhere already stays; what is no path of this site leads nowhere."""
    importer(Batch([post("1", address="/taken")]))
    moved = {
        "/t/a/": "/tags/a", "/tags/b/": "/tags/b", "/taken": "/tags/c", "//a.example/": "/tags/d",
        "/e": "//a.example", "/\\f": "/x",
        "g": "/x", "/h h": "/x", "/i": "https://a.example", "/" + "j" * 300: "/x",
        "/" + "k" * 301: "/x",
    }  # fmt: skip
    with site.database.write() as db:
        writer.moved_lists(db, moved)
        writer.moved_lists(db, {"/t/a/": "/tags/z", "/new": "/x"})
        writer.moved_lists(db, {})
    with site.database.read() as db:
        found = {row.path: row.target for row in db.scalars(select(MovedList))}
    assert found == {"/t/a/": "/tags/a", "/" + "j" * 300: "/x", "/new": "/x"}


def test_no_more_lists_than_a_blog_has(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "MOST_LISTS", 2)
    with site.database.write() as db:
        writer.moved_lists(db, {f"/{n}": "/x" for n in range(3)})
        assert {row.path for row in db.scalars(select(MovedList))} == {"/0", "/1"}


@pytest.mark.parametrize(
    ("posts", "pages", "moved", "left"),
    [
        (["ada"], {"/a": ("Ada",)}, {"/a": "/authors/ada"}, []),
        (["ada"], {"/a": ("x", "Ada")}, {"/a": "/authors/ada"}, []),
        (["ada"], {"/a": ("Bo",)}, {}, ["/a"]), ([], {"/a": ("Ada",)}, {"/a": "/"}, []),
        ([], {"/a": ("Zoe",), "/b": ("Zoe",)}, {"/a": "/", "/b": "/"}, []),
        ([], {"/a": ("Zoe",), "/b": ("Yan",)}, {}, ["/a", "/b"]),
        (["ada"], {"/z": ("Zoe",)}, {}, ["/z"]),
    ],
)  # fmt: skip
def test_old_pages_of_authors(
    site: Site,
    importer: Importer,
    posts: list[str],
    pages: dict[str, tuple[str, ...]],
    moved: dict[str, str],
    left: list[str],
) -> None:
    """To who has posts here; those of an only author to all posts, where nobody has any."""
    for name in ("ada", "bo"):
        make_author(site, name)
    importer(Batch([post(name, by=(name,)) for name in posts] or [post()]))
    batch = Batch(author_pages=dict(pages))
    with site.database.read() as db:
        writer.author_pages(db, planning.make_plan(db, (), None), batch)
    assert (batch.moved, [*batch.author_pages]) == (moved, left)


def test_old_pages_of_authors_before_the_import(site: Site) -> None:
    """Then whoever has an account may have the posts; a list that leads on already stays."""
    make_author(site, "ada")
    batch = Batch(author_pages={"/a": ("Ada",), "/b": ("Ada",)}, moved={"/b": "/x"})
    with site.database.read() as db:
        writer.author_pages(db, planning.make_plan(db, (), None), batch, stored=False)
    assert batch.moved == {"/a": "/authors/ada", "/b": "/x"}


ADA = {"name": "ada", "role": "author", "created_at": "2020-01-02T03:04:05Z", "bio": "B",
"display_name": "Ada L",
       "disabled_at": "2021-01-02T03:04:05Z"}  # fmt: skip


def test_people_of_an_export(site: Site) -> None:
    """With all that they have but a password, in the role that they had."""
    batch = Batch(
        site=ImportedSite(authors=(ADA, ADA | {"name": "bo", "role": "admin", "disabled_at": None}))
    )
    with site.database.write() as db:
        writer.people_and_settings(db, batch)
        ada, bo = authors.everyone(db)
        assert (ada.name, ada.role, ada.bio, ada.display_name) == ("ada", "author", "B", "Ada L")
        assert (ada.created_at, ada.disabled_at) == (
            datetime(2020, 1, 2, 3, 4, 5, tzinfo=UTC),
            datetime(2021, 1, 2, 3, 4, 5, tzinfo=UTC),
        )
        assert (bo.role, bo.disabled_at) == ("admin", None)
    assert batch.notes == {"author imported; set a password with `author password NAME`": 2}
    assert writer.author_names(batch) == ["ada", "bo"]
    assert writer.author_names(Batch()) == []


@pytest.mark.parametrize(
    "row",
    [
        {"name": "no name!"},
        {"created_at": "soon"},
        {"bio": ...},
        {"role": ...},
        {"display_name": ...},
        {"disabled_at": "soon"},
        {"disabled_at": 5},
    ],
)
def test_a_person_of_an_export_who_cannot_be(site: Site, row: dict[str, Any]) -> None:
    wrong = {name: value for name, value in {**ADA, **row}.items() if value is not ...}
    with (
        pytest.raises(InvalidData, match=r"^publisher.json: an author: "),
        site.database.write() as db,
    ):
        writer.people_and_settings(db, Batch(site=ImportedSite(authors=(wrong,))))


def test_settings_of_an_export(site: Site) -> None:
    """A wrong one is refused; a blog in use keeps its own, and a source of others has none."""
    with pytest.raises(InvalidData, match=r"^publisher.json: "), site.database.write() as db:
        writer.people_and_settings(db, Batch(site=ImportedSite({"time_zone": "Nowhere"})))
    make_post(site)
    for batch, notes in ((Batch(site=ImportedSite({"title": "T"})), 1), (Batch(), 0)):
        with site.database.write() as db:
            writer.people_and_settings(db, batch)
            assert (len(batch.notes), load_settings(db).title == "T") == (notes, False)


def test_the_log_of_an_export(site: Site) -> None:
    """What is there already is not added again, each row as often as it is there."""
    make_post(site, "x")
    with site.database.read() as db:
        guid = db.scalars(select(Post.guid)).one()
        ((at, kind),) = db.execute(select(Update.at, Update.kind)).all()
    rows = [(at, kind, guid), (at, kind, guid), (PAST, "loaded", ""), (PAST, "publish", "gone")]
    for _ in range(2):
        writer.log_updates(site.database, ImportedSite(updates=rows))
        with site.database.read() as db:
            found = db.execute(
                select(Update.at, Update.kind, Update.post_id).order_by(Update.at, Update.id)
            ).all()
        assert sorted(map(str, found)) == sorted(
            map(
                str, [(PAST, "loaded", None), (PAST, "publish", None), (at, kind, 1), (at, kind, 1)]
            )
        )


MEDIUM = {
    "digest": "a" * 64,
    "extension": "png",
    "bytes": 5,
    "width": 640,
    "height": 480,
    "widths": [480],
    "created_at": "2020-01-02T03:04:05Z",
}


def test_media_of_an_export(site: Site) -> None:
    """Each once, with what is said of it, and whose it is."""
    make_author(site, "ada")
    rows = (
        MEDIUM | {"name": "n.png", "alt": "A", "author": "ada"},
        MEDIUM | {"digest": "b" * 64, "author": "zoe"},
    )
    for _ in range(2):
        with site.database.write() as db:
            writer.media_rows(db, ImportedSite(media=rows))
    with site.database.read() as db:
        a, b = db.scalars(select(Media).order_by(Media.digest))
        assert (
            a.name,
            a.alt,
            a.author_id,
            a.content_type,
            a.bytes,
            a.width,
            a.height,
            a.widths,
        ) == ("n.png", "A", 1, "image/png", 5, 640, 480, [480])
        assert (b.name, b.alt, b.author_id, b.created_at) == (
            "",
            "",
            None,
            datetime(2020, 1, 2, 3, 4, 5, tzinfo=UTC),
        )


def test_posts_are_updates_at_their_dates_unless_the_log_comes_too(site: Site) -> None:
    posts = [
        *planning.prepare(
            Batch([post("1"), post("2", status="draft"), post("3", kind="page")]), NOW
        )
    ]
    for counts, number in ((False, 0), (True, 1)):
        with site.database.write() as db:
            plan = planning.make_plan(db, posts, None)
            assert isinstance(plan, Plan)
            writer.store(db, plan, NOW, counts)
            assert len(db.execute(select(Update.id)).all()) == number
            db.rollback()
