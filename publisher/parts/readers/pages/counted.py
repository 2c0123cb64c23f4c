"""Polls that were counted a moment ago, added to what a page shows."""

from contextlib import suppress

from flask import g

from publisher.base.errors import PublisherError
from publisher.installation.settings import smallest_ttl
from publisher.parts.readers.fold import keep_up
from publisher.web.context import site

POLLS_BEHIND_SECONDS = 60.0
FEW_BYTES = 20_000  # some 200 polls, folded in hundredths of a second


def count_polls() -> None:
    """Add polls to the tables, once a request: few at once, many after they waited for a minute;
    where that fails, what is shown is as old as the last hour."""
    if not g.get("polls_counted"):
        g.polls_counted = True
        with suppress(PublisherError):
            blog = site()
            keep_up(blog.database, blog.clock, smallest_ttl, POLLS_BEHIND_SECONDS, FEW_BYTES)
