"""`app.py`: the whole blog under servers that are not ours, with two processes each."""

import atexit
import http.client
import os
import re
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from datetime import UTC, datetime, timedelta
from importlib.util import find_spec
from pathlib import Path

import pytest

from publisher.base.clock import ShiftedClock, utc_now
from publisher.base.environment import Environment
from publisher.blog import update_log
from publisher.dynamic_ttl.core.ttl.decision import decide
from publisher.installation import Site, open_site
from publisher.installation.settings import load_settings
from publisher.operations import any_server
from publisher.web.application import close_app
from tests.databases import database_url, settings_of
from tests.running_site import alive, free_port, kill, wait_until

ROOT = Path(__file__).parents[2]
HOUR = timedelta(hours=1)
DAY = datetime(2027, 3, 1, tzinfo=UTC)
SPEED = 1800.0  # a day in 48 s
POST_AT = DAY + timedelta(hours=22, minutes=7)
# What a person types, and how many processes on one port it starts.
SERVERS = {
    "flask": ("--app app run --port {}", 1),
    "granian": ("--interface wsgi --factory app:create_app --port {} --workers 2", 2),
    "waitress": ("--listen=127.0.0.1:{} --call app:create_app", 1),
    "gunicorn": ("app:create_app() -b 127.0.0.1:{} -w 2", 2),
}


def python_path(name: str) -> str:
    """Where Python finds the server; it may be installed in a folder of its own."""
    if find_spec(name) is not None:
        return str(ROOT)
    if (program := shutil.which(name) or shutil.which(f"{name}-serve")) is None:
        pytest.skip(f"{name} is not installed (pip install {name})")
    return f"{Path(program).resolve().parents[1]}{os.pathsep}{ROOT}"


@contextmanager
def started(name: str, instance: Path, port: int, clock: str = "") -> Iterator[int]:
    """A server whose processes serve an instance folder; its process id. Nobody has asked it yet,
    but for a connection that says that it listens."""
    environment = {
        "PATH": os.environ["PATH"], "HOME": str(instance), "PYTHONPATH": python_path(name),
        "PUBLISHER_CLOCK": clock, **settings_of(instance),
    }  # fmt: skip
    words = [sys.executable, "-m", name, *SERVERS[name][0].format(port).split()]
    with (instance / f"{port}.log").open("wb") as log:
        process = subprocess.Popen(words, env=environment, stdout=log, stderr=log, cwd=ROOT)
    try:
        wait_until(lambda: listens(port), 120, (instance / f"{port}.log").read_text)
        yield process.pid
    finally:
        process.terminate()
        try:
            process.wait(60)
        finally:
            process.kill()


def listens(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), 30).close()
    except OSError:
        return False
    return True


def feed(port: int) -> str:
    """The feed, on a connection of its own."""
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as connection:
        connection.request("GET", "/rss.xml")
        answer = connection.getresponse()
        text = answer.read().decode()
    assert answer.status == 200, text
    return text


def command(instance: Path, clock: str, *words: str, text: str = "") -> None:
    environment = {"PATH": os.environ["PATH"], "PUBLISHER_CLOCK": clock, **settings_of(instance)}
    subprocess.run(
        [sys.executable, "-m", "publisher", *words], env=environment, input=text, check=True,
        text=True, cwd=ROOT, stdout=subprocess.DEVNULL,
    )  # fmt: skip


def ttl_at(site: Site, now: datetime) -> int:
    """What the feed says at a moment of the day, by the rule itself."""
    with site.database.read() as session:
        rule = load_settings(session).rule
        activity = update_log.at(session, now)
        top = now.replace(minute=0, second=0, microsecond=0)
        assert activity.last_update is not None
        moment = max(activity.last_update, top)
        activity = update_log.at(session, moment)
    return decide(activity, moment, rule, [POST_AT] if moment < POST_AT else []).ttl_minutes


