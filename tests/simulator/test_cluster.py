"""`simulate --jobs dask:HOST:PORT` on a cluster of this machine: a scheduler and two workers."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from publisher.base.errors import InvalidInput, PublisherError
from publisher.cli import cli
from publisher.simulator import grid
from publisher.simulator.synthetic import parse_synthetic, shards
from tests.running_site import free_port, wait_until

pytest.importorskip("distributed", reason="the extra dask is not installed")

from distributed import Client

from publisher.simulator import cluster as ours

ENOUGH = 600.0  # seconds for what takes one or two; kernels may have to be compiled first


class Cluster:
    """A scheduler and two workers, each a process that can be stopped and killed."""

    def __init__(self, folder: Path) -> None:
        port = free_port()
        self.address = f"127.0.0.1:{port}"
        self._folder = folder
        self.scheduler = self._start("scheduler", "--port", str(port))
        words = (self.address, "--no-nanny", "--nthreads", "1", "--name")
        self.workers = {name: self._start("worker", *words, name) for name in "ab"}

    def _start(self, kind: str, *words: str) -> subprocess.Popen[bytes]:
        program = [sys.executable, "-m", f"distributed.cli.dask_{kind}"]
        with (self._folder / "log").open("ab") as log:
            return subprocess.Popen(
                [*program, "--no-dashboard", "--host", "127.0.0.1", *words],
                cwd=self._folder, stdout=log, stderr=log,
                env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
            )  # fmt: skip

    def asked(self, question: Any) -> Any:
        """What a function of the scheduler's state answers."""
        with Client(self.address, timeout=ENOUGH, set_as_default=False) as client:  # type: ignore[no-untyped-call]
            return client.run_on_scheduler(question)


def workers(dask_scheduler: Any) -> set[str]:
    return {worker.name for worker in dask_scheduler.workers.values()}


def busy(dask_scheduler: Any) -> set[str]:
    return {worker.name for worker in dask_scheduler.workers.values() if worker.processing}


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    """A cluster whose workers are there."""
    cluster = Cluster(tmp_path)
    try:
        wait_until(lambda: cluster.asked(workers) == {"a", "b"}, ENOUGH)
        yield cluster
    finally:
        for process in (*cluster.workers.values(), cluster.scheduler):
            process.kill()
            process.wait()


def work() -> list[grid.Task]:
    made = shards(parse_synthetic("poisson:rate=2"), 24, 40, "UTC", 5, 2)
    return grid.tasks([made], ["warm-up"])


def totals(jobs: int = -1) -> list[object]:
    """All figures of the sweep, on the cluster that is in force or in threads."""
    parts = grid.run(work(), grid.ReplayOptions(("ttl", "doubling"), phases=2), jobs)
    merged = grid.merged([part for each in parts for part in each])
    return [(part.client, list(part.tally.counts), part.tally.delays) for part in merged]


def simulate(*words: str) -> Result:
    command = ["simulate", "--synthetic", "poisson:rate=2", "--days", "40", "--feeds", "20"]
    return CliRunner().invoke(
        cli, [*command, "--client", "fixed:60", *words], standalone_mode=False
    )


def test_a_sweep_on_a_cluster(cluster: Cluster) -> None:
    """It prints the same bytes; a worker that dies with work in its hands takes nothing away; a
    scheduler that goes away is one sentence, and nobody waits for ever. One cluster for all three:
    it takes longer to start than to use."""
    there = simulate("--format", "csv", "--jobs", f"dask:{cluster.address}")
    assert there.exception is None
    assert there.stdout == simulate("--format", "csv", "--jobs", "2").stdout

    def sweep() -> list[object]:
        with ours.connected(cluster.address):
            return totals()

    with ThreadPoolExecutor(1) as pool:
        cluster.workers["a"].send_signal(signal.SIGSTOP)
        running = pool.submit(sweep)
        wait_until(lambda: "a" in cluster.asked(busy), ENOUGH)
        cluster.workers["a"].kill()
        assert running.result(ENOUGH) == totals(2)

        cluster.workers["b"].send_signal(signal.SIGSTOP)
        running = pool.submit(sweep)
        wait_until(lambda: cluster.asked(busy) == {"b"}, ENOUGH)
        cluster.scheduler.kill()
        with pytest.raises(PublisherError, match="the Dask cluster gave up"):
            running.result(ENOUGH)


def test_where_nobody_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Exit 2 and a sentence with the address."""
    monkeypatch.setattr(ours, "CONNECT_SECONDS", 0.5)
    error = simulate("--jobs", f"dask:127.0.0.1:{free_port()}").exception
    assert isinstance(error, InvalidInput)
    assert error.exit_code == 2
    assert "no Dask scheduler answers at 127.0.0.1:" in str(error)


def test_without_dask_the_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """One sentence."""
    monkeypatch.setitem(sys.modules, "distributed", None)
    error = simulate("--jobs", "dask:127.0.0.1:8786").exception
    assert isinstance(error, PublisherError)
    assert "pip install distributed" in str(error)


@pytest.mark.parametrize("wrong", ["dask", "dask:", "dask:host", "dask:host:port", "0", "many"])
def test_wrong_words_for_jobs(wrong: str) -> None:
    """A usage error, and nothing is imported or begun."""
    assert getattr(simulate("--jobs", wrong).exception, "exit_code", None) == 2
