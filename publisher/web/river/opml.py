"""`/opml.xml`, `/river/opml.xml` and `/river/import`: lists of subscriptions, out and in."""

from collections.abc import Sequence
from typing import Any

from flask import Blueprint, Response, flash, redirect, request, url_for

from publisher.base.errors import InvalidInput, PublisherError
from publisher.base.numerals import counted
from publisher.river.following import feed_list, subscriptions
from publisher.river.reading import opml
from publisher.storage.tables.river import RiverFeed
from publisher.web.context import login_required, now, site
from publisher.web.rendering import settings
from publisher.web.river.feeds import subscriptions_page

blueprint = Blueprint("opml", __name__)


@blueprint.post("/river/import")
@login_required
def import_opml() -> Any:
    """Follow every feed of an uploaded OPML file."""
    file = request.files.get("file")
    try:
        if file is None:
            raise InvalidInput("choose an OPML file")
        found = opml.read_list(file.read())
        with site().database.write() as db:
            added = subscriptions.subscribe_all(db, found.outlines, now())
    except PublisherError as error:
        return subscriptions_page({}, {"file": str(error)}), 422
    left_out = f", {len(found.refused)} left out" if found.refused else ""
    known = len(found.outlines) - added
    flash(f"{counted(added, 'feed')} added, {known:,} already there{left_out}.", "done")
    return redirect(url_for("river.feeds.page"))


@blueprint.get("/opml.xml")
def public_opml() -> Response:
    """The public blogroll: the feeds that the owner shows, the same whether logged in or not."""
    with site().database.read() as db:
        return _opml(feed_list.shown(db), complete=False)


@blueprint.get("/river/opml.xml")
@login_required
def export_opml() -> Response:
    """The list of all feeds, for another program."""
    with site().database.read() as db:
        answer = _opml(subscriptions.everyone(db), complete=True)
    answer.headers["Cache-Control"] = "private, no-store"
    return answer


def _opml(feeds: Sequence[RiverFeed], *, complete: bool) -> Response:
    body = opml.write_opml(settings().title, feeds, complete=complete)
    return Response(body, content_type="text/x-opml; charset=utf-8")
