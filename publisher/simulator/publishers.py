"""What the feed says and when: a document is built at each update and at each top of the local
hour, from the updates up to then, by the very functions that the live site decides with."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from publisher.core.civil import DAY_SECONDS, hour_end, local_second, zone_table
from publisher.core.specs import Option, SpecError, known, read_options, split_spec
from publisher.core.ttl.activity import HALF_LIFE_DAYS
from publisher.core.ttl.choice import Ahead, Past, Settings, choose, room, warm_up_minutes
from publisher.core.ttl.decision import TtlRule, numbers
from publisher.core.ttl.skip_hours import WATCHED_DAYS, active_bits, quiet_bits
from publisher.core.ttl.tables import SIZES, Tables, decay, knows_enough, record
from publisher.simulator.compiled import available, specialise
from publisher.simulator.timelines import Timeline


class Documents(NamedTuple):
    """From ``built[i]`` on the document says ``ttls[i]`` minutes and asks to skip ``skips[i]``: 24
    bits for hours of UTC, above them 7 for days from Monday on. Equal neighbours are merged."""

    built: NDArray[np.uint32]
    ttls: NDArray[np.int32]
    skips: NDArray[np.int32]


Publisher = Callable[[Timeline], Documents]
Chooser = Callable[..., int]

HOUR = 3600


def publish(  # type: ignore[no-untyped-def]
    times, start, end, zone_starts, zone_offsets, holes, tables, rule, ahead, built, ttls, skips
):
    """Fill `built`, `ttls` and `skips` with the documents from `start` to `end`; how many.

    The names `choose` and `skipped` are bound to the publisher's rules when this is compiled.
    """
    number, as_of, known_updates = 0, 0, 0
    now, first, last = int(start), int(times[0]), int(times[0])
    while now < end:
        while known_updates < len(times) and times[known_updates] <= now:
            at = int(times[known_updates])
            as_of = record(
                tables, zone_starts, zone_offsets, holes,
                as_of, first, last, known_updates, at, rule.half_life,
            )  # fmt: skip
            last = at
            known_updates += 1
        past = Past(as_of, first, last, known_updates)
        ttl = choose(tables, zone_starts, zone_offsets, holes, past, now, rule, ahead)
        skip = skipped(tables, zone_starts, zone_offsets, past, now, rule)
        if number == 0 or ttls[number - 1] != ttl or skips[number - 1] != skip:
            built[number] = now
            ttls[number] = ttl
            skips[number] = skip
            number += 1
        now = hour_end(zone_starts, zone_offsets, now)
        if known_updates < len(times) and times[known_updates] < now:
            now = int(times[known_updates])
    return number


def skipped(
    tables: Tables,
    starts: Sequence[int],
    offsets: Sequence[int],
    past: Past,
    now: int,
    rule: Settings,
) -> int:
    """Nothing."""
    return 0


def learned_skips(
    tables: Tables,
    starts: Sequence[int],
    offsets: Sequence[int],
    past: Past,
    now: int,
    rule: Settings,
) -> int:
    """The quiet hours, by the rule of the live feed."""
    watched = now - past.first >= WATCHED_DAYS * DAY_SECONDS
    if not watched or not knows_enough(past.number, past.first, now):
        return 0
    fading = decay(now - past.as_of, rule.half_life)
    return quiet_bits(active_bits(tables.hours, fading, starts, offsets, now))


def choose_warm_up(
    tables: Tables,
    starts: Sequence[int],
    offsets: Sequence[int],
    holes: Sequence[int],
    past: Past,
    now: int,
    rule: Settings,
    ahead: Ahead,
) -> int:
    """Winer's rule for the first days, for ever."""
    return warm_up_minutes(rule.warm_up, past, now)


def choose_winer(
    tables: Tables,
    starts: Sequence[int],
    offsets: Sequence[int],
    holes: Sequence[int],
    past: Past,
    now: int,
    rule: Settings,
    ahead: Ahead,
) -> int:
    """The schedule that Winer wished for, read literally: a warning, as 480 read late at night
    sleeps through the morning."""
    hour = local_second(starts, offsets, now) // HOUR % 24
    if 7 <= hour < 14 or 19 <= hour < 22:
        return rule.warm_up[0]
    return rule.warm_up[1] if 14 <= hour < 19 else rule.warm_up[2]


