"""The same site on PostgreSQL: writers in turn, notices, broken connections, several machines."""

import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import Connection, create_engine, event, func, select, text
from sqlalchemy.engine import make_url

from publisher.base.environment import Environment
from publisher.base.errors import InvalidData, InvalidInput, StorageUnavailable
from publisher.blog import published
from publisher.installation import Site, claim_key, open_site
from publisher.operations import backup, derived, doctor
from publisher.operations.database_copy import copy_site
from publisher.publishing.rebuild import rebuild
from publisher.storage import leader, postgresql, schema
from publisher.storage.database import Database, translated
from publisher.storage.leader import Lease
from publisher.storage.tables.blog import Meta, Post, Update
from publisher.storage.tables.publishing import Snapshot
from publisher.web.application import close_app, create_app
from tests.conftest import SITE_URL, FakeClock
from tests.databases import on_server
from tests.factories import make_post
from tests.postgres import Server
from tests.running_site import free_port, serving, wait_until

pytestmark = pytest.mark.any_database


@pytest.fixture
def url(server: Server) -> str:
    """An empty database."""
    return server.make_database(f"site_{secrets.token_hex(6)}")


OTHER_SESSIONS = (
    "SELECT count(*) FROM pg_stat_activity "
    "WHERE datname = current_database() AND pid <> pg_backend_pid()"
)


def is_alone(connection: Connection) -> bool:
    """Whether the server has no other session in this database. Each look has a transaction of its
    own: within one the server shows the sessions as they were at the first look."""
    connection.rollback()
    return bool(connection.exec_driver_sql(OTHER_SESSIONS).scalar_one() == 0)


def machine(folder: Path, url: str, key: str = "the same on all machines") -> Environment:
    return Environment(instance=folder, database_url=url, site_url=SITE_URL, secret_key=key)


@pytest.fixture
def remote(tmp_path: Path, url: str, clock: FakeClock) -> Iterator[Site]:
    """A site whose database is on the server."""
    opened = open_site(machine(tmp_path / "one", url), clock)
    yield opened
    opened.database.close()


def until_done(work: Callable[[], object]) -> None:
    """Do it again as often as the server says that nothing was done: a slow machine's lock takes
    longer than the five seconds for which a writer waits."""

    def done() -> bool:
        try:
            work()
        except StorageUnavailable as error:
            if "nothing was changed, try again" not in str(error):
                raise
            return False
        return True

    wait_until(done, 600)


def test_writers_of_several_machines_take_turns(remote: Site, tmp_path: Path, url: str) -> None:
    """Each acknowledged post is in the log and in the feed; serials grow by one a build."""
    with remote.database.read() as db:
        before = db.scalar(select(Snapshot.serial)) or 0

    def posts(number: int) -> None:
        elsewhere = open_site(machine(tmp_path / f"machine{number}", url), remote.clock)
        with closing(elsewhere.database):
            for one in range(5):
                until_done(partial(make_post, elsewhere, title=f"Post {number}.{one}"))
                until_done(partial(rebuild, elsewhere))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(posts, range(4)))
    with remote.database.read() as db:
        snapshot = db.scalars(select(Snapshot).where(Snapshot.name == "rss")).one()
        assert db.scalar(select(func.count()).select_from(Post)) == 20
        assert db.scalar(select(func.count()).select_from(Update)) == 20
        assert snapshot.serial == before + 20
        assert snapshot.body.count(b"<item>") == 20


def test_a_server_that_is_gone_without_a_word_is_noticed(remote: Site) -> None:
    """Its power was cut: the kernel gives up in seconds what waits for it, instead of hours."""
    bell = remote.database.listen()
    bell.wait(0.0)
    with closing(bell), remote.database.engine.connect() as connection:
        for one in (connection.connection.driver_connection, getattr(bell, "_connection", None)):
            assert one is not None
            with socket.socket(fileno=os.dup(one.fileno())) as end:
                assert end.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == 10_000
                assert end.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE) == 5
        for name, value in (("tcp_user_timeout", "10000"), ("tcp_keepalives_idle", "5")):
            assert connection.exec_driver_sql(f"SHOW {name}").scalar_one() == value


