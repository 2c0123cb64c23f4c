"""newsboat on the feeds of twenty engines, as they write them and with our head: the same items."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from publisher.dynamic_ttl.feed_head import HeadChange, edit
from tests.dynamic_ttl.engines import ENGINES, document
from tests.parts.river.origin import Origin, Reply
from tests.real_readers.test_real_readers import needs, run

CHANGE = HeadChange(45, "https://mirror.example/feed?a=1&b=2", ("https://hub.example/",), ())
HEAD = "SELECT title, url FROM rss_feed"
# An item without a date gets the moment of its first sight.
ITEMS = """SELECT guid, title, author, url, content, enclosure_url, enclosure_type,
    CASE WHEN pubDate > strftime('%s') - 600 THEN 'none' ELSE pubDate END
    FROM rss_item ORDER BY guid"""

pytestmark = pytest.mark.readers


@pytest.fixture
def origin() -> Iterator[Origin]:
    """A server of feeds."""
    running = Origin()
    yield running
    running.close()


@needs("newsboat")
@pytest.mark.parametrize("engine", ENGINES)
def test_newsboat_reads_an_edited_feed_as_before(
    engine: str, origin: Origin, tmp_path: Path
) -> None:
    """Each item with its texts, date and enclosure, and the feed's own title and link."""
    before = document(engine)
    shown = _read(origin, before, tmp_path / "before")
    assert _read(origin, edit(before, CHANGE), tmp_path / "after") == shown
    assert len(shown) > 1 or engine == "empty-channel"


def _read(origin: Origin, feed: bytes, home: Path) -> list[tuple[str, ...]]:
    """What a newsboat that is new to the feed keeps: title and link, then the items."""
    home.mkdir()
    url = origin.serve("/feed", Reply(200, feed, {"Content-Type": "application/xml"}))
    (home / "urls").write_text(f"{url}\n")
    (home / "config").touch()
    run(home, "newsboat", "-u", "urls", "-c", "cache.db", "-C", "config", "-x", "reload")
    with closing(sqlite3.connect(home / "cache.db")) as cache:
        return [*cache.execute(HEAD), *cache.execute(ITEMS)]
