"""A PostgreSQL server of the tests' own, on a port of its own, gone with them.

`python -m tests.postgres ARGUMENTS` runs pytest with every site on such a server.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.databases import on_server
from tests.running_site import free_port

USER = "postgres"


@dataclass(frozen=True)
class Server:
    """A running server; its programs refuse to run as root, and are run as their own user then."""

    programs: Path
    folder: Path
    port: int

    @property
    def url(self) -> str:
        """Its first database, in which others are made."""
        return f"postgresql+psycopg://{USER}@127.0.0.1:{self.port}/postgres"

    def run(self, program: str, *words: str) -> None:
        """Run one of PostgreSQL's programs on this server's data."""
        run_as_owner([str(self.programs / program), "-D", str(self.folder / "data"), *words])

    def restart(self) -> None:
        """Break every connection off, and be there again."""
        self.run("pg_ctl", "restart", "-w", "-m", "immediate", "-l", str(self.folder / "log"))

    def make_database(self, name: str) -> str:
        """A new empty database; its URL."""
        on_server(self.url, f"CREATE DATABASE {name}")
        return self.url.rpartition("/")[0] + f"/{name}"


def run_as_owner(words: Sequence[str]) -> None:
    user = USER if os.geteuid() == 0 else None
    done = subprocess.run(words, user=user, check=False, capture_output=True, text=True, cwd="/")
    assert done.returncode == 0, f"{words[0]}: {done.stdout} {done.stderr}"


@contextmanager
def running_server(*settings: str) -> Iterator[Server]:
    """A server until the block ends; a skip where PostgreSQL is not installed.

    `settings`: further ones, as `NAME=VALUE`."""
    candidates = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    named = shutil.which("initdb")
    if not candidates and not named:
        pytest.skip("PostgreSQL's server is not installed")
    pytest.importorskip("psycopg", reason="the extra postgres is not installed")
    programs = candidates[-1].parent if candidates else Path(str(named)).parent
    # Not one of pytest's folders, which are closed to other users; in memory where there is room:
    # to make and drop a database there takes a fifth of the processor time.
    memory = Path("/dev/shm")  # noqa: S108, mkdtemp makes a folder of its own in it
    roomy = memory.is_dir() and shutil.disk_usage(memory).free > 4 << 30
    folder = Path(tempfile.mkdtemp(prefix="postgres-", dir=memory if roomy else None))
    server = Server(programs, folder, free_port())
    if os.geteuid() == 0:
        shutil.chown(folder, USER)
    server.run("initdb", "-A", "trust", "-U", USER, "-E", "UTF8", "--locale=C.UTF-8", "--no-sync")
    # Nothing here outlives its server, and no database lives long enough to be cleaned.
    fast = "-c fsync=off -c full_page_writes=off -c autovacuum=off"
    more = "".join(f" -c {setting}" for setting in settings)
    options = f"-p {server.port} -k {folder} -c listen_addresses=127.0.0.1 {fast}{more}"
    server.run("pg_ctl", "start", "-w", "-o", options, "-l", str(folder / "log"))
    try:
        yield server
    finally:
        server.run("pg_ctl", "stop", "-w", "-m", "immediate")
        shutil.rmtree(folder)


if __name__ == "__main__":  # pytest with these arguments, each site on a server of this run
    with running_server() as running:
        environment = {**os.environ, "TEST_POSTGRES_URL": running.url}
        words = [sys.executable, "-m", "pytest", *sys.argv[1:]]
        ended = subprocess.run(words, env=environment, check=False)
    sys.exit(ended.returncode)
