"""`/opml.xml` and `/river/import`: lists of subscriptions, out and in."""

from typing import Any

from flask import Blueprint, Response, flash, redirect, request, url_for

from publisher.base.errors import InvalidInput, PublisherError
from publisher.river import opml, subscriptions
from publisher.web.context import author, login_required, now, site
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
        outlines, refused = opml.read_opml(file.read())
        with site().database.write() as db:
            added = subscriptions.subscribe_all(db, outlines, now())
    except PublisherError as error:
        return subscriptions_page({}, {"file": str(error)}), 422
    left_out = f", {len(refused)} left out" if refused else ""
    flash(f"{added} added, {len(outlines) - added} known already{left_out}.", "done")
    return redirect(url_for("river.feeds.page"))


@blueprint.get("/opml.xml")
def export_opml() -> Response:
    """The blogroll. Feeds that need a login are nobody else's business."""
    with site().database.read() as db:
        listed = [f for f in subscriptions.everyone(db) if author() is not None or not f.username]
        body = opml.write_opml(settings().title, listed)
    return Response(body, content_type="text/x-opml; charset=utf-8")
