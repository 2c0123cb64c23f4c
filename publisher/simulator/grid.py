"""Replays every timeline with every publisher and every client, in parallel, in a fixed order.

One task is a timeline, or a shard of synthetic feeds, with one publisher and all clients. Tasks run
in threads, as kernels release the GIL; `joblib.parallel_config(backend=...)` around `run` sends
them to processes, `cluster.connected` to a cluster. Without numba they run in processes, and so do
the parts of the time of one task. The results are the same in each case.
"""

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from functools import partial
from itertools import chain, groupby
from typing import TYPE_CHECKING, Any, NamedTuple, Union

from publisher.dynamic_ttl.core.replay.reader_polls import PHASES
from publisher.simulator.clients import parse_client
from publisher.simulator.publishers import Fixed, parse_publisher
from publisher.simulator.replaying import compiled, plain
from publisher.simulator.replaying.counted import WINDOW, Feeds
from publisher.simulator.replaying.figures import Tally
from publisher.simulator.replaying.on_demand import PART_SECONDS, OnDemand, decided, spans
from publisher.simulator.timelines import Timeline, scoring_between

if TYPE_CHECKING:
    from publisher.simulator.synthetic import Shard


class Result(NamedTuple):
    """The counts of one kind of client at one timeline with one publisher; specs as typed.

    `source`: index of the timeline among those requested, as names may repeat.
    """

    source: int
    timeline: str
    publisher: str
    client: str
    tally: Tally


class ReplayOptions(NamedTuple):
    """How to replay. clients: specs; phases: clients of each kind at a timeline; window: items in
    the document; seed: of the first polls and the jitter; jitter: per cent of each wait; within:
    seconds in which the clients begin (0: their own first interval); changes: whether to count the
    documents that only changed the ttl, and what readers of the headers are sent of them; for this
    each document has to be decided without numba."""

    clients: tuple[str, ...] = ("ttl",)
    phases: int = PHASES
    window: int = WINDOW
    seed: int = 0
    jitter: int = 0
    within: int = 0
    changes: bool = True


class Task(NamedTuple):
    """A timeline, or a shard of feeds, with one publisher; `source` as in `Result`."""

    source: int
    feeds: "Timeline | Shard"
    publisher: str


FEW = 2  # parts of the time that are not worth a second process

Source = Union[Timeline, "list[Shard]"]
"""What is reported together: a timeline, or many feeds in shards."""


def tasks(sources: Sequence[Source], publishers: Sequence[str]) -> list[Task]:
    """All pairs, timelines first."""
    return [
        Task(place, feeds, publisher)
        for place, source in enumerate(sources)
        for publisher in publishers
        for feeds in (source if isinstance(source, list) else [source])
    ]


def run(
    work: Sequence[Task],
    options: ReplayOptions,
    jobs: int = 1,
    tell: Callable[[float], None] = lambda tasks: None,
) -> Iterator[list[Result]]:
    """The results of each task, in the order of `work`, as they become ready. `tell` is called with
    the number of tasks done, parts of one included."""
    if not compiled.available():
        with _processes(jobs) as workers:
            done = 0
            for _, group in groupby(work, key=lambda task: task.source):
                tasks = list(group)
                yield from _side_by_side(tasks, options, workers, done, tell)
                done += len(tasks)
        return
    for done, results in enumerate(_by_threads(work, options, jobs), 1):
        yield results
        tell(done)


def _by_threads(work: Sequence[Task], options: ReplayOptions, jobs: int) -> Iterator[list[Result]]:
    if jobs == 1 or len(work) == 1:
        yield from (run_task(task, options) for task in work)
        return
    # Imported here: it takes half of the simulator's start, and a single task does not need it.
    from joblib import Parallel, delayed

    parallel = Parallel(n_jobs=jobs, prefer="threads", return_as="generator")
    yield from parallel(delayed(partial(run_task, options=options))(task) for task in work)


@contextmanager
def _processes(jobs: int) -> Iterator[ProcessPoolExecutor]:
    """So many processes, which start with the first call. They end at once with an error or Ctrl-C
    here, and when this process is killed."""
    others = multiprocessing.active_children()
    workers = ProcessPoolExecutor(jobs if jobs > 0 else os.cpu_count(), initializer=_at_work)
    try:
        yield workers
    except BaseException:
        for worker in set(multiprocessing.active_children()).difference(others):
            worker.terminate()
        raise
    finally:
        workers.shutdown(cancel_futures=True)


