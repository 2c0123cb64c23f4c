"""The author's activity: the update log, and the histogram that is folded from it.

The log is the source of truth. The stored histogram (24 slots, and what richer profiles need) is a
checkpoint of it, updated in the transaction of each update. After a change of time zone or
half-life, `ensure_checkpoint` folds the whole log again.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import islice, pairwise

from sqlalchemy import delete, func, insert, select
from sqlalchemy.orm import Session

from publisher.dynamic_ttl.core.civil import instant, seconds
from publisher.dynamic_ttl.core.ttl.activity import HALF_LIFE_DAYS, Activity, fold, histogram
from publisher.installation.settings import Settings, load_settings
from publisher.storage.database import Database
from publisher.storage.tables.blog import HistogramSlot, HistogramState, Post, Update, UpdateKind

_ONLY_ROW = 1
_ROWS_AT_ONCE = 2_000  # rows in one transaction: the write lock is held for a fraction of a second

Row = tuple[datetime, UpdateKind, int | None]
"""An update: instant, kind, number of the post."""


def record(session: Session, at: datetime, kind: UpdateKind, post_id: int | None = None) -> None:
    """Write one update of the feed into the log and the histogram."""
    _add(session, [(at, kind, post_id)], alone=True)


def record_all(session: Session, instants: Iterable[datetime], kind: UpdateKind) -> None:
    """Write many updates of one kind at once."""
    record_rows(session, [(at, kind, None) for at in instants])
    if not _is_exact(session):
        _store(session, _fold_log(session, load_settings(session)))


def record_rows(session: Session, rows: Sequence[Row]) -> None:
    """Write many updates, of any kinds and times.

    Updates that are older than known ones are counted in their slots, but the gaps between updates
    need their order: afterwards call `fold_anew`, which reads the whole log.
    """
    if rows:
        _add(session, rows, alone=False)


def record_history(database: Database, rows: Iterable[Row]) -> None:
    """Write any number of updates, in batches so that others may save in between."""
    waiting = iter(rows)
    while some := list(islice(waiting, _ROWS_AT_ONCE)):
        with database.write() as session:
            record_rows(session, some)
        database.give_way()
    fold_anew(database)


def fold_anew(database: Database) -> None:
    """Fold the whole log again if earlier updates made the checkpoint inexact; others may save
    meanwhile."""
    folded = None
    while folded is None:
        with database.read() as session:
            if _is_exact(session):
                return
            before, folded = _extent(session), _fold_log(session, load_settings(session))
        with database.write() as session:
            if _extent(session) == before:
                _store(session, folded)
            else:
                folded = None


def fold_again(session: Session) -> None:
    """Fold the whole log, whatever the checkpoint says."""
    _store(session, _fold_log(session, load_settings(session)))


def _add(session: Session, rows: Sequence[Row], alone: bool) -> None:
    # The session forgets a row that nobody holds, and would ask for it again below.
    _state = session.get(HistogramState, _ONLY_ROW)
    activity, exact = load(session), _is_exact(session)
    values = [{"at": at, "kind": kind, "post_id": post_id} for at, kind, post_id in rows]
    session.execute(insert(Update), values)
    instants = [at for at, _, _ in rows]
    last = [activity.last_update] if activity.last_update else []
    in_order = all(a <= b for a, b in pairwise([*last, *instants]))
    _store(session, fold(activity, instants), exact and (alone or in_order))


def load(session: Session) -> Activity:
    """The histogram as it stands; folded from the log when there is no usable checkpoint."""
    site = load_settings(session)
    return _checkpoint(session, site) or _fold_log(session, site)


def ensure_checkpoint(session: Session) -> None:
    """Store a new checkpoint unless the stored one is for the present time zone and half-life."""
    site = load_settings(session)
    if _checkpoint(session, site) is None:
        _store(session, _fold_log(session, site))


def at(session: Session, moment: datetime) -> Activity:
    """What was known at `moment`: folded from the updates of the log that are not later (both in
    whole seconds, see `histogram`)."""
    site, end = load_settings(session), instant(seconds(moment) + 1)
    instants = session.scalars(select(Update.at).where(Update.at < end).order_by(Update.at))
    return histogram(instants, moment, site.timezone)


def last_update(session: Session, moment: datetime) -> datetime | None:
    """The last update that is not later than `moment`."""
    return session.scalar(select(func.max(Update.at)).where(Update.at <= moment))


def since(session: Session, begin: datetime) -> list[datetime]:
    """The updates from `begin` on, in order."""
    return list(session.scalars(select(Update.at).where(Update.at >= begin).order_by(Update.at)))


def scheduled(session: Session, after: datetime) -> list[datetime]:
    """When the scheduled posts will enter the feed, soonest first."""
    return list(
        session.scalars(
            select(Post.scheduled_at)
            .where(Post.status == "scheduled", Post.scheduled_at > after, Post.kind == "post")
            .order_by(Post.scheduled_at)
            .limit(1000)
        )
    )


def _checkpoint(session: Session, site: Settings) -> Activity | None:
    """The stored checkpoint, if it was made for the present time zone and half-life."""
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


def _extent(session: Session) -> tuple[int, int, str]:
    """What a fold of the log depends on: rows are added, but never changed."""
    number, newest = session.execute(select(func.count(), func.max(Update.id))).one()
    return number, newest or 0, load_settings(session).timezone


def _is_exact(session: Session) -> bool:
    """Whether the checkpoint is what a fold of the log gives."""
    state = session.get(HistogramState, _ONLY_ROW)
    return state is None or bool(state.values.get("exact", True))


def _store(session: Session, activity: Activity, exact: bool = True) -> None:
    values = {**activity.to_dict(), "exact": exact}
    hours = values.pop("hours")
    session.merge(HistogramState(id=_ONLY_ROW, values=values))
    session.execute(delete(HistogramSlot).where(HistogramSlot.profile == "hour"))
    session.execute(
        insert(HistogramSlot),
        [{"profile": "hour", "slot": slot, "weight": w} for slot, w in enumerate(hours)],
    )
