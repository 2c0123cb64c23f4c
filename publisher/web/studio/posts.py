"""`/studio/posts`: the list of all posts, filtered, a page at a time."""

from flask import Blueprint, render_template, request

from publisher.base.dates import format_rfc3339, parse_rfc3339
from publisher.base.errors import InvalidInput
from publisher.base.numerals import whole_number
from publisher.base.text import clean
from publisher.blog import published
from publisher.blog.members import authors, permissions
from publisher.blog.writing import autosave, overview
from publisher.publishing.mentioning import receiving
from publisher.readers.reporting.reach import reached
from publisher.storage.tables.blog import KINDS, STATUSES
from publisher.web.context import count_polls, login_required, me, site
from publisher.web.studio import shared

blueprint = Blueprint("posts", __name__)


@blueprint.get("/posts")
@login_required
def page() -> str:
    """One page of the list; authors see their own posts, admins everybody's."""
    wanted, cursor = _filter(), _cursor(request.args.get("after", ""))
    count_polls()
    with site().database.read() as db:
        rows = overview.rows(db, wanted, me().id, overview.PAGE + 1, cursor)
        people = authors.everyone(db) if permissions.is_admin(me()) else []
        waiting = shared.leaving(db, me())
        mentions_waiting = receiving.waiting(db, me())
        unsaved_texts = bool(autosave.everything(db, me().id))
        reach = reached(db, [row.id for row in rows if published.is_public(row)])
    more = rows[overview.PAGE - 1] if len(rows) > overview.PAGE else None
    return render_template(
        "studio/posts.html",
        rows=rows[: overview.PAGE],
        wanted=wanted,
        states=STATUSES,
        people=people,
        after=f"{format_rfc3339(more.when)}~{more.id}" if more else "",
        first=cursor is None,
        leaving=waiting,
        reach=reach,
        unsaved_texts=unsaved_texts,
        mentions_waiting=mentions_waiting,
        seconds_left=shared.seconds_left,
    )


def _filter() -> overview.Filter:
    asked = {name: clean(text.strip())[:200] for name, text in request.args.items()}
    who: int | None = me().id
    if permissions.is_admin(me()):
        who = whole_number(asked.get("author", ""))
    return overview.Filter(
        state=asked.get("state", "") if asked.get("state") in STATUSES else "",
        kind=asked.get("kind", "") if asked.get("kind") in KINDS else "",
        tag=asked.get("tag", ""),
        author_id=who,
        words=asked.get("q", ""),
    )


def _cursor(text: str) -> overview.Cursor | None:
    moment, _, number = text.partition("~")
    if (post := whole_number(number)) is None:
        return None
    try:
        return overview.Cursor(parse_rfc3339(moment), post)
    except InvalidInput:
        return None
