"""What is owed to somebody elsewhere: noted in the transaction of what it tells of, sent later."""

from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from publisher.storage.tables.publishing import Delivery


def owe(session: Session, protocol: str, url: str, topic: str, now: datetime) -> None:
    """Note that `url` is to be told of `topic` now; one that still waits becomes this one."""
    waiting = session.scalar(
        select(Delivery).where(
            Delivery.target == url, Delivery.topic == topic, Delivery.next_at.is_not(None)
        )
    )
    if waiting is None:
        waiting = Delivery(protocol=protocol, target=url, topic=topic, answer="")
        session.add(waiting)
    waiting.created_at = waiting.next_at = now
    waiting.attempts = 0
