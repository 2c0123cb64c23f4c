"""What the feed says and when: a document is built at each update and at each top of the local
hour, from the updates up to then, by the very functions that the live site decides with."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from publisher.core.civil import DAY_SECONDS, hour_end, hour_start, local_second, zone_table
from publisher.core.specs import Option, SpecError, known, read_options, split_spec
from publisher.core.ttl.activity import HALF_LIFE_DAYS
from publisher.core.ttl.choice import Workspace, choose, warm_up_minutes, workspace
from publisher.core.ttl.counts import SIZES, History, Past, Tables
from publisher.core.ttl.forecast import STEP_SECONDS
from publisher.core.ttl.freshness import SLOTS, slot_of
from publisher.core.ttl.harmless_hours import harmless_bits, week_start
from publisher.core.ttl.mixture import START, after
from publisher.core.ttl.rule import EXACT, RuleNumbers, TtlRule, numbers
from publisher.core.ttl.skip_hours import WATCHED_DAYS, WATCHED_UPDATES, active_bits, quiet_bits
from publisher.simulator.compiled import as_arrays, as_lists, available, specialise
from publisher.simulator.responses import DOCUMENT, QUIET, RENEWED
from publisher.simulator.timelines import Timeline


class Documents(NamedTuple):
    """From ``built[i]`` on the document says ``ttls[i]`` minutes and asks to skip ``skips[i]``: 24
    bits for hours of UTC, above them 7 for days from Monday on. Equal neighbours are merged.

    A copy fetched from ``begins[i]`` on is good until ``expiries[i]``, as the headers say; they are
    empty where the headers say what the document says. `etag`: see `responses`."""

    built: NDArray[np.uint32]
    ttls: NDArray[np.int32]
    skips: NDArray[np.int32]
    begins: NDArray[np.uint32]
    expiries: NDArray[np.uint32]
    etag: int = DOCUMENT


Publisher = Callable[[Timeline], Documents]
Chooser = Callable[..., int]

HOUR = 3600


def publish(  # type: ignore[no-untyped-def]
    times, start, end, history, rule, work, documents
):
    """Fill `documents` with those from `start` to `end`; returns how many, and how many headers.

    The names `choose`, `skipped` and `weekly` are bound to the publisher's rules when compiled.
    """
    built, ttls, skips = documents.built, documents.ttls, documents.skips
    number, headers, now, week, harmless = 0, 0, int(start), -1, 0
    while now < end:
        while history.past.number < len(times) and times[history.past.number] <= now:
            history = after(history, int(times[history.past.number]), rule.half_life)
        ttl = choose(history, now, rule, work)
        begun = week_start(history.zone, now)
        if begun != week:
            week, harmless = begun, weekly(times, begun, rule.warm_up)
        skip = skipped(history, now, rule) & harmless
        if number == 0 or ttls[number - 1] != ttl or skips[number - 1] != skip:
            built[number] = now
            ttls[number] = ttl
            skips[number] = skip
            number += 1
        begin, now = now, hour_end(history.zone, now)
        known = history.past.number
        if known < len(times) and times[known] < now:
            now = int(times[known])
        if len(documents.begins) > 0:
            headers = head(history, begin, now, work.header.expiries, documents, headers)
    return number, headers


def head(
    history: History,
    begin: int,
    end: int,
    expiries: Sequence[int],
    documents: Documents,
    number: int,
) -> int:
    """Append what the headers say from `begin` to `end`, within an hour; how many there are."""
    top, at = hour_start(history.zone, begin), begin
    for slot in range(slot_of(history, begin), SLOTS):
        if at < end:
            documents.begins[number] = at
            documents.expiries[number] = expiries[slot]
            number += 1
            at = top + (slot + 1) * STEP_SECONDS
    return number


def skipped(history: History, now: int, rule: RuleNumbers) -> int:
    """Nothing."""
    return 0


def weekly(times: Sequence[int], week: int, ttls: Sequence[int]) -> int:
    """No hours."""
    return 0


def learned_skips(history: History, now: int, rule: RuleNumbers) -> int:
    """The quiet hours, by the rule of the live feed."""
    watched = now - history.past.first >= WATCHED_DAYS * DAY_SECONDS
    if not watched or history.past.number < WATCHED_UPDATES:
        return 0
    return quiet_bits(active_bits(history, now, rule.half_life))


def choose_warm_up(history: History, now: int, rule: RuleNumbers, work: Workspace) -> int:
    """Winer's rule for the first days, for ever."""
    return warm_up_minutes(rule.warm_up, history.past, now)


