"""The server as processes: started, stopped, killed, told the time."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

from publisher.base.environment import METRICS_FOLDER, Environment
from publisher.base.system import processes
from publisher.installation import open_site
from publisher.operations import supervisor
from publisher.publishing.rebuild import rebuild
from publisher.storage.tables.blog import Preference
from tests.databases import database_url, make_ready, settings_of
from tests.running_site import Server, alive, answers, free_port, kill, serving, wait_until

pytestmark = pytest.mark.any_database


def items(body: bytes) -> list[str]:
    return re.findall(r"<item>\s*<title>([^<]*)", body.decode())


def test_two_workers_serve_a_new_post_at_once(tmp_path: Path) -> None:
    """What a command publishes is in every worker's feed within a moment, and stays there; then
    SIGTERM ends them all."""
    with serving(tmp_path, "--workers", "2") as server:
        # A fork of a process with threads could wait for ever for a lock that one of them held.
        assert server.threads() == 1
        added = server.command("post", "add", "--title", "From outside", text="Hello.")
        assert added.returncode == 0, added.stderr

        def seen() -> list[list[str]]:
            return [items(server.get("/rss.xml")[2]) for _ in range(40)]

        wait_until(lambda: seen() == [["From outside"]] * 40, 60)
        assert seen() == [["From outside"]] * 40
        end_everything(server)


IMPATIENT = """
import sys
from publisher.cli import main
from publisher.operations import supervisor
supervisor.HANG_SECONDS = 15.0
main(sys.argv[1:])
"""


def test_a_worker_that_hangs_is_replaced(tmp_path: Path) -> None:
    """One that is stopped sends no beat: it is killed, another takes its place and answers."""
    with serving(tmp_path, program=("-c", IMPATIENT)) as server:
        (worker,) = (pid for pid in server.children() if not is_scheduler(pid))
        os.kill(worker, signal.SIGSTOP)
        wait_until(lambda: not alive(worker), 60, server)
        wait_until(lambda: answers(server), 60, server)
        assert "a worker hangs and is replaced" in server.output()


DYING = """
import sys
from publisher.operations import supervisor
from publisher.cli import main
def fork(*_):
    from publisher.base.errors import StorageUnavailable
    from publisher.web import worker
    def run(*_):
        raise StorageUnavailable("no database")
    worker.run = run
supervisor._prepare_forks = fork
supervisor.RESTART_PAUSE_SECONDS = 0.2
main(sys.argv[1:])
"""
STARTING = """
import sys, time
from publisher.operations import supervisor
from publisher.cli import main
def wait(*_, **__):
    print("starting", flush=True)
    time.sleep(600)
