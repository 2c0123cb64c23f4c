"""Out and in again: nothing is lost."""

import io
import re
import zipfile
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from PIL import Image
from sqlalchemy import select
from sqlalchemy.orm import Session

from publisher.base.environment import Environment
from publisher.base.errors import FieldErrors, InvalidData
from publisher.base.media_files import Attachment
from publisher.blog.members import authors
from publisher.blog.post_files import media
from publisher.blog.writing import autosave, posts
from publisher.exchange import front_matter
from publisher.exchange.export import export, target
from publisher.installation import Site, open_site
from publisher.installation.settings import Settings, store_setting
from publisher.parts.importing import confined_reading, planning, sources, writer
from publisher.storage.tables.blog import Media, Post, Preference, Redirect, Revision, Update
from publisher.storage.tables.credentials import Author
from tests.conftest import SITE_URL, FakeClock
from tests.databases import database_url
from tests.factories import content, make_author

# What may differ: numbers, the secret of private previews, and what is made from the source.
DERIVED = {"id", "post_id", "author_id", "preview_token", "html", "password_hash"}


def write(site: Site, destination: Path) -> None:
    with target(destination) as out, site.database.read() as db:
        export(db, out, site.environment.media, site.site_url, site.clock())


def take(site: Site, source: Path) -> planning.Plan:
    """Import as the command does."""
    place = sources.located(str(source), io.BytesIO(), allow_private=False)
    batch, posts = confined_reading.read_posts(
        place, None, Settings().zone, site.clock(), site.environment.instance
    )
    assert batch.site is not None
    confined_reading.store_media(place, batch.site, site.environment.media)
    with site.database.write() as db:
        writer.people_and_settings(db, batch)
        planned = planning.make_plan(db, posts, None)
        writer.store(db, planned, site.clock(), count_updates=False)
        writer.media_rows(db, batch.site)
    writer.log_updates(site.database, batch.site)
    return planned


def fresh(folder: Path, clock: FakeClock) -> Site:
    """Another, empty site."""
    url = database_url(folder)
    return open_site(Environment(folder, url, SITE_URL, "another key"), clock)


def everything(site: Site) -> dict[str, Any]:
    """All that must come through, with guids and names in place of numbers."""
    with site.database.read() as db:
        guids: dict[int | None, str] = {p.id: p.guid for p in db.scalars(select(Post))}
        people: dict[int | None, str] = {a.id: a.name for a in db.scalars(select(Author))}
        redirects = db.scalars(select(Redirect)).all()
        return {
            "posts": {p.guid: (_row(p), people.get(p.author_id)) for p in db.scalars(select(Post))},
            "tags": {p.guid: posts.content(db, p).tags for p in db.scalars(select(Post))},
            "revisions": sorted(
                (guids[r.post_id], r.version, str(_row(r)), people.get(r.author_id) or "")
                for r in db.scalars(select(Revision))
            ),
            "redirects": {r.path: guids[r.post_id] for r in redirects},
            "updates": sorted((u.at, u.kind, guids.get(u.post_id, "")) for u in _all(db, Update)),
            "preferences": {row.name: row.value for row in _all(db, Preference)},
            "authors": [_row(row) for row in _all(db, Author)],
            "media": [(_row(row), people.get(row.author_id)) for row in _all(db, Media)],
            "files": {
                p.name: p.read_bytes() for p in (site.environment.instance / "media").iterdir()
            },
        }


def _all(db: Session, model: type[Any]) -> list[Any]:
    return list(db.scalars(select(model)))


def _row(row: Any) -> dict[str, Any]:
    names = [column.name for column in row.__table__.columns]
    return {name: getattr(row, name) for name in names if name not in DERIVED}


