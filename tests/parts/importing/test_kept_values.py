"""Values in a file: all of them, in order, and nothing that another could read."""

from pathlib import Path

import pytest

from publisher.base.errors import StorageUnavailable
from publisher.parts.importing.imported import KeptValues


def test_values_come_back(tmp_path: Path) -> None:
    """By place, in order, more than once, and between additions; the folder stays empty."""
    values = KeptValues[str](tmp_path)
    values.extend(["a", "b" * 100_000])
    assert values[1] == "b" * 100_000
    values.extend(["c"])
    assert [value[:1] for value in values] == [value[:1] for value in values] == ["a", "b", "c"]
    assert (len(values), values[1:], values[-1]) == (3, [values[1], "c"], "c")
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_one_sentence(tmp_path: Path) -> None:
    """What does not fit on the disk ends the import, with nothing imported."""
    values = KeptValues[str](tmp_path)
    values._file.close()
    values._file = Path("/dev/full").open("r+b")  # noqa: SIM115
    with pytest.raises(StorageUnavailable, match=r"No space left.*nothing was"):
        values.extend(["a"])
