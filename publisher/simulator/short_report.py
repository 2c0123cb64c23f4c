"""What `simulate` says of one timeline without being asked for more: three rows and a sentence.

The rows: the best fixed interval that hindsight finds, Winer's rule of 2002, and this feed by its
headers; `core.replay.measure` has the terms.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from publisher.base.text import counted
from publisher.dynamic_ttl.core.replay.measure import DAY_MINUTES, best_fixed, cost_of_best_fixed
from publisher.simulator.timelines import DAY, LEARNING_DAYS, Timeline, scoring

CLIENT = "max-age"
COLUMNS = ("visits a day", "mean wait", "half within", "9 of 10 within", "cost a day")


def publishers(timeline: Timeline, own: str, poll_minutes: float) -> list[str]:
    """The three rules, as `simulate --publisher` reads them; `own`: this feed's."""
    scored = scoring(timeline)
    updates = sum(scored.begin <= at <= scored.last_scored for at in timeline.times)
    minutes = best_fixed(updates * DAY / scored.seconds, poll_minutes)
    return [f"fixed:{minutes}", "winer", own]


def as_text(rows: Sequence[dict[str, Any]], poll_minutes: float) -> str:
    """The three rows of a timeline as a table, and the sentence."""
    lines = [["", *COLUMNS]]
    for row in rows:
        waits = (row[f"delay_{name}_minutes"] for name in ("mean", "median", "p90"))
        figures = [f"{row['polls_per_day']:.1f}", *map(minutes, waits), f"{row['cost']:.0f}"]
        lines.append([named(row["publisher"]), *figures])
    widths = [max(len(line[place]) for line in lines) for place in range(len(lines[0]))]
    text = ""
    for name, *cells in lines:
        numbers = (cell.rjust(width) for cell, width in zip(cells, widths[1:], strict=True))
        text += "  ".join([name.ljust(widths[0]), *numbers]).rstrip() + "\n"
    first = rows[-1]
    head = f"{first['timeline']}: {first['updates']:.0f} updates in {first['days']:.0f} days\n"
    return f"{head}\n{text}\n{sentence(first)}\n{explained(first, poll_minutes)}\n"


def named(publisher: str) -> str:
    """A rule as people call it."""
    if publisher.startswith("fixed:"):
        return f"always {minutes(float(publisher[6:]))} (the best fixed value)"
    return "Winer's rule of 2002" if publisher == "winer" else "this feed"


def sentence(row: dict[str, Any]) -> str:
    """This feed against a fixed interval of as many visits."""
    fixed, own = DAY_MINUTES / row["polls_per_day"] / 2.0, row["delay_median_minutes"]
    if own < fixed:
        return (
            f"At the same number of visits half of the posts are seen within {own:.0f} instead of"
            f" {fixed:.0f} minutes."
        )
    return (
        "A fixed interval with as many visits is as good: half of the posts are seen within"
        f" {fixed:.0f} minutes, and within {own:.0f} here."
    )


def explained(row: dict[str, Any], poll_minutes: float) -> str:
    """What the cost is, and what this feed's is of that of the best fixed value."""
    share = row["cost"] / row["cost_of_best_fixed"]
    return (
        f"Cost: minutes of waiting, where a visit is worth {poll_minutes:g} (--poll-minutes);"
        f" this feed's is {share:.2f} of that of the best fixed value."
    )


def young(timeline: Timeline, poll_minutes: float) -> str:
    """What can be said of a timeline that cannot be scored yet, and when more."""
    days = max((timeline.end - timeline.start) / DAY, 1.0)
    per_day = len(timeline.times) / days
    last = datetime.fromtimestamp(int(timeline.times[-1]), UTC)
    return (
        f"{counted(len(timeline.times), 'update')} in {counted(round(days), 'day')}, the last on"
        f" {last:%d %B %Y}. So far a visit every"
        f" {minutes(best_fixed(per_day, poll_minutes))} would cost least of 15, 60 and 480 minutes"
        f" ({cost_of_best_fixed(per_day, poll_minutes):.0f} minutes a day). More can be said a day"
        " after an update that comes once a quarter of the time has passed"
        f" (at most {LEARNING_DAYS} days)."
    )


def minutes(number: float) -> str:
    """A span in minutes, with hours above three: `47 min`, `9.4 h`."""
    return f"{number:.0f} min" if number < 180 else f"{number / 60:.1f} h"