def test_a_connection_that_breaks_at_the_commit(remote: Site, url: str) -> None:
    """Whether it was done is not known, and nobody is told that nothing was changed."""

    def save() -> None:
        with remote.database.write() as db:
            pid = db.connection().exec_driver_sql("SELECT pg_backend_pid()").scalar_one()
            end = f"SELECT pg_terminate_backend({pid}, 5000)"
            event.listen(db, "before_commit", lambda _: on_server(url, end))

    with pytest.raises(StorageUnavailable, match="look whether it is there"):
        save()


def test_search_finds_the_same(remote: Site) -> None:
    """All words, the last unfinished, the title first; quotes and signs are no syntax."""
    make_post(remote, title="Nothing special", source="A walk with two zebras.")
    make_post(remote, title="Zebras", source="They are striped.")
    make_post(remote, title="Other", source="Lions.")
    with remote.database.read() as db:
        hits = published.search(db, "Zebr")
        assert [hit.number for hit in hits] == [2, 1]
        assert "two \x02zebras\x03" in hits[1].excerpt
        assert [hit.number for hit in published.search(db, "walk zebras")] == [1]
        assert published.newest_matching(db, "zebras", 5) == [2, 1]
        for query in ("'", "a & | ! b", ":*", "\\", "zebras' | 'lions", "<->", "\0"):
            published.search(db, query)


def test_a_bell_rings_on_every_machine(remote: Site) -> None:
    """A commit that wrote is told at once; one that wrote nothing, and a rollback, are not."""
    bell = remote.database.listen()
    bell.wait(0.1)
    bell.wait(0.1)
    with remote.database.write():
        pass
    assert not bell.wait(0.2)
    make_post(remote)
    assert bell.wait(5)
    threading.Timer(0.1, bell.wake).start()
    assert bell.wait(5)
    bell.close()


def test_a_server_that_restarts_is_said_and_found_again(remote: Site, server: Server) -> None:
    """Cut connections are one clear error, or none; nothing has to be opened anew."""
    bell = remote.database.listen()
    bell.wait(0.1)

    def broken_off() -> None:
        with remote.database.write() as db:
            db.execute(text("SELECT 1"))
            server.restart()
            db.execute(text("SELECT 1"))

    with pytest.raises(StorageUnavailable, match="server"):
        broken_off()
    make_post(remote)
    assert bell.wait(1)  # the break, or the post

    def rings() -> bool:
        make_post(remote)
        return bell.wait(1)

    wait_until(rings, 60)
    bell.close()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("postgres@", "nobody_here@"), "refuses this user"),
        (("/site_", "/no_site_"), "no database of this name"),
        (("127.0.0.1:", "127.0.0.1:1"), "does not answer"),
        (("127.0.0.1", "nosuch.invalid"), "name is not known"),
        (("/site_", "/site_?nonsense=1&x="), "option that the driver does not know"),
        (("/site_", "/postgres?sslmode=require&application_name="), "speaks no TLS"),
    ],
)
def test_what_a_wrong_url_says(url: str, change: tuple[str, str], words: str) -> None:
    """One sentence each, without the URL, which may hold a password."""
    wrong = Database(url.replace(*change) if "1:1" not in change[1] else _port_one(url))
    with (
        pytest.raises(StorageUnavailable, match=words),
        translated(),
        wrong.engine.connect(),
    ):
        pass
    wrong.close()


@pytest.mark.parametrize(
    ("made", "then", "words"),
    [
        ("ENCODING 'SQL_ASCII' LOCALE 'C' TEMPLATE template0", "", "createdb --encoding UTF8"),
        ("ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0", "", "createdb --encoding UTF8"),
        ("", "CREATE TABLE posts (id int)", "another program's .it has a table posts"),
        ("", "ALTER DATABASE {} SET default_transaction_read_only = on", "takes no writes: name"),
    ],
)
def test_a_database_that_cannot_be_ours(
    server: Server, tmp_path: Path, made: str, then: str, words: str
) -> None:
    """One sentence for the site and for a copy into it; nothing is changed there."""
    name = f"odd_{secrets.token_hex(6)}"
    on_server(server.url, f"CREATE DATABASE {name} {made}")
    url = server.url.rpartition("/")[0] + f"/{name}"
    if then:
        on_server(url, then.format(name))
    clear_errors = (InvalidInput, InvalidData, StorageUnavailable)
    with pytest.raises(clear_errors, match=words):
        open_site(machine(tmp_path / "one", url))
    file = tmp_path / "two" / "publisher.db"
    own = replace(machine(tmp_path / "two", url), database_url=f"sqlite:///{file}")
    open_site(own).database.close()
    with pytest.raises(clear_errors, match=words):
        copy_site(own, url, lambda _: None)


