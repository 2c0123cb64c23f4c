"""When a worker is taken to hang; processes that really do are in test_serve.py."""

import multiprocessing

import pytest

from publisher.operations import supervisor
from publisher.operations.supervisor import HANG_SECONDS, START_SECONDS, Child


def test_a_slow_start_is_no_hang(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine may take minutes to start a worker; one that works has to be heard of."""
    moment = [1_000.0]
    monkeypatch.setattr(supervisor, "monotonic_seconds", lambda: moment[0])
    process = multiprocessing.Process()
    starting = Child(process, beat=0)
    assert _hangs_after(starting, moment, START_SECONDS)
    working = Child(process, beat=0)
    working.ready = True
    assert _hangs_after(working, moment, HANG_SECONDS)


def _hangs_after(child: Child, moment: list[float], seconds: float) -> bool:
    """Whether it is taken to hang after so many seconds, and not before."""
    moment[0] += seconds
    before = child.hangs
    moment[0] += 1
    return child.hangs and not before