@pytest.mark.parametrize("name", SERVERS)
def test_a_day_under_another_server(name: str, tmp_path: Path) -> None:
    """On an empty folder: a feed with a ttl from the first request on, and the link to set up.

    Then nobody posts or asks for anything but the feed: it has the ttl of each hour, and the
    scheduled post with its minute.
    """
    python_path(name)
    clock = ShiftedClock(utc_now() + timedelta(seconds=30), DAY, SPEED)  # it stands until then
    text = clock.to_text()
    ports = [free_port() for _ in range(3 - SERVERS[name][1])]
    with ExitStack() as stack:
        for port in ports:
            stack.enter_context(started(name, tmp_path, port, text))
        assert "<ttl>480</ttl>" in feed(ports[0])
        output = "".join((tmp_path / f"{port}.log").read_text() for port in ports)
        assert len(set(re.findall(r"/setup/[0-9a-f]+", output))) == 1, output
        history = tmp_path / "history.csv"
        hours = [DAY - timedelta(days=day, hours=24 - h) for day in range(30) for h in (9, 12, 19)]
        history.write_text("updated_at\n" + "".join(f"{at.isoformat()}\n" for at in hours))
        command(tmp_path, text, "updates", "load", str(history))
        command(
            tmp_path, text, "post", "add", "--at", POST_AT.isoformat(), "--title", "Due", text="A."
        )
        site = open_site(Environment(tmp_path, database_url(tmp_path)))
        stack.callback(site.database.close)
        wanted = [ttl_at(site, DAY + hour * HOUR) for hour in range(24)]
        assert len(set(wanted)) == 3
        right: set[int] = set()
        published = ""
        # An hour that the machine was too busy for has another chance on the next day.
        while (len(right) < 24 or not published) and clock() < DAY + 5 * 24 * HOUR:
            for port in ports:
                at, body = clock(), feed(port)
                if f"<ttl>{ttl_at(site, at)}</ttl>" in body:
                    right.add(at.hour)
                if not published and "<title>Due</title>" in body:
                    published = body
                    assert clock() > POST_AT
            threading.Event().wait(0.05)
    assert right == {*range(24)}, wanted
    assert POST_AT.strftime("%a, %d %b %Y %H:%M:00") in published


def test_a_scheduler_beside_it_has_the_jobs(tmp_path: Path) -> None:
    """It gets them from a web process; when either ends, even killed, the other has them."""

    def holder() -> int:
        match = re.search(r"by process (\d+)", (tmp_path / "serving.lock").read_text())
        return int(match[1]) if match else 0

    with ExitStack() as stack:
        first, second = free_port(), free_port()
        web = stack.enter_context(started("flask", tmp_path, first))
        feed(first)
        wait_until(lambda: holder() == web, 60)
        jobs = subprocess.Popen(
            [sys.executable, "-m", "publisher", "scheduler"], stdout=subprocess.DEVNULL,
            env={"PATH": os.environ["PATH"], **settings_of(tmp_path)}, cwd=ROOT,
        )  # fmt: skip
        stack.callback(jobs.kill)
        wait_until(lambda: holder() == jobs.pid, 60)
        second_server = stack.enter_context(started("flask", tmp_path, second))
        feed(second)
        jobs.terminate()
        assert jobs.wait(60) == 0
        wait_until(lambda: holder() in (web, second_server), 60)
        leader = holder()
        kill(leader)
        wait_until(lambda: not alive(leader), 60)
        wait_until(lambda: holder() in {web, second_server} - {leader}, 60)


def test_nothing_starts_before_the_first_request(
    environment: Environment, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Several processes that start beside each other print the same link."""
    for name, value in settings_of(environment.instance).items():
        monkeypatch.setenv(name, value)
    ends: list[Callable[[], None]] = []
    monkeypatch.setattr(atexit, "register", ends.append)
    before = set(threading.enumerate())
    apps = [any_server.create_app() for _ in range(2)]
    assert set(threading.enumerate()) <= before
    output = re.findall(r"/setup/[0-9a-f]+", capfd.readouterr().out)
    assert len(output) == 2
    assert len(set(output)) == 1
    assert apps[0].test_client().get(output[0]).status_code == 200
    begun = set(threading.enumerate()) - before
    assert begun
    for end in ends:
        end()
    for app in apps:
        close_app(app)
    assert not [thread for thread in begun if thread.is_alive()]


def test_a_site_that_cannot_be_served_is_one_line(
    environment: Environment, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the status at which gunicorn gives up, too."""
    monkeypatch.setenv("PUBLISHER_PRATS", "none")
    with pytest.raises(SystemExit) as ended:
        any_server.create_app()
    assert ended.value.code == 3
    assert capsys.readouterr().err.startswith("publisher: unknown setting PUBLISHER_PRATS")
