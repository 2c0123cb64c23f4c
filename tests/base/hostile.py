"""What hostile bytes could make a reader do: tasks for the confined processes."""

import os
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from publisher.base.errors import TooLarge
from publisher.base.system import confined


def echo(data: bytes) -> bytes:
    return data


def oom_points() -> int:
    return int(Path("/proc/self/oom_score_adj").read_text())


def count(until: int) -> Iterator[int]:
    yield from range(until)


def count_and_refuse(until: int) -> Iterator[int]:
    yield from range(until)
    raise TooLarge("too many numbers")


def count_and_hang(until: int) -> Iterator[int]:
    yield from range(until)
    hang()


def hang() -> None:
    time.sleep(60)


def spin() -> None:
    while True:
        pass


def grow() -> int:
    return len([bytes(1 << 20) for _ in range(100_000)])


def crash() -> None:
    os.abort()


def break_down() -> None:
    raise KeyError("feedparser")


def refuse() -> None:
    raise TooLarge("too many pixels")


def nest(depth: int = 0) -> None:
    nest(depth + 1)


def send(answer: bytes) -> str:
    """Say these very bytes, as a process that was taken over can."""
    setattr(confined, "to_bytes", lambda _: answer)  # noqa: B010
    return ""


def send_something_else() -> str:
    """Values of other types than the task has."""
    value: Any = [5, b"x"]
    return value  # type: ignore[no-any-return]


def send_no_value() -> str:
    """What is no value at all."""
    value: Any = os.system
    return value  # type: ignore[no-any-return]


@dataclass(frozen=True)
class Everything:
    """A value of each kind that tasks return."""

    text: str
    number: int | None
    share: float
    data: bytes
    at: datetime
    pairs: dict[int, bytes]
    counts: Counter[str]
    kinds: frozenset[int]
    word: Literal["a", "b"]
    rows: tuple[tuple[str, bytes], ...]
    below: tuple[int, ...] | None
    more: Any


def everything(value: Everything) -> Everything:
    return value


def environment() -> list[str]:
    return sorted(name for name in os.environ if name.startswith("PUBLISHER"))


def write_file(path: str) -> None:
    with open(path, "w") as file:  # noqa: PTH123 - as hostile code would
        file.write("x" * 100_000)
