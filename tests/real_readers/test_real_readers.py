"""Feed readers that people use, subscribed to a real running server.

Each one: subscribes and sees the post, polls again and gets 304, polls after an edit and sees it.
"""

import mailbox
import os
import shutil
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from secrets import token_hex

import feedparser
import pytest

from publisher.base.clock import utc_now
from publisher.base.environment import Environment
from publisher.blog import published
from publisher.blog.writing import posts
from publisher.installation import Site, open_site
from publisher.publishing.rebuild import rebuild
from tests.databases import database_url
from tests.factories import content
from tests.real_readers.recorder import Recorder, recording
from tests.running_site import Server, serving, wait_until

pytestmark = pytest.mark.readers

BEFORE, AFTER = "The very first words.", "Words that were corrected."
Poll = Callable[[], str]


def needs(program: str) -> pytest.MarkDecorator:
    """Skip where the reader is not installed."""
    missing = shutil.which(program) is None
    return pytest.mark.skipif(missing, reason=f"{program} is not installed on this machine")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """`publisher serve`, shared by the readers."""
    with serving(tmp_path_factory.mktemp("served") / "instance") as running:
        yield running


@pytest.fixture
def site(server: Server) -> Iterator[Site]:
    """The served site, for writing beside the server as commands do; it has one post."""
    database = database_url(server.instance)
    opened = open_site(Environment(server.instance, database, None, "a key for tests only"))
    then = utc_now() - timedelta(minutes=5)
    with opened.database.write() as session:
        post = posts.create(session, content(BEFORE, title="Hello"), None, then)
        posts.publish_or_schedule(session, post, then, then)
    yield opened
    with opened.database.write() as session:
        for post in published.newest(session, 100):
            posts.delete(session, post, utc_now())
    opened.database.close()


@pytest.fixture
def recorder(server: Server) -> Iterator[Recorder]:
    """What the reader under test asks for."""
    with recording(server.port) as running:
        yield running


def build(site: Site, server: Server, text: str) -> None:
    """Build the feed and wait until the server has it."""
    rebuild(site)
    wait_until(lambda: text.encode() in server.get("/rss.xml")[2], 60, "the server is stale")


def journey(
    site: Site, server: Server, recorder: Recorder, poll: Poll, first_polls: int = 1
) -> None:
    """Subscribe, poll again, poll after an edit; `poll` returns all that the reader shows.

    `first_polls`: how many polls the reader takes until it keeps its validators.
    """
    build(site, server, BEFORE)
    shown = " ".join(poll() for _ in range(first_polls))
    assert "Hello" in shown
    assert BEFORE in shown
    assert recorder.statuses() == [200] * first_polls
    poll()
    assert recorder.exchanges[0].conditional
    assert recorder.statuses() == [304]
    with site.database.write() as session:
        (post,) = published.newest(session, 1)
        new = content(AFTER, title="Hello")
        posts.save(session, post.id, new, post.version, None, utc_now())
    build(site, server, AFTER)
    wait_until(lambda: AFTER in poll(), 60, "the reader does not show the edit")
    assert recorder.statuses()[0] == 200


def news(site: Site, server: Server, recorder: Recorder, poll: Poll, status: int) -> None:
    """A post beside older ones: the reader gets it, with `status`, and what it had it has still."""
    mark, shown = token_hex(4), ""
    titles = [f"{name} {mark}" for name in ("Old", "Older", "Oldest", "Long ago", "Fresh")]
    for title in titles[:-1]:
        add(site, title, f"Words of {title}. " * 80)
    build(site, server, titles[-2])
    for _ in range(20):
        shown += poll()
        if 304 in recorder.statuses():
            break
    else:
        raise AssertionError("the reader never has the whole feed")
    held = server.get("/rss.xml")[1]["etag"]
    add(site, titles[-1], "News.")
    build(site, server, titles[-1])
    headers = {"A-IM": "feed", "If-None-Match": held}
    wait_until(lambda: server.get("/rss.xml", headers)[0] == 226, 60, "no newer items alone")
    shown += poll()
    assert recorder.statuses() == [status]
    assert [title for title in titles if title not in shown] == []
    poll()
    assert recorder.statuses() == [304]