def fill(site: Site, clock: FakeClock) -> None:
    """A blog with one of everything."""
    ada, bob = make_author(site), make_author(site, "bob")
    now = clock()
    held = io.BytesIO()
    Image.new("RGB", (900, 600), "teal").save(held, "JPEG")
    accepted = media.accept(held.getvalue())
    media.store(site.environment.media, accepted)
    with site.database.write() as db:
        store_setting(db, "title", "A “blog”, yes: # really")
        store_setting(db, "timezone", "America/New_York")
        media.record(db, accepted, "teal.jpg", bob.id, now, "Nothing but teal")
        authors.named(db, "bob").bio = "Bob.\n\n---\nBob."
        sound = Attachment("https://a.example/1.mp3", "audio/mpeg", 5, 60)
        texts = [
            content(
                f"# Hi\n\n![T]({accepted.path})\n", "Title: with # signs", tags=["a", "Two words"]
            ),
            content("---\ntitle: a trap\n---\nText", summary="Two\nlines\n---\nmore"),
            content("<p>Old</p>\n", "No", source_format="html", enclosure=sound),
            content("   indented\n\n\n", "1.10"),
        ]
        for number, text in enumerate(texts):
            post = posts.create(db, text, ada.id if number % 2 else bob.id, now)
            posts.publish_or_schedule(db, post, now - timedelta(days=number, microseconds=7), now)
        moved = posts.save(db, 1, replace(texts[0], slug="moved"), 1, ada.id, now)
        posts.save(
            db, 1, replace(texts[0], source="Edited"), moved.version, bob.id, now, minor=True
        )
        posts.get(db, 3).guid = "=HYPERLINK(1)"  # no formula where the log is opened
        posts.delete(db, posts.get(db, 2), now)
        posts.create(db, content("Unfinished", "null"), ada.id, now)
        later = posts.create(db, content("Later"), None, now)
        posts.publish_or_schedule(db, later, now + timedelta(days=3), now)
        about = posts.create(db, content("Me", "About", slug="about", kind="page"), ada.id, now)
        posts.publish_or_schedule(db, about, now - timedelta(days=1), now)


def test_what_was_typed_and_not_saved_is_written(
    site: Site, clock: FakeClock, tmp_path: Path
) -> None:
    """The editor calls it saved: each unsaved text has a file, which an import leaves alone."""
    ada = make_author(site)
    with site.database.write() as db:
        post = posts.create(db, content("Half a"), ada.id, clock())
        for place, source in ((post.id, "Half a thought: more."), (autosave.BOX, "A note")):
            typed = autosave.Sent({"title": "", "source": source})
            autosave.keep(db, ada.id, place, post.version if place else 0, typed, clock())
        slug, guid = post.slug, post.guid
    write(site, tmp_path / "out")
    text = (tmp_path / f"out/unsaved/1-{slug}.md").read_text()
    assert f"author: ada\nstate: unsaved\npublished: false\nguid: {guid}\n" in text
    assert text.endswith("---\n\nHalf a thought: more.")
    assert (tmp_path / "out/unsaved/2-new.md").read_text().endswith("\n\nA note")
    copy = fresh(tmp_path / "other", clock)
    take(copy, tmp_path / "out")
    assert [row["source"] for row, _ in everything(copy)["posts"].values()] == ["Half a"]
    copy.database.close()


@pytest.mark.parametrize("name", ["out", "out.zip"])
def test_nothing_is_lost(site: Site, clock: FakeClock, tmp_path: Path, name: str) -> None:
    """Posts in every state, revisions, redirects, log, settings, people, media: all the same."""
    fill(site, clock)
    write(site, tmp_path / name)
    copy = fresh(tmp_path / "other", clock)
    take(copy, tmp_path / name)
    before, after = everything(site), everything(copy)
    for part in before:
        assert after[part] == before[part], part
    write(copy, tmp_path / "again")
    write(site, tmp_path / "first")
    assert tree(tmp_path / "again") == tree(tmp_path / "first")
    copy.database.close()


