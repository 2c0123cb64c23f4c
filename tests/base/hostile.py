"""What hostile bytes could make a reader do: tasks for the confined processes."""

import os
import time
from collections.abc import Iterator
from pathlib import Path

from publisher.base.errors import TooLarge, TooMany
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


class Code:
    """What would be run where it is unpickled."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.system, ("true",)


def send_code() -> object:
    return Code()


def change_a_class() -> None:
    """Say `setattr(Limits, "seconds", None)` and `Limits.more = None`, as only bytes can."""
    said = b"cpublisher.base.system.confined\nLimits\n(N}(Vseconds\nNVmore\nNutb."
    confined._packed = lambda value: said


def send_wrong_arguments() -> object:
    return TooMany("later", 5)  # is pickled without its second argument


def environment() -> list[str]:
    return sorted(name for name in os.environ if name.startswith("PUBLISHER"))


def write_file(path: str) -> None:
    with open(path, "w") as file:  # noqa: PTH123 - as hostile code would
        file.write("x" * 100_000)
