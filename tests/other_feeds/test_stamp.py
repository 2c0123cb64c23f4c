"""`publisher stamp`: a feed file, its history, its host."""

import http.client
import json
import re
import shutil
import subprocess
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from email.message import Message
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from publisher.base.errors import InvalidData, InvalidInput, PublisherError
from publisher.cli import cli
from publisher.feed_reading.scan import scan
from publisher.other_feeds.feed_history import FeedHistory
from publisher.other_feeds.stamp import HOSTS, Stamped, StampOptions, stamp, with_feed
from tests.dynamic_ttl.engines import document
from tests.dynamic_ttl.test_feed_head import outside
from tests.parts.mirror.test_mirror_in_front import apache_config, running
from tests.running_site import free_port

pytestmark = pytest.mark.any_database

NOW = datetime(2026, 11, 20, 12, 10, tzinfo=UTC)
ROOT = Path(__file__).parents[2]
PAGE = (
    b'<html><head><link rel="alternate" type="application/rss+xml" href="https://a.example/f">'
    b"</head></html>"
)


def feed_of(dates: Sequence[datetime | None], titles: str = "Post") -> bytes:
    """An RSS feed with an item for each date."""
    items = "".join(
        f"<item><guid>https://a.example/{number}</guid><title>{titles} {number}</title>"
        + (f"<pubDate>{at:%a, %d %b %Y %H:%M:%S} GMT</pubDate>" if at else "")
        + "</item>"
        for number, at in enumerate(dates)
    )
    head = "<title>A</title><link>https://a.example/</link>"
    return f'<rss version="2.0"><channel>{head}{items}</channel></rss>'.encode()


@pytest.fixture
def feed(tmp_path: Path) -> Path:
    """A feed of thirty posts, the last one a day ago."""
    path = tmp_path / "index.xml"
    path.write_bytes(feed_of([NOW - timedelta(days=day, hours=3) for day in range(30, 0, -1)]))
    path.chmod(0o644)
    return path


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["stamp", *arguments])


def updates(done: Stamped) -> tuple[datetime, ...]:
    return done.change.history.updates


def test_the_file_is_stamped_once(feed: Path) -> None:
    """Only our elements differ; a second run within the hour writes nothing at all."""
    before = feed.read_bytes()
    done = stamp(StampOptions(feed), NOW)
    after = feed.read_bytes()
    assert scan(after).hints.ttl_minutes == done.advice.ttl_minutes
    assert outside(after) == outside(before)
    assert {path.name for path in done.written} == {"index.xml", "index.xml.history.json"}
    assert stamp(StampOptions(feed), NOW + timedelta(minutes=20)).written == ()
    assert feed.stat().st_mode & 0o777 == 0o644
    assert (feed.parent / "index.xml.history.json").stat().st_mode & 0o444 == 0o444


def test_history_outlives_the_feed_s_window(feed: Path) -> None:
    """What has left the feed is still known; what comes late counts when it is seen."""
    stamp(StampOptions(feed), NOW)
    later = NOW + timedelta(days=2)
    new, late = later - timedelta(minutes=40), NOW - timedelta(days=90)
    items = feed_of([NOW - timedelta(days=day, hours=3) for day in range(30, 0, -1)] + [new, late])
    feed.write_bytes(items)
    done = stamp(StampOptions(feed), later)
    assert len(updates(done)) == 32
    assert updates(done)[-2:] == (new, later)
    feed.write_bytes(
        items.replace(b"Post 3<", b"Corrected 3<").replace(b"Post 4<", b"Corrected 4<")
    )
    changed = stamp(StampOptions(feed), later + timedelta(hours=1))
    assert (changed.change.changed, len(updates(changed))) == (2, 33)


@pytest.mark.parametrize("hour", [None, 0])
def test_dates_without_an_hour_teach_from_first_sight(feed: Path, hour: int | None) -> None:
    """Nothing is made up: the first run knows no hours, later ones the moment of the run."""
    days = [NOW - timedelta(days=day) for day in range(5, 0, -1)]
    dates = [None if hour is None else at.replace(hour=0, minute=0) for at in days]
    feed.write_bytes(feed_of(dates))
    first = stamp(StampOptions(feed), NOW)
    assert (first.change.undated, updates(first)) == (True, ())
    feed.write_bytes(feed_of([*dates, dates[-1]]))
    later = NOW + timedelta(hours=4)
    assert updates(stamp(StampOptions(feed), later)) == (later,)


def test_dates_in_the_future_are_not_believed(feed: Path) -> None:
    """A post dated next year does not teach the day of next year."""
    feed.write_bytes(feed_of([NOW - timedelta(days=2), NOW + timedelta(days=300)]))
    assert updates(stamp(StampOptions(feed), NOW)) == (NOW - timedelta(days=2),)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"<rss><channel><title>cut", "broken XML"),
        (b"<!doctype html><html><title>Hi</title></html>", "is a web page, not a feed"),
        (PAGE, r"web page, not a feed; it announces https://a\.example/f"),
        (b"", "broken XML"),
        (b"\0" * 99, "UTF-16"),
        (b"<rss><channel>" + b" " * 10_000_001, "more than 10 MB"),
        (
            b'<rss xmlns="http://purl.org/rss/1.0/modules/content/"><channel><title/></channel></rss>',
            "not a feed",
        ),
    ],
)
def test_what_is_no_feed_is_left_alone(feed: Path, content: bytes, message: str) -> None:
    """One sentence with the file's name; neither file nor folder changed."""
    feed.write_bytes(content)
    with pytest.raises(PublisherError, match=message) as refusal:
        stamp(StampOptions(feed), NOW)
    assert refusal.value.exit_code == 1
    assert str(feed) in str(refusal.value)
    assert feed.read_bytes() == content
    assert list(feed.parent.iterdir()) == [feed]


