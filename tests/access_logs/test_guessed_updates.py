"""The history of a feed that is guessed from a log of a simulated server."""

import gzip
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from publisher.access_logs.guessed_updates import (
    GuessedChange,
    fewest_changes,
    guess_updates,
    is_access_log,
)
from publisher.base.errors import InvalidData

BEGIN = datetime(2026, 3, 2, tzinfo=UTC)
POSTS = [600, 1000, 1900]  # minutes


def line(minute: int, agent: str, status: int, sent: int, path: str = "/feed.xml") -> str:
    at = f"{BEGIN + timedelta(minutes=minute):%d/%b/%Y:%H:%M:%S} +0000"
    return f'192.0.2.1 - - [{at}] "GET {path} HTTP/1.1" {status} {sent} "-" "{agent}"'


def served(every: int, agent: str, until: int = 2880) -> list[str]:
    """What a reader's conditional polls leave behind; the ttl in the document changes at noon."""
    lines, previous = [], (-1, 0)
    for minute in range(every, until, every):
        posts, ttl = sum(post <= minute for post in POSTS), minute // 720 % 2
        sent = 5000 + 400 * posts + ttl
        lines.append(line(minute, agent, 304 if (posts, ttl) == previous else 200, sent))
        previous = posts, ttl
    return lines


def write(path: Path, lines: list[str]) -> Path:
    text = "".join(text + "\n" for text in lines).encode()
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    return path


@pytest.mark.parametrize("name", ["access.log", "access.log.gz"])
def test_each_post_is_found_where_the_first_reader_saw_it(tmp_path: Path, name: str) -> None:
    """Several readers narrow it down; another ttl and other addresses are no updates."""
    other = [line(minute, "curious", 200, minute, "/") for minute in range(2000)]
    path = write(tmp_path / name, [*served(60, "hourly"), *served(35, "often"), *other, "junk"])
    assert is_access_log(path)
    guessed = guess_updates(path)
    minutes = [(change.seen - BEGIN.timestamp()) / 60 for change in guessed.changes]
    assert minutes == [600, 1015, 1920]
    assert all((seen - post) <= 35 for seen, post in zip(minutes, POSTS, strict=True))
    assert (guessed.path, guessed.readers) == ("/feed.xml", 2)
    assert "3 updates guessed" in guessed.in_words()


def test_the_fewest_changes_explain_what_readers_saw() -> None:
    """Two readers that saw one change make one, at the earlier; a later one is another."""
    seen = [
        GuessedChange(0, 30),
        GuessedChange(20, 60),
        GuessedChange(29, 61),
        GuessedChange(60, 90),
    ]
    assert fewest_changes(seen) == [GuessedChange(29, 30), GuessedChange(60, 90)]


def test_a_log_without_a_feed_or_a_change_is_refused_in_a_sentence(tmp_path: Path) -> None:
    """And what is no log is not taken for one."""
    with pytest.raises(InvalidData, match="nobody asks for a feed"):
        guess_updates(write(tmp_path / "a.log", [line(1, "x", 200, 5, "/about")]))
    with pytest.raises(InvalidData, match=r"nobody was sent /feed\.xml twice"):
        guess_updates(write(tmp_path / "b.log", [line(1, "x", 200, 5)] * 3))
    assert not is_access_log(write(tmp_path / "feed.xml", ['<?xml version="1.0"?>', "<rss/>"]))
    assert not is_access_log(write(tmp_path / "feed.json", ["{", '"version": "x"', "}"]))
    broken = tmp_path / "broken.gz"
    broken.write_bytes(b"\x1f\x8b\x08\x00 this is no gzip")
    assert not is_access_log(broken)
