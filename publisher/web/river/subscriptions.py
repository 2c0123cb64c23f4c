"""The subscriptions: their state, each with its reasons and its day; adding and letting go."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from flask import Blueprint, Response, flash, redirect, render_template, request, url_for
from sqlalchemy.orm import Session

from publisher import following
from publisher.core.day import Day, draw
from publisher.core.histogram import Activity, fold
from publisher.core.polling import RULES
from publisher.core.specs import SpecError
from publisher.core.ttl import TtlRule, day_table
from publisher.errors import InvalidInput, PublisherError
from publisher.river import feeds, health, moves, opml, reading
from publisher.river.single import Choice
from publisher.storage.river import RiverFeed
from publisher.web.context import author, login_required, now, site
from publisher.web.rendering import sentence, settings

blueprint = Blueprint("subscriptions", __name__)


@blueprint.get("/river/feeds")
@login_required
def page() -> str:
    """All feeds with their state; adding, import and export; how politely we behave."""
    return _subscriptions({}, {})


@blueprint.post("/river/feeds")
@login_required
def add() -> Any:
    """Follow a feed, or the one a site announces."""
    typed = {name: request.form.get(name, "").strip() for name in ("url", "folder", "policy")}
    try:
        feed = following.desk(site()).add(
            typed["url"], folder=typed["folder"], policy=typed["policy"]
        )
    except Choice as choice:
        return _subscriptions(typed, {}, choice.feeds), 300
    except SpecError as error:
        return _subscriptions(typed, {"policy": str(error)}), 422
    except PublisherError as error:
        return _subscriptions(typed, {"url": str(error)}), 422
    flash(f"Following {feed.title or feed.url}.", "done")
    return redirect(url_for("river.subscriptions.feed", feed_id=feed.id))


@blueprint.get("/river/feeds/<int(max=9223372036854775807):feed_id>")
@login_required
def feed(feed_id: int) -> str:
    """One feed: its health, its next poll and why then, its day."""
    return _feed_page(feed_id, {})


@blueprint.post("/river/feeds/<int(max=9223372036854775807):feed_id>")
@login_required
def change(feed_id: int) -> Any:
    """Change folder and policy."""
    spec = request.form.get("policy", "").strip()
    try:
        with site().database.write() as db:
            row = feeds.by_id(db, feed_id)
            row.folder = " ".join(request.form.get("folder", "").split())[:200]
            if spec != row.policy:
                feeds.change_policy(row, spec)
    except SpecError as error:
        return _feed_page(feed_id, {"policy": str(error)}), 422
    flash("Saved.", "done")
    return redirect(url_for("river.subscriptions.feed", feed_id=feed_id))


@blueprint.post("/river/feeds/<int(max=9223372036854775807):feed_id>/<action>")
@login_required
def act(feed_id: int, action: str) -> Any:
    """Retrieve now, pause, resume, take a move back, remove."""
    try:
        with site().database.write() as db:
            said = _act(db, feeds.by_id(db, feed_id), action)
    except PublisherError as error:
        flash(sentence(str(error)), "wrong")
        return redirect(url_for("river.subscriptions.feed", feed_id=feed_id))
    flash(said, "done")
    if action == "remove":
        return redirect(url_for("river.subscriptions.page"))
    return redirect(url_for("river.subscriptions.feed", feed_id=feed_id))


@blueprint.post("/river/import")
@login_required
def import_opml() -> Any:
    """Follow every feed of an uploaded OPML file."""
    file = request.files.get("file")
    try:
        if file is None:
            raise InvalidInput("choose an OPML file")
        outlines, refused = opml.read_opml(file.read())
        with site().database.write() as db:
            added = feeds.subscribe_all(db, outlines, now())
    except PublisherError as error:
        return _subscriptions({}, {"file": str(error)}), 422
    left_out = f", {len(refused)} left out" if refused else ""
    flash(f"{added} added, {len(outlines) - added} known already{left_out}.", "done")
    return redirect(url_for("river.subscriptions.page"))


@blueprint.get("/opml.xml")
def export_opml() -> Response:
    """The blogroll. Feeds that need a login are nobody else's business."""
    with site().database.read() as db:
        listed = [f for f in feeds.everyone(db) if author() is not None or not f.username]
        body = opml.write_opml(settings().title, listed)
    return Response(body, content_type="text/x-opml; charset=utf-8")


def _act(db: Session, row: RiverFeed, action: str) -> str:
    if action == "retrieve":
        feeds.ask(db, row, now(), following.options(site()))
        return "It will be retrieved in its turn, within a few seconds."
    if action == "pause":
        feeds.pause(row)
        return "Paused."
    if action == "resume":
        feeds.resume(db, row, now())
        return "It is polled again."
    if action == "undo-move":
        return f"Back at {moves.undo_last(db, row, now())}."
    if action == "remove":
        feeds.unsubscribe(db, row)
        return f"No longer following {row.title or row.url}."
    raise InvalidInput(f"there is no action {action[:40]!r}")


def _subscriptions(
    values: dict[str, str],
    errors: dict[str, str],
    choices: tuple[tuple[str, str], ...] = (),
) -> str:
    with site().database.read() as db:
        everyone = feeds.everyone(db)
        verdict = health.politeness(db, now())
    return render_template(
        "river/feeds.html",
        room="river",
        feeds=everyone,
        verdict=verdict,
        values=values,
        errors=errors,
        choices=choices,
        policies=list(RULES.values()),
        now=now(),
    )


def _feed_page(feed_id: int, errors: dict[str, str]) -> str:
    with site().database.read() as db:
        row = feeds.by_id(db, feed_id)
        visits = health.visits_of(db, feed_id)
        moments = reading.recent_moments(db, feed_id)
        past = moves.history(db, feed_id)
        waits = feeds.told_to_wait_until(db, row)
    return render_template(
        "river/feed.html",
        room="river",
        feed=row,
        visits=visits,
        moves=past,
        waits=waits if waits and waits > now() else None,
        day=_day(moments) if len(moments) > 1 else None,
        errors=errors,
        policies=list(RULES.values()),
        now=now(),
    )


def _day(moments: Sequence[datetime]) -> Day:
    """The feed's day, in this author's time, as our own strip would show it."""
    zone = settings().timezone
    activity = fold(Activity.empty(zone), moments)
    return draw(day_table(activity, now(), TtlRule.parse()), zone, now())