def choose_winer(history: History, now: int, rule: RuleNumbers, work: Workspace) -> int:
    """The schedule that Winer wished for, read literally: a warning, as 480 read late at night
    sleeps through the morning."""
    hour = local_second(history.zone, now) // HOUR % 24
    if 7 <= hour < 14 or 19 <= hour < 22:
        return rule.warm_up[0]
    return rule.warm_up[1] if 14 <= hour < 19 else rule.warm_up[2]


def ruled(
    label: str,
    rule: TtlRule,
    chooser: Chooser,
    etag: int = DOCUMENT,
    skips: tuple[Chooser, Chooser] = (skipped, weekly),
) -> Publisher:
    """The publisher that decides by `chooser` with the settings of `rule`, and names the hours of
    `skips`: by the document and by the week."""
    exact = chooser is choose and rule.freshness == EXACT
    in_numbers = numbers(rule, HALF_LIFE_DAYS)

    def documents(timeline: Timeline) -> Documents:
        zone, first = zone_table(timeline.zone), int(timeline.times[0])
        holes: Any = timeline.holes.ravel()
        hours = (timeline.end - timeline.start) // HOUR + 2
        most = len(timeline.times) + hours + len(zone.starts)
        arguments: tuple[Any, ...] = (
            timeline.times.astype(np.int64),
            timeline.start,
            timeline.end,
            as_arrays(
                History(
                    Tables(*([0.0] * size for size in SIZES)),
                    zone,
                    holes,
                    Past(0, first, first, 0),
                    list(START),
                )
            ),
            as_arrays(in_numbers),
            as_arrays(workspace(in_numbers, hours=0)),
            _room(most, hours * SLOTS + most if exact else 0),
        )
        run = specialise(publish, label, choose=chooser, skipped=skips[0], weekly=skips[1])
        if not available():
            arguments = as_lists(arguments)
        number, headers = run(*arguments)
        built, ttls, skip, begins, expiries, _ = arguments[-1]
        return Documents(
            np.array(built[:number], np.uint32),
            np.array(ttls[:number], np.int32),
            np.array(skip[:number], np.int32),
            np.array(begins[:headers], np.uint32),
            np.array(expiries[:headers], np.uint32),
            etag,
        )

    return documents


def _room(documents: int, headers: int) -> Documents:
    return Documents(
        np.zeros(documents, np.uint32),
        np.zeros(documents, np.int32),
        np.zeros(documents, np.int32),
        np.zeros(headers, np.uint32),
        np.zeros(headers, np.uint32),
    )


def unskipped(built: NDArray[np.uint32], ttls: NDArray[np.int32]) -> Documents:
    """Documents that ask to skip nothing."""
    none = np.zeros(0, np.uint32)
    return Documents(built, ttls, np.zeros(len(built), np.int32), none, none)


@dataclass(frozen=True)
class Fixed:
    """Always the same ttl, at every feed."""

    minutes: int

    def __call__(self, timeline: Timeline) -> Documents:
        return self.documents(timeline.start)

    def documents(self, start: int) -> Documents:
        """What is said from `start` on."""
        return unskipped(np.array([start], np.uint32), np.array([self.minutes], np.int32))


SKIPS = "skip-hours"
SKIP_RULES = {"off": (skipped, weekly), "learned": (learned_skips, harmless_bits)}
ETAGS = {"renewed": RENEWED, "document": DOCUMENT, "quiet": QUIET}
OPTIONS = ["menu", "planner", "profile", "poll-minutes", "freshness", "etag", SKIPS]


def forward(spec: str) -> Publisher:
    """The live decision with its default settings, or those that `spec` names.

    ``skip-hours=learned`` adds the hours that the live feed asks to skip.
    """
    options = split_spec(spec)[1]
    for key in options:
        known(key, "option of forward", OPTIONS)
    etag = ETAGS[known(options.pop("etag", "renewed"), "etag", ETAGS)]
    skips = SKIP_RULES[known(options.pop(SKIPS, "off"), SKIPS, SKIP_RULES)]
    try:
        rule = TtlRule.parse(**{key.replace("-", "_"): value for key, value in options.items()})
    except ValueError as error:
        raise SpecError(f"{spec}: {error}") from None
    return ruled("forward", rule, choose, etag, skips)


def _fixed(spec: str) -> Publisher:
    (minutes,) = read_options(spec, (Option("minutes", 60, 1, 10080, "ttl", whole=True),))
    return Fixed(int(minutes))


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
