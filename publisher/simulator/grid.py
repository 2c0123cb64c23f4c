"""Replays every timeline with every publisher and every client, in parallel, in a fixed order.

One task is a timeline, or a shard of synthetic feeds, with one publisher and all clients. Tasks run
in threads, as kernels release the GIL; `joblib.parallel_config(backend=...)` around `run` sends
them to processes, `cluster.connected` to a cluster. The results are the same in each case.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, Union

from publisher.dynamic_ttl.core.replay.reader_polls import PHASES
from publisher.simulator.clients import parse_client
from publisher.simulator.publishers import Fixed, parse_publisher
from publisher.simulator.replaying import compiled, plain
from publisher.simulator.replaying.counted import WINDOW, Feeds
from publisher.simulator.replaying.figures import Tally
from publisher.simulator.replaying.on_demand import OnDemand
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


def run(work: Sequence[Task], options: ReplayOptions, jobs: int = 1) -> Iterator[list[Result]]:
    """The results of each task, in the order of `work`, as they become ready."""
    if jobs == 1 or len(work) == 1 or not compiled.available():
        yield from (run_task(task, options) for task in work)
        return
    # Imported here: it takes half of the simulator's start, and a single task does not need it.
    from joblib import Parallel, delayed

    parallel = Parallel(n_jobs=jobs, prefer="threads", return_as="generator")
    yield from parallel(delayed(partial(run_task, options=options))(task) for task in work)


def run_task(task: Task, options: ReplayOptions) -> list[Result]:
    """The results of all clients of one task; clients with the same polls are replayed once."""
    if isinstance(task.feeds, Timeline) and not compiled.available():
        documents = parse_publisher(task.publisher)(task.feeds)
        if isinstance(documents.ttls, OnDemand):
            documents.ttls.decisions.decide_now(every=options.changes)
        laid_out = plain.lay_out(task.feeds, documents)
        tallies = (
            plain.replay(laid_out, parse_client(client), *options[1:]) for client in options.clients
        )
        return [_result(task, *pair) for pair in zip(options.clients, tallies, strict=True)]
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