supervisor.open_site = wait
main(sys.argv[1:])
"""


def start(program: str, instance: Path) -> subprocess.Popen[str]:
    """`publisher serve` of a changed program, on a free port."""
    words = [sys.executable, "-c", program, "serve", "--workers", "2", "--port", str(free_port())]
    pipe = subprocess.PIPE
    env = os.environ | settings_of(instance)
    return subprocess.Popen(words, env=env, stdout=pipe, stderr=pipe, text=True)


def test_workers_that_cannot_start_end_the_server(tmp_path: Path) -> None:
    """If none has ever worked: after some tries with pauses, and with lines that say why."""
    with start(DYING, tmp_path) as server:
        _, output = server.communicate(timeout=120)
    assert server.returncode == 1
    assert output.count("a worker ended and is replaced") == 2 * supervisor.START_TRIES
    assert output.count("no database") == 2 * supervisor.START_TRIES
    assert "Traceback" not in output
    assert output.strip().splitlines()[-1] == (
        "publisher: no worker can start: what is printed above says why"
    )


def test_a_setting_that_became_invalid_keeps_the_feed_from_nobody(tmp_path: Path) -> None:
    """It is served as it was built last; the health check says what to do."""
    make_ready(tmp_path)
    site = open_site(Environment(tmp_path, database_url(tmp_path)))
    rebuild(site)
    with site.database.write() as db:
        db.merge(Preference(name="timezone", value="US/Nowhere"))
    site.database.close()
    with serving(tmp_path) as server:
        status, _, health = server.get("/healthz")
        assert (status, b"/studio/settings" in health) == (503, True)


def test_a_start_can_be_stopped(tmp_path: Path) -> None:
    """As the first process of a container, too, for which SIGTERM alone does nothing."""
    with start(STARTING, tmp_path) as server:
        assert server.stdout is not None
        assert server.stdout.readline() == "starting\n"
        server.terminate()
        assert server.communicate(timeout=60) == ("", "")
    assert server.returncode == 0


def test_a_log_that_takes_nothing_stops_nobody(tmp_path: Path) -> None:
    """Standard output and error on a full disk: the site is served, and ends well."""
    port = free_port()
    words = [sys.executable, "-m", "publisher", "serve", "--port", str(port)]
    env = os.environ | settings_of(tmp_path)
    with (
        Path("/dev/full").open("wb") as full,
        subprocess.Popen(words, env=env, stdout=full, stderr=full) as process,
    ):
        server = Server(port, tmp_path, process, env)
        try:
            wait_until(lambda: answers(server), 60)
            assert server.get("/nothing")[0] == 404
        finally:
            process.terminate()
    assert process.returncode == 0


def end_everything(server: Server) -> None:
    """SIGTERM: exit status 0, no process left, nothing on the error output but plain events."""
    family = server.children()
    server.process.send_signal(signal.SIGTERM)
    assert server.process.wait(60) == 0
    wait_until(lambda: not any(map(alive, family)), 60)
    assert "Traceback" not in server.output()
    assert "WARNING" not in server.output()


def test_another_address_is_in_the_feed_from_the_start(tmp_path: Path) -> None:
    """A blog that is tried at home and then moves to its own name: not only from the next hour."""
    with serving(tmp_path) as server:
        at_home = server.url.encode()
        assert at_home in server.get("/rss.xml")[2]
    with serving(tmp_path, env={"PUBLISHER_SITE_URL": "https://blog.example"}) as server:
        feed = server.get("/rss.xml")[2]
    assert b"https://blog.example/rss.xml" in feed
    assert at_home not in feed


WAITING = """
import sys, time
import publisher.installation
from publisher.base import environment
from publisher.cli import main
environment.try_write = lambda _: time.sleep(600)  # what /healthz calls
main(sys.argv[1:])
"""


def test_a_killed_server_leaves_nothing(tmp_path: Path) -> None:
    """kill -9 of the parent: workers, one of them with a page that waits for ever, and scheduler
    end by themselves, the port is free again. The next start removes its counts from the memory."""
    with serving(tmp_path, "--workers", "2", program=("-c", WAITING)) as server:
        family, counts = server.children(), (tmp_path / "metrics").readlink()
        with socket.create_connection(("127.0.0.1", server.port)) as page:
            page.sendall(b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n")
            page.settimeout(2.0)
            with pytest.raises(TimeoutError):
                page.recv(1)
            kill(server.process.pid)
            server.process.wait(60)
            wait_until(lambda: not any(map(alive, family)), 60, family)
    assert counts.is_dir()
    with serving(tmp_path):
        assert not counts.exists()
    assert not (tmp_path / "metrics").exists()


def test_a_link_of_another_user_deletes_nothing(tmp_path: Path) -> None:
    """After a restart of the machine, anybody may have made a link under the old folder's name."""
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "diary.txt").touch()
    trap = tmp_path / "publisher-metrics-known"
    trap.symlink_to(mine)
    folder = tmp_path / "metrics"
    folder.symlink_to(trap)
    with pytest.MonkeyPatch.context() as patch, ExitStack() as places:
        patch.setenv(METRICS_FOLDER, "")  # as it was, afterwards
        supervisor._set_up_metrics_folder(places, folder)
    assert (mine / "diary.txt").exists()


IMPATIENT = """
import sys
from publisher.operations import supervisor
supervisor.HANG_SECONDS = 12.0
from publisher.cli import main
main(sys.argv[1:])
"""


def test_a_scheduler_that_hangs_is_missed_and_a_killed_one_replaced(tmp_path: Path) -> None:
    """The heartbeat is a file: it is there while the scheduler works, and its age is judged.

    kill -9 of the scheduler, or one that is stopped for long: another one publishes what is due.
    """
    beat = tmp_path / processes.HEARTBEAT
    with serving(tmp_path, program=("-c", IMPATIENT)) as server:
        wait_until(beat.exists, 60)
        wait_until(lambda: server.get("/healthz")[0] == 200, 60)
        (scheduler,) = filter(is_scheduler, server.children())
        os.kill(scheduler, signal.SIGSTOP)
        try:
            late = time.time() - processes.LATE_SECONDS - 1
            os.utime(beat, (late, late))
            status, _, body = server.get("/healthz")
            assert (status, b"scheduler" in body) == (503, True)
        finally:
            os.kill(scheduler, signal.SIGCONT)
        wait_until(lambda: server.get("/healthz")[0] == 200, 60)
        os.kill(scheduler, signal.SIGSTOP)  # for good: it is replaced when it was silent for long
        wait_until(lambda: scheduler not in server.children(), 90)
        wait_until(lambda: [*filter(is_scheduler, server.children())], 60)
        (scheduler,) = filter(is_scheduler, server.children())
        kill(scheduler)
        moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 3))
        server.command("post", "add", "--title", "Soon", "--at", moment, text="Here.")
        wait_until(lambda: items(server.get("/rss.xml")[2]) == ["Soon"], 60)
    assert not beat.exists()


