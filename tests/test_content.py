"""No way in or out forgets a part of a post's content, whichever columns its table has.

The columns are found in the table: a new one is content unless `STATE` names it, and then it has to
come through every way that is tried here, at a value that is not its default.
"""

import io
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from lxml.html import document_fromstring
from sqlalchemy import Boolean, Integer, String, select, update

from publisher.base.environment import Environment
from publisher.base.errors import FieldErrors
from publisher.blog import published
from publisher.blog.members import tokens
from publisher.blog.writing import content, overview, posts, revisions
from publisher.blog.writing.content import FIELDS, Content
from publisher.blog.writing.tags import assign
from publisher.exchange.export import export, target
from publisher.installation import Site, open_site
from publisher.installation.settings import Settings
from publisher.parts.importing import confined_reading, planning, sources, writer
from publisher.storage.tables.blog import Post
from publisher.storage.tables.credentials import Author
from tests.conftest import SITE_URL, FakeClock
from tests.databases import database_url
from tests.factories import make_author, make_post
from tests.web.studio.browser import Browser

# What no author writes: numbers, names, secrets, the state of a post, and what is made of the rest.
STATE = {
    "id", "status", "version", "guid", "guid_is_permalink", "author_id", "html", "preview_token",
    "created_at", "changed_at", "scheduled_at", "published_at", "former_date", "deleted_at",
    "deleted_status",
}  # fmt: skip
COLUMNS = [column for column in Post.__table__.columns if column.name not in STATE]
NAMES = [column.name for column in COLUMNS]
TAGS = ("sea", "Two words")

# Columns whose values are words of ours or addresses: nobody looks for them in a search.
NO_PROSE = {
    "kind", "source_format", "slug", "enclosure_url", "enclosure_type", "transcript", "image",
    "image_focus", "gallery",
}  # fmt: skip
# What Micropub has no property for, or only half of one: an update keeps it all the same.
NOT_SENT = {
    "kind", "enclosure_bytes", "enclosure_seconds", "transcript", "image_alt", "image_focus",
    "gallery",
}  # fmt: skip


def word(name: str) -> str:
    """A word that stands in this column and nowhere else."""
    return f"zebra{name.replace('_', '')}"


def unusual(column: Any) -> Any:
    """A value that is not the default of this column."""
    known_fields = {
        "kind": "page",
        "source_format": "html",
        "source": f"<p>Some {word('source')} here.</p>",
        "slug": "an-address-of-its-own",
        "enclosure_url": "https://a.example/1.mp3",
        "enclosure_type": "audio/mpeg",
        "transcript": "https://a.example/1.vtt",
        "image": "https://a.example/1.jpg",
        "image_focus": "left",
        "gallery": "off",
    }
    if column.name in known_fields:
        return known_fields[column.name]
    if isinstance(column.type, Boolean):
        return not (column.default and column.default.arg)
    if isinstance(column.type, Integer):
        return 61 + len(column.name)
    assert isinstance(column.type, String), f"say here what {column.name} may hold"
    return f"Some {word(column.name)} here"


FULL = {column.name: unusual(column) for column in COLUMNS}
BLANK = {
    column.name: column.default.arg if column.default else f"plain-{column.name}"
    for column in COLUMNS
}


def set_row(site: Site, values: dict[str, Any], post_id: int = 1) -> None:
    """Write columns past the program."""
    with site.database.write() as db:
        db.execute(update(Post).where(Post.id == post_id).values(**values))


def row(site: Site, post_id: int | None = None) -> dict[str, Any]:
    """The content columns of a post, and its tags; those of the newest one."""
    with site.database.read() as db:
        query = select(Post).order_by(Post.id.desc())
        post = db.scalars(query.where(Post.id == post_id) if post_id else query).first()
        assert post is not None
        return {name: getattr(post, name) for name in NAMES} | {
            "tags": posts.content(db, post).tags
        }


WHOLE = FULL | {"tags": TAGS}


