"""A decision explained in sentences, for the studio and `publisher ttl`."""

from datetime import datetime, timedelta
from math import ceil

from .civil import instant, local_second, seconds, zone_table
from .habits import BUSY_HOURS, moved_hours
from .ttl.counts import WARM_UP_DAYS, WARM_UP_UPDATES
from .ttl.decision import WARM_UP, Decision
from .ttl.rule import WINER

WINERS_RULE = (
    "Winer's rule of 2002 (planner winer): a counter for each of the 24 hours, which never decays;"
    " other settings and scheduled posts have no effect."
)


def explain(decision: Decision) -> list[str]:
    """Why the document has this ttl: the known updates, the forecast, the next larger ttl, a
    scheduled post, the headers, the next decision. Times are in the author's zone."""
    if decision.phase == WARM_UP:
        known = _warm_up(decision)
    else:
        known = _prediction(decision) if decision.winers is None else _winer(*decision.winers)
    if decision.rule.planner == WINER:
        known = [WINERS_RULE, *known]
    return [*known, *_scheduled(decision), *_headers(decision), _next(decision)]


def _winer(hour: float, night: float) -> list[str]:
    # Rounded down, so that a number below one reads so: the ttl depends on that.
    soon, later = (_number(_down(number)) for number in (hour, night))
    predicted = (
        f"The 24 counters predict {soon} in the next hour and {later} in the next 8 hours;"
        " the ttl is the longest of 15, 60 and 480 minutes in which fewer than one is predicted, or"
        " else 15."
    )
    return [predicted]


def _warm_up(decision: Decision) -> list[str]:
    days = (decision.decided_at - (decision.first_update or decision.decided_at)).days
    known = (
        f"Warm-up: {_count(decision.updates, 'update')} known over {_count(days, 'day')};"
        f" prediction begins at {WARM_UP_UPDATES} updates and {WARM_UP_DAYS} days."
    )
    if decision.last_update is None:
        return [known, "No update is known yet, so the longest warm-up step applies."]
    silence = decision.decided_at - decision.last_update
    return [known, f"The last update was {_span(silence)} earlier."]


def _prediction(decision: Decision) -> list[str]:
    begin, end = decision.decided_at, decision.decided_at + timedelta(minutes=decision.ttl_minutes)
    looked = (
        f"Forecast for {_span_of_day(decision, begin, end)}:"
        f" {_number(decision.expected_updates)}, from {_count(decision.updates, 'known update')},"
        " of which older ones count less."
    )
    sentences = [looked, *_moved(decision)]
    if decision.likely_at is not None:
        later = decision.likely_at + timedelta(hours=1)
        hour = _span_of_day(decision, decision.likely_at, later)
        sentences.append(f"The busiest hour of the next 24 is {hour}.")
    if decision.refused is None:
        largest = _count(decision.rule.menu.values[-1], "minute")
        sentences.append(f"{largest} is the largest value of the menu.")
    else:
        sentences.append(
            f"{_count(decision.refused.ttl_minutes, 'minute')} was not chosen: it would add"
            f" {_count(ceil(decision.refused.waiting_minutes), 'minute')} of waiting, more than"
            f" the {decision.rule.poll_minutes:g} that a visit is worth (setting poll_minutes)."
        )
    return sentences


def _moved(decision: Decision) -> list[str]:
    moved = moved_hours(decision.activity)
    if moved is None:
        return []
    before, lately = (f"{hour:02}:00 to {(hour + BUSY_HOURS) % 24:02}:00" for hour in moved)
    return [f"Your hours have moved: lately {lately}, previously mostly {before}."]


def _scheduled(decision: Decision) -> list[str]:
    if decision.scheduled_at is None:
        return []
    shortened = (
        f"A post is scheduled for {_clock(decision, decision.scheduled_at)}: the ttl is shortened"
        f" from {decision.unscheduled_ttl_minutes} to {_count(decision.ttl_minutes, 'minute')}, so"
        f" that every copy expires within {_count(decision.rule.menu.smallest, 'minute')} of it."
    )
    return [shortened]


def _headers(decision: Decision) -> list[str]:
    if decision.expiries is None:
        return []
    minutes = decision.max_age_seconds(decision.decided_at) // 60
    sentence = (
        f"The feed's ttl is {_count(decision.ttl_minutes, 'minute')}; the headers have a forecast"
        f" for the minute of the fetch: a copy fetched at {_clock(decision, decision.decided_at)}"
        f" is good for {_count(minutes, 'minute')}."
    )
    return [sentence]


def _next(decision: Decision) -> str:
    next_build = _clock(decision, decision.valid_until)
    return f"The next decision is at {next_build}, or at the next update if that is sooner."


def _clock(decision: Decision, at: datetime) -> str:
    zone = zone_table(decision.zone)
    local = instant(local_second(zone, seconds(at)))
    today = instant(local_second(zone, seconds(decision.decided_at)))
    return f"{local:%H:%M}" if local.date() == today.date() else f"{local:%H:%M on %A}"


def _span_of_day(decision: Decision, begin: datetime, end: datetime) -> str:
    """A span of time such as "09:00 to 10:00 on Wednesday"; a day that both share is named once."""
    first, last = _clock(decision, begin), _clock(decision, end)
    hour, _, day = first.partition(" on ")
    return f"{hour if day and last.endswith(day) else first} to {last}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _down(number: float) -> float:
    """A number above 0 with one decimal, rounded down."""
    return int(number * 10.0) / 10.0


def _number(expected: float) -> str:
    return "hardly any updates" if expected < 0.1 else f"{expected:.1f} updates"


def _span(silence: timedelta) -> str:
    minutes = silence // timedelta(minutes=1)
    if minutes < 120:
        return _count(minutes, "minute")
    return _count(minutes // 60, "hour") if minutes < 2880 else _count(silence.days, "day")
