"""The score of a trace: the verdicts, their sum of 100, and how they are shown (JSON, SVG, HTML).

The HTML is a fragment: the site puts it into its own page, the command's server into a plain one.
What a tester sent is in the sentences, so every text is escaped here.

The gain is what the reader's users wait, and how often it asks, at real histories: as it is, and
with each change, from a table that the simulator made (`scorecard.json`, by `python -m
bench.reader_gain`). The behaviour that was seen is brought to the table's terms: on which answers
the reader hears the header and the element, its own interval where it hears nothing, its floor.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from html import escape
from math import log
from pathlib import Path
from statistics import median
from typing import Any

from publisher.base.text import counted
from publisher.dynamic_ttl.core.durations import duration
from publisher.reader_test.behaviours import BEHAVIOURS, Behaviour, Evidence
from publisher.reader_test.tester_trace import FROM_AFAR, LONG_RUNNING, ONE_SHOT, Trace

INTERVALS, FLOORS = (15, 30, 60, 120, 1440), (15, 60)
NO, ON_200, ON_304 = "no", "200", "304"


@dataclass(frozen=True, slots=True)
class Hearing:
    """How a reader plans its polls. interval, floor: minutes; header, element: on which answers it
    hears them (`no`, `200`, `304` too)."""

    interval: int
    floor: int
    header: str
    element: str

    @property
    def key(self) -> str:
        """Its row in the table."""
        deaf = self.header == self.element == NO
        return f"{self.interval} {FLOORS[0] if deaf else self.floor} {self.header} {self.element}"


@dataclass(frozen=True, slots=True)
class Gain:
    """One row: a change; the polls a day and the minutes that a post waits (geometric means over
    the histories); and their product by that of a fixed interval, which has 1 (lower is better)."""

    change: str
    polls_per_day: float
    delay_mean_minutes: float
    efficiency: float

    @property
    def fixed_minutes(self) -> float:
        """What a post would wait at a fixed interval with as many polls."""
        return 720.0 / self.polls_per_day


@lru_cache(maxsize=1)
def _table() -> Any:
    return json.loads(Path(__file__).with_name("scorecard.json").read_text("utf-8"))


def histories() -> int:
    """How many real histories the table was made from."""
    return int(_table()["histories"])


def hearing(seen: Evidence, good: Mapping[str, bool]) -> Hearing | None:
    """The reader in the table's terms. good: the behaviours that were seen, and whether they were
    right; None where no hint was seen."""
    if not {"max-age", "ttl"} & good.keys():
        return None
    header = ON_200 if good.get("max-age") else NO
    if header == ON_200 and good.get("max-age-304"):
        header = ON_304
    element = ON_200 if good.get("ttl") else NO
    if element == ON_200 and good.get("ttl-kept"):
        element = ON_304
    if header == element == NO:
        own = [gap for _, gap in seen.gaps]
    else:
        own = [gap for visit, gap in seen.gaps if visit.stretch.name == "no-store"]
    minutes = median(own) / 60 if own else 60.0
    nearest = min(INTERVALS, key=lambda interval: abs(log(interval / max(minutes, 1.0))))
    busy = [gap / 60 for visit, gap in seen.gaps if visit.stretch.name == "burst"]
    return Hearing(nearest, FLOORS[bool(busy) and median(busy) >= 40], header, element)


def gains(now: Hearing) -> list[Gain]:
    """The rows: as it is, then each change by itself, then all of them."""
    changes = {"as it is": now}
    if now.header == NO:
        changes["max-age heard on a 200"] = replace(now, header=ON_200)
    if now.header != ON_304:
        changes["max-age heard on 200 and 304"] = replace(now, header=ON_304)
    if now.element == NO:
        changes["ttl heard on a 200"] = replace(now, element=ON_200)
    if now.element != ON_304:
        changes["ttl heard, and kept over a 304"] = replace(now, element=ON_304)
    if now.floor != FLOORS[0] and len(changes) < 5:
        changes["a floor of 15 minutes"] = replace(now, floor=FLOORS[0])
    best = Hearing(now.interval, FLOORS[0], ON_304, ON_304)
    if best != now:
        changes["all of it"] = best
    cells = _table()["cells"]
    return [Gain(change, *cells[hearing.key]) for change, hearing in changes.items()]


GOOD, PARTLY, BAD, NOT_SEEN = "good", "partly", "bad", "not-seen"
WORDS = {GOOD: "right", PARTLY: "partly right", BAD: "wrong", NOT_SEEN: "not seen"}
GOOD_SHARE = 0.97  # of the cases
FEWEST_POINTS = 30  # that must have been seen before there is a score

# What each way of testing cannot show.
LIMITS = {
    ONE_SHOT: "The command was run every quarter of an hour of the test and ended each time: every"
    " run was a restart, and the times of its requests were the test's, so jitter is not judged.",
    LONG_RUNNING: "The program kept running under a shifted clock and was started again once.",
    FROM_AFAR: "A reader that runs elsewhere: its restarts and what it shows are not seen.",
}


@dataclass(frozen=True, slots=True)
class BehaviourVerdict:
    """One behaviour, judged. points: of what it is worth; seen: what the trace shows."""

    what: Behaviour
    state: str
    points: float
    seen: str


@dataclass(frozen=True, slots=True)
class Scorecard:
    """All verdicts on one trace. score: 0 to 100, of what was seen; None where that is too little
    to say anything."""

    program: str
    mode: str
    score: int | None
    requests: int
    ran: float
    verdicts: tuple[BehaviourVerdict, ...]
    gains: tuple[Gain, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """As `publisher reader-test --json` prints it."""
        return {
            "score": self.score,
            "program": self.program,
            "mode": self.mode,
            "requests": self.requests,
            "hours": round(self.ran / 3600, 1),
            "limits": LIMITS[self.mode],
            "verdicts": [
                {
                    "behaviour": verdict.what.id, "verdict": verdict.state,
                    "points": round(verdict.points, 1),
                    "of": verdict.what.points, "seen": verdict.seen, "rule": verdict.what.rule,
                    "cost": verdict.what.cost, "advice": verdict.what.advice,
                }
                for verdict in self.verdicts
            ],
            "gain": {
                "histories": histories() if self.gains else 0,
                "rows": [
                    {**asdict(gain), "fixed_interval_minutes": round(gain.fixed_minutes, 1)}
                    for gain in self.gains
                ],
            },
        }  # fmt: skip


def score(trace: Trace) -> Scorecard:
    """Judge a trace."""
    seen = Evidence(trace)
    verdicts = []
    for behaviour in BEHAVIOURS:
        (right, of), words = behaviour.check(seen)
        if not of:
            state, points, words = NOT_SEEN, 0.0, "The trace does not show it."
        else:
            share = right / of
            state = GOOD if share >= GOOD_SHARE else PARTLY if share >= 0.3 else BAD
            points = float(behaviour.points) if state == GOOD else behaviour.points * share
        verdicts.append(BehaviourVerdict(behaviour, state, points, words))
    possible = sum(verdict.what.points for verdict in verdicts if verdict.state != NOT_SEEN)
    points_won = sum(verdict.points for verdict in verdicts)
    total = int(100 * points_won / possible + 1e-9) if possible >= FEWEST_POINTS else None
    agents = {request.headers.get("user-agent", "") for request in trace.requests}
    program = trace.program or (sorted(agents)[0] if agents else "")
    program = "".join(letter for letter in program if letter.isprintable())  # it is for terminals
    good = {
        verdict.what.id: verdict.state == GOOD for verdict in verdicts if verdict.state != NOT_SEEN
    }
    now = hearing(seen, good) if total is not None else None
    return Scorecard(
        program, trace.mode, total, len(trace.requests), trace.ran, tuple(verdicts),
        tuple(gains(now)) if now else (),
    )  # fmt: skip


def as_json(card: Scorecard) -> str:
    """The scorecard as a line of JSON."""
    return json.dumps(card.to_dict(), ensure_ascii=False) + "\n"


def lines(card: Scorecard) -> Iterator[str]:
    """The scorecard as text for a terminal, the wrong things first."""
    named = f"{card.program}: " if card.program else ""
    result = "too little was seen for a score" if card.score is None else f"{card.score} of 100"
    amount = f"{counted(card.requests, 'request')} in {duration(card.ran)} of the test"
    yield f"{named}{result} ({amount})"
    order = (BAD, PARTLY, GOOD, NOT_SEEN)
    for verdict in sorted(card.verdicts, key=lambda verdict: order.index(verdict.state)):
        what, points = verdict.what, f"{verdict.points:>4.1f}/{verdict.what.points:<2}"
        if verdict.state == NOT_SEEN:
            continue
        yield f"  {WORDS[verdict.state]:<13} {points} {what.title}. {verdict.seen}"
        if verdict.state != GOOD:
            yield f"{'':23}{what.cost} {what.advice} ({what.rule})"
    unseen = [verdict.what.title for verdict in card.verdicts if verdict.state == NOT_SEEN]
    if unseen and card.requests:
        yield f"  not seen (no failure): {'; '.join(unseen)}"
    if card.gains:
        yield f"  What its users would wait and it would ask, at {histories()} real histories:"
        for row in card.gains:
            yield (
                f"    {row.change:<32} {row.polls_per_day:6.1f} polls a day,"
                f" a post waits {row.delay_mean_minutes:4.0f} min; with as many polls at a fixed"
                f" interval {row.fixed_minutes:4.0f} min"
            )
    yield f"  {LIMITS[card.mode]}"


def badge(card: Scorecard) -> str:
    """A badge as SVG, with the score."""
    result = "not yet known" if card.score is None else f"{card.score} of 100"
    number = card.score if card.score is not None else -1
    colour = "#5b6670" if number < 0 else "#1a7f4b" if number >= 80 else (
        "#8a6100" if number >= 50 else "#b3261e")  # fmt: skip
    left, right = 86, 14 + 7 * len(result)
    width = left + right
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="20" role="img"'
        f' aria-label="feed manners: {result}"><title>feed manners: {result}</title>'
        f'<rect width="{width}" height="20" rx="3" fill="{colour}"/>'
        f'<path d="M3 0h{left - 3}v20H3a3 3 0 0 1-3-3V3a3 3 0 0 1 3-3z" fill="#39424a"/>'
        '<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11"'
        f' text-anchor="middle"><text x="{left / 2:.0f}" y="14">feed manners</text>'
        f'<text x="{left + right / 2:.0f}" y="14">{result}</text></g></svg>\n'
    )


def fragment(card: Scorecard) -> str:
    """The score page's content as HTML."""
    result = "Not yet known" if card.score is None else f"{card.score} of 100"
    amount = f"{counted(card.requests, 'request')} in {duration(card.ran)} of the test."
    parts = [
        f'<p class="test-score"><strong>{result}</strong> {escape(card.program)}</p>',
        f'<p class="quiet">{amount}</p>',
        f'<p class="quiet">{escape(LIMITS[card.mode])}</p>',
    ]
    for state in (BAD, PARTLY, GOOD, NOT_SEEN):
        group = [verdict for verdict in card.verdicts if verdict.state == state]
        if not group:
            continue
        parts.append(f'<h2>{WORDS[state].capitalize()}</h2><ul class="verdicts {state}">')
        for verdict in group:
            points = "" if state == NOT_SEEN else f' <span class="quiet">{verdict.points:.1f} of'
            points += "" if state == NOT_SEEN else f" {verdict.what.points} points</span>"
            parts.append(f"<li><strong>{escape(verdict.what.title)}</strong>{points}")
            if state != NOT_SEEN:
                parts.append(f"<br>{escape(verdict.seen)}")
            if state in (BAD, PARTLY):
                parts.append(
                    f"<br>{escape(verdict.what.cost)} <em>{escape(verdict.what.advice)}</em>"
                )
            parts.append(f' <span class="quiet small">{escape(verdict.what.rule)}</span></li>')
        parts.append("</ul>")
    if card.gains:
        parts.append(
            f"<h2>What a change would gain</h2><p>At {histories()} real histories, by simulation."
            " The last column: what a fixed interval with as many polls would cost.</p>"
            '<div class="scroll" tabindex="0" role="region" aria-label="Gain">'
            '<table class="data stacks"><thead><tr><th scope="col">Change</th>'
            '<th scope="col">polls a day</th>'
            '<th scope="col">minutes that a post waits</th>'
            '<th scope="col">at a fixed interval</th></tr></thead><tbody>'
        )
        parts += [
            f'<tr><th scope="row">{escape(row.change)}</th>'
            f'<td data-label="polls a day">{row.polls_per_day:.1f}</td>'
            f'<td data-label="minutes that a post waits">{row.delay_mean_minutes:.0f}</td>'
            f'<td data-label="at a fixed interval">{row.fixed_minutes:.0f}</td></tr>'
            for row in card.gains
        ]
        parts.append("</tbody></table></div>")
    return "\n".join(parts)
