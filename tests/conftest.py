"""Fixtures that every test may use: a site of its own, under a clock that stands still."""

import fcntl
import gc
import logging
import os
import sqlite3
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import CodeType
from typing import Any, ClassVar

import pytest
from flask import Flask
from flask.testing import FlaskClient
from hypothesis import settings as hypothesis_settings
from jinja2.bccache import Bucket, BytecodeCache
from sqlalchemy import create_engine
from werkzeug.routing import Rule
from werkzeug.routing import map as routing_map
from werkzeug.routing.matcher import StateMachineMatcher
from werkzeug.test import TestResponse

from publisher.base.environment import Environment
from publisher.blog.members import passwords
from publisher.installation import Site, open_site
from publisher.part import chosen
from publisher.storage import database, postgresql
from publisher.storage.columns import Base, EncryptedText
from publisher.web import background_commands
from publisher.web.application import close_app, create_app
from tests.databases import SERVER, database_url, drop_database, make_ready
from tests.postgres import Server, running_server

SITE_URL = "https://blog.example"
MONDAY_MORNING = datetime(2024, 3, 4, 9, 30, tzinfo=UTC)

# How long an example takes is a matter of the machine; what must be fast has a test that says so.
hypothesis_settings.register_profile("publisher", deadline=None)
hypothesis_settings.load_profile("publisher")

# A password hash that is meant to be slow would be most of what the suite does.
passwords.METHOD = "scrypt:128:1:1"


class FakeClock:
    """A clock that goes only when it is told to."""

    def __init__(self, start: datetime = MONDAY_MORNING) -> None:
        self.moment = start

    def __call__(self) -> datetime:
        return self.moment

    def forward(self, **duration: float) -> datetime:
        """Go forward by a timedelta's arguments; returns the new moment."""
        self.moment += timedelta(**duration)
        return self.moment


def pytest_collection_finish() -> None:
    """What is loaded now stays: garbage is looked for in what comes after, and less often.

    A look at everything took half a second and more; a quarter of a run's time went into it.
    """
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)
    gc.enable()