def test_metrics_are_the_sum_of_all_workers(tmp_path: Path) -> None:
    """Whichever worker is asked says what all of them have counted, ended ones included."""
    with serving(tmp_path, "--workers", "2") as server:
        for _ in range(30):
            server.get("/rss.xml")
            server.get("/about")
        counted = 'publisher_requests_total{kind="blog",status="200"} 30.0'
        for _ in range(6):
            assert counted in server.get("/metrics")[2].decode()
        wait_until(lambda: polls_counted(server) >= 30, 60)
        (first_worker, *_) = (child for child in server.children() if not is_scheduler(child))
        kill(first_worker)
        wait_until(lambda: not alive(first_worker), 60)
        assert counted in server.get("/metrics")[2].decode()


def polls_counted(server: Server) -> float:
    """The polls answered with 200, by `/metrics`; a flush comes some seconds after them."""
    text = server.get("/metrics")[2].decode()
    return sum(map(float, re.findall(r'^publisher_polls_total{status="200"} (.*)$', text, re.M)))


def is_scheduler(pid: int) -> bool:
    return Path(f"/proc/{pid}/comm").read_text() == "publisher-jobs\n"


def test_a_shifted_clock_is_shared(tmp_path: Path) -> None:
    """Server, scheduler and commands tell the same shifted time; hours pass at its speed."""
    options = ["--clock-start", "2022-01-03T00:00:00-05:00", "--clock-speed", "3600"]
    with serving(tmp_path, *options) as server:
        assert server.get("/rss.xml")[1]["date"].split()[2:4] == ["Jan", "2022"]
        server.command("post", "add", "--title", "Then", text="In 2022.")
        body = server.get("/rss.xml")[2].decode()
        assert "2022" in re.findall(r"<pubDate>([^<]*)", body)[0]
        # Three hours after the only post the warm-up's answer is the longest.
        wait_until(lambda: b"<ttl>480</ttl>" in server.get("/rss.xml")[2], 60)


def test_a_second_server_is_refused_in_one_line(tmp_path: Path) -> None:
    """On the same port; on another, as it would share locks, beats and jobs: the first goes on.

    After its end, one with a shifted clock, as the database was served on the real one.
    """
    with serving(tmp_path) as server:
        for port, reason in (
            (server.port, f"port {server.port}"),
            (free_port(), f"being served by process {server.process.pid}"),
        ):
            second = server.command("serve", "--port", str(port))
            assert second.returncode == 1
            assert reason in second.stderr
            assert len(second.stderr.strip().splitlines()) == 1
            assert server.get("/healthz")[0] == 200
    refused = server.command("serve", "--port", str(server.port), "--clock-speed", "60")
    assert refused.returncode == 2
    assert "real clock" in refused.stderr
    assert len(refused.stderr.strip().splitlines()) == 1


def test_nobody_connects_before_a_worker_answers(
    environment: Environment, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The port is ours, and refuses, as long as nobody could answer: a proxy asks another machine
    instead of waiting for this one's start."""
    listening = []

    class Workers:
        def __init__(self, listener: socket.socket, *_: object) -> None:
            listening.append(listener.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN))

        def run(self) -> None:
            """Nobody answers yet."""

    monkeypatch.setattr(supervisor, "Supervisor", Workers)
    monkeypatch.setenv(METRICS_FOLDER, "")  # `serve` sets it for its workers
    supervisor.serve(environment, "127.0.0.1", free_port(), 1, None)
    assert listening == [0]


LATE = """
import socket, sys
from publisher.web import worker
listener, beat, parent_pid = map(int, sys.argv[1:])
worker.run(socket.socket(fileno=listener), None, beat, parent_pid)
"""


def test_another_program_was_quicker(tmp_path: Path) -> None:
    """A port on which another program began to listen meanwhile: the worker says so and ends."""
    beat, theirs = os.pipe()
    with socket.socket() as ours, socket.socket() as other_sockets:
        for first_worker in (ours, other_sockets):
            first_worker.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        ours.bind(("127.0.0.1", 0))
        other_sockets.bind(ours.getsockname())
        other_sockets.listen()
        words = [str(ours.fileno()), str(theirs), str(os.getpid())]
        ended = subprocess.run(
            [sys.executable, "-c", LATE, *words],
            pass_fds=[ours.fileno(), theirs],
            env={**os.environ, **settings_of(tmp_path)},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    os.close(theirs)
    assert os.read(beat, 1) == b""
    os.close(beat)
    assert "cannot listen" in ended.stderr
    assert "Traceback" not in ended.stderr
