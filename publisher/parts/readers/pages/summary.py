"""What the studio says of readers: who has a post by when, the buttons that say so, the month.

People are the unit of every sentence; programs are counted on `/readers` only.
"""

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import lru_cache
from threading import Lock

from flask import Blueprint, render_template, request
from sqlalchemy.orm import Session

from publisher.base.text import whole_number
from publisher.blog import update_log
from publisher.blog.writing import posts
from publisher.dynamic_ttl.core.replay.when_to_publish import (
    Reach,
    better_of,
    hours_ahead,
    reach_now,
)
from publisher.installation import Site
from publisher.installation.settings import Settings, load_settings
from publisher.parts.readers.pages.counted import count_polls
from publisher.parts.readers.reporting import reach
from publisher.parts.readers.reporting.audience import (
    AudienceReader,
    ProgramProgress,
    Progress,
    audience,
    progress,
)
from publisher.parts.readers.reporting.reach import OTHERS, updates_of
from publisher.parts.readers.reporting.report import make
from publisher.parts.readers.reporting.verdicts import OBEDIENT
from publisher.web.context import me, need_login, now, settings, site
from publisher.web.rendering import clock, minutes, moment
from publisher.web.studio import shared

DAYS, MOST_READERS = 30, 200
LEAST_INTERVALS, LEAST_DELIVERIES = 20, 20
LATER = timedelta(hours=2)  # a forecast beyond this says why
LOOKS_ALONE = "looks on its own schedule"
LEAST_UPDATES = 5  # before these nothing is said of when to publish


@dataclass(frozen=True)
class Forecast:
    """What the two buttons say: who has a post by when that is published now, or at a better hour;
    "" where too little is known. at: the hour, moment: as in the editor's date input."""

    now: str = ""
    at: str = ""
    moment: str = ""
    later: str = ""


