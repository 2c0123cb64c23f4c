"""The library of uploaded files: found by their words, and deleted only where nothing uses them."""

import pytest

from publisher.base.errors import Conflict, NotFound
from publisher.base.media_files import Attachment
from publisher.blog.members import authors
from publisher.blog.post_files import media
from publisher.blog.writing import autosave
from publisher.installation import Site
from publisher.storage.tables.blog import Media, Post
from tests.conftest import FakeClock
from tests.factories import make_author, make_mp3, make_png, make_post, set_settings


def upload(site: Site, data: bytes, name: str, alt: str = "") -> Media:
    """The row of a stored file."""
    accepted = media.accept(data)
    media.store(site.environment.media, accepted)
    with site.database.write() as db:
        return media.record(db, accepted, name, None, site.clock(), alt)


def test_files_are_found_by_their_words_and_kind(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All words, in name or description; page after page, the newest first, one more if there is
    a next page."""
    monkeypatch.setattr(media, "LIBRARY_PAGE", 2)
    upload(site, make_png("red"), "harbour.png", "The sea, 100% blue")
    upload(site, make_png("blue"), "sky.png")
    upload(site, make_mp3(), "sea.mp3")
    upload(site, make_png("teal"), "sea.png")

    def found(words: str = "", before: int | None = None, kind: str = "") -> list[int]:
        with site.database.read() as db:
            return [row.id for row in media.find_files(db, words, before, kind)]

    assert found() == [4, 3, 2]
    assert found(before=3) == [2, 1]
    assert (found("SEA"), found("sea harb"), found("0%"), found("%")) == ([4, 3, 1], [1], [1], [1])
    assert (found(kind="audio"), found("sea", kind="image")) == ([3], [4, 1])
    assert (found("sea " * 7 + "x"), found("sea " * 8 + "x")) == ([], [4, 3, 1])
    with site.database.read() as db:
        assert media.get_file(db, 2).name == "sky.png"
        with pytest.raises(NotFound):
            media.get_file(db, 9)


def test_a_part_may_keep_a_file(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """It says why; the files before and after are not meant."""
    first, second, third = (upload(site, make_png(c), c) for c in ("red", "blue", "teal"))

    def why(_: object, sign: str) -> str:
        return "a part shows it" if sign == media.mark(second) else ""

    monkeypatch.setattr(media, "every_hooked", lambda name: [why] if name == "keeps_file" else [])
    with site.database.write() as db:
        with pytest.raises(Conflict, match="a part shows it"):
            media.remove_file(db, db.merge(second), lambda _: True)
        for row in (first, third):
            assert media.remove_file(db, db.merge(row), lambda _: True) == media.names(row)
        assert [row.id for row in media.find_files(db, "")] == [second.id]


def test_a_long_name_keeps_its_end(site: Site) -> None:
    """It tells what the file is; a description keeps its beginning, and stays until there is
    another one."""
    row = upload(site, make_png(), f"{'x' * 300}\n a.png", "word " * 300)
    assert (row.name, len(row.alt)) == (f"{'x' * 194} a.png", media.MAX_ALT)
    assert upload(site, make_png(), "b.png").alt == row.alt
    assert upload(site, make_png(), "b.png", "Teal").alt == "Teal"


def test_a_file_stays_where_something_uses_it(site: Site, clock: FakeClock) -> None:
    """A post's text, picture, sound or transcript, the look, a profile, a text being typed; who may
    not see the post learns only that there is one."""
    ada = make_author(site)
    red, blue, sound, green = (
        upload(site, make_png("red", (700, 500)), "red.png"), upload(site, make_png("blue"), "b"),
        upload(site, make_mp3(), "s"), upload(site, make_png("green"), "g"),
    )  # fmt: skip
    small = media.path(red).replace(".png", "-480.png")
    make_post(site, f"![]({small})", title="By the sea", author_id=ada.id)
    make_post(site, "x", image=media.path(blue), enclosure=Attachment(media.path(sound), "", 1))

    def seen(post: Post) -> bool:
        return post.author_id == ada.id

    with site.database.write() as db:
        assert media.uses(db, [], seen) == {}
        assert media.uses(db, [red, blue, sound, green], lambda _: True) == {
            red.id: [(1, "By the sea")], blue.id: [(2, "note 2")], sound.id: [(2, "note 2")],
            green.id: [],
        }  # fmt: skip
        for row, title in ((red, "By the sea"), (blue, "a post of another author")):
            with pytest.raises(Conflict, match=title):
                media.remove_file(db, row, seen)
    for place in ("logo", "header"):
        set_settings(site, {place: media.path(green)})
        with site.database.write() as db, pytest.raises(Conflict, match="the look"):
            media.remove_file(db, db.merge(green), seen)
        set_settings(site, {place: ""})
    with site.database.write() as db:
        author = authors.named(db, "ada")
        authors.describe(db, author, "Ada", f"![]({media.path(green)})")
        with pytest.raises(Conflict, match="profile"):
            media.remove_file(db, db.merge(green), seen)
        authors.describe(db, author, "Ada", "")
        sent = autosave.Sent({"source": media.path(green)})
        unsaved = autosave.keep(db, ada.id, 0, 0, sent, clock())
        with pytest.raises(Conflict, match="unsaved"):
            media.remove_file(db, db.merge(green), seen)
        db.delete(unsaved)
        names = media.remove_file(db, db.merge(green), seen)
    folder = site.environment.media
    assert media.content(folder, media.path(green)).startswith(b"\x89PNG")
    media.erase(folder, [*names, "missing.png"])
    for address in (media.path(green), media.path(red).removeprefix("/media/"), "/media/../x"):
        with pytest.raises(NotFound):
            media.content(folder, address)
    with site.database.read() as db:
        assert [row.id for row in media.find_files(db, "")] == [3, 2, 1]
