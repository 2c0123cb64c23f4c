"""Polls that were counted a moment ago, added to what a page shows."""

from contextlib import suppress

from flask import g

from publisher.base.errors import PublisherError
from publisher.installation.settings import smallest_ttl
from publisher.parts.readers.fold import keep_up
from publisher.web.context import site

POLLS_BEHIND_SECONDS = 60.0


def count_polls() -> None:
    """Add polls that wait for a minute to the tables, once a request; where that fails, what is
    shown is as old as the last hour."""
    if not g.get("polls_counted"):
        g.polls_counted = True
        with suppress(PublisherError):
            keep_up(site().database, site().clock, smallest_ttl, POLLS_BEHIND_SECONDS)
