"""A pool of processes in which a stranger's bytes are read: limited in time, CPU and memory.

`read(task, ...)` calls a function of this program in such a process and returns its result;
`stream(task, ...)` calls a generator there and yields its values one by one. Any failure in there
(a hang, gigabytes, a crash of a C library) becomes one `Unreadable`, and the process is replaced;
the caller's process is not affected. The processes are started when they are first needed, by exec
and never by fork, and reused. They inherit no environment variables. A result is read as the type
that the task's annotation names here (see `plain_values`): a process that was taken over can send
nothing but values.

Arguments and results are copied: a task has no access to the database, to open files or to the
state of its module in the caller's process.
"""

import atexit
import os
import pickle
import queue
import resource
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import GeneratorType
from typing import Any, ParamSpec, TypeVar, get_args, get_origin, get_type_hints

from publisher.base.errors import InvalidData, PublisherError, StorageUnavailable
from publisher.base.system.plain_values import from_bytes, to_bytes

P = ParamSpec("P")
R = TypeVar("R")

SIZE = 2
MEMORY_BYTES = 1536 * 1024 * 1024  # of each process
START_SECONDS, WAIT_SECONDS = 60.0, 60.0
LONGEST_ANSWER = 256 * 1024 * 1024
TASKS_PER_PROCESS = 2_000
QUESTION, STARTED, PART, END = b"q", b"s", b"p", b"e"
ANSWER, REFUSAL, FAILURE = b"a", b"r", b"f"
BUFFER = 65_536
HEADER = struct.Struct("!cQ")
OPEN_FILES = 64  # at most, of each process
_CHILD = (
    "import sys; from publisher.base.system import confined; "
    "confined.serve(*map(int, sys.argv[1:]))"
)


class Unreadable(InvalidData):
    """A stranger's bytes that could not be read within the limits, or made the parser fail."""


@dataclass(frozen=True)
class Limits:
    """The limit of one task, or of each value of a stream, in seconds: real time and CPU time.

    `quick` tasks have a pool of their own: a preview while typing waits for no picture upload.
    """

    seconds: float = 10.0
    quick: bool = False


@cache
def _result_of(task: Callable[..., Any]) -> Any:
    """The type that a task returns, or whose values it yields."""
    kind = get_type_hints(task)["return"]
    return get_args(kind)[0] if get_origin(kind) is Iterator else kind