def _at_work() -> None:
    """Leave Ctrl-C to the process that waits for this one, and end with it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    if parent := multiprocessing.parent_process():
        parent.join()
        os._exit(1)


class _Begun(NamedTuple):
    """A task that processes work on. Without `feeds` its call gives its results, and a task without
    a call is short: it is done in this process. With `feeds` each call decides a part of their
    documents, and their replay follows. expected: how many calls there will be."""

    task: Task
    calls: list["Future[Any]"]
    expected: int
    feeds: Feeds | None = None


def _side_by_side(
    tasks: Sequence[Task],
    options: ReplayOptions,
    workers: ProcessPoolExecutor,
    done: int,
    tell: Callable[[float], None],
) -> Iterator[list[Result]]:
    """The results of each of the `tasks`, which share the processes; `done` were before them."""
    waiting = deque(_begun(task, options, workers) for task in tasks)
    calls = [call for begun in waiting for call in begun.calls]
    expected = sum(begun.expected for begun in waiting)

    def tell_share() -> None:
        tell(done + len(tasks) * sum(call.done() for call in calls) / expected)

    for begun in waiting:
        if begun.feeds is not None:
            for job in begun.feeds.ttls.decisions.jobs(options.changes):
                begun.calls.append(workers.submit(decided, job))
                calls.append(begun.calls[-1])
                tell_share()
    for call in chain([None], as_completed(calls)):
        if call is not None:
            call.result()  # an error ends it all
            tell_share()
        while waiting and all(call.done() for call in waiting[0].calls):
            yield _ended(waiting.popleft(), options)
    tell(done + len(tasks))


def _begun(task: Task, options: ReplayOptions, workers: ProcessPoolExecutor) -> _Begun:
    if isinstance(task.feeds, Timeline):
        if task.feeds.end - task.feeds.start <= FEW * PART_SECONDS:
            return _Begun(task, [], 0)
        feeds = plain.lay_out(task.feeds, parse_publisher(task.publisher)(task.feeds))
        if isinstance(feeds.ttls, OnDemand) and feeds.ttls.decisions.in_parts(options.changes):
            return _Begun(task, [], len(spans(feeds.ttls.decisions.whole)), feeds)
    return _Begun(task, [workers.submit(run_task, task, options)], 1)


def _ended(begun: _Begun, options: ReplayOptions) -> list[Result]:
    task, calls, _, feeds = begun
    if feeds is None:
        return calls[0].result() if calls else run_task(task, options)
    for call in calls:
        feeds.ttls.decisions.add(*call.result())
    return _replayed(task, feeds, options)


def run_task(task: Task, options: ReplayOptions) -> list[Result]:
    """The results of all clients of one task; clients with the same polls are replayed once."""
    if isinstance(task.feeds, Timeline) and not compiled.available():
        feeds = plain.lay_out(task.feeds, parse_publisher(task.publisher)(task.feeds))
        if isinstance(feeds.ttls, OnDemand):
            feeds.ttls.decisions.decide(options.changes)
        return _replayed(task, feeds, options)
    from publisher.simulator.replaying.engine import replay, steady_wait  # late: numpy

    feeds, known, results = prepare(task), dict[int, Tally](), list[Result]()
    for client in options.clients:
        policy = parse_client(client)
        wait = steady_wait(feeds, policy, options.jitter)
        sums = known.get(wait) or replay(feeds, policy, *options[1:])
        if wait:
            known[wait] = sums
        results.append(_result(task, client, sums))
    return results


def _replayed(task: Task, feeds: Feeds, options: ReplayOptions) -> list[Result]:
    """The results of all clients of one feed in lists."""
    tallies = (
        plain.replay(feeds, parse_client(client), *options[1:]) for client in options.clients
    )
    return [_result(task, *pair) for pair in zip(options.clients, tallies, strict=True)]


def _result(task: Task, client: str, sums: Tally) -> Result:
    return Result(task.source, task.feeds.name, task.publisher, client, sums)


def prepare(task: Task) -> Feeds:
    """The feeds of `task` in arrays, laid out with their documents and scoring."""
    from publisher.simulator.replaying.engine import lay_out, lay_out_alike, one_feed

    publisher = parse_publisher(task.publisher)
    if isinstance(task.feeds, Timeline):
        return one_feed(task.feeds, publisher(task.feeds))
    scored = scoring_between(*task.feeds.span)
    if isinstance(publisher, Fixed):
        fixed = publisher.documents(task.feeds.span[0])
        return lay_out_alike(task.feeds.names, *task.feeds.feeds(), fixed, scored, task.feeds.span)
    lines = task.feeds.timelines()
    return lay_out(lines, [publisher(line) for line in lines], [scored] * len(lines))


def merged(parts: Sequence[Result]) -> list[Result]:
    """`parts` with those of the same source, publisher and client added up, in first-seen order."""
    sums: dict[tuple[int, str, str], Result] = {}
    for part in parts:
        key = (part.source, part.publisher, part.client)
        known = sums.get(key)
        sums[key] = part if known is None else part._replace(tally=known.tally + part.tally)
    return list(sums.values())