def test_a_site_whose_database_became_read_only(remote: Site, server: Server) -> None:
    """Doctor and /healthz find it; a save says what to do, a copy still brings the site away."""
    make_post(remote)
    rebuild(remote)
    app = create_app(remote.environment, remote.clock)
    health = app.test_client()
    assert health.get("/healthz").status_code == 200
    url = make_url(remote.environment.database_url)
    on_server(server.url, f"ALTER DATABASE {url.database} SET default_transaction_read_only = on")
    remote.database.close()
    app.extensions["publisher"].database.engine.dispose()  # what is open stays as it was begun
    ill = health.get("/healthz")
    assert (ill.status_code, ill.get_json()["status"]) == (503, "the database takes no writes")
    close_app(app)
    with pytest.raises(StorageUnavailable, match="takes no writes: name the primary"):
        make_post(remote)
    findings = [check for check in doctor.examine_database(remote) if not check.good]
    assert [(check.what, check.detail) for check in findings] == [
        ("database", "it takes no writes")
    ]
    copied = remote.environment.instance / "copied.db"
    assert copy_site(remote.environment, f"sqlite:///{copied}", lambda _: None) > 0


def assert_nobody_left(url: str) -> None:
    """No session but the one that asks is open on the database."""
    engine = create_engine(url)
    with engine.connect() as mine:
        wait_until(lambda: is_alone(mine), 60)
    engine.dispose()


def _port_one(url: str) -> str:
    return url.rpartition(":")[0] + ":1/postgres"


