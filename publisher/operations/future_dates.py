"""What was dated in the future while the clock was ahead: found, and set to the present.

Plans (when something is to be done) are none of it: who made them moves them by itself.
"""

from datetime import datetime
from typing import Any

from sqlalchemy import Column, Double, Table, delete, false, func, or_, select, update
from sqlalchemy.orm import Session

from publisher.blog import update_log
from publisher.installation import Site
from publisher.publishing.rebuild import rebuild
from publisher.storage.columns import UtcDateTime
from publisher.storage.database import content_changed
from publisher.storage.tables import all_rooms

_PLANS = {
    "scheduled_at", "next_at", "next_poll_at", "expires_at", "hub_until", "not_before", "free_at",
    "rested_at", "leased_until", "ends_at", "asked_back_at",
}  # fmt: skip
_NOT_OURS = {"leaders.renewed_at", "river_items.published_at"}  # the server's and strangers' dates
_SECONDS = {"day": 86_400, "hour": 3_600}  # counts have a row for each, since 1970


def rows_after(session: Session, moment: datetime) -> dict[str, int]:
    """How many rows of each table are dated after `moment`."""
    counts = {}
    for table in all_rooms().sorted_tables:
        later = [column > value for column, value in _ahead(table, moment)]
        query = select(func.count()).select_from(table).where(or_(false(), *later))
        if count := session.scalar(query):
            counts[table.name] = count
    return counts


def mend(site: Site) -> int:
    """Set dates that lie in the future to now, and make histogram and feeds anew; returns how many
    rows had one. Counts of days and hours to come are deleted."""
    now = site.clock()
    with site.database.write() as session:
        count = sum(rows_after(session, now).values())
        for table in all_rooms().sorted_tables:
            for column, value in _ahead(table, now):
                if column.primary_key:  # two rows may not become one
                    session.execute(delete(table).where(column > value))
                else:
                    change = update(table).where(column > value)
                    session.execute(change.values({column.name: value}))
        update_log.fold_again(session)
        content_changed(session)
    rebuild(site)
    return count


def _ahead(table: Table, moment: datetime) -> list[tuple[Column[Any], object]]:
    """The columns of a table that say when something was, each with what it says at `moment`."""
    at: list[tuple[Column[Any], object]] = []
    for column in table.columns:
        name = column.name
        if name in _PLANS or f"{table.name}.{name}" in _NOT_OURS:
            continue
        if isinstance(column.type, UtcDateTime):
            at.append((column, moment))
        elif isinstance(column.type, Double) and name.endswith("_at"):
            at.append((column, moment.timestamp()))
        elif name in _SECONDS:
            at.append((column, int(moment.timestamp()) // _SECONDS[name]))
    return at
