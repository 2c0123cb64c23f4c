"""How polite the river is: its own poll history, scored by `politeness`."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from sqlalchemy import select
from sqlalchemy.orm import Session

from publisher.river.fetching.fetch import BUSY
from publisher.river.fetching.http_hints import SLOW_DOWN
from publisher.river.politeness import Logged, MannersScore, judge_timing
from publisher.storage.tables.river import RiverFeed, RiverVisit

_MOST_VISITS = 20_000


def politeness(session: Session, now: datetime, days: int = 7) -> MannersScore:
    """The score of the last days, by timing: gaps, freshness, Retry-After, back-off and 410."""
    recent = (
        select(RiverVisit, RiverFeed.host, RiverFeed.url)
        .join(RiverFeed, RiverFeed.id == RiverVisit.feed_id)
        .where(RiverVisit.at > now - timedelta(days=days))
        .order_by(RiverVisit.at.desc())
        .limit(_MOST_VISITS)
    )
    return judge_timing(_logged(session.execute(recent).all()))


def _logged(rows: Sequence[tuple[RiverVisit, str, str]]) -> Iterator[Logged]:
    for visit, host, url in rows:
        told = "" if visit.told_seconds is None else str(visit.told_seconds)
        slow = visit.status in SLOW_DOWN
        answer = {"retry-after": told} if slow else {"cache-control": f"max-age={told}"}
        yield Logged(
            at=visit.at.timestamp(),
            host=host,
            target=url,
            status=_status(visit),
            headers={"if-none-match": ""} if visit.conditional else {},
            answer=answer if told else {},
        )


def _status(visit: RiverVisit) -> int:
    """The status as `politeness` scores it: a poll that met a busy host counts as a redirect."""
    if visit.problem == BUSY:
        return 302
    return 0 if visit.problem and visit.status < 400 else visit.status


def visits_of(session: Session, feed_id: int, limit: int = 30) -> Sequence[RiverVisit]:
    """The newest visits to a feed."""
    newest = select(RiverVisit).where(RiverVisit.feed_id == feed_id)
    return session.scalars(
        newest.order_by(RiverVisit.at.desc(), RiverVisit.id.desc()).limit(limit)
    ).all()
