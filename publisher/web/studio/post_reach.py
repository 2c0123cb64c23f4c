"""`/studio/posts/<id>/reach`: what a post reached, update by update; and what open pages ask anew.

`/studio/reached` answers the pages with a Publish button that stay open: who has the newest post,
and what the buttons say. It is a short request each time, not a connection that is held: a held one
would keep one of the few threads that make pages. The pages stop asking by themselves.
"""

from dataclasses import dataclass

from flask import Blueprint, render_template, request
from sqlalchemy.orm import Session

from publisher.base.numerals import whole_number
from publisher.blog.members import permissions
from publisher.readers.reporting.audience import Progress, audience, progress
from publisher.readers.reporting.reach import OTHERS, updates_of
from publisher.web.context import count_polls, login_required, me, now, site
from publisher.web.rendering import settings
from publisher.web.studio import shared
from publisher.web.studio.readers_summary import (
    Forecast,
    forecast,
    had_in_words,
    program_in_words,
)

blueprint = Blueprint("post_reach", __name__)

WAITING_SECONDS, FORECAST_SECONDS = 15, 120  # until a page asks again


@dataclass(frozen=True)
class PublishingMoment:
    """What a page with a Publish button says of people. words: who has the post of `progress`;
    programs: name, people and words of each; again: seconds until the page asks again, 0 for
    never."""

    forecast: Forecast
    progress: Progress | None
    again: int
    words: str = ""
    programs: tuple[tuple[str, int, str], ...] = ()


def moment(db: Session, post_id: int | None = None) -> PublishingMoment:
    """The moment, with the progress of a post (0: a new one), by default the newest one."""
    followers = tuple(audience(db, now()))
    there = None if post_id == 0 else progress(db, now(), followers, post_id)
    told = forecast(db, now(), followers)
    waits = bool(shared.leaving(db, me())) or (there is not None and there.have < there.people)
    again = WAITING_SECONDS if waits else FORECAST_SECONDS if told.now else 0
    if there is None:
        return PublishingMoment(told, None, again)
    programs = ((one.name, one.people, program_in_words(one, now())) for one in there.programs)
    return PublishingMoment(told, there, again, had_in_words(there), tuple(programs))


@blueprint.get("/reached")
@login_required
def reached() -> str:
    """The parts of an open page that change with the readers."""
    count_polls()
    with site().database.read() as db:
        post_id = whole_number(request.args.get("post", ""), 2**63 - 1)
        if post_id:
            permissions.editable(db, me(), post_id)
        return render_template("studio/reached.html", moment=moment(db, post_id))


@blueprint.get("/posts/<int:post_id>/reach")
@login_required
def page(post_id: int) -> str:
    """What each update of a post reached."""
    count_polls()
    with site().database.read() as db:
        post = permissions.editable(db, me(), post_id)
        return render_template(
            "studio/reach.html",
            post=post,
            moment=moment(db, post_id),
            updates=updates_of(db, post, settings().feed_items),
            others=OTHERS,
        )
