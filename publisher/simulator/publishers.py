"""The publishers: what a feed announces over time, by the functions that the live site uses."""

from collections.abc import Callable
from dataclasses import dataclass

from publisher.dynamic_ttl.core.civil import local_second, zone_table
from publisher.dynamic_ttl.core.replay.announcements import DOCUMENT, ETAGS, Announced, publish
from publisher.dynamic_ttl.core.specs import Option, SpecError, known, read_options, split_spec
from publisher.dynamic_ttl.core.ttl.activity import HALF_LIFE_DAYS
from publisher.dynamic_ttl.core.ttl.choice import Workspace, choose, warm_up_minutes, workspace
from publisher.dynamic_ttl.core.ttl.counts import SIZES, SLOTS, History, Past, Tables
from publisher.dynamic_ttl.core.ttl.mixture import START
from publisher.dynamic_ttl.core.ttl.rule import EXACT, WINER, RuleNumbers, TtlRule, numbers
from publisher.simulator.replaying.compiled import (
    arrays,
    as_arrays,
    available,
    specialise,
)
from publisher.simulator.replaying.on_demand import Chooser, Documents, Part, announced
from publisher.simulator.timelines import Timeline

Publisher = Callable[[Timeline], Documents]

HOUR = 3600
KINDS = ("uint32", "int32", "uint32", "uint32")  # of the arrays of `Documents`


def choose_warm_up(history: History, now: int, rule: RuleNumbers, work: Workspace) -> int:
    """The warm-up rule (Winer's) at any time, without prediction."""
    return warm_up_minutes(rule.warm_up, history.past, now)


def choose_constant(history: History, now: int, rule: RuleNumbers, work: Workspace) -> int:
    """The schedule that Winer proposed, taken literally. A bad example: a client that gets 480 late
    at night misses the morning."""
    hour = local_second(history.zone, now) // HOUR % 24
    if 7 <= hour < 14 or 19 <= hour < 22:
        return rule.warm_up[0]
    return rule.warm_up[1] if 14 <= hour < 19 else rule.warm_up[2]


def ruled(label: str, rule: TtlRule, chooser: Chooser, etag: int = DOCUMENT) -> Publisher:
    """The publisher that decides by `chooser` with the settings of `rule`."""
    exact = chooser is choose and rule.freshness == EXACT
    in_numbers = numbers(rule, HALF_LIFE_DAYS)._replace(exact=int(exact))

    def documents(timeline: Timeline) -> Documents:
        first = int(timeline.times[0]) if len(timeline.times) else timeline.end
        zone, times = zone_table(timeline.zone), list(map(int, timeline.times))
        tables = Tables(*([0.0] * size for size in SIZES.values()))
        holes = [edge for hole in timeline.holes for edge in hole]
        history = History(tables, zone, holes, Past(0, first, first, 0), list(START))
        span = timeline.start, timeline.end
        if not available():
            return announced(times, Part(*span, history), in_numbers, chooser, etag)
        hours = (timeline.end - timeline.start) // HOUR + 2
        most = len(times) + hours + len(zone.starts)
        room = (most,) * 2 + (hours * SLOTS + most if exact else 0,) * 2
        said = Announced(*arrays(([0] * size for size in room), KINDS))
        (gaps,) = arrays([holes], ["int64"])
        counts = as_arrays(history)._replace(holes=gaps)
        work = as_arrays(workspace(in_numbers))
        run = specialise(publish, label, choose=chooser)
        number, headers = run(as_arrays(times), *span, counts, as_arrays(in_numbers), work, said)
        parts = zip(said, (number,) * 2 + (headers,) * 2, strict=True)
        return Documents._make([*(part[:size] for part, size in parts), etag])

    return documents


@dataclass(frozen=True)
class Fixed:
    """Always the same ttl, at every feed."""

    minutes: int

    def __call__(self, timeline: Timeline) -> Documents:
        return self.documents(timeline.start)

    def documents(self, start: int) -> Documents:
        """The one document from `start` on."""
        return Documents([start], [self.minutes])


OPTIONS = ["menu", "planner", "profile", "poll-minutes", "freshness", "etag"]


def forward(spec: str) -> Publisher:
    """The live decision with the settings in `spec`, defaults for the rest."""
    options = split_spec(spec)[1]
    if "skip-hours" in options:
        raise SpecError("skip-hours is gone: no reader gained by the hours that it named")
    for key in options:
        known(key, "option of forward", OPTIONS)
    etag = ETAGS[known(options.pop("etag", "renewed"), "etag", ETAGS)]
    try:
        rule = TtlRule.parse(**{key.replace("-", "_"): value for key, value in options.items()})
    except ValueError as error:
        raise SpecError(f"{spec}: {error}") from None
    return ruled("forward", rule, choose, etag)


# Without options: label of the kernel, settings, chooser.
RULED: dict[str, tuple[str, TtlRule, Chooser]] = {
    "warm-up": ("warm_up", TtlRule(), choose_warm_up),
    "winer": ("forward", TtlRule.parse(planner=WINER), choose),
    "winer-constant": ("constant", TtlRule(), choose_constant),
}


def parse_publisher(spec: str) -> Publisher:
    """The publisher that `spec` names."""
    name = known(split_spec(spec)[0], "publisher", ["forward", "fixed", *RULED])
    if name == "forward":
        return forward(spec)
    if name == "fixed":
        (minutes,) = read_options(spec, (Option("minutes", 60, 1, 10080, "ttl", whole=True),))
        return Fixed(int(minutes))
    read_options(spec, ())
    return ruled(*RULED[name])
