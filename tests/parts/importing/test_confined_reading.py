"""Exports of strangers, read in confined processes: whatever they are, one sentence comes out."""

import io
import zipfile
from datetime import UTC
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from publisher.base.errors import InvalidData, PublisherError, TooLarge
from publisher.base.system.confined import Limits
from publisher.blog import media_names
from publisher.blog.post_files import media
from publisher.parts.importing import confined_reading
from publisher.parts.importing.imported import ImportedSite
from publisher.parts.importing.sources import MAX_TOTAL_BYTES, Located, located
from tests.conftest import MONDAY_MORNING
from tests.parts.importing.conftest import zipped
from tests.parts.importing.test_sources import BOMB, OUTSIDE

pytestmark = pytest.mark.any_database

# Runs of backticks of all lengths, each of which may begin a listing; none ends.


def linked() -> bytes:
    """A zip with a symbolic link in it."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        link = zipfile.ZipInfo("posts/a.md")
        link.external_attr = 0o120777 << 16
        archive.writestr(link, "/etc/passwd")
    return held.getvalue()


def gigabytes() -> bytes:
    """A zip whose directory says that it holds more than all files together may have."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        archive.writestr("a.md", "")
        archive.infolist()[0].file_size = MAX_TOTAL_BYTES + 1
    return held.getvalue()


