"""Zips of every kind are read; damaged ones are refused in words."""

import io
import random
import zipfile
from collections.abc import Callable

import pytest

from publisher.base.errors import PublisherError
from publisher.parts.importing import sources
from publisher.parts.importing.sources import Folder, Located

FILES = {"posts/a.md": b"A" * 5_000, "posts/caf\xe9.md": b"B", "empty.md": b"", "\u30c6.md": b"C"}


class Unseekable(io.BytesIO):
    """Where a zip is written as to a pipe: sizes follow each file."""

    def seekable(self) -> bool:
        return False

    def seek(self, *_: int) -> int:
        raise OSError("a pipe")


def made(method: int = zipfile.ZIP_DEFLATED, comment: bytes = b"", pipe: bool = False) -> bytes:
    held = Unseekable() if pipe else io.BytesIO()
    with zipfile.ZipFile(held, "w", method) as archive:
        for name, data in FILES.items():
            archive.writestr(name, data)
        archive.comment = comment
    return held.getvalue()


def large(patch: pytest.MonkeyPatch) -> bytes:
    """All numbers as of more than four gigabytes."""
    patch.setattr(zipfile, "ZIP64_LIMIT", -1)
    patch.setattr(zipfile, "ZIP_FILECOUNT_LIMIT", 1)
    return made()


@pytest.mark.parametrize(
    "written",
    [
        lambda _: made(),
        lambda _: made(zipfile.ZIP_STORED),
        lambda _: made(zipfile.ZIP_BZIP2),
        lambda _: made(zipfile.ZIP_LZMA),
        lambda _: made(comment=b"said PK\x05 at the end" * 100),
        lambda _: made(pipe=True),
        large,
    ],
)
def test_all_is_read(
    written: Callable[[pytest.MonkeyPatch], bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    with sources.opened(Located("a.zip", data=written(monkeypatch))) as source:
        assert isinstance(source, Folder)
        assert {name: source.read(name, 10_000) for name in source.names} == FILES


@pytest.mark.parametrize("form", ["plain", "large"])
def test_damage_is_said_in_words(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever becomes of a zip's bytes: it is read, or refused with one of our errors."""
    whole, rng = large(monkeypatch) if form == "large" else made(), random.Random(form)
    refused = 0
    for _ in range(400):
        bad = bytearray(whole)
        for _ in range(rng.choice((1, 1, 2, 8))):
            bad[rng.randrange(4, len(bad))] = rng.choice((0, 1, 0x7F, 0xFF, rng.randrange(256)))
        if rng.random() < 0.2:
            del bad[rng.randrange(4, len(bad)) :]
        try:
            with sources.opened(Located("a.zip", data=bytes(bad))) as source:
                assert isinstance(source, Folder)
                for name in source.names:
                    source.read(name, 10_000)
        except PublisherError:
            refused += 1
    assert 50 < refused < 400


def test_folders_of_a_zip_made_by_powershell() -> None:
    """It puts backslashes between them."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        for name in ("blog\\", "blog\\_posts\\2020-01-02-a.md"):
            entry = zipfile.ZipInfo("x")
            entry.filename = name
            archive.writestr(entry, "text" if name.endswith("md") else "")
    with sources.opened(Located("blog.zip", data=held.getvalue())) as folder:
        assert isinstance(folder, Folder)
        assert list(folder.names) == ["blog/_posts/2020-01-02-a.md"]
        assert folder.read("blog/_posts/2020-01-02-a.md", 10) == b"text"
