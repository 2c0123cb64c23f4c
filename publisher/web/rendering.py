"""What every template may use: addresses of our files, the person, the settings, small filters."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from flask import Flask, g

from publisher.blog import preferences
from publisher.blog.posts import path
from publisher.blog.preferences import Preferences
from publisher.core.day import span
from publisher.dates import format_rfc3339
from publisher.errors import PublisherError
from publisher.web.assets import asset
from publisher.web.context import author, site


def prepare(app: Flask) -> None:
    """Give an application's templates their globals and filters."""
    app.jinja_env.trim_blocks = app.jinja_env.lstrip_blocks = True
    app.jinja_env.globals.update(asset=asset, path=path)
    app.jinja_env.filters.update(
        sentence=sentence,
        rfc3339=format_rfc3339,
        day=day,
        clock=clock,
        moment=moment,
        span=span,
        updates=updates,
    )
    app.context_processor(_values)


def settings() -> Preferences:
    """The site's preferences, read once a request."""
    if "settings" not in g:
        with site().database.read() as db:
            g.settings = preferences.load(db)
    found: Preferences = g.settings
    return found


def sentence(problem: str) -> str:
    """A problem in a few words as a sentence of its own."""
    text = str(problem).strip()
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "?", "…")) else ".")


def day(at: datetime) -> str:
    """The author's civil date: 4 March 2024."""
    local = at.astimezone(settings().zone)
    return f"{local.day} {local:%B %Y}"


def clock(at: datetime) -> str:
    """The author's civil time: 09:30."""
    return f"{at.astimezone(settings().zone):%H:%M}"


def moment(at: datetime) -> str:
    """Date and time: 4 March 2024, 09:30."""
    return f"{day(at)}, {clock(at)}"


def updates(expected: float) -> str:
    """How many updates an hour brings: 9.1 updates."""
    return f"{expected:.1f} updates" if expected >= 0.05 else "hardly any update"


def _values() -> dict[str, Any]:
    """Settings and person; an error page must come out even when the database does not answer."""
    try:
        return {"settings": settings(), "current_author": author()}
    except PublisherError:
        return {"settings": Preferences(), "current_author": None}