def test_a_site_that_cannot_be_opened_leaves_no_connection(
    remote: Site, tmp_path: Path, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither warnings nor sessions on the server: what was begun is closed."""
    monkeypatch.setitem(postgresql._SESSION, "lock_timeout", 100)
    with remote.database.engine.connect() as mine:
        mine.exec_driver_sql(f"SELECT pg_advisory_lock({postgresql.WRITERS})")
        with pytest.raises(StorageUnavailable, match="busy"):
            open_site(machine(tmp_path / "two", url), first_url="https://new.example")
        wait_until(lambda: is_alone(mine), 60)


def test_a_connection_that_is_in_use_is_closed_when_it_comes_back(remote: Site) -> None:
    """A thread that works on while a site is closed leaves no session on the server."""
    with remote.database.read() as session:
        connection = session.connection().connection.dbapi_connection
        remote.database.close()
    assert connection is not None
    assert connection.closed


def test_a_locked_and_a_read_only_database_are_said(remote: Site) -> None:
    """The lock of a writer that hangs, and a transaction that must not write."""
    with remote.database.engine.connect() as elsewhere:
        elsewhere.exec_driver_sql(f"SELECT pg_advisory_lock({postgresql.WRITERS})")
        with pytest.raises(StorageUnavailable, match="busy"), remote.database.write():
            pass
        elsewhere.exec_driver_sql(f"SELECT pg_advisory_unlock({postgresql.WRITERS})")
    with pytest.raises(StorageUnavailable, match="no writes"), remote.database.read() as db:
        db.execute(text("DELETE FROM posts"))
    assert "Current Checked out connections: 0" in remote.database.engine.pool.status()


def test_strangers_zero_bytes_are_kept_out(remote: Site) -> None:
    """PostgreSQL's text has no NUL: it is stored as the sign for what cannot be shown."""
    post = make_post(remote, title="Hello", source="a")
    with remote.database.write() as db:
        db.get_one(Post, post.id).title = "a\0b"
    with remote.database.read() as db:
        assert db.scalars(select(Post.title).where(Post.id == post.id)).one() == "a\ufffdb"


def end_term(site: Site) -> None:
    """Let the leader's term be over, as if it had not renewed its lease for so long."""
    with site.database.write() as db:
        db.execute(text("UPDATE leaders SET renewed_at = renewed_at - 31"))


def test_one_machine_schedules_and_another_takes_over(remote: Site, url: str) -> None:
    """When the term of its lease is over; the first one then writes nothing more, and learns it."""
    second = Database(url)
    mine, others = Lease(remote.database), Lease(second)
    assert (mine.held(), others.held(), mine.held()) == (True, False, True)
    with remote.database.read() as db:
        assert 0 <= (leader.silent_seconds(db, remote.environment.instance) or 0) < 5
    make_post(remote)
    end_term(remote)
    assert mine.held()  # in time: nobody wanted it meanwhile
    end_term(remote)
    assert others.held()
    with pytest.raises(StorageUnavailable, match="another machine schedules now"):
        make_post(remote)
    assert (mine.held(), others.held()) == (False, True)
    others.give_up()
    third, fourth = Database(url), Database(url)
    assert Lease(third).held()
    with third.write() as db:  # renewed while the server's clock was ahead
        db.execute(text("UPDATE leaders SET renewed_at = renewed_at + 3e7"))
    assert Lease(fourth).held()
    for database in (second, third, fourth):
        database.close()


def test_a_program_that_is_too_old_leads_nothing(remote: Site, clock: FakeClock) -> None:
    """And says so: a later release, which may drop what this one needs, writes it down."""
    rebuild(remote)
    lease = Lease(remote.database)
    assert lease.held()
    with remote.database.write() as db:
        db.add(Meta(name=schema._OLDEST, value="9000"))
    assert not lease.held()
    app = create_app(remote.environment, clock)
    answer = app.test_client().get("/healthz")
    assert (answer.status_code, "a newer version" in answer.text) == (503, True)
    close_app(app)


QUICK = """
import sys
from publisher.operations import scheduler
from publisher.storage import leader
leader.TERM_SECONDS = 6.0
from publisher.cli import main
main(sys.argv[1:])
"""


def test_two_machines_serve_one_site(tmp_path: Path, url: str) -> None:
    """What is posted on one is in the other's feed at once; a login is good on both."""
    both = {"PUBLISHER_DATABASE_URL": url, "PUBLISHER_SECRET_KEY": "the same on all machines"}
    with (
        serving(tmp_path / "one", env=both) as one,
        serving(tmp_path / "two", env=both) as two,
    ):
        added = one.command("post", "add", "--title", "From one", text="Hello.")
        assert added.returncode == 0, added.stderr
        wait_until(lambda: b"From one" in two.get("/rss.xml")[2], 60)
        assert b"From one" in one.get("/rss.xml")[2]
        assert two.get("/healthz")[0] == 200


def test_what_only_a_file_can_is_refused_in_words(remote: Site, tmp_path: Path) -> None:
    """Backup copies a file; a machine with another key would end every login."""
    with pytest.raises(InvalidInput, match="pg_dump"):
        backup.backup(remote.environment, tmp_path / "x.tar.gz")
    claim_key(remote)
    elsewhere = Environment(
        instance=tmp_path / "two", database_url=remote.environment.database_url, site_url=SITE_URL
    )
    second = open_site(elsewhere)
    with pytest.raises(InvalidInput, match="PUBLISHER_SECRET_KEY"):
        claim_key(second)
    second.database.close()


@contextmanager
def pooler(url: str, *more: str) -> Iterator[str]:
    """PgBouncer in transaction mode before the server of `url`; the URL that leads through it."""
    program = shutil.which("pgbouncer") or "/usr/sbin/pgbouncer"
    if not Path(program).exists():
        pytest.skip("pgbouncer is not installed")
    server = make_url(url)
    port = free_port()
    lines = [
        "[databases]", f"* = host=127.0.0.1 port={server.port} user={server.username}",
        "[pgbouncer]", "listen_addr = 127.0.0.1", f"listen_port = {port}", "unix_socket_dir =",
        "auth_type = any", "pool_mode = transaction", *more,
    ]  # fmt: skip
    folder = Path(tempfile.mkdtemp(prefix="pooler-"))
    (folder / "pooler.ini").write_text("\n".join(lines))
    if os.geteuid() == 0:  # the file too: with our own umask nobody else could read it
        shutil.chown(folder, "postgres")
        shutil.chown(folder / "pooler.ini", "postgres")
    user = "postgres" if os.geteuid() == 0 else None
    with subprocess.Popen([program, "-q", str(folder / "pooler.ini")], user=user) as process:
        try:
            wait_until(lambda: listens(port), 60)
            yield server.set(port=port).render_as_string(hide_password=False)
        finally:
            process.kill()
            shutil.rmtree(folder)


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.mark.parametrize("more", [[], ["ignore_startup_parameters = options"]])
def test_a_pooler_is_refused_until_the_way_past_it_is_named(
    tmp_path: Path, url: str, clock: FakeClock, more: list[str]
) -> None:
    """One sentence with what to do; with PUBLISHER_LISTEN_URL all works, notices and all."""
    with pooler(url, *more) as pooled:
        environment = machine(tmp_path / "one", pooled)
        with pytest.raises((InvalidInput, StorageUnavailable), match="PUBLISHER_LISTEN_URL"):
            open_site(environment, clock)
        astray = open_site(replace(environment, listen_url=pooled), clock)
        with pytest.raises(InvalidInput, match="PUBLISHER_LISTEN_URL does not lead past"):
            astray.database.check_listening()
        astray.database.close()
        with pytest.raises(InvalidInput, match="PUBLISHER_LISTEN_URL cannot be read"):
            open_site(replace(environment, listen_url="nonsense"), clock)
        past = open_site(replace(environment, listen_url=url), clock)
        past.database.check_listening()
        bell, lease = past.database.listen(), Lease(past.database)
        bell.wait(0.1)
        bell.wait(0.1)
        for _ in range(8):  # prepared statements would be another session's by now
            make_post(past)
        assert bell.wait(5)
        assert lease.held()
        waiting = open_site(replace(environment, listen_url=url), clock)
        assert not Lease(waiting.database).held()
        waiting.database.close()
        lease.give_up()
        bell.close()
        past.database.close()
    assert_nobody_left(url)


def test_indexes_are_looked_at_where_amcheck_is_there(
    remote: Site, url: str, server: Server
) -> None:
    """A damaged one is named; without the extension, or the right to use it, that is said."""
    make_post(remote)
    assert derived.damaged_on_server(remote) is None
    on_server(url, "CREATE EXTENSION amcheck")
    assert derived.damaged_on_server(remote) == []
    with remote.database.engine.connect() as connection:
        where = "SELECT pg_relation_filepath('pk_posts')"
        file = server.folder / "data" / str(connection.exec_driver_sql(where).scalar_one())
    on_server(url, "CHECKPOINT")
    with file.open("r+b") as tree:
        tree.seek(8192)
        tree.write(b"\xee" * 8192)
    server.restart()
    assert derived.damaged_on_server(remote) == ["pk_posts"]
    findings = next(check for check in doctor.examine_database(remote) if check.what == "indexes")
    assert (findings.good, findings.detail) == (False, "pk_posts")


@pytest.mark.parametrize("pooled", [False, True], ids=["server", "pooler"])
def test_a_machine_that_is_frozen_is_replaced(tmp_path: Path, url: str, pooled: bool) -> None:
    """All its processes stop, as in a paused container, and the server keeps its connections:
    another machine publishes what is due, once; its health says when the leader last worked."""
    both = {"PUBLISHER_DATABASE_URL": url, "PUBLISHER_SECRET_KEY": "the same on all machines"}
    with ExitStack() as opened:
        if pooled:
            through = opened.enter_context(pooler(url, "default_pool_size = 4"))
            both |= {"PUBLISHER_DATABASE_URL": through, "PUBLISHER_LISTEN_URL": url}
        one, two = (
            opened.enter_context(serving(tmp_path / name, env=both, program=("-c", QUICK)))
            for name in ("one", "two")
        )
        frozen = [one.process.pid, *one.children()]
        for pid in frozen:
            os.kill(pid, signal.SIGSTOP)
        try:
            moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 3))
            two.command("post", "add", "--title", "Soon", "--at", moment, text="Here.")
            wait_until(lambda: b"<title>Soon" in two.get("/rss.xml")[2], 60)
            health = json.loads(two.get("/healthz")[2])
            assert health["leader_age_seconds"] < 30
        finally:
            for pid in frozen:
                os.kill(pid, signal.SIGCONT)
        wait_until(lambda: b"<title>Soon" in one.get("/rss.xml")[2], 60)
    database = Database(url)
    with database.read() as db:
        kinds = db.scalars(select(Update.kind)).all()
    database.close()
    assert kinds == ["publish"]
