"""Every timeline under every publisher with every client, in parallel, in a fixed order.

One task is a timeline under a publisher with all clients. Tasks run in threads, which is enough as
kernels hold no lock; `joblib.parallel_config(backend=...)` around `run` sends them to processes or
to a cluster. The results do not depend on any of this.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from joblib import Parallel, delayed

from publisher.simulator.clients import parse_client
from publisher.simulator.engine import PHASES, WINDOW, batch, replay
from publisher.simulator.metrics import Figures, Tally, figures
from publisher.simulator.publishers import parse_publisher
from publisher.simulator.timelines import Timeline


@dataclass(frozen=True)
class Result:
    """What clients of one kind saw of one timeline under one publisher; specs as typed."""

    timeline: str
    publisher: str
    client: str
    figures: Figures
    tally: Tally


@dataclass(frozen=True)
class Plan:
    """How to replay: clients per timeline, items in the document, seed of the first polls."""

    clients: tuple[str, ...] = ("ttl",)
    phases: int = PHASES
    window: int = WINDOW
    seed: int = 0


Task = tuple[Timeline, str]


def tasks(timelines: Sequence[Timeline], publishers: Sequence[str]) -> list[Task]:
    """All pairs, timelines first."""
    return [(timeline, publisher) for timeline in timelines for publisher in publishers]


def run(work: Sequence[Task], plan: Plan, jobs: int = 1) -> Iterator[list[Result]]:
    """The results of each task, in the order of `work`, as they become ready."""
    if jobs == 1:
        yield from (run_task(task, plan) for task in work)
        return
    parallel = Parallel(n_jobs=jobs, prefer="threads", return_as="generator")
    yield from parallel(delayed(partial(run_task, plan=plan))(task) for task in work)


def run_task(task: Task, plan: Plan) -> list[Result]:
    """All clients of one timeline under one publisher."""
    timeline, publisher = task
    feeds = batch([timeline], [parse_publisher(publisher)(timeline)])
    results = []
    for client in plan.clients:
        sums = replay(feeds, parse_client(client), plan.phases, plan.window, plan.seed)
        found = figures(sums, plan.window)
        results.append(Result(timeline.name, publisher, client, found, sums))
    return results