@pytest.fixture
def blog(site: Site) -> Site:
    """A published post with something unusual in each column."""
    make_author(site)
    make_post(site, "Text.", author_id=1)
    set_row(site, FULL)
    with site.database.write() as db:
        assign(db, posts.get(db, 1), TAGS, site.clock())
    return site


def save(site: Site, value: Content) -> None:
    with site.database.write() as db:
        posts.save(db, 1, value, posts.get(db, 1).version, 1, site.clock())


def content_of(site: Site) -> Content:
    with site.database.read() as db:
        return posts.content(db, posts.get(db, 1))


def test_the_list_names_every_column() -> None:
    """Each column that is no state belongs to one field, and each field to `Content`."""
    assert sorted(content.COLUMNS) == sorted(NAMES)
    assert sorted(f.name for f in FIELDS) == sorted(f.name for f in fields(Content))
    assert {name for name in FULL if FULL[name] == BLANK[name]} == set()


def test_a_change_of_one_column_is_saved(blog: Site) -> None:
    """What differs in one thing only is not taken for the same as before."""
    whole = content_of(blog)
    for version, name in enumerate(NAMES, start=2):
        set_row(blog, {name: BLANK[name]})
        save(blog, whole)
        assert row(blog) == WHOLE, name
        with blog.database.read() as db:
            assert posts.get(db, 1).version == version, name


def form_of(page: str) -> Any:
    """The editor's form."""
    return document_fromstring(page).get_element_by_id("editor")


def typed_in(page: str) -> dict[str, str]:
    """Names and values of the controls of the editor's form."""
    return {name: text.removeprefix("\n") for name, text in form_of(page).form_values()}


@pytest.fixture
def ada(blog: Site, app: Flask) -> Browser:
    """Somebody who is logged in."""
    browser = Browser(app.test_client())
    browser.log_in()
    return browser


def test_the_form(blog: Site, ada: Browser) -> None:
    """The form shows everything, and saves everything that it shows."""
    typed = typed_in(ada.get("/studio/posts/1"))
    set_row(blog, BLANK)
    answer = ada.post("/studio/posts/1", **{n: v for n, v in typed.items() if n != "csrf_token"})
    assert answer.status_code == 302, answer.text
    assert row(blog) == WHOLE


def test_what_a_refused_form_shows(blog: Site, ada: Browser) -> None:
    """A form that is refused comes back with everything that was typed."""
    typed = typed_in(ada.get("/studio/posts/1"))
    set_row(blog, BLANK)
    answer = ada.post("/studio/posts/1", **(typed | {"title": "x" * 999, "csrf_token": ada.csrf}))
    assert answer.status_code == 422
    again = typed_in(ada.seen(answer))
    assert {n: v for n, v in again.items() if n not in ("title", "csrf_token")} == {
        n: v for n, v in typed.items() if n not in ("title", "csrf_token")
    }


def test_autosave_and_the_browsers_recovery(blog: Site, ada: Browser) -> None:
    """What is typed and not saved is kept whole: on the server, and by name in the browser."""
    page = ada.get("/studio/posts/1")
    intent = {"csrf_token", "base_version", "seen", "origin", "attempt", "place", "zone", "alt"}
    typed = {name: text for name, text in typed_in(page).items() if name not in intent}
    assert set(form_of(page).get("data-kept").split()) >= set(typed)
    set_row(blog, BLANK)
    answer = ada.post("/studio/autosave/1", "application/json", **typed, base_version="1")
    assert answer.status_code == 200
    again = typed_in(ada.get("/studio/posts/1"))
    assert {name: again[name] for name in typed} == typed


def test_a_login_in_between(blog: Site, ada: Browser, app: Flask) -> None:
    """Who was logged out meanwhile finds everything in the form after the login."""
    typed = typed_in(ada.get("/studio/posts/1"))
    del typed["csrf_token"]
    stranger = Browser(app.test_client())
    stranger.get("/studio/login")
    page = stranger.seen(stranger.post("/studio/posts/1", **typed))
    missing = [n for n, text in typed.items() if text and f'name="held_{n}"' not in page]
    assert missing == []