class _Process:
    """One process and the socket to it; one task at a time."""

    def __init__(self, memory_bytes: int) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            root = str(Path(__file__).parents[3])
            number = str(theirs.fileno())
            self._child = subprocess.Popen(
                [sys.executable, "-c", _CHILD, number, str(memory_bytes)],
                env={"PATH": os.defpath, "PYTHONPATH": root},
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        self._socket = ours
        self._held = bytearray()
        self._modules: set[str] = set()
        self.tasks = 0

    def start(self, task: Callable[..., Any], *arguments: Any, seconds: float) -> None:
        """Start a task; `result` returns what it gives."""
        self.tasks += 1
        fresh = task.__module__ not in self._modules
        question = (task, seconds, fresh, arguments)  # the function goes by its name
        body = pickle.dumps(question, pickle.HIGHEST_PROTOCOL)
        self._socket.settimeout(START_SECONDS)
        self._socket.sendall(HEADER.pack(QUESTION, len(body)) + body)
        if fresh:  # the task's time limit counts from when its module has been imported
            self._receive(time.monotonic() + START_SECONDS)
            self._modules.add(task.__module__)

    def result(self, seconds: float, kind_of_value: Any) -> tuple[bytes, Any]:
        """PART and the next value of a generator, or ANSWER and what the task returned.

        After a generator's last value: END and None. Raises the PublisherError that the task
        raised, or Unreadable.
        """
        kind, answer = self._receive(time.monotonic() + seconds)
        if kind == FAILURE:
            raise Unreadable(f"cannot be read: {answer.decode('utf-8', 'replace')[:200]}")
        if kind == END:
            return kind, None
        try:
            value = from_bytes(answer, PublisherError if kind == REFUSAL else kind_of_value)
        except ValueError as error:
            raise Unreadable("cannot be read: it made its reader crash") from error
        if kind == REFUSAL:
            raise value
        return kind, value

    def _receive(self, until: float) -> tuple[bytes, bytes]:
        kind, length = HEADER.unpack(self._exactly(HEADER.size, until))
        if length > LONGEST_ANSWER:
            raise EOFError("the answer is too long")
        return kind, self._exactly(length, until)

    def _exactly(self, length: int, until: float) -> bytes:
        while len(self._held) < length:
            self._socket.settimeout(max(until - time.monotonic(), 0.001))
            part = self._socket.recv(BUFFER)
            if not part:
                raise EOFError("the process ended")
            self._held += part
        data = bytes(self._held[:length])
        del self._held[:length]
        return data

    def end(self) -> None:
        """Kill the process, whatever it does."""
        self._socket.close()
        self._child.kill()
        self._child.wait()


@contextmanager
def _as_unreadable() -> Iterator[None]:
    try:
        yield
    except TimeoutError as error:
        raise Unreadable("cannot be read: it took too long") from error
    except (OSError, EOFError) as error:
        raise Unreadable("cannot be read: it needs too much memory or time") from error


class Pool:
    """At most `size` processes, shared by all threads of this one."""

    def __init__(self, size: int = SIZE, memory_bytes: int = MEMORY_BYTES) -> None:
        self._free: queue.LifoQueue[_Process | None] = queue.LifoQueue()
        self._memory_bytes = memory_bytes
        for _ in range(size):
            self._free.put(None)  # an empty place: its process is started when it is needed
        self._size = size
        atexit.register(self.close)

    def call(self, task: Callable[P, R], seconds: float, *args: P.args, **kwargs: P.kwargs) -> R:
        """`task(*args, **kwargs)` in one of the processes, within `seconds`."""
        with self._process() as process, _as_unreadable():
            process.start(task, args, kwargs, seconds=seconds)
            answer: R = process.result(seconds, _result_of(task))[1]
            return answer

    def stream(
        self, task: Callable[P, Iterator[R]], seconds: float, *args: P.args, **kwargs: P.kwargs
    ) -> Iterator[R]:
        """What the generator `task(*args, **kwargs)` yields, each value within `seconds`."""
        with self._process() as process, _as_unreadable():
            process.start(task, args, kwargs, seconds=seconds)
            while True:
                kind, value = process.result(seconds, _result_of(task))
                if kind != PART:
                    return
                yield value

    @contextmanager
    def _process(self) -> Iterator[_Process]:
        """A process for one task; it is ended after a failure or after TASKS_PER_PROCESS tasks."""
        try:
            process = self._free.get(timeout=WAIT_SECONDS)
        except queue.Empty as error:
            raise StorageUnavailable("the server is busy reading other files; try again") from error
        reusable = None
        try:
            process = process or _Process(self._memory_bytes)
            yield process
            reusable = process
        except PublisherError as error:
            reusable = None if isinstance(error, Unreadable) else process
            raise
        finally:
            if process is not None and (reusable is None or process.tasks >= TASKS_PER_PROCESS):
                process.end()
                reusable = None
            self._free.put(reusable)

    def close(self) -> None:
        """End the idle processes."""
        for _ in range(self._size):
            try:
                process = self._free.get_nowait()
            except queue.Empty:
                return
            if process is not None:
                process.end()
        for _ in range(self._size):
            self._free.put(None)


_lock = threading.Lock()
_pools: dict[tuple[int, bool], Pool] = {}


def pool(quick: bool = False) -> Pool:
    """The pool of this process; a forked child has one of its own."""
    with _lock:
        key = os.getpid(), quick
        if key not in _pools:
            _pools[key] = Pool()
        return _pools[key]


def read(task: Callable[P, R], limits: Limits, *args: P.args, **kwargs: P.kwargs) -> R:
    """`task(*args, **kwargs)`, a function of a module, in a confined process.

    Raises the PublisherError that the task raised, and Unreadable for any other failure.
    """
    return pool(limits.quick).call(task, limits.seconds, *args, **kwargs)


def stream(
    task: Callable[P, Iterator[R]], limits: Limits, *args: P.args, **kwargs: P.kwargs
) -> Iterator[R]:
    """What the generator `task(*args, **kwargs)` yields in a confined process; raises as `read`.

    The generator runs only as fast as its values are taken here.
    """
    return pool(limits.quick).stream(task, limits.seconds, *args, **kwargs)


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Raise InvalidData within this part of a task when it takes longer, so that one text of many
    does not use up the time of all; for Python's own work, in a process's first thread."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(*_: object) -> None:
        raise InvalidData("it takes too long to read")

    former = signal.signal(signal.SIGALRM, stop)
    # Again each second, should a library have taken the first for an error of its own.
    signal.setitimer(signal.ITIMER_REAL, seconds, 1.0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, former)


def serve(number: int, memory_bytes: int) -> None:
    """Run the tasks that come from the socket `number`, until it is closed; in a confined process.

    The kernel enforces the limits.
    """
    with suppress(OSError):  # where memory runs out, Linux ends this process before all others
        Path("/proc/self/oom_score_adj").write_text("800")
    _limit(resource.RLIMIT_AS, memory_bytes)
    _limit(resource.RLIMIT_FSIZE, 0)
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_NOFILE, OPEN_FILES)
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
        result = task(*args, **kwargs)
        if isinstance(result, GeneratorType):
            for part in result:
                yield PART, to_bytes(part)
            yield END, b""
            return
        yield ANSWER, to_bytes(result)
    except PublisherError as error:
        yield REFUSAL, to_bytes(error)
    except MemoryError:
        yield FAILURE, b"it needs too much memory"
    except RecursionError:
        yield FAILURE, b"it is nested too deeply"
    except Exception as error:  # libraries raise nearly anything over damaged bytes
        yield FAILURE, f"it is damaged ({type(error).__name__})".encode()


def _send(asker: socket.socket, kind: bytes, body: bytes) -> None:
    asker.sendall(HEADER.pack(kind, len(body)) + body)


def _limit(what: int, most: int) -> None:
    resource.setrlimit(what, (most, most))


def _limit_processor(seconds: float) -> None:
    """Allow `seconds` of CPU time from now on (rounded up); then the kernel ends this process."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    until = int(used.ru_utime + used.ru_stime + seconds) + 2
    resource.setrlimit(resource.RLIMIT_CPU, (until, resource.RLIM_INFINITY))
