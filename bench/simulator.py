"""The simulator: polls a second, a hundred thousand made-up feeds, the real timelines, start-up.

Baselines in the same run: the same kernel as plain Python, and SimPy with a process per client.
Speeds of one core are by processor time, so that a busy machine does not change them much.
"""

import os
import resource
import subprocess
import sys
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import simpy

from publisher.dynamic_ttl.core.polling.fixed import every as stay
from publisher.dynamic_ttl.core.polling.hints import decide as obey
from publisher.dynamic_ttl.core.polling.policy import State
from publisher.simulator import grid, synthetic
from publisher.simulator.clients import parse_client
from publisher.simulator.publishers import parse_publisher
from publisher.simulator.replaying import compiled, counted, engine
from publisher.simulator.replaying.figures import Tally
from publisher.simulator.timelines import SIDE_TABLES, Timeline, cut, read_timeline

CORES = 2
PER_DAY = 1.5
PER_WEEK = 1 / 7
TEN = ("ttl", "fixed:60", "miniflux", "max-age", "weekly-average", "doubling", "delay-skip",
       "cho-changes", "cho-nochanges", "adaptive")  # fmt: skip
GRID_PUBLISHERS = ("forward", "fixed:60", "warm-up", "winer-constant")
TIMELINES = Path(os.environ.get("TIMELINES", Path(__file__).parents[2] / "shared" / "timelines"))


def run() -> None:
    """Measure everything."""
    print(f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}")
    for rate, name in ((PER_DAY, "1.5 updates a day"), (PER_WEEK, "one update a week")):
        polls(rate, name)
    one_by_one()
    many_feeds()
    real_timelines()
    start_up()


def shard(rate: float, feeds: int) -> synthetic.Shard:
    """Made-up feeds over a year."""
    kind = synthetic.parse_synthetic(f"poisson:rate={rate}")
    return synthetic.shards(kind, feeds, 365, "UTC", 1, feeds)[0]


def best(
    work: Callable[[], Any], times: int = 5, clock: Callable[[], float] = process_time
) -> tuple[float, Any]:
    """The shortest of several runs in seconds of `clock`, and what the last one returned."""
    shortest, result = float("inf"), None
    for _ in range(times):
        begin = clock()
        result = work()
        shortest = min(shortest, clock() - begin)
    return shortest, result


def polls(rate: float, name: str) -> None:
    """The ttl client against the warm-up rule for a year: compiled, plain and SimPy."""
    policy = parse_client("ttl")
    batches = [grid.prepare(grid.Task(0, shard(rate, 3000), "warm-up"))] * CORES

    def replay(feeds: counted.Feeds) -> Tally:
        return engine.replay(feeds, policy, 1)

    replay(batches[0])
    single, sums = best(lambda: replay(batches[0]))
    with ThreadPoolExecutor(CORES) as pool:
        both, _ = best(lambda: list(pool.map(replay, batches)), 5, perf_counter)
    real, steps = int(sums.counts[counted.REAL]), int(sums.counts[counted.STEPS])
    updates = len(batches[0].times) - len(batches[0].ids)
    print(f"\nttl client, warm-up rule, {name}, one year:")
    print(
        f"  numba, 1 core    {steps / single / 1e6:8.1f} M polls/s   "
        f"({real / single / 1e6:.1f} M carried out, {single / updates * 1e9:.0f} ns an update)"
    )
    print(
        f"  numba, {CORES} cores   {CORES * steps / both / 1e6:8.1f} M polls/s   "
        f"({CORES * real / both / 1e6:.1f} M carried out)"
    )
    plain, plain_steps = plainly(rate)
    print(
        f"  plain Python     {plain_steps / plain / 1e6:8.2f} M polls/s   "
        f"(1 core is {steps / single / (plain_steps / plain):.0f} times as fast)"
    )
    slow, slow_steps = with_simpy(rate)
    print(
        f"  SimPy            {slow_steps / slow / 1e6:8.2f} M polls/s   "
        f"({steps / single / (slow_steps / slow):.0f} times)"
    )


def one_by_one() -> None:
    """Memoryless clients that may not skip polls: each poll is carried out, the sums are equal."""
    print("\nno poll skipped, one core, warm-up rule:")
    for client in ("ttl", "fixed:60", "fixed:15"):
        policy = parse_client(client)
        rule = replace(policy.rule, decide=AT_ONCE[policy.name])
        for rate, name in ((PER_DAY, "1.5 updates a day"), (PER_WEEK, "one update a week")):
            feeds = grid.prepare(grid.Task(0, shard(rate, 3000), "warm-up"))
            work = partial(engine.replay, feeds, replace(policy, rule=rule), 1)
            work()
            seconds, sums = best(work, 25)
            real = int(sums.counts[counted.REAL])
            print(f"  {client:8s} {name}: {real / seconds / 1e6:6.1f} M polls/s")


def obey_at_once(state: State, options: Sequence[float], now: int) -> tuple[int, int, int]:
    """What `ttl` decides, for this poll only."""
    wait, _, reason = obey(state, options, now)
    return wait, now, reason


def stay_at_once(state: State, options: Sequence[float], now: int) -> tuple[int, int, int]:
    """What `fixed` decides, for this poll only."""
    wait, _, reason = stay(state, options, now)
    return wait, now, reason


AT_ONCE = {"ttl": obey_at_once, "fixed": stay_at_once}