def test_another_program_publishes_no_draft(site: Site, clock: FakeClock, tmp_path: Path) -> None:
    """Hugo and Jekyll leave out what says `published: false`; they do not know our states."""
    fill(site, clock)
    write(site, tmp_path / "out")
    files = [file for file in tree(tmp_path / "out").items() if file[0].endswith(".md")]
    hidden = {name for name, data in files if b"\npublished: false\n" in data}
    assert hidden == {name for name, _ in files if not name.startswith(("posts/", "pages/"))}
    assert {name.partition("/")[0] for name in hidden} == {"drafts", "scheduled", "deleted"}


def tree(root: Path) -> dict[str, bytes]:
    return {str(p.relative_to(root)): p.read_bytes() for p in root.rglob("*") if p.is_file()}


def test_the_second_import_adds_nothing(site: Site, clock: FakeClock, tmp_path: Path) -> None:
    """An export that is imported where it came from, or twice, changes nothing."""
    fill(site, clock)
    write(site, tmp_path / "out")
    before = everything(site)
    planned = take(site, tmp_path / "out")
    assert (planned.new, planned.changed, planned.edited_here) == ([], [], 0)
    assert everything(site) == before


def test_passwords_stay_at_home(site: Site, clock: FakeClock, tmp_path: Path) -> None:
    """No hash of a password or a token leaves the house."""
    fill(site, clock)
    write(site, tmp_path / "out")
    text = b"".join(tree(tmp_path / "out").values())
    assert b"scrypt" not in text
    assert b"password" not in text


TEXTS = st.text(st.characters(codec="utf-8"), max_size=60)
LINES = st.one_of(
    TEXTS,
    st.sampled_from(
        ["---", "+++", "# T", "null", "~", "yes", "1e3", "2020-01-01", "a: b", "- x", "{"]
    ),
)
SOURCES = st.lists(LINES, min_size=1, max_size=6).map("\n".join)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@example(source="0", title="", summary="0\x850\u2028\u2029", tags=[])
@given(source=SOURCES, title=LINES, summary=SOURCES, tags=st.lists(LINES, max_size=3))
def test_any_text_comes_through(source: str, title: str, summary: str, tags: list[str]) -> None:
    """Whatever is written, the file says it so that it is read back as the same."""
    try:
        value = content(source, title, summary=summary, tags=tags)
    except FieldErrors:
        return
    fields = {"title": value.title, "summary": value.summary, "tags": list(value.tags)}
    again, body = front_matter.split_front_matter(front_matter.join(fields, value.source))
    assert (again, body) == (fields, value.source)


def test_an_export_that_was_tampered_with(site: Site, clock: FakeClock, tmp_path: Path) -> None:
    """A picture that is not the one it claims to be, or a strange name, is refused by name."""
    fill(site, clock)
    write(site, tmp_path / "out")
    (picture,) = [p for p in (tmp_path / "out/media").iterdir() if p.stem.count("-") == 1]
    picture.write_bytes(b"something else")
    copy = fresh(tmp_path / "other", clock)
    with pytest.raises(InvalidData, match="not the file it was"):
        take(copy, tmp_path / "out")
    manifest = tmp_path / "out/publisher.json"
    written = manifest.read_text()
    for wrong in ('"extension": "exe"', '"width": -1', '"width": "x"'):
        key = wrong.partition(":")[0]
        manifest.write_text(re.sub(f"{key}: [^,\n]*", wrong, written, count=1))
        with pytest.raises(InvalidData, match=r"publisher\.json"):
            take(copy, tmp_path / "out")
    manifest.write_text(written)
    picture.rename(picture.with_name("evil.html"))
    with pytest.raises(InvalidData, match="evil"):
        take(copy, tmp_path / "out")
    with copy.database.read() as db:
        assert _all(db, Post) == []
    copy.database.close()


def test_zip_holds_what_the_folder_holds(site: Site, clock: FakeClock, tmp_path: Path) -> None:
    """The two forms differ in nothing but the wrapping."""
    fill(site, clock)
    write(site, tmp_path / "out")
    write(site, tmp_path / "out.zip")
    with zipfile.ZipFile(tmp_path / "out.zip") as archive:
        held = {name: archive.read(name) for name in archive.namelist()}
    assert held == tree(tmp_path / "out")
