"""When to publish: how soon readers would have a post published now, or at each coming hour.

    advice = when_to_publish(activity, now, rule, readers)
    advice.now.most_minutes      # within which most readers (three of four) would have it
    advice.better                # the hour of the coming day at which they have it clearly sooner

Obedient readers poll when the feed's ttl or headers ask them to, so a post at an hour at which the
feed expects one is seen sooner. Later hours are computed for a scheduled post: the feed knows it in
advance and shortens the ttl, so that copies expire soon after it.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from publisher.core.civil import instant, local_second, seconds, zone_table
from publisher.core.replay.reader_groups import (
    MINUTES_A_DAY,
    USUAL_READERS,
    GroupPolls,
    ReaderGroup,
    ToldByMinute,
)
from publisher.core.ttl.activity import Activity
from publisher.core.ttl.decision import Decision, build_moment, decide, shortened_for
from publisher.core.ttl.rule import TtlRule

HALF, MOST = 0.5, 0.75  # of the readers
HOURS = 24  # ahead that are compared
CLEARLY = 0.67  # a better hour has at most so many times the minutes of now,
LEAST_GAIN_MINUTES = 5.0  # and at least so many fewer


@dataclass(frozen=True, slots=True)
class Reach:
    """Minutes within which half and most (three of four) of the readers have a post published at
    `at`; infinite where they do not poll within a day."""

    at: datetime
    half_minutes: float
    most_minutes: float


@dataclass(frozen=True, slots=True)
class PublishingAdvice:
    """The reach of a post now and at each full hour of the coming day; better: the first of those
    hours that is about the best, None where none is clearly better than now."""

    now: Reach
    later: tuple[Reach, ...]
    better: Reach | None


def when_to_publish(
    activity: Activity,
    now: datetime,
    rule: TtlRule,
    readers: Sequence[ReaderGroup] = USUAL_READERS,
    scheduled: Iterable[datetime] = (),
) -> PublishingAdvice:
    """How soon `readers` have a post that is published now or scheduled for a later full hour.

    activity: the updates up to now; scheduled: posts already in the queue. Polls of the past day
    are computed from the ttls and headers of the coming day, as past ones are not stored.
    """
    now = now.replace(second=0, microsecond=0)
    now = max(now, activity.last_update) if activity.last_update is not None else now
    documents = list(_documents(activity, now, rule, tuple(scheduled)))
    start = seconds(now) // 60
    polls = [GroupPolls(group, start - MINUTES_A_DAY) for group in readers]
    told = told_by(documents, now, MINUTES_A_DAY)
    for one in polls:
        one.pass_minutes(told.ttl, told.headers)
    first = next(document.valid_until for document in documents)
    later = [first + timedelta(hours=hour) for hour in range(HOURS)]
    reaches = [
        _reach(polls, documents, now, at) for at in later if at < now + timedelta(hours=HOURS)
    ]
    present = _reach(polls, documents, now, now)
    return PublishingAdvice(present, tuple(reaches), _better(present, reaches))


def in_words(advice: PublishingAdvice, zone: str) -> str:
    """The advice as one sentence, in the author's local time."""
    told = f"Now: most have it within {_minutes(advice.now)}"
    if advice.better is None:
        return f"{told}; no hour of the coming day is clearly better."
    local = instant(local_second(zone_table(zone), seconds(advice.better.at)))
    return f"{told}; at {local:%H:%M}, within {_minutes(advice.better)}."


def _minutes(reach: Reach) -> str:
    minutes = max(round(reach.most_minutes), 1) if reach.most_minutes < MINUTES_A_DAY else 0
    if minutes == 0:
        return "a day or more"
    if minutes < 120:
        return f"{minutes} minute{'' if minutes == 1 else 's'}"
    return f"{round(minutes / 60)} hours"


def told_by(documents: Sequence[Decision], now: datetime, minutes: int) -> ToldByMinute:
    """The ttl and max-age announced in each of `minutes` from `now` on, by consecutive
    `documents`."""
    ttl: list[int] = []
    headers: list[float] = []
    at = seconds(now)
    for document in documents:
        until = min(seconds(document.valid_until), seconds(now) + minutes * 60)
        while at < until:
            ttl.append(document.ttl_minutes)
            if document.expiries is None:
                headers.append(document.ttl_minutes)
            else:
                headers.append(document.expiries.max_age_seconds(at) / 60.0)
            at += 60
    return ToldByMinute(ttl, headers)


def _documents(
    activity: Activity, now: datetime, rule: TtlRule, queue: tuple[datetime, ...]
) -> Iterator[Decision]:
    """The decisions for the documents of the coming day if nothing is posted."""
    at = build_moment(activity.last_update, now, activity.zone)
    while at < now + timedelta(hours=HOURS):
        decision = decide(activity, at, rule, queue)
        yield decision
        at = decision.valid_until


def _reach(
    polls: Sequence[GroupPolls], documents: Sequence[Decision], now: datetime, at: datetime
) -> Reach:
    """How soon the readers have a post that is scheduled for `at`."""
    ahead = int((at - now).total_seconds()) // 60
    told = told_by([shortened_for(one, at) for one in documents], now, ahead)
    groups: list[tuple[float, Sequence[float]]] = []
    for one in polls:
        then = one.copy()
        then.pass_minutes(told.ttl, told.headers)
        groups.append((one.group.share, (1.0,) if one.group.pushed else then.due))
    return Reach(at, _within(groups, HALF), _within(groups, MOST))


def _within(groups: Sequence[tuple[float, Sequence[float]]], part: float) -> float:
    """Minutes until the `part` (0 to 1) of all readers has polled; polls are spread evenly over
    their minute.

    groups: for each its share of the readers, and the part of it that polls in each minute."""
    wanted = part * sum(share for share, _ in groups)
    come = 0.0
    for minute in range(MINUTES_A_DAY):
        here = sum(share * due[minute] for share, due in groups if minute < len(due))
        if come + here >= wanted > 0.0:
            return minute + (wanted - come) / here
        come += here
    return float("inf")


def _better(now: Reach, later: Sequence[Reach]) -> Reach | None:
    """The first hour that is within a tenth of the best one, if that is clearly better than now."""
    if not later:
        return None
    best = min(reach.most_minutes for reach in later)
    if best > min(CLEARLY * now.most_minutes, now.most_minutes - LEAST_GAIN_MINUTES):
        return None
    return next(reach for reach in later if reach.most_minutes <= 1.1 * best)