def test_a_history_of_another_feed_is_refused(feed: Path, tmp_path: Path) -> None:
    """Nothing is mixed up, and nothing written."""
    second = tmp_path / "other.xml"
    second.write_bytes(document("hugo"))
    history = tmp_path / "history.json"
    stamp(StampOptions(second, history), NOW)
    before = feed.read_bytes(), history.read_bytes()
    with pytest.raises(InvalidData, match="history is that of another feed"):
        stamp(StampOptions(feed, history), NOW)
    history.write_text("[1, 2")
    with pytest.raises(InvalidData, match=r"history\.json: this is not the history of a feed"):
        stamp(StampOptions(feed, history), NOW)
    assert feed.read_bytes() == before[0]


def test_a_history_comes_back_as_it_was(feed: Path) -> None:
    """Through its file."""
    history = stamp(StampOptions(feed), NOW).change.history
    assert FeedHistory.from_json(history.to_json()) == history


@pytest.mark.parametrize("host", HOSTS)
def test_a_host_is_told_beside_what_it_was_told_before(feed: Path, host: str) -> None:
    """The owner's lines stay; ours stand once and follow the ttl."""
    file = feed.parent / HOSTS[host]["file"]
    file.write_text("# mine\n/x\n  X-Frame-Options: DENY\n")
    done = stamp(StampOptions(feed, headers=host), NOW)
    text = file.read_text()
    assert text.startswith("# mine\n/x\n")
    assert re.search(rf"(max-age=|expires ){done.advice.ttl_minutes * 60}(?!\d)", text)
    assert "index.xml" in text
    assert "charset" not in text  # the file's own declaration counts, and may be ISO-8859-1
    stamp(StampOptions(feed, headers=host), NOW + timedelta(hours=9))
    assert file.read_text().count("begin of what") == 1
    assert with_feed(text, host, "/b.xml", "application/rss+xml", 60).count("begin of what") == 2


@pytest.mark.skipif(shutil.which("nginx") is None, reason="nginx is not installed")
def test_nginx_takes_its_file(feed: Path, tmp_path: Path) -> None:
    """`nginx -t` reads what is written for it."""
    stamp(StampOptions(feed, headers="nginx"), NOW)
    site = f"server {{ listen 127.0.0.1:8089; root {tmp_path}; include {tmp_path}/*.nginx.conf; }}"
    config = tmp_path / "all.conf"
    config.write_text(
        f"pid {tmp_path}/pid; error_log {tmp_path}/e; events {{}}"
        f" http {{ access_log off; client_body_temp_path {tmp_path}/t; {site} }}"
    )
    test = ["nginx", "-t", "-e", str(tmp_path / "e"), "-c", str(config)]
    done = subprocess.run(test, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(shutil.which("apache2") is None, reason="apache2 is not installed")
def test_apache_obeys_its_file(feed: Path, tmp_path: Path) -> None:
    """The hours of the feed, and 304 for a reader of its compressed copy: mod_deflate alone forgets
    its own tags."""
    done = stamp(StampOptions(feed, headers="apache"), NOW)
    config, port = tmp_path / "all.conf", free_port()
    compressed = "AddOutputFilterByType DEFLATE application/rss+xml\n"
    modules = ("headers", "filter", "deflate")
    config.write_text(apache_config(tmp_path, port, feed.parent, *modules) + compressed)
    with running(["apache2", "-X", "-f", str(config)], port, tmp_path / "log"):

        def ask(tag: str) -> tuple[int, Message]:
            """A poll of a reader that holds the document with this tag."""
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
            conditional = {"Accept-Encoding": "gzip", "If-None-Match": tag}
            connection.request("GET", "/index.xml", headers=conditional)
            answer = connection.getresponse()
            answer.read()
            connection.close()
            return answer.status, answer.headers

        status, first = ask('"x"')
        assert (status, first["Content-Encoding"]) == (200, "gzip")
        assert first["Content-Type"] == "application/rss+xml"
        status, again = ask(first["ETag"])
        assert status == 304
        cache_control = f"public, max-age={done.advice.ttl_minutes * 60}"
        assert first["Cache-Control"] == again["Cache-Control"] == cache_control


@pytest.mark.parametrize("host", HOSTS)
def test_a_feed_is_named_as_hosts_understand_it(feed: Path, host: str) -> None:
    """Only the feed itself, and no name that would be a directive."""
    second = feed.rename(feed.parent / "a'b {x}.xml")
    with pytest.raises(InvalidInput, match="--headers none"):
        stamp(StampOptions(second, headers=host), NOW)
    assert list(feed.parent.iterdir()) == [second]


def test_the_command(feed: Path) -> None:
    """One line and the files; JSON; exit codes for CI."""
    done = run(str(feed), "--timezone", "berlin", "--headers", "netlify")
    assert done.exit_code == 0
    assert re.match(r"ttl \d+ minutes, until \d\d:\d\d UTC; 30 updates known \(30 new", done.output)
    printed = json.loads(run(str(feed), "--json", "--timezone", "berlin").output)
    assert printed["new"] == 0
    assert printed["written"] == []
    assert run(str(feed.parent / "nothing.xml")).exit_code == 2
    assert run(str(feed), "--headers", "geocities").exit_code == 2
    for wrong in (("--timezone", "Mars"), ("--menu", "0")):
        assert isinstance(run(str(feed), *wrong).exception, PublisherError)
        assert getattr(run(str(feed), *wrong).exception, "exit_code", 0) == 2
