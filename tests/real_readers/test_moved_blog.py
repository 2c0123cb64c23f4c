"""A reader that has a blog's feed follows it through its move to this program."""

import shutil
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.real_readers.test_real_readers import needs, run
from tests.running_site import serving

pytestmark = pytest.mark.readers

POSTS = ("First words", "Second words", "Third & last")


class Moved(BaseHTTPRequestHandler):
    """The old address of a blog that has moved: every path leads to the same one there."""

    def __init__(self, there: str, *args: object) -> None:
        self.there = there
        super().__init__(*args)  # type: ignore[arg-type]

    def do_GET(self) -> None:
        self.send_response_only(301)
        self.send_header("Location", self.there + self.path)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Silence on standard error."""


class Quiet(SimpleHTTPRequestHandler):
    """A folder as a site."""

    def log_message(self, *_: object) -> None:
        """Silence on standard error."""


@contextmanager
def listening(handler: object, port: int = 0) -> Iterator[int]:
    """A server of its own thread on the loopback."""
    server = ThreadingHTTPServer(("127.0.0.1", port), handler)  # type: ignore[arg-type]
    thread = threading.Thread(target=server.serve_forever, args=[0.05])
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@needs("newsboat")
@pytest.mark.skipif(shutil.which("hugo") is None, reason="hugo is not installed on this machine")
def test_no_post_is_seen_twice(tmp_path: Path) -> None:
    """newsboat reads a blog that Hugo built, then the same one here: nothing new until there is."""
    blog, home = tmp_path / "blog", tmp_path / "home"
    home.mkdir()
    with listening(partial(Quiet, directory=str(blog / "public"))) as port:
        _site(blog, port)
        subprocess.run(["hugo", "--quiet"], cwd=blog, check=True)
        (home / "urls").write_text(f"http://127.0.0.1:{port}/index.xml\n")
        (home / "config").touch()
        assert _read(home) == dict.fromkeys(POSTS, True)
        with closing(sqlite3.connect(home / "cache.db")) as cache, cache:
            cache.execute("UPDATE rss_item SET unread = 0")
    shutil.rmtree(blog / "public")
    with serving(tmp_path / "instance") as server:
        _publisher(server.environment, "import", str(blog))
        with listening(partial(Moved, f"http://127.0.0.1:{server.port}"), port):
            assert _read(home) == dict.fromkeys(POSTS, False)
            news = tmp_path / "news.md"
            news.write_text("---\ntitle: News\n---\nFrom the new place.\n")
            _publisher(server.environment, "post", "add", str(news))
            assert _read(home) == {**dict.fromkeys(POSTS, False), "News": True}


def _site(blog: Path, port: int) -> None:
    """The source of a blog."""
    texts = {
        "hugo.toml": f'baseURL = "http://127.0.0.1:{port}/"\ntitle = "Old"\n',
        "config.toml": f'baseURL = "http://127.0.0.1:{port}/"\ntitle = "Old"\n',
        "layouts/_default/single.html": "{{ .Content }}",
        "layouts/_default/list.html": "",
    } | {
        f"content/posts/{number}.md": f"---\ntitle: {title!r}\ndate: 2024-0{number}-02\n---\n"
        f"Text {number}.\n"
        for number, title in enumerate(POSTS, 1)
    }
    for name, text in texts.items():
        (blog / name).parent.mkdir(parents=True, exist_ok=True)
        (blog / name).write_text(text)


def _publisher(environment: dict[str, str], *arguments: str) -> None:
    command = [sys.executable, "-m", "publisher", *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def _read(home: Path) -> dict[str, bool]:
    """What the reader has after one more look: titles, and whether they are unread."""
    run(home, "newsboat", "-u", "urls", "-c", "cache.db", "-C", "config", "-x", "reload")
    with closing(sqlite3.connect(home / "cache.db")) as cache:
        rows = cache.execute("SELECT title, unread FROM rss_item").fetchall()
    unread_by_title = {title: bool(unread) for title, unread in rows}
    assert len(unread_by_title) == len(rows), rows
    return unread_by_title