@pytest.mark.parts("micropub")
def test_micropub(blog: Site, app: Flask) -> None:
    """A query tells everything that can be sent, an update of one thing keeps all others."""
    with blog.database.write() as db:
        author = db.scalars(select(Author)).one()
        token = tokens.create(db, author, ["create", "update"], blog.clock())
    client, bearer = app.test_client(), {"Authorization": f"Bearer {token}"}
    url = f"{SITE_URL}/{FULL['slug']}"

    def query() -> dict[str, Any]:
        answer = client.get(f"/micropub?q=source&url={url}", headers=bearer)
        properties: dict[str, Any] = answer.get_json()["properties"]
        return properties

    change = {"action": "update", "url": url, "replace": {"name": ["Other"]}}
    assert client.post("/micropub", json=change, headers=bearer).status_code == 204
    assert row(blog, 1) == WHOLE | {"title": "Other"}
    change["replace"] = {"name": [FULL["title"]]}
    assert client.post("/micropub", json=change, headers=bearer).status_code == 204
    entry = query()
    set_row(blog, {"slug": "out-of-the-way"})
    made = client.post("/micropub", json={"type": ["h-entry"], "properties": entry}, headers=bearer)
    assert made.status_code == 201, made.text
    sent = {name: value for name, value in WHOLE.items() if name not in NOT_SENT}
    assert {name: row(blog)[name] for name in sent} == sent
    url = f"{SITE_URL}/posts/{FULL['slug']}"
    assert query() == entry


def test_revisions(blog: Site) -> None:
    """A version that is brought back is the whole post as it was, and what changed is shown."""
    whole = content_of(blog)
    set_row(blog, BLANK)
    save(blog, whole)
    save(blog, Content("Nothing.", slug="nothing"))
    assert row(blog) != WHOLE
    with blog.database.write() as db:
        post = posts.get(db, 1)
        full, blank = (revisions.get(db, post, number) for number in (2, 3))
        changed = {change.name for change in revisions.changes(blank, full)}
        revisions.restore(db, post, full, 1, blog.clock())
    assert row(blog) == WHOLE
    assert changed == {field.name for field in FIELDS}


def test_the_order_of_tags_is_no_change(blog: Site) -> None:
    """The form lists tags by their slugs, whatever was typed: a first edit changes none of them."""
    save(blog, Content("One.", slug="one", tags=("http", "code")))
    save(blog, Content("Two.", slug="one", tags=("code", "http")))
    save(blog, Content("Two.", slug="one", tags=("Code", "rss", "http")))
    with blog.database.read() as db:
        post = posts.get(db, 1)
        first, second, third = (revisions.get(db, post, post.version - back) for back in (2, 1, 0))
        assert [change.name for change in revisions.changes(first, second)] == ["source"]
        (tags_changed,) = revisions.changes(second, third)
        added = [piece.text for piece in tags_changed.pieces if piece.kind == "new"]
    assert "rss" in "".join(added)
    assert "http" not in "".join(added)


def import_folder(site: Site, folder: Path) -> planning.Plan:
    """Import an export into a site."""
    place = sources.located(str(folder), io.BytesIO(), allow_private=False)
    _, values = confined_reading.read_posts(
        place, None, Settings().zone, site.clock(), site.environment.instance
    )
    with site.database.write() as db:
        plan = planning.make_plan(db, values, None)
        writer.store(db, plan, site.clock(), count_updates=False)
    return plan


@pytest.fixture
def exported(blog: Site, tmp_path: Path) -> Path:
    """The post, and what it said before, as files."""
    whole = content_of(blog)
    save(blog, Content("Nothing.", slug="nothing"))
    save(blog, whole)
    with target(tmp_path / "out") as out, blog.database.read() as db:
        export(db, out, blog.environment.media, SITE_URL, blog.clock())
    return tmp_path / "out"


