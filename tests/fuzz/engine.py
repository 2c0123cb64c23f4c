"""Runs inputs against a target and says, so that it can be repeated, what went wrong."""

import random
import time
from collections.abc import Iterator

from tests.fuzz.mutations import mutated
from tests.fuzz.targets import Target

LONGEST_SECONDS = 1.0  # of this thread's processor time: the machine may be busy
TRIES = 3  # the interpreter may collect its garbage within one of them: over a second in a big heap


class Fell(AssertionError):
    """An input that broke its reader, or held it up."""


def run(name: str, target: Target, seed: int) -> Iterator[bytes]:
    """For ever: one input after the other, each yielded after it was read well. Raises Fell."""
    rng = random.Random(f"{name}:{seed}")
    for number, sample in enumerate(target.samples):
        _read(target, sample, f"{name}, sample {number}")  # untimed: it may load modules
    count = 0
    while True:
        data = mutated(target.samples, rng)
        count += 1
        _try(target, data, f"{name}, seed {seed}, input {count}")
        yield data


def _read(target: Target, data: bytes, where: str) -> None:
    try:
        target.read(data)
    except Exception as error:
        raise Fell(f"{where}: {error!r:.500}\n{data!r}") from error


def _try(target: Target, data: bytes, where: str) -> None:
    for _ in range(TRIES):
        begun = time.thread_time()
        _read(target, data, where)
        seconds = time.thread_time() - begun
        if seconds <= LONGEST_SECONDS:
            return
    raise Fell(f"{where}: {seconds:.1f} s, {TRIES} times\n{data!r}")
