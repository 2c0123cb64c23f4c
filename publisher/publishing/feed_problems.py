"""The problems that feed validation found at the last build, stored for the author to see."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime

from sqlalchemy.orm import Session

from publisher.base.dates import format_rfc3339, parse_rfc3339
from publisher.feeds.validation import Problem
from publisher.storage.tables.blog import Meta

NAME = "feed_problems"


def keep(session: Session, problems: Sequence[Problem], now: datetime) -> bool:
    """Store the problems found at `now`, or that there are none; returns whether that is new."""
    before = session.get(Meta, NAME)
    text = json.dumps([asdict(problem) for problem in problems])
    if before is None and not problems:
        return False
    if before is not None and problems and before.value.partition(" ")[2] == text:
        return False
    if problems:
        session.merge(Meta(name=NAME, value=f"{format_rfc3339(now)} {text}"))
    elif before is not None:
        session.delete(before)
    return True


def known(session: Session) -> tuple[datetime | None, list[Problem]]:
    """When the present problems were found first, and the problems; (None, []) if none."""
    row = session.get(Meta, NAME)
    if row is None:
        return None, []
    since, _, text = row.value.partition(" ")
    return parse_rfc3339(since), [Problem(**problem) for problem in json.loads(text)]