def ruled(label: str, rule: TtlRule, chooser: Chooser, skips: Chooser = skipped) -> Publisher:
    """The publisher that decides by `chooser` and `skips` with the settings of `rule`."""
    settings = numbers(rule, HALF_LIFE_DAYS)

    def documents(timeline: Timeline) -> Documents:
        zone = zone_table(timeline.zone)
        hours = (timeline.end - timeline.start) // HOUR + 2
        most = len(timeline.times) + hours + len(zone.starts)
        arguments: list[Any] = [
            timeline.times.astype(np.int64), timeline.start, timeline.end,
            np.array(zone.starts), np.array(zone.offsets), timeline.holes.ravel(),
            _arrays(Tables(*([0.0] * size for size in SIZES))),
            _arrays(settings), _arrays(room(settings, hours=0)),
            np.zeros(most, np.uint32), np.zeros(most, np.int32), np.zeros(most, np.int32),
        ]  # fmt: skip
        run = specialise(publish, label, choose=chooser, skipped=skips)
        if not available():
            arguments = [_plain(argument) for argument in arguments]
        number = run(*arguments)
        built, ttls, skip = (part[:number] for part in arguments[-3:])
        return Documents(
            np.array(built, np.uint32), np.array(ttls, np.int32), np.array(skip, np.int32)
        )

    return documents


def _arrays(values: Any) -> Any:
    """The same named tuple with arrays for its lists and tuples."""
    return type(values)(*(_array(part) for part in values))


def _array(part: Any) -> Any:
    if hasattr(part, "_fields"):
        return _arrays(part)
    return np.array(part) if isinstance(part, list | tuple) else part


def _plain(argument: Any) -> Any:
    """Lists instead of arrays, which plain Python walks faster."""
    if isinstance(argument, np.ndarray):
        return argument.tolist()
    if isinstance(argument, tuple):
        return type(argument)(*(_plain(part) for part in argument))
    return argument


def unskipped(built: NDArray[np.uint32], ttls: NDArray[np.int32]) -> Documents:
    """Documents that ask to skip nothing."""
    return Documents(built, ttls, np.zeros(len(built), np.int32))


def fixed(minutes: int) -> Publisher:
    """Always the same ttl."""

    def documents(timeline: Timeline) -> Documents:
        return unskipped(np.array([timeline.start], np.uint32), np.array([minutes], np.int32))

    return documents


SKIPS = "skip-hours"
SKIP_RULES: dict[str, Chooser] = {"none": skipped, "learned": learned_skips}


def forward(spec: str) -> Publisher:
    """The live decision with its default settings, or those that `spec` names.

    ``skip-hours=learned`` adds the hours that the live feed asks to skip.
    """
    options = split_spec(spec)[1]
    for key in options:
        known(key, "option of forward", ["menu", "planner", "profile", "poll-minutes", SKIPS])
    skips = SKIP_RULES[known(options.pop(SKIPS, "none"), SKIPS, SKIP_RULES)]
    try:
        rule = TtlRule.parse(**{key.replace("-", "_"): value for key, value in options.items()})
    except ValueError as error:
        raise SpecError(f"{spec}: {error}") from None
    return ruled("forward", rule, choose, skips)


def _fixed(spec: str) -> Publisher:
    (minutes,) = read_options(spec, (Option("minutes", 60, 1, 10080, "ttl", whole=True),))
    return fixed(int(minutes))


def _warm_up(spec: str) -> Publisher:
    read_options(spec, ())
    return ruled("warm_up", TtlRule(), choose_warm_up)


def _winer(spec: str) -> Publisher:
    read_options(spec, ())
    return ruled("winer", TtlRule(), choose_winer)


PUBLISHERS: dict[str, Callable[[str], Publisher]] = {
    "forward": forward,
    "fixed": _fixed,
    "warm-up": _warm_up,
    "winer-constant": _winer,
}


def parse_publisher(spec: str) -> Publisher:
    """The publisher that `spec` names."""
    return PUBLISHERS[known(split_spec(spec)[0], "publisher", list(PUBLISHERS))](spec)
