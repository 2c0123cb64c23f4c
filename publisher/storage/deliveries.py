"""Requests to send later: queued in the transaction of the change that they tell of."""

from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from publisher.storage.tables.publishing import Delivery


def request_delivery(session: Session, protocol: str, url: str, topic: str, now: datetime) -> None:
    """Queue a message to `url` about `topic`; one that still waits is replaced by this one."""
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
