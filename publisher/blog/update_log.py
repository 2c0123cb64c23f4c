"""The author's activity: the update log, and the histogram that is folded from it.

The log is the truth; the 24 slots (and what richer profiles keep) are its checkpoint, brought
forward by each update in the transaction that makes it. `settle` folds the whole log anew, after
a change of time zone or half-life.
"""

from collections.abc import Iterable
from datetime import datetime
from itertools import islice, pairwise

from sqlalchemy import delete, func, insert, select
from sqlalchemy.orm import Session

from publisher.core.civil import instant, seconds, zone_table
from publisher.core.ttl.activity import HALF_LIFE_DAYS, Activity, fold, histogram
from publisher.core.ttl.harmless_hours import REPLAYED_SECONDS, harmless_hours, week_start
from publisher.core.ttl.rule import numbers
from publisher.core.ttl.skip_hours import quiet_hours
from publisher.settings import Settings, load_settings
from publisher.storage.tables.blog import HistogramSlot, HistogramState, Post, Update, UpdateKind

_ONLY_ROW = 1
_ROWS_AT_ONCE = 10_000  # what an insert of millions of rows holds in memory at a time


def record(session: Session, at: datetime, kind: UpdateKind, post_id: int | None = None) -> None:
    """Write one update of the feed into the log and the histogram."""
    record_all(session, [at], kind, post_id)


def record_all(
    session: Session, instants: Iterable[datetime], kind: UpdateKind, post_id: int | None = None
) -> None:
    """Write many updates of one kind at once; the checkpoint is stored once."""
    record_rows(session, ((at, kind, post_id) for at in instants))


def record_rows(session: Session, rows: Iterable[tuple[datetime, UpdateKind, int | None]]) -> None:
    """Write any updates (instant, kind, post) at once; the checkpoint is stored once.

    A single earlier update counts in its own slots; many of them also teach about the gaps between
    updates, so then the log is folded anew.
    """
    waiting, number, in_order = iter(rows), 0, True
    activity = load(session)
    while some := list(islice(waiting, _ROWS_AT_ONCE)):
        session.execute(
            insert(Update),
            [{"at": at, "kind": kind, "post_id": post_id} for at, kind, post_id in some],
        )
        instants = [at for at, _, _ in some]
        known = [activity.last_update] if activity.last_update else []
        in_order = in_order and all(a <= b for a, b in pairwise([*known, *instants]))
        number, activity = number + len(some), fold(activity, instants)
    if number > 1 and not in_order:
        activity = _fold_log(session, load_settings(session))
    if number:
        _store(session, activity)


def load(session: Session) -> Activity:
    """The histogram as it stands; folded from the log when there is no usable checkpoint."""
    site = load_settings(session)
    return _checkpoint(session, site) or _fold_log(session, site)


def settle(session: Session) -> None:
    """Keep a new checkpoint where there is no usable one: another time zone, another half-life."""
    site = load_settings(session)
    if _checkpoint(session, site) is None:
        _store(session, _fold_log(session, site))


def at(session: Session, moment: datetime) -> Activity:
    """What was known at `moment`: folded from the updates of the log that are not later."""
    site = load_settings(session)
    instants = session.scalars(select(Update.at).where(Update.at <= moment).order_by(Update.at))
    return histogram(instants, moment, site.timezone)


def last_update(session: Session, moment: datetime) -> datetime | None:
    """The last update that is not later than `moment`."""
    return session.scalar(select(func.max(Update.at)).where(Update.at <= moment))


def since(session: Session, begin: datetime) -> list[datetime]:
    """The updates from `begin` on, in order."""
    return list(session.scalars(select(Update.at).where(Update.at >= begin).order_by(Update.at)))


def hours_to_skip(
    session: Session, known: Activity, moment: datetime, queue: Iterable[datetime]
) -> tuple[int, ...]:
    """The hours in GMT that the document of `moment` asks readers to skip, by the setting; which
    are harmless is decided once a week. known: the activity at that moment."""
    site = load_settings(session)
    if site.skip_hours != "learned":
        return ()
    week = week_start(zone_table(site.timezone), seconds(moment))
    begin, end = instant(week - REPLAYED_SECONDS), instant(week)
    updates = session.scalars(
        select(Update.at).where(Update.at >= begin, Update.at < end).order_by(Update.at)
    )
    ttls = tuple(numbers(site.rule, HALF_LIFE_DAYS).warm_up)
    harmless = harmless_hours(tuple(seconds(at) for at in updates), week, ttls)
    return quiet_hours(known, moment, queue, harmless)


def scheduled(session: Session, after: datetime) -> list[datetime]:
    """When the posts that wait will enter the feed, soonest first."""
    return list(
        session.scalars(
            select(Post.scheduled_at)
            .where(Post.status == "scheduled", Post.scheduled_at > after, Post.kind == "post")
            .order_by(Post.scheduled_at)
            .limit(1000)
        )
    )


def _checkpoint(session: Session, site: Settings) -> Activity | None:
    """What was stored, if it was made for the present time zone and half-life."""
    state = session.get(HistogramState, _ONLY_ROW)
    if state is None:
        return None
    hours = session.scalars(
        select(HistogramSlot.weight)
        .where(HistogramSlot.profile == "hour")
        .order_by(HistogramSlot.slot)
    ).all()
    try:
        activity = Activity.from_dict({**state.values, "hours": hours})
    except ValueError:
        return None
    fits = (activity.zone, activity.half_life_days) == (site.timezone, HALF_LIFE_DAYS)
    return activity if fits else None


def _fold_log(session: Session, site: Settings) -> Activity:
    instants = session.scalars(select(Update.at).order_by(Update.at))
    return fold(Activity.empty(site.timezone, HALF_LIFE_DAYS), instants)


def _store(session: Session, activity: Activity) -> None:
    values = activity.to_dict()
    hours = values.pop("hours")
    session.merge(HistogramState(id=_ONLY_ROW, values=values))
    session.execute(delete(HistogramSlot).where(HistogramSlot.profile == "hour"))
    session.execute(
        insert(HistogramSlot),
        [{"profile": "hour", "slot": slot, "weight": w} for slot, w in enumerate(hours)],
    )