def add(site: Site, title: str, text: str) -> None:
    """A post of now."""
    with site.database.write() as session:
        post = posts.create(session, content(text, title=title), None, utc_now())
        posts.publish_or_schedule(session, post, utc_now(), utc_now())


def test_feedparser(site: Site, server: Server, recorder: Recorder) -> None:
    """feedparser, with the validators that it was given."""
    validators: dict[str, str] = {}

    def poll() -> str:
        feed = feedparser.parse(f"{recorder.url}/rss.xml", **validators)
        assert not feed.bozo, feed.get("bozo_exception")
        validators.update({name: feed[name] for name in ("etag", "modified") if name in feed})
        return " ".join(entry.title + entry.summary for entry in feed.entries)

    journey(site, server, recorder, poll)
    news(site, server, recorder, poll, 200)  # it asks for programs that know nothing of 226


@pytest.mark.filterwarnings("ignore::DeprecationWarning:reader")
def test_reader(site: Site, server: Server, recorder: Recorder) -> None:
    """The library `reader`, which keeps what it has read."""
    library = pytest.importorskip("reader", reason="reader is not installed on this machine")
    with closing(library.make_reader(":memory:")) as reader:
        reader.add_feed(f"{recorder.url}/rss.xml")

        def poll() -> str:
            reader.update_feed(f"{recorder.url}/rss.xml")
            return " ".join(
                f"{entry.title} {entry.summary} {[part.value for part in entry.content]}"
                for entry in reader.get_entries()
            )

        journey(site, server, recorder, poll)
        news(site, server, recorder, poll, 226)


@needs("newsboat")
def test_newsboat(site: Site, server: Server, recorder: Recorder, tmp_path: Path) -> None:
    """newsboat, a reader for the terminal; it stores no validators at its very first poll."""
    (tmp_path / "urls").write_text(f"{recorder.url}/rss.xml\n")
    (tmp_path / "config").touch()
    files = ["-u", "urls", "-c", "cache.db", "-C", "config"]

    def poll() -> str:
        run(tmp_path, "newsboat", *files, "-x", "reload")
        with closing(sqlite3.connect(tmp_path / "cache.db")) as cache:
            rows = cache.execute("SELECT title, content FROM rss_item").fetchall()
        return " ".join(title + content for title, content in rows)

    journey(site, server, recorder, poll, first_polls=2)
    news(site, server, recorder, poll, 226)


@needs("r2e")
def test_rss2email(site: Site, server: Server, recorder: Recorder, tmp_path: Path) -> None:
    """rss2email, told to look at the text and not at the guid alone: it mails the edit too."""
    r2e = ["r2e", "-c", "r2e.cfg", "-d", "r2e.json"]
    run(tmp_path, *r2e, "new", "me@blog.example")
    config = tmp_path / "r2e.cfg"
    text = config.read_text("utf-8").replace("trust-guid = True", "trust-guid = False")
    text = text.replace("email-protocol = sendmail", "email-protocol = maildir")
    config.write_text(text.replace("maildir-path = ~/Maildir", f"maildir-path = {tmp_path}"))
    run(tmp_path, *r2e, "add", "blog", f"{recorder.url}/rss.xml")
    mails = mailbox.Maildir(tmp_path / "INBOX")

    def poll() -> str:
        run(tmp_path, *r2e, "run")
        return " ".join(f"{mail['subject']} {mail.get_payload(decode=True)!r}" for mail in mails)

    journey(site, server, recorder, poll)
    news(site, server, recorder, poll, 200)  # it would take 226 for an error


def run(folder: Path, *command: str) -> None:
    """Run a reader at home in `folder`; it must end well."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "LC_ALL": "C.UTF-8"}
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert done.returncode == 0, done.stderr