def pytest_sessionstart(session: pytest.Session) -> None:
    """Processes of one run begin with different files: pytest rewrites each once, not in all.

    They collect the same ones in the same order; what another has rewritten is read. In a fresh
    clone this is half a minute of processor time.
    """
    gc.disable()  # there is no garbage yet; to look for it took a quarter of this time
    config = session.config
    number = os.environ.get("PYTEST_XDIST_WORKER", "").removeprefix("gw")
    whole = [Path(name) for name in config.args if Path(name).is_dir()]
    if not number or not whole:
        return
    files = sorted(
        file
        for folder in whole
        for file in folder.resolve().rglob("test_*.py")
        if not left_out(file, config)
    )
    share = -(-len(files) // int(os.environ["PYTEST_XDIST_WORKER_COUNT"]))
    for file in files[int(number) * share :][:share]:
        # What is wrong with a file is said when it is collected.
        with suppress(Exception, pytest.skip.Exception):
            import_module(".".join(file.relative_to(TESTS.parent).with_suffix("").parts))


# What starts browsers, servers, generators, other machines or whole programs, or replays weeks of
# polls: `make test-all`.
SYSTEM = (
    "browser", "cli/test_simulation.py", "serving/test_stopping.py", "dynamic_ttl/test_wheel.py",
    "parts/mirror/test_mirror_in_front.py", "other_feeds/test_real_wordpress.py",
    "other_feeds/test_stamp_recipes.py", "other_feeds/test_wordpress.py",
    "losses", "operations/test_any_server.py::test_a_day_under_another_server",
    "operations/test_any_server.py::test_a_scheduler_beside_it_has_the_jobs",
    "operations/test_crash.py", "operations/test_faults.py", "operations/test_first_screen.py",
    "operations/test_kills.py",
    "operations/test_nginx.py", "operations/test_rebinding.py", "operations/test_serve.py",
    "operations/test_serve_http.py", "operations/test_tls.py::test_a_site_with_tls",
    "operations/test_tls.py::test_each_worker_knows_the_sessions_of_the_others",
    "operations/test_unit.py", "operations/test_waiting.py",
    "reader_test/test_command.py", "reader_test/test_our_river.py", "reader_test/test_wheel.py",
    "parts/readers/access_logs/test_intake.py::test_a_hundred_thousand_lines_cost_little",
    "parts/importing/test_generators.py", "parts/passkeys/test_passkeys_in_browser.py",
    "parts/readers/test_forecast.py", "parts/readers/test_in_browser.py",
    "parts/readers/test_real_readers.py", "parts/readers/test_served.py",
    "parts/readers/test_worth.py::test_the_simulator_answers", "real_readers",
    "parts/river/fetching/test_host_limits.py", "parts/river/fetching/test_host_turns.py",
    "parts/river/fetching/test_machines.py", "parts/river/test_in_browser.py",
    "parts/river/polls/test_missed_items.py::test_a_busy_feed_is_had_whole",
    "parts/river/test_our_publisher.py",
    "parts/river/test_politeness.py::test_thirty_days_of_our_own", "parts/river/test_processes.py",
    "parts/river/test_simulated.py::test_thirty_days_with_two_hundred_publishers",
    "simulator/test_cluster.py", "simulator/test_engine.py",
    "simulator/test_plain.py::test_nine_more_have_the_same_rows", "simulator/test_plots.py",
    "storage/test_bucket.py",
    "storage/test_postgresql.py", "test_day_in_the_life.py", "test_how_tos.py", "test_packaging.py",
    "test_tutorial.py", "web/studio/test_trouble.py::test_killed_while_saving",
    "operations/test_backup.py::test_a_restore_that_is_killed_anywhere_leaves_a_whole_site",
    "web/studio/test_moving.py", "web/test_blog_clients.py",
)  # fmt: skip
TESTS = Path(__file__).parent


# They take a minute and more, mostly waiting: begun last, they would be waited for alone.
LONG = (
    "test_two_days_of_a_program_that_keeps_running", "test_a_week_of_real_readers",
    "test_machines_die_and_nobody_is_asked_too_often",
)  # fmt: skip


def left_out(file: Path, config: pytest.Config) -> bool:
    """Whether none of a file's tests is of those that `-m` asks for: it is not even read then."""
    name, expression = file.relative_to(TESTS).as_posix(), config.getoption("markexpr")
    if expression == "system":
        return not name.startswith(SYSTEM) and not any(folder.startswith(name) for folder in SYSTEM)
    return expression == "not system" and name.startswith(SYSTEM)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out the files without a test that is asked for."""
    return (collection_path.suffix == ".py" and left_out(collection_path, config)) or None


def parts_of(item: pytest.Item) -> set[str]:
    """The parts that a test is about: its folder's, and those that its marker `parts` names."""
    names = item.nodeid.split("/")
    own = {names[2]} if names[:2] == ["tests", "parts"] and len(names) > 3 else set()
    return own.union(*(mark.args for mark in item.iter_markers("parts")))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark the tests that `make test` leaves to `make test-all`, and begin with the longest; those
    of parts that PUBLISHER_PARTS leaves out are not run, nor on a server those of any database."""
    on = {part.name for part in chosen(os.environ.get("PUBLISHER_PARTS", ""))}
    if absent := [item for item in items if parts_of(item) - on]:
        config.hook.pytest_deselected(items=absent)
        items[:] = [item for item in items if not parts_of(item) - on]
    if SERVER and (same := [item for item in items if item.get_closest_marker("any_database")]):
        config.hook.pytest_deselected(items=same)
        items[:] = [item for item in items if not item.get_closest_marker("any_database")]
    for item in items:
        if item.nodeid.removeprefix("tests/").startswith(SYSTEM):
            item.add_marker(pytest.mark.system)
    items.sort(key=lambda item: item.name not in LONG)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """What only SQLite can do is skipped where a server is tested."""
    if SERVER and (mark := item.get_closest_marker("sqlite")):
        pytest.skip(f"only SQLite: {mark.args[0]}")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Where NOTHING_SKIPPED is set (CI), a skip is a failure that says what is missing; what only
    SQLite can do is none."""
    report = yield
    meant = hasattr(report, "wasxfail") or (SERVER and item.get_closest_marker("sqlite"))
    if report.skipped and not meant and os.environ.get("NOTHING_SKIPPED"):
        report.outcome = "failed"
        report.longrepr = f"nothing may be skipped here: {report.longrepr}"
    return report


@pytest.fixture(scope="session", autouse=True)
def _one_compiler(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> None:
    """One process of a run compiles at a time: the others then find the code in numba's cache.

    A kernel takes some twenty seconds; all processes would begin with the same ones.
    """
    compiles = any(item.path.parent.name == "simulator" for item in request.session.items)
    if not compiles or find_spec("numba") is None:
        return
    from numba.core import event

    file = os.open(tmp_path_factory.getbasetemp().parent / "compiling", os.O_CREAT | os.O_RDWR)

    class OneCompiler(event.Listener):
        """Holds the file's lock while this process holds numba's own, however deep."""

        depth = 0

        def on_start(self, event: Any) -> None:
            fcntl.flock(file, fcntl.LOCK_EX)
            self.depth += 1

        def on_end(self, event: Any) -> None:
            self.depth -= 1
            if not self.depth:
                fcntl.flock(file, fcntl.LOCK_UN)

    register: Any = event.register
    register("numba:compiler_lock", OneCompiler())


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    """What a command set for its process (logs, who may read its files) ends with its test."""
    mask = os.umask(0o077)
    os.umask(mask)
    yield
    os.umask(mask)
    logging.getLogger("publisher").setLevel(logging.NOTSET)
    _forget_closed()


@pytest.fixture
def clock() -> FakeClock:
    """Monday, 4 March 2024, 09:30 UTC."""
    return FakeClock()


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """A PostgreSQL server for the tests that need one; a skip where none is installed."""
    with running_server() as running:
        yield running


@pytest.fixture
def environment(tmp_path: Path) -> Iterator[Environment]:
    """An instance folder of its own, with a database of its own."""
    instance = tmp_path / "instance"
    instance.mkdir()
    make_ready(instance)
    yield Environment(
        instance,
        database_url(instance),
        site_url=SITE_URL,
        secret_key="a key for tests only",
        parts=os.environ.get("PUBLISHER_PARTS", ""),
    )
    drop_database(instance)


@pytest.fixture
def site(environment: Environment, clock: FakeClock) -> Iterator[Site]:
    """An open, empty site."""
    opened = open_site(environment, clock)
    yield opened
    opened.database.close()


class OwnPages(FlaskClient):
    """A browser on a page of this site: it says so with each form, as every browser does."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.environ_base["HTTP_ORIGIN"] = SITE_URL

    def open(self, *args: Any, **kwargs: Any) -> TestResponse:
        """Send a request; from another address of the site where a test asks at one."""
        if "HTTP_ORIGIN" in self.environ_base and "base_url" in kwargs:
            self.environ_base["HTTP_ORIGIN"] = kwargs["base_url"].rstrip("/")
        return super().open(*args, **kwargs)


class SharedBytecode(BytecodeCache):
    """Compiled templates, shared by all applications of this process: one each test, else."""

    def __init__(self) -> None:
        self._compiled: dict[str, CodeType] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        bucket.code = self._compiled.get(bucket.key)

    def dump_bytecode(self, bucket: Bucket) -> None:
        assert bucket.code is not None
        self._compiled[bucket.key] = bucket.code


BYTECODE = SharedBytecode()


class SharedRule(Rule):
    """A route that is compiled once, not for each application: there are two hundred in each."""

    _compiled: ClassVar[dict[tuple[Any, ...], Rule]] = {}

    def compile(self) -> None:
        """What the first rule of the same text was compiled to."""
        defaults = sorted((self.defaults or {}).items())
        key = (self.rule, self.subdomain, self.merge_slashes, *defaults)
        if (same := self._compiled.get(key)) is None:
            super().compile()
            self._compiled[key] = self
            return
        for name in ("_parts", "_trace", "_converters", "arguments"):
            setattr(self, name, getattr(same, name))
        for name in ("_build", "_build_unknown"):
            setattr(self, name, getattr(same, name).__func__.__get__(self))


class SharedMatcher(StateMachineMatcher):
    """Finds the route of an address, by what was made for the first application with its routes."""

    _made: ClassVar[dict[tuple[Any, ...], Any]] = {}

    def __init__(self, merge_slashes: bool) -> None:
        super().__init__(merge_slashes)
        self._added: list[Rule] = []

    def add(self, rule: Rule) -> None:
        """Only noted here: many tests ask for no page."""
        self._added.append(rule)

    def update(self) -> None:
        """Called before the first search, and again when rules were added."""
        routes = (
            (r.rule, r.endpoint, r.strict_slashes, *sorted(r.methods or ()), str(r.defaults))
            for r in self._added
        )
        key = self.merge_slashes, *routes
        if key not in self._made:
            matcher = StateMachineMatcher(self.merge_slashes)
            for rule in self._added:
                matcher.add(rule)
            matcher.update()
            self._made[key] = matcher._root
        self._root = self._made[key]


Flask.url_rule_class = SharedRule
routing_map.StateMachineMatcher = SharedMatcher  # type: ignore[attr-defined]


class SharedStatements(dict[Any, Any]):
    """Compiled SQL, shared by all databases of this process: each test opens another one.

    SQLAlchemy's key begins with the engine's dialect. What has an encrypted column is not shared:
    it is compiled with the key of one site.
    """

    def get(self, key: Any, default: Any = None) -> Any:
        dialect, *parts_of_key = key
        return super().get((type(dialect), *parts_of_key)) or super().get(key, default)

    def __setitem__(self, key: Any, compiled: Any) -> None:
        dialect, *parts_of_key = key
        types = [bind.type for bind in compiled.binds.values()]
        types += [column.type for column in compiled._result_columns]
        secret = any(isinstance(column_type, EncryptedText) for column_type in types)
        super().__setitem__(key if secret else (type(dialect), *parts_of_key), compiled)


STATEMENTS = SharedStatements()
_shared: Any = partial(create_engine, execution_options={"compiled_cache": STATEMENTS})
database.create_engine = postgresql.create_engine = _shared  # type: ignore[attr-defined]
for mapper in Base.registry.mappers:
    mapper.__dict__["_compiled_cache"] = STATEMENTS  # of what a session writes


def _set_up(
    connection: sqlite3.Connection,
    _record: Any,
    set_up: Callable[..., None] = database._set_up_sqlite,
) -> None:
    """As in the program, but nobody waits for the disk: of this process only the power could cut
    something off. Programs that tests start do wait."""
    set_up(connection, _record)
    connection.execute("PRAGMA synchronous=OFF").close()
    OPENED.append((connection, os.environ.get("PYTEST_CURRENT_TEST", "")))


OPENED: list[tuple[sqlite3.Connection, str]] = []  # with the test that needed it
database._set_up_sqlite = _set_up


def _forget_closed() -> None:
    for opened in OPENED[:]:
        try:
            _ = opened[0].total_changes
        except sqlite3.ProgrammingError:  # it is closed
            OPENED.remove(opened)


@pytest.fixture(scope="session", autouse=True)
def _nothing_left_open() -> Iterator[None]:
    """Who opens a database closes it, also where something fails in between.

    Python 3.13 warns of one that is left only when it looks for garbage: in any test, or in none.
    """
    yield
    _forget_closed()
    assert not (left := [test for _, test in OPENED]), "\n".join(left)


@pytest.fixture
def app(
    site: Site, environment: Environment, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Flask]:
    """The real application on the same database as `site`; it starts no commands beside its
    pages."""
    monkeypatch.setattr(background_commands, "begin", lambda *_: None)
    application = create_app(environment, clock)
    application.jinja_env.bytecode_cache = BYTECODE
    application.test_client_class = OwnPages
    yield application
    close_app(application)


@pytest.fixture
def client(app: Flask) -> FlaskClient:
    """A browser without a login; the site is https, so requests are too."""
    client = app.test_client()
    client.environ_base["wsgi.url_scheme"] = "https"
    return client
