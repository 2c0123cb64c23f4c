"""The second set of timelines (bench/timelines): complete, sorted, and halved by name alone."""

import csv
from datetime import datetime, timedelta

from bench.second_set import FOLDER, SPAN, UPDATES, USED, half

with (FOLDER / "index.csv").open(encoding="utf-8", newline="") as _file:
    INDEX = {row["slug"]: row for row in csv.DictReader(_file)}
with (FOLDER / "rules.csv").open(encoding="utf-8", newline="") as _file:
    RULES = {row["slug"]: row for row in csv.DictReader(_file)}


def test_the_set_is_large_and_small_enough() -> None:
    assert sum(row["kind"] != "derived" for row in INDEX.values()) >= 60
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < 3_000_000


def test_the_index_names_each_file_and_each_rule() -> None:
    files = {path.stem for path in FOLDER.glob("*.csv")} - {"index", "rules"}
    assert files == INDEX.keys() == RULES.keys()


def test_no_timeline_is_from_a_repository_of_the_open_set() -> None:
    assert not {row["source"] for row in RULES.values()} & USED


def test_the_half_is_decided_by_the_name() -> None:
    assert half("flask-releases") == "unseen"
    assert half("pip-releases") == "tuning"
    assert {slug: row["half"] for slug, row in INDEX.items()} == {
        slug: half(slug) for slug in INDEX
    }


def test_each_timeline_is_sorted_long_enough_and_as_the_index_says() -> None:
    assert [slug for slug in sorted(INDEX) if not as_the_index_says(slug)] == []


def as_the_index_says(slug: str) -> bool:
    """Whether a timeline is sorted, in UTC and long enough, and has its row's figures."""
    header, *lines = (FOLDER / f"{slug}.csv").read_text(encoding="utf-8").splitlines()
    instants = [datetime.fromisoformat(line) for line in lines]
    row = INDEX[slug]
    return (
        header == "updated_at"
        and all(at.utcoffset() == timedelta() for at in instants)
        and instants == sorted(set(instants))
        and len(instants) >= UPDATES
        and instants[-1] - instants[0] >= SPAN
        and (lines[0], lines[-1], str(len(lines))) == (row["first"], row["last"], row["updates"])
    )
