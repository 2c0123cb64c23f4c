"""`/studio/mentions`: pages that link to posts; each is shown below its post, or refused."""

from flask import Blueprint, flash, redirect, render_template, url_for
from werkzeug.wrappers import Response

from publisher.publishing.mentioning import receiving
from publisher.web.context import login_required, me, site

blueprint = Blueprint("mentions", __name__)


@blueprint.get("/mentions")
@login_required
def page() -> str:
    """The mentions that wait for approval, and those that are shown."""
    with site().database.read() as db:
        return render_template("studio/mentions.html", mentions=receiving.listed(db, me()))


@blueprint.post("/mentions/<int:mention_id>/show")
@login_required
def show(mention_id: int) -> Response:
    """Show a mention below its post."""
    return _decided(mention_id, True, "It is shown below the post.")


@blueprint.post("/mentions/<int:mention_id>/refuse")
@login_required
def refuse(mention_id: int) -> Response:
    """Refuse a mention for good."""
    return _decided(mention_id, False, "Refused. It does not come back.")


def _decided(mention_id: int, shown: bool, words: str) -> Response:
    with site().database.write() as db:
        receiving.decide(db, me(), mention_id, shown)
    flash(words, "done")
    return redirect(url_for(".page"))