def test_export_and_import(blog: Site, exported: Path, clock: FakeClock, tmp_path: Path) -> None:
    """Another site has the post whole, its versions too, and finds its words."""
    url = database_url(tmp_path / "other")
    second_site = open_site(Environment(tmp_path / "other", url, SITE_URL, "another key"), clock)
    import_folder(second_site, exported)
    assert row(second_site) == WHOLE
    with blog.database.read() as first_db, second_site.database.read() as there:
        ours = [revisions.get(first_db, posts.get(first_db, 1), n).content for n in (2, 3)]
        theirs = [revisions.get(there, posts.get(there, 1), n).content for n in (2, 3)]
        assert ours == theirs
        for name in prose():
            assert [hit.number for hit in published.search(there, word(name))] == [1], name
    second_site.database.close()


def test_import_sees_a_change_of_one_column(blog: Site, exported: Path) -> None:
    """What differs in one thing only is not taken for a known post; its address is ours."""

    def seen() -> tuple[int, int]:
        plan = import_folder(blog, exported)
        return plan.unchanged, plan.edited_here

    assert seen() == (1, 0)
    for name in NAMES:
        set_row(blog, FULL | {name: BLANK[name]})
        assert seen() == ((1, 0) if name == "slug" else (0, 1)), name
    set_row(blog, FULL)
    with blog.database.write() as db:
        assign(db, posts.get(db, 1), TAGS[1:], blog.clock())
    assert seen() == (0, 1)


def prose() -> list[str]:
    """The columns of text that people read."""
    return [c.name for c in COLUMNS if isinstance(c.type, String) and c.name not in NO_PROSE]


def test_search(blog: Site) -> None:
    """Readers find a post by each of its texts, authors a draft."""
    whole = content_of(blog)
    set_row(blog, BLANK)
    save(blog, whole)
    with blog.database.read() as db:
        for name in prose():
            assert [hit.number for hit in published.search(db, word(name))] == [1], name
    with blog.database.write() as db:
        posts.delete(db, posts.get(db, 1), blog.clock())
    with blog.database.read() as db:
        for name in prose():
            wanted = overview.Filter(state="deleted", words=word(name))
            assert [line.id for line in overview.rows(db, wanted, 1)] == [1], name
            assert published.search(db, word(name)) == []


def test_readers_see_it(blog: Site, app: Flask) -> None:
    """Each text of the post stands somewhere on its page."""
    save(blog, replace(content_of(blog), tags=TAGS[1:]))  # so that its HTML is made
    page = app.test_client().get(f"/{FULL['slug']}").text
    assert [name for name in prose() if word(name) not in page] == []


def test_what_a_form_lacks_has_its_default() -> None:
    assert content.from_inputs({"source": "x"}) == Content(source="x")
    assert content.from_inputs({"source": "x", "gallery": "", "kind": ""}) == Content(source="x")


@pytest.mark.parametrize(
    ("pasted", "address"),
    [
        ("![A [sea\\]](/media/a.jpg)", "/media/a.jpg"),
        ('![x](https://a.example/b.jpg "A title")', "https://a.example/b.jpg"),
        ('<img alt="" src="/media/a.jpg">', "/media/a.jpg"),
        ("<img src=/media/a.jpg>", "/media/a.jpg"),
        ("![](javascript:alert(1))", ""),
        ("![" * 5000, ""),
        ("/media/a.jpg", "/media/a.jpg"),
    ],
)
def test_a_picture_pasted_as_markdown(pasted: str, address: str) -> None:
    """Where an address is wanted, the one in pasted Markdown or HTML is taken."""
    texts = {"source": "x", "image": pasted}
    if address:
        assert content.from_inputs(texts).image == address
    else:
        with pytest.raises(FieldErrors):
            content.from_inputs(texts)
