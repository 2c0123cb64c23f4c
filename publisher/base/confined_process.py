"""What runs in a confined process: tasks from a socket, until it is closed (see `confined`)."""

import pickle
import resource
import socket
import sys
from collections.abc import Iterator
from types import GeneratorType
from typing import Any

from publisher.base.confined import (
    ANSWER,
    FAILURE,
    HEADER,
    PART,
    REFUSAL,
    STARTED,
)
from publisher.base.errors import PublisherError

FILES = 64


def main(number: int, memory_bytes: int) -> None:
    """Run the tasks that come from the socket `number`, under limits that the kernel enforces."""
    _limit(resource.RLIMIT_AS, memory_bytes)
    _limit(resource.RLIMIT_FSIZE, 0)
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_NOFILE, FILES)
    with socket.socket(fileno=number) as asker, asker.makefile("rb") as stream:
        while header := stream.read(HEADER.size):
            question = stream.read(HEADER.unpack(header)[1])
            # From our own parent, never from outside.
            task, seconds, fresh, arguments = pickle.loads(question)  # noqa: S301  # nosec B301
            if fresh:
                _send(asker, STARTED, b"")
            del question
            _limit_processor(seconds)
            for kind, body in _answers(task, *arguments):
                _send(asker, kind, body)
                if kind == PART:
                    _limit_processor(seconds)


def _answers(task: Any, args: Any, kwargs: Any) -> Iterator[tuple[bytes, bytes]]:
    """The messages to send: one for each value of a generator, then the result or the failure."""
    try:
        found = task(*args, **kwargs)
        if isinstance(found, GeneratorType):
            for part in found:
                yield PART, _packed(part)
            found = None
        yield ANSWER, _packed(found)
    except PublisherError as error:
        error.__cause__ = error.__context__ = None
        yield REFUSAL, _packed(error)
    except MemoryError:
        yield FAILURE, b"it needs too much memory"
    except RecursionError:
        yield FAILURE, b"it is nested too deeply"
    except Exception as error:  # libraries raise nearly anything over damaged bytes
        yield FAILURE, f"it is damaged ({type(error).__name__})".encode()


def _packed(value: Any) -> bytes:
    return pickle.dumps(value, pickle.HIGHEST_PROTOCOL)


def _send(asker: socket.socket, kind: bytes, body: bytes) -> None:
    asker.sendall(HEADER.pack(kind, len(body)) + body)


def _limit(what: int, most: int) -> None:
    resource.setrlimit(what, (most, most))


def _limit_processor(seconds: float) -> None:
    """Allow `seconds` of CPU time from now on (rounded up); then the kernel ends this process."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    until = int(used.ru_utime + used.ru_stime + seconds) + 2
    resource.setrlimit(resource.RLIMIT_CPU, (until, resource.RLIM_INFINITY))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
