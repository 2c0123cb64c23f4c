"""Values in a file: all of them, in order, and nothing that another could read."""

from pathlib import Path

import pytest

from publisher.base.errors import StorageUnavailable
from publisher.exchange.importing.spool import Spool


def test_values_come_back(tmp_path: Path) -> None:
    """By place, in order, more than once, and between additions; the folder stays empty."""
    spool = Spool[str](tmp_path)
    spool.extend(["a", "b" * 100_000])
    assert spool[1] == "b" * 100_000
    spool.extend(["c"])
    assert [one[:1] for one in spool] == [one[:1] for one in spool] == ["a", "b", "c"]
    assert (len(spool), spool[1:], spool[-1]) == (3, [spool[1], "c"], "c")
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_one_sentence(tmp_path: Path) -> None:
    """What does not fit on the disk ends the import, with nothing imported."""
    spool = Spool[str](tmp_path)
    spool._file.close()
    spool._file = Path("/dev/full").open("r+b")  # noqa: SIM115
    with pytest.raises(StorageUnavailable, match=r"No space left.*nothing was"):
        spool.extend(["a"])