def plainly(rate: float) -> tuple[float, int]:
    """Seconds and polls of the same kernel without numba."""
    feeds = grid.prepare(grid.Task(0, shard(rate, 30), "warm-up"))
    available = compiled.available
    compiled.available = lambda: False  # type: ignore[assignment]
    compiled._specialised.cache_clear()
    compiled.rule.cache_clear()
    try:
        seconds, sums = best(lambda: engine.replay(feeds, parse_client("ttl"), 1), 3)
    finally:
        compiled.available = available
        compiled._specialised.cache_clear()
        compiled.rule.cache_clear()
    return seconds, int(sums.counts[counted.STEPS])


def with_simpy(rate: float) -> tuple[float, int]:
    """Seconds and polls of SimPy with a process per client: poll, read the ttl, sleep."""
    lines = shard(rate, 30).timelines()
    documents = [parse_publisher("warm-up")(line) for line in lines]
    done = [0]

    def client(
        clock: simpy.Environment, line: Timeline, built: list[int], ttls: list[int]
    ) -> Generator[simpy.Event, Any, None]:
        times, seen, document = list(line.times), 0, 0
        delay: float = 0
        while True:
            now = line.start + clock.now
            while document + 1 < len(built) and built[document + 1] <= now:
                document += 1
            while seen < len(times) and times[seen] <= now:
                delay += now - times[seen]
                seen += 1
            done[0] += 1
            yield clock.timeout(ttls[document] * 60)

    def replay() -> None:
        done[0] = 0
        clock = simpy.Environment()
        for line, made in zip(lines, documents, strict=True):
            clock.process(client(clock, line, made.built.tolist(), made.ttls.tolist()))
        clock.run(until=lines[0].end - lines[0].start)

    seconds, _ = best(replay, 2)
    return seconds, done[0]


MANY = """
from bench import simulator
simulator.hundred_thousand()
"""


def many_feeds() -> None:
    """100,000 made-up feeds, a year, ten clients: in a process of its own, for its memory."""
    print(
        "\n100,000 made-up feeds, 1.5 updates a day, one year, ten clients, two jobs:", flush=True
    )
    subprocess.run([sys.executable, "-c", MANY], check=True)
    few_feeds()


def few_feeds() -> None:
    """The same with 600 feeds: the least of many short runs, hardly slowed by other work."""
    options, feeds = grid.ReplayOptions(TEN, phases=1), shard(PER_DAY, 600)
    task = grid.Task(0, feeds, "fixed:60")
    updates = len(grid.prepare(task).times) - 600
    grid.run_task(task, options)
    seconds, _ = best(lambda: grid.run_task(task, options), 40)
    print(
        f"  600 of them, the least of 40 runs: {seconds / updates * 1e9:.0f} ns an update, "
        f"{seconds / 600 * 100_000:.1f} s of processor time for 100,000"
    )


def hundred_thousand() -> None:
    """Generate, replay and sum 100,000 feeds; print seconds and peak memory."""
    options = grid.ReplayOptions(TEN, phases=1)
    kind = synthetic.parse_synthetic(f"poisson:rate={PER_DAY}")

    def replay(feeds: int) -> tuple[float, float]:
        work = grid.tasks([synthetic.shards(kind, feeds, 365, "UTC", 1)], ["fixed:60"])
        begin, spent = perf_counter(), process_time()
        grid.merged([part for results in grid.run(work, options, CORES) for part in results])
        return perf_counter() - begin, process_time() - spent

    cold, _ = replay(10)
    warm, spent = replay(100_000)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"  {warm:.1f} s ({spent:.1f} s of processor time), largest memory {memory:.0f} MB; "
        f"loading the kernels took {cold:.1f} s"
    )


def real_timelines() -> None:
    """All real timelines, at most their last 1,500 days, under all publishers, ttl client."""
    if not TIMELINES.is_dir():
        print(f"\nreal timelines: none at {TIMELINES} (set TIMELINES)")
        return
    paths = [path for path in sorted(TIMELINES.glob("*.csv")) if path.name not in SIDE_TABLES]
    names = [name for name in GRID_PUBLISHERS if _known(name)]
    grid.run_task(
        grid.Task(0, cut(read_timeline(paths[0]), last_days=200), "forward"), grid.ReplayOptions()
    )
    for publishers in ([names[0]], names):
        begin, spent = perf_counter(), process_time()
        lines = [cut(read_timeline(path), last_days=1500) for path in paths]
        work = grid.tasks(lines, publishers)
        rows = sum(len(results) for results in grid.run(work, grid.ReplayOptions(), CORES))
        print(
            f"\n{len(lines)} real timelines x {', '.join(publishers)} x ttl, 16 phases: "
            f"{perf_counter() - begin:.1f} s ({process_time() - spent:.1f} s of processor time, "
            f"{rows} rows)",
            flush=True,
        )


def _known(publisher: str) -> bool:
    try:
        parse_publisher(publisher)
    except ValueError:
        return False
    return True


HELP = "import runpy, sys; sys.argv = ['publisher', '--help']; runpy.run_module('publisher')"


def start_up() -> None:
    """What the simulator adds to `publisher --help` (nothing) and to its own start."""
    print()
    starts = {
        "python": "pass",
        "publisher --help": HELP,
        "import the simulator": "import publisher.simulator.grid",
        "import numba": "import numba",
    }
    for name, code in starts.items():
        command = [sys.executable, "-c", code]
        seconds, _ = best(partial(subprocess.run, command, capture_output=True), 5, perf_counter)
        print(f"  {name:22s} {seconds:.2f} s")
