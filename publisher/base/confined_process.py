"""What runs in a confined process: tasks from a socket, until it is closed (see `confined`)."""

import pickle
import resource
import socket
import sys
from typing import Any

from publisher.base.confined import (
    ANSWER,
    FAILURE,
    HEADER,
    REFUSAL,
    STARTED,
)
from publisher.base.errors import PublisherError

FILES = 64


def main(number: int, memory_bytes: int) -> None:
    """Serve the socket with this number; what is asked for without end is stopped by the kernel."""
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
            _limit_processor(seconds)
            _send(asker, *_answer(task, *arguments))


def _answer(task: Any, args: Any, kwargs: Any) -> tuple[bytes, bytes]:
    try:
        return ANSWER, pickle.dumps(task(*args, **kwargs), pickle.HIGHEST_PROTOCOL)
    except PublisherError as error:
        error.__cause__ = error.__context__ = None
        return REFUSAL, pickle.dumps(error, pickle.HIGHEST_PROTOCOL)
    except MemoryError:
        return FAILURE, b"it needs too much memory"
    except RecursionError:
        return FAILURE, b"it is nested too deeply"
    except Exception as error:  # libraries raise nearly anything over damaged bytes
        return FAILURE, f"it is damaged ({type(error).__name__})".encode()


def _send(asker: socket.socket, kind: bytes, body: bytes) -> None:
    asker.sendall(HEADER.pack(kind, len(body)) + body)


def _limit(what: int, most: int) -> None:
    resource.setrlimit(what, (most, most))


def _limit_processor(seconds: float) -> None:
    """From now on so many seconds of the processor; beyond them the kernel ends this process."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    until = int(used.ru_utime + used.ru_stime + seconds) + 2
    resource.setrlimit(resource.RLIMIT_CPU, (until, resource.RLIM_INFINITY))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