def read(place: Located, folder: Path) -> list[str]:
    """The sources of the posts of a place."""
    _, posts = confined_reading.read_posts(place, None, UTC, MONDAY_MORNING, folder)
    return [prepared.content.source for prepared in posts]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (gigabytes(), "unpacked, the zip has more"),
        (linked(), "contains a link: 'posts/a.md'"),
        (BOMB.encode(), "declares entities"),
        (OUTSIDE.encode(), "declares entities"),
        (b'{"version": "https://jsonfeed.org/", "items": ' + b"[" * 1_000_000, "JSON cannot be re"),
    ],
    ids=["bombs", "link", "laughs", "outside", "deep-json"],
)
def test_one_sentence(
    data: bytes, words: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Bombs, links, entities, depth: refused, and the next one is read."""
    monkeypatch.setattr(confined_reading, "LIMITS", Limits(seconds=3.0))
    with pytest.raises(PublisherError, match=words) as refusal:
        read(Located("a file", data=data), tmp_path)
    assert "\n" not in str(refusal.value)
    assert read(Located("a.md", data=b"---\ndate: 2024-03-04\n---\nNext."), tmp_path) == ["Next."]


def test_one_bomb_among_the_files(tmp_path: Path) -> None:
    """A file that unpacks to too much is named, and the others are imported."""
    data = zipped({"bomb.md": b"0" * 20_000_000, "a.md": b"---\ndate: 2024-03-04\n---\nNext."})
    batch, posts = confined_reading.read_posts(
        Located("a zip", data=data), None, UTC, MONDAY_MORNING, tmp_path
    )
    assert [prepared.content.source for prepared in posts] == ["Next."]
    assert batch.left_out == [
        ("bomb.md", "it cannot be read: bomb.md has more than 8,000,000 bytes")
    ]


def test_two_gigabytes(tmp_path: Path) -> None:
    """A huge file is not read to its end, wherever it comes from."""
    huge = tmp_path / "huge.xml"
    with huge.open("wb") as file:
        file.truncate(2 * 1024**3)
    with pytest.raises(TooLarge, match=r"huge\.xml has more than 100 MB; split it"):
        read(located(str(huge), io.BytesIO(), allow_private=False), tmp_path)
    with huge.open("rb") as file, pytest.raises(TooLarge, match="standard input has more than 100"):
        located("-", file, allow_private=False)


def test_many_posts_come_in_parts(tmp_path: Path) -> None:
    """All of them, and what was noted, with nothing left in the folder."""
    head = "---\ndate: 2024-01-01T{:02}:00:00Z\n---\n"
    texts = {f"{n}.md": f"{head.format(n % 24)}Note {n}." for n in range(220)}
    place = Located("a zip", data=zipped({**texts, "readme.md": "x", "a.org": "x"}))
    messages: list[str] = []
    batch, posts = confined_reading.read_posts(
        place, None, UTC, MONDAY_MORNING, tmp_path, "en", messages.append
    )
    assert (len(posts), messages) == (220, ["200 posts read", "220 posts read"])
    assert {prepared.content.source for prepared in posts} == {f"Note {n}." for n in range(220)}
    assert list(tmp_path.iterdir()) == []
    assert batch.notes == {"index or readme file is left out": 1, ".org file is left out": 1}


# -- what the confined process does, done here

FILES: dict[str, str | bytes] = {
    "a/tea/p.png": b"p", "b/q.png": b"q", "c/q.png": b"Q", "sub/img/r r.png": b"r", "s.png": b"s",
    "static/t.png": b"t", "public/t.png": b"T", "x/_site/u.png": b"u",
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("s.png", b"s"), ("tea/p.png", b"p"), ("p.png", b"p"), ("a/tea/p.png", b"p"),
        ("q.png", None),
        ("b/q.png", b"q"), ("gone.png", None), ("ea/gone.png", None), ("blog/img/r r.png", b"r"),
        ("blog/s.png", None), ("t.png", b"t"), ("public/t.png", b"T"), ("u.png", b"u"),
        ("https://a.example/s.png", b"s"), ("https://a.example/sub/img/r%20r.png?x", b"r"),
        ("https://a.example/p.png", None),
    ],
)  # fmt: skip
def test_the_file_that_a_name_means(name: str, data: bytes | None) -> None:
    """By its path, or the end of it that only one has; an address by its path alone."""
    place = Located("a zip", data=zipped(FILES))
    ((found, result),) = confined_reading._files(place, [name])
    assert found == name
    assert result == data if data else str(result) == "there is no such file in the folder"


def test_a_document_has_no_files() -> None:
    ((_, result),) = confined_reading._files(Located("x", data=b"<rss/>"), ["a.png"])
    assert isinstance(result, PublisherError)
    assert [*confined_reading._media(Located("x", data=b"<rss/>"), ImportedSite())] == []


def medium(data: bytes, *names: str, **change: Any) -> list[media.Accepted]:
    """What is stored of one medium whose files have these names."""
    digest = media_names.digest_of(data)
    row = {"digest": digest, "extension": "png", "width": 640, "height": 480} | change
    files = {f"media/{name.format(digest[:20])}": data for name in names}
    site = ImportedSite(media=(row,), files=tuple(files))
    return [*confined_reading._media(Located("x", data=zipped({**files, "y": b""})), site)]


def test_the_files_of_a_medium() -> None:
    """The shortest name first, which is the file itself."""
    (kept,) = medium(b"a", "{}-640x480-480.png", "{}-640x480.png")
    assert [name[20:] for name in kept.files] == ["-640x480.png", "-640x480-480.png"]
    assert (kept.content_type, kept.extension, kept.width, kept.height) == (
        "image/png",
        "png",
        640,
        480,
    )
    assert (kept.seconds, kept.digest) == (0, media_names.digest_of(b"a"))


def test_media_that_are_not_what_they_were() -> None:
    for names, change, why in (
        (("{}.png",), {"digest": "a" * 64}, "missing, or not the file it was"),
        ((), {}, "missing, or not the file it was"),
        (("x.png",), {}, "media/x.png: not a name that this program gives"),
        (("{}.exe",), {}, "not a name"),
    ):
        with pytest.raises(InvalidData, match=why):
            medium(b"a", *names, **change)
    other = ImportedSite(
        media=({"digest": "b" * 64, "extension": "png"},), files=(f"media/{'b' * 20}.png",)
    )
    with pytest.raises(InvalidData, match=f"^media/{'b' * 20}: missing, or not"):
        [*confined_reading._media(Located("x", data=zipped({other.files[0]: b"a"})), other)]


def feed(*texts: str) -> bytes:
    items = "".join(
        f"<item><guid>{n}</guid><description>{text}</description></item>"
        for n, text in enumerate(texts)
    )
    return f"<rss><channel>{items}</channel></rss>".encode()


def parts(data: bytes) -> list[confined_reading.Part]:
    return [*confined_reading._posts(Located("x", data=data), None, UTC, MONDAY_MORNING, "en", "")]


def test_posts_come_in_parts_and_then_the_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some posts, or some characters at a time; the last part has the others."""
    whole = parts(feed("a", "b", "c"))
    assert [len(part.posts) for part in whole] == [3, 0]
    assert whole[-1].batch is not None
    assert whole[-1].batch.posts == ()
    monkeypatch.setattr(confined_reading, "PART_POSTS", 2)
    assert [len(part.posts) for part in parts(feed("a", "b", "c"))] == [2, 1, 0]
    assert [len(part.posts) for part in parts(feed("a", "b"))] == [2, 0, 0]
    monkeypatch.setattr(confined_reading, "PART_CHARACTERS", 20)
    lengths = [len(part.posts) for part in parts(feed("x" * 7, "y" * 5, "z" * 6))]
    assert lengths == [1, 2, 0, 0]
    monkeypatch.setattr(confined_reading, "PART_CHARACTERS", 1_000_000)
    monkeypatch.setattr(confined_reading, "monotonic", count(0, 21).__next__)
    assert [len(part.posts) for part in parts(feed("a", "b"))] == [1, 1, 0, 0]


def test_the_log_of_an_export_comes_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(confined_reading, "PART_UPDATES", 2)
    rows = "".join(f"2020-03-0{n}T05:06:07Z,publish,g\n" for n in range(1, 6))
    export = zipped(
        {"publisher.json": '{"format": 1}', "updates.csv": f"updated_at,kind,guid\n{rows}"}
    )
    assert [len(part.updates) for part in parts(export)] == [0, 2, 2, 1, 0]
    plain = zipped({"updates.csv": f"updated_at,kind,guid\n{rows}", "a.md": "x"})
    assert [len(part.updates) for part in parts(plain)] == [0, 0]


def test_all_posts_together_are_not_too_much(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Text, HTML and words count; what is read is told."""
    place, told = Located("a feed", data=feed("x" * 7, "y" * 5)), list[str]()
    sizes = 3 * 7 + 3 * 5
    monkeypatch.setattr(confined_reading, "stream", lambda task, _, *values: task(*values))
    monkeypatch.setattr(confined_reading, "MOST_CHARACTERS", sizes)
    batch, posts = confined_reading.read_posts(
        place, None, UTC, MONDAY_MORNING, tmp_path, tell=told.append
    )
    assert (len(posts), told, batch.posts) == (2, ["2 posts read"], ())
    monkeypatch.setattr(confined_reading, "MOST_CHARACTERS", sizes - 1)
    with pytest.raises(TooLarge, match="a feed: more than 0 MB of text; import it in parts"):
        confined_reading.read_posts(place, None, UTC, MONDAY_MORNING, tmp_path)


def test_when_posts_were_published() -> None:
    """Those that are, with their dates."""
    files = {f"{n}.md": f"---\n{head}---\nx" for n, head in enumerate(
        ("date: 2020-03-04\n", "date: 2020-03-05\ndraft: true\n", "",
         "date: 2020-03-02\n"))}  # fmt: skip
    instants = confined_reading._instants(Located("x", data=zipped(files)), UTC)
    assert [instant.day for instant in instants] == [4, 2]
