"""Confined processes: whatever a stranger's bytes do in there, out comes one clear error."""

import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from publisher.base.errors import PublisherError, TooLarge
from publisher.base.system.confined import Limits, Pool, Unreadable
from tests.base import hostile


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    made = Pool(size=1, memory_bytes=512 * 1024 * 1024)
    yield made
    made.close()


@pytest.mark.parametrize(
    ("task", "words"),
    [
        (hostile.hang, "took too long"),
        (hostile.spin, "took too long"),
        (hostile.grow, "too much memory"),
        (hostile.crash, "too much memory or time"),
        (hostile.break_down, "damaged"),
        (hostile.nest, "nested too deeply"),
        (hostile.send_code, "made its reader crash"),
        (hostile.send_wrong_arguments, "made its reader crash"),
    ],
)
def test_whatever_happens_is_one_error(pool: Pool, task: Callable[..., Any], words: str) -> None:
    """A hang, a loop, gigabytes, a crash, any exception, code in the answer: and the next works."""
    begun = time.monotonic()
    with pytest.raises(Unreadable, match=words):
        pool.call(task, 1.0)
    assert time.monotonic() - begun < 30
    assert pool.call(hostile.echo, 5.0, b"next") == b"next"


def test_it_is_the_first_to_go_where_memory_runs_out(pool: Pool) -> None:
    """A picture too many must not cost the worker that serves everybody."""
    assert pool.call(hostile.oom_points, 5.0) == 800


def test_an_answer_changes_no_class(pool: Pool) -> None:
    """An answer is loaded with our classes, and leaves them as they were."""
    before = dict(vars(Limits))
    with pytest.raises(Unreadable, match="made its reader crash") as raised:
        pool.call(hostile.change_a_class, 5.0)
    assert "would change a class" in str(raised.value.__cause__)
    assert dict(vars(Limits)) == before


def test_a_refusal_is_the_tasks_own(pool: Pool) -> None:
    """What the task says in our words comes out as it went in, and its process is kept."""
    with pytest.raises(TooLarge, match="too many pixels"):
        pool.call(hostile.refuse, 5.0)


def test_a_generator_is_a_stream(pool: Pool) -> None:
    """Its values come one by one; a refusal and a hang come after what was yielded before."""
    assert list(pool.stream(hostile.count, 5.0, 3)) == [0, 1, 2]
    for task, words in ((hostile.count_and_refuse, "numbers"), (hostile.count_and_hang, "long")):
        taken: list[int] = []
        with pytest.raises(PublisherError, match=words):
            taken.extend(pool.stream(task, 1.0, 3))
        assert taken == [0, 1, 2]


def test_a_stream_that_nobody_wants_any_more(pool: Pool) -> None:
    """Its process ends, however much it would still say, and the next question gets its answer."""
    endless = pool.stream(hostile.count, 5.0, 10**12)
    assert next(endless) == 0
    endless.close()  # type: ignore[attr-defined]
    assert pool.call(hostile.echo, 5.0, b"next") == b"next"


def test_large_values_pass(pool: Pool) -> None:
    """Tens of megabytes go in and come out."""
    data = os.urandom(1 << 20) * 24
    assert pool.call(hostile.echo, 20.0, data) == data


def test_the_environment_and_the_disk_are_out_of_reach(
    pool: Pool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No secret is handed in, and nothing can be written."""
    monkeypatch.setenv("PUBLISHER_SECRET_KEY", "secret")
    fresh = Pool(size=1)
    assert fresh.call(hostile.environment, 5.0) == []
    fresh.close()
    with pytest.raises(Unreadable):
        pool.call(hostile.write_file, 5.0, str(tmp_path / "x"))
    assert not (tmp_path / "x").exists() or (tmp_path / "x").stat().st_size == 0


def test_other_threads_go_on(pool: Pool) -> None:
    """While a task spins, this process has its interpreter to itself."""
    ended = threading.Event()

    def read() -> None:
        with pytest.raises(Unreadable):
            pool.call(hostile.spin, 2.0)
        ended.set()

    thread = threading.Thread(target=read)
    thread.start()
    turns = 0
    while not ended.wait(0.005):
        turns += 1
    thread.join()
    assert turns > 20
