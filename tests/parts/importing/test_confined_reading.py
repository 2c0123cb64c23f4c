"""Exports of strangers, read in confined processes: whatever they are, one sentence comes out."""

import io
import zipfile
from datetime import UTC
from pathlib import Path

import pytest

from publisher.base.errors import PublisherError, TooLarge
from publisher.base.system.confined import Limits
from publisher.parts.importing import confined_reading
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


def test_many_posts_come_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All of them, and what was noted, with nothing left in the folder; too many are refused."""
    head = "---\ndate: 2024-01-01T{:02}:00:00Z\n---\n"
    texts = {f"{n}.md": f"{head.format(n % 24)}Note {n}." for n in range(450)}
    place = Located("a zip", data=zipped({**texts, "readme.md": "x", "a.org": "x"}))
    messages: list[str] = []
    batch, posts = confined_reading.read_posts(
        place, None, UTC, MONDAY_MORNING, tmp_path, "en", messages.append
    )
    assert (len(posts), messages) == (450, ["200 posts read", "400 posts read", "450 posts read"])
    assert {prepared.content.source for prepared in posts} == {f"Note {n}." for n in range(450)}
    assert list(tmp_path.iterdir()) == []
    assert batch.notes == {"index or readme file is left out": 1, ".org file is left out": 1}
    monkeypatch.setattr(confined_reading, "MOST_CHARACTERS", 1_000)
    with pytest.raises(TooLarge, match="a zip: more than 0 MB of text; import it in parts"):
        read(place, tmp_path)
