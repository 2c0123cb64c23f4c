"""Few connections: a process waits for one, gives back what it does not use, and lets others in."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest
from sqlalchemy import text

from publisher.base.clock import monotonic_seconds
from publisher.base.errors import StorageUnavailable
from publisher.storage.database import Database
from publisher.storage.postgresql import Connections
from tests.databases import on_server
from tests.postgres import Server, running_server
from tests.running_site import serving

pytestmark = pytest.mark.any_database

MINE = "SELECT count(*) FROM pg_stat_activity WHERE usename = 'blogger'"


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """A server with nine connections for those who are not its superuser."""
    with running_server("max_connections=12") as running:
        on_server(running.url, "CREATE ROLE blogger LOGIN")
        on_server(running.url, "CREATE DATABASE blog OWNER blogger")
        yield running


@pytest.fixture
def url(server: Server) -> str:
    return server.url.replace("postgres@", "blogger@").rpartition("/")[0] + "/blog"


def connected(server: Server) -> int:
    database = Database(server.url)
    with database.read() as session:
        count: int = session.scalar(text(MINE)) or 0
    database.close()
    return count


def test_unused_connections_are_closed(
    server: Server, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of a busy moment, after some seconds; the one that is used stays open."""
    database = Database(url)
    with ExitStack() as at_once:
        for _ in range(4):
            at_once.enter_context(database.engine.connect())
    assert connected(server) == 4
    now = monotonic_seconds() + Connections.IDLE_SECONDS
    monkeypatch.setattr("publisher.storage.postgresql.monotonic_seconds", lambda: now + 1)
    with database.read() as session:
        pid = session.scalar(text("SELECT pg_backend_pid()"))
    assert connected(server) == 1
    with database.read() as session:
        assert session.scalar(text("SELECT pg_backend_pid()")) == pid
    database.close()


def test_a_refused_connection_waits_for_one(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of its own process, or of another that gives one back; after ten seconds it is said."""
    first, second = Database(url), Database(url)
    with ExitStack() as taken:
        for _ in range(9):
            taken.enter_context(first.engine.connect())
        requested = threading.Event()

        def free(_seconds: float) -> None:
            if requested.is_set():
                taken.close()
                first.close()
            requested.set()

        monkeypatch.setattr("publisher.storage.postgresql.time.sleep", free)
        with second.read() as session:
            assert session.scalar(text("SELECT 1")) == 1
        second.close()
    with ExitStack() as taken:
        for _ in range(9):
            taken.enter_context(first.engine.connect())
        monkeypatch.setattr(Connections, "WAIT_SECONDS", 0.0)
        with pytest.raises(StorageUnavailable, match="takes no more connections"):
            second.takes_writes()
    first.close()


def test_the_pool_of_a_process_is_waited_for(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever finds all of a process's connections taken is told that the database is busy."""
    monkeypatch.setattr(Connections, "MOST", 1)
    monkeypatch.setattr(Connections, "WAIT_SECONDS", 0.1)
    database = Database(url)
    with (
        database.engine.connect(),
        pytest.raises(StorageUnavailable, match="busy"),
        database.read() as session,
    ):
        session.scalar(text("SELECT 1"))
    database.close()


@pytest.mark.system
def test_a_site_with_few_connections(tmp_path: Path, url: str) -> None:
    """Forty readers at once are all answered, and a command works beside the idle site."""
    env = {"PUBLISHER_DATABASE_URL": url, "PUBLISHER_SECRET_KEY": "the same on all machines"}
    with serving(tmp_path / "one", "--workers", "2", env=env) as site:

        def read(number: int) -> set[int]:
            return {site.get(f"/archives?{number}.{page}")[0] for page in range(3)}

        with ThreadPoolExecutor(40) as readers:
            assert set().union(*readers.map(read, range(40))) == {200}
        added = site.command("post", "add", "--title", "Beside it", text="Hello.")
        assert added.returncode == 0, added.stderr
