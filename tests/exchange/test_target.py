"""Whole or not at all, and never over something else."""

import errno
from pathlib import Path

import pytest

from publisher.base.errors import InvalidInput, StorageUnavailable
from publisher.exchange.export import target


@pytest.mark.parametrize("name", ["out", "out.zip"])
def test_a_failure_leaves_nothing(tmp_path: Path, name: str) -> None:
    """An export that breaks off is not there, and neither is its draft."""

    def break_off() -> None:
        with target(tmp_path / name) as write:
            write("posts/a.md", [b"A"])
            raise RuntimeError

    with pytest.raises(RuntimeError):
        break_off()
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
    assert not (tmp_path / name).exists()


def test_a_folder_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    """A mistyped path is named, and nothing is made on the way to it."""
    with (
        pytest.raises(InvalidInput, match="there is no such folder"),
        target(tmp_path / "new" / "deep" / "out"),
    ):
        raise AssertionError("nothing is exported")
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_one_clear_line(tmp_path: Path) -> None:
    """What the system says becomes a sentence."""
    with pytest.raises(StorageUnavailable, match="nothing was exported"), target(tmp_path / "out"):
        raise OSError(errno.ENOSPC, "No space left on device")


def test_an_empty_folder_is_nothing(tmp_path: Path) -> None:
    """It is taken; a folder with something in it and a file are not."""
    empty, full, file = tmp_path / "empty", tmp_path / "full", tmp_path / "file.zip"
    empty.mkdir()
    full.mkdir()
    (full / "precious").write_text("x")
    file.write_text("x")
    with target(empty) as write:
        write("a", [b"A"])
    assert (empty / "a").read_bytes() == b"A"
    for taken in (full, file):
        with pytest.raises(InvalidInput), target(taken):
            pass
    assert (full / "precious").read_text() == "x"
    assert file.read_text() == "x"