def forecast(session: Session, now: datetime, readers: tuple[AudienceReader, ...]) -> Forecast:
    """The forecast at `now` for the audience."""
    own = settings()
    log = update_log.load(session)
    if log.updates < LEAST_UPDATES:
        return Forecast()
    present = reach_now(readers, now, now + timedelta(seconds=own.undo_seconds))
    if present is None:
        return Forecast()
    begin = now.replace(minute=now.minute // 5 * 5, second=0, microsecond=0)
    queue = tuple(update_log.scheduled(session, now))
    better = better_of(_ahead(log, begin, own.rule, readers, queue), present)
    if better is None:
        return Forecast(_who_by_when(present, now))
    at = better.at.astimezone(own.zone)
    return Forecast(
        _who_by_when(present, now), f"{at:%H:%M}", f"{at:%Y-%m-%dT%H:%M}",
        f"{_who(better.have, better.people)} by {_by(better.by, now)}",
    )  # fmt: skip


_ahead = lru_cache(maxsize=4)(hours_ahead)


def _who(have: int, people: int) -> str:
    """Everybody, or 41 of 58 people."""
    if have < people or people == 1:
        return f"{have:,} of {people:,} {'person' if people == 1 else 'people'}"
    return f"all {people:,} people"


def _who_by_when(there: Reach, now: datetime) -> str:
    has = "has" if there.people == 1 else "have"
    why = ", when apps look again" if there.by - now > LATER else ""
    return f"{_who(there.have, there.people)} {has} it by {_by(there.by, now)}{why}"


def _by(at: datetime, now: datetime) -> str:
    """The time of day, and that it is tomorrow's."""
    zone = settings().zone
    next_day = at.astimezone(zone).date() > now.astimezone(zone).date()
    return f"{clock(at)}{' tomorrow' if next_day else ''}"


def had_in_words(there: Progress) -> str:
    """Who has a post: 41 of 58 people have it."""
    return f"{_who(there.have, there.people)} {'has' if there.people == 1 else 'have'} it"


def program_in_words(program: ProgramProgress, now: datetime) -> str:
    """How far a post has come in one program: got it at 09:02; 3 got it at 09:02, the next looks at
    09:04; looks on its own schedule."""
    words = []
    if program.have == program.people:
        words.append("got it")
    elif program.have:
        words.append(f"{program.have:,} got it")
    if words and program.since:
        words[0] += f" {_since(program.since, now)}"
    if program.have < program.people:
        left = program.people - program.have
        who = ("the next ", f"{left:,} more ") if program.have else ("", "")
        if program.asks_at is None:
            own = "look on their own schedule" if program.have and left > 1 else LOOKS_ALONE
            words.append(f"{who[1]}{own}")
        elif program.asks_at <= now:
            words.append(f"{who[0]}looks any moment")
        else:
            words.append(f"{who[0]}looks at {_by(program.asks_at, now)}")
    return ", ".join(words)


def _since(at: datetime, now: datetime) -> str:
    zone = settings().zone
    days = (now.astimezone(zone).date() - at.astimezone(zone).date()).days
    return {0: f"at {clock(at)}", 1: f"yesterday, {clock(at)}"}.get(days) or moment(at)


_months: dict[str, tuple[date, str]] = {}
_making = Lock()


def month(blog: Site, session: Session, now: datetime) -> str:
    """A sentence about the last thirty days, made once a day; "" if too little is known."""
    own = load_settings(session)
    key, today = blog.environment.database_url, now.date()
    with _making:
        cached = _months.get(key)
        if cached is None or cached[0] != today:
            cached = _months[key] = today, _sentence(session, own, now)
        return cached[1]


def _sentence(session: Session, own: Settings, now: datetime) -> str:
    report = make(session, now, DAYS, own.rule.menu.smallest, lambda every: every[:MOST_READERS])
    totals, reached = report.totals(), reach.delays_summary(report.delays)
    saved = totals["avoided_against_fixed_15"]
    parts = []
    if reached["deliveries"] >= LEAST_DELIVERIES:
        parts.append(f"half of the people had a post within {minutes(reached['median_minutes'])}")
    intervals = sum(reader.sums.intervals for reader in report.readers)
    if totals["verdicts"][OBEDIENT] and saved > 0 and intervals >= LEAST_INTERVALS:
        parts.append(
            f"apps that listen made {saved:,} fewer visits than if they came every 15 minutes"
        )
    return f"In the last 30 days {', and '.join(parts)}." if parts else ""


blueprint = Blueprint("post_reach", __name__, url_prefix="/studio")
blueprint.before_request(need_login)

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


def publishing_moment(db: Session, post_id: int | None = None) -> PublishingMoment:
    """The moment, with the progress of a post (0: a new one), by default the newest one."""
    followers = tuple(audience(db, now()))
    there = None if post_id == 0 else progress(db, now(), followers, post_id)
    prediction = forecast(db, now(), followers)
    waits = bool(shared.in_undo_window(db, me())) or (
        there is not None and there.have < there.people
    )
    again = WAITING_SECONDS if waits else FORECAST_SECONDS if prediction.now else 0
    if there is None:
        return PublishingMoment(prediction, None, again)
    programs = (
        (program.name, program.people, program_in_words(program, now()))
        for program in there.programs
    )
    return PublishingMoment(prediction, there, again, had_in_words(there), tuple(programs))


@blueprint.get("/reached")
def reached() -> str:
    """The parts of an open page that change with the readers."""
    count_polls()
    with site().database.read() as db:
        post_id = whole_number(request.args.get("post", ""))
        if post_id:
            posts.editable(db, me(), post_id)
        return render_template("readers/reached.html", moment=publishing_moment(db, post_id))


@blueprint.get("/posts/<int:post_id>/reach")
def page(post_id: int) -> str:
    """What each update of a post reached."""
    count_polls()
    with site().database.read() as db:
        post = posts.editable(db, me(), post_id)
        return render_template(
            "readers/reach.html",
            post=post,
            moment=publishing_moment(db, post_id),
            updates=updates_of(db, post, settings().feed_items),
            others=OTHERS,
        )
