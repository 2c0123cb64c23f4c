"""Confined processes: whatever a stranger's bytes do in there, out comes one clear error."""

import os
import pickle
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from publisher.base.errors import FieldErrors, PublisherError, TooLarge, TooMany
from publisher.base.system.confined import Pool, Unreadable
from publisher.base.system.plain_values import from_bytes, to_bytes
from publisher.feed_reading.feed_document import NotAFeed
from tests.base import hostile


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    made = Pool(size=1, memory_bytes=512 * 1024 * 1024)
    yield made
    made.close()


@pytest.mark.parametrize(
    ("task", "seconds", "words"),
    [
        (hostile.hang, 0.2, "took too long"),
        (hostile.spin, 0.2, "took too long"),
        (hostile.grow, 20.0, "too much memory"),
        (hostile.crash, 5.0, "too much memory or time"),
        (hostile.break_down, 5.0, "damaged"),
        (hostile.nest, 5.0, "nested too deeply"),
        (hostile.send_something_else, 5.0, "made its reader crash"),
        (hostile.send_no_value, 5.0, "damaged"),
    ],
)
def test_whatever_happens_is_one_error(
    pool: Pool, task: Callable[..., Any], seconds: float, words: str
) -> None:
    """A hang, a loop, gigabytes, a crash, any exception, code in the answer: and the next works."""
    begun = time.monotonic()
    with pytest.raises(Unreadable, match=words):
        pool.call(task, seconds)
    assert time.monotonic() - begun < 30
    assert pool.call(hostile.echo, 5.0, b"next") == b"next"


def test_it_is_the_first_to_go_where_memory_runs_out(pool: Pool) -> None:
    """A picture too many must not cost the worker that serves everybody."""
    assert pool.call(hostile.oom_points, 5.0) == 800


def written(text: str, *blobs: bytes) -> bytes:
    """A message with this JSON and these byte strings."""
    sizes = b"".join(len(blob).to_bytes(4) for blob in blobs)
    return len(text).to_bytes(4) + len(blobs).to_bytes(4) + sizes + text.encode() + b"".join(blobs)


def fits(data: bytes, kind: type) -> bool:
    """Whether a message is a value of this type; from_bytes refuses all others."""
    try:
        from_bytes(data, kind)
    except ValueError:
        return False
    return True


WRONG = [
    b"", b"\xff" * 40, written("5"), written("{}"), written('{"x":1}'), written('{"b":0}'),
    written('{"b":-1}', b"x"), written('{"t":"never"}'), written('{"m":[["a"]]}'),
    written('{"e":["publisher.base.errors.NotFound","gone"]}'),
    written('{"e":["os.system","true"]}'), written('{"e":[[]]}'), written("[" * 5_000),
    written("9" * 10_000), written('"a"')[:-1], written('["a"]'), written('{"b":0}', b"a"),
    pickle.dumps("a"),
]  # fmt: skip


def test_an_answer_of_another_type_is_one_error(pool: Pool) -> None:
    """Whatever bytes a process sends that was taken over: the task's type, or nothing."""
    assert not [data for data in WRONG if fits(data, str)]
    for data in (b"", WRONG[-1]):
        with pytest.raises(Unreadable, match="made its reader crash"):
            pool.call(hostile.send, 5.0, data)


def test_a_value_of_each_kind_comes_back(pool: Pool) -> None:
    """As it went in; where any value is allowed, sequences are lists."""
    sent = hostile.Everything(
        "é\ud800", None, 0.5, bytes(range(256)), datetime(2024, 3, 4, 9, tzinfo=UTC),
        {1: b"", 600: b"x"}, Counter(a=2), frozenset({1, 2}), "b",
        (("é", b"1"), ("", b"2")), None, {"n": [1, 1.5, None, True, b"y"]},
    )  # fmt: skip
    for below in (None, (), (1, 2)):
        copy = replace(sent, below=below)
        assert pool.call(hostile.everything, 5.0, copy) == copy


PARTS: list[dict[str, Any]] = [
    {"number": "5"}, {"number": True}, {"word": "c"}, {"kinds": {"x"}}, {"data": "x"},
    {"rows": (("a",),)}, {"pairs": {"1": b""}}, {"at": "2024"}, {"below": ("a",)},
]  # fmt: skip


def test_a_part_of_another_type_is_one_error(pool: Pool) -> None:
    """Each part is checked, not only the whole."""
    sent = hostile.Everything(
        "", 1, 0.5, b"", datetime(2024, 3, 4, tzinfo=UTC), {}, Counter(), frozenset(), "a", (),
        None, None,
    )  # fmt: skip
    assert fits(to_bytes(sent), hostile.Everything)
    odd = [wrong for wrong in PARTS if fits(to_bytes(replace(sent, **wrong)), hostile.Everything)]
    assert not odd
    with pytest.raises(Unreadable, match="made its reader crash"):
        pool.call(hostile.everything, 5.0, replace(sent, **PARTS[0]))


@pytest.mark.parametrize(
    "error",
    [TooLarge("large"), TooMany("later", 5), FieldErrors({"title": "too long"}),
     NotAFeed("a page", (("https://a.example/f", "A"),)), Unreadable("x")],
)  # fmt: skip
def test_errors_come_back_whole(error: PublisherError) -> None:
    """With what they carry besides the sentence."""
    back = from_bytes(to_bytes(error), PublisherError)
    assert (type(back), str(back), vars(back)) == (type(error), str(error), vars(error))
    with pytest.raises(ValueError, match="another type"):
        from_bytes(to_bytes(error), str)


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
            pool.call(hostile.spin, 0.5)
        ended.set()

    thread = threading.Thread(target=read)
    thread.start()
    turns = 0
    while not ended.wait(0.005):
        turns += 1
    thread.join()
    assert turns > 20
