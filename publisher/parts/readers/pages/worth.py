"""`/readers/worth`: how much is knowing your day worth? `/readers/simulated` redirects here.

Runs the command `publisher simulate --mine` in a process of its own; the page waits by reloading.

`/readers/advise`: which ttl any feed should have. Runs the command `publisher advise`, one at a
time, behind the guard against private addresses, and keeps each answer for an hour.
"""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from flask import Blueprint, Response, make_response, redirect, render_template, request, url_for
from sqlalchemy.orm import Session

from publisher.base.dates import cities, find_zone
from publisher.base.errors import InvalidData, InvalidInput, TooMany
from publisher.blog import log_replay, update_log
from publisher.dynamic_ttl.core.replay import measure
from publisher.dynamic_ttl.core.ttl.activity import histogram
from publisher.dynamic_ttl.core.ttl.decision import warming_up
from publisher.feed_fetching.addresses import tidy_url
from publisher.installation import Site
from publisher.installation.settings import Settings, load_settings
from publisher.other_feeds.advise import CLIENTS, in_words
from publisher.part import other_feed
from publisher.parts.readers.pages.counted import count_polls
from publisher.parts.readers.reporting.report import make
from publisher.parts.readers.reporting.verdicts import OBEDIENT
from publisher.web import background_commands
from publisher.web.context import login_required, now, site

blueprint = Blueprint("readers_worth", __name__)

NAME = "readers_gain"
RELOAD_SECONDS = "2"
DAYS, MOST_READERS = 7, 200
HOUR = "fixed:60"
NOTHING_NEW = "nothing was published in the last 30 days"
WHOLE = "population"
WANTED = ("publisher", "client", "days", "updates", "polls_per_day", "delay_mean_minutes",
          "delay_p90_minutes", "cost", "cost_of_best_fixed")  # fmt: skip


@blueprint.get("/readers/simulated")
def simulated() -> Any:
    """The page's former address."""
    return redirect(url_for(".worth"), 301)


@blueprint.get("/readers/worth")
@login_required
def worth() -> Response:
    """The answer, or the progress; starts the command if there is no answer for today yet."""
    blog, moment, name = site(), now(), request.args.get("mirror", "")
    count_polls()
    with blog.database.read() as session:
        settings = load_settings(session)
        poll_minutes = settings.rule.poll_minutes
        key = log_replay.key_of(session, moment)
        if name:
            mirror = other_feed(blog.parts, session, name)
            history = histogram(mirror.updates, moment, mirror.timezone).by_dates()
            key += f" {mirror.url}"
        else:
            history = update_log.load(session)
        state = background_commands.load(session, f"{NAME}:{name}" if name else NAME)
    learning = history.last_update is None or warming_up(history, moment)

    def ask() -> background_commands.Rows:
        with blog.database.read() as session:
            mix = population(session, settings, moment, name)
        return simulate(blog, log_replay.as_publisher(settings), poll_minutes, mix, name)

    if not learning:
        state = background_commands.answered(blog, state, key, moment, ask)
    replayed = state.rows and all(row["cost"] is not None for row in state.rows)
    problem = state.problem or ("" if replayed or state.rows is None else NOTHING_NEW)
    text = render_template(
        "readers/worth.html",
        learning=learning,
        updates=history.updates,
        waited_seconds=max(round(state.waited_seconds(moment)), 0),
        problem=problem,
        worth=read(state.rows, poll_minutes) if replayed and state.rows else None,
        poll_minutes=poll_minutes,
        mirror=name,
    )
    # As a header, not in the page: this works for assistive programs and without a script.
    return make_response(text, {"Refresh": RELOAD_SECONDS} if state.at_work(moment) else {})


def population(session: Session, settings: Settings, moment: datetime, mirror: str = "") -> str:
    """The feed's own readers for `--population`: polite ones follow max-age, others poll at their
    own fixed interval."""
    report = make(
        session, moment, DAYS, settings.rule.menu.smallest, lambda every: every[:MOST_READERS],
        mirror,
    )  # fmt: skip
    lines = []
    for reader in report.readers[:MOST_READERS]:
        minutes = reader.to_dict(report.smallest_ttl_minutes)["median_interval_minutes"]
        if reader.kind == "reader" and minutes:
            share = max(reader.subscribers, 1)
            polite = reader.verdict == OBEDIENT
            lines.append(f"{share} {'max-age' if polite else f'fixed:{max(round(minutes), 1)}'}")
    return "\n".join(lines)


def simulate(
    blog: Site, publisher: str, poll_minutes: float, mix: str, mirror: str = ""
) -> background_commands.Rows:
    """Run the simulator for readers that obey and for the mix; PublisherError with its message."""
    arguments = ["simulate", "--format", "json", "--publisher", publisher, "--publisher", HOUR]
    arguments += ["--poll-minutes", f"{poll_minutes:g}"]
    arguments += ["--mirror", mirror] if mirror else ["--mine"]
    rows = background_commands.run(blog, *arguments, "--client", "max-age", "--client", "ttl")
    if mix:
        with TemporaryDirectory() as folder:
            file = Path(folder) / "readers.txt"
            file.write_text(mix, "utf-8")
            everybody = background_commands.run(blog, *arguments, "--population", str(file))
            rows += [row for row in everybody if row["client"] == WHOLE]
    return [{name: row[name] for name in WANTED} for row in rows]


Row = Mapping[str, Any]


@dataclass(frozen=True)
class Worth:
    """The answer, in rows of the simulator: apps that look every `hour`; at this feed `most` apps,
    which obey its headers, and `simple` ones, which know only its ttl; the blog's `own` readers as
    they come, and if the feed always said an hour, None while they are unknown. best: the pause in
    minutes of least cost that hindsight finds; saved: by how many per cent less `most` cost."""

    hour: Row
    most: Row
    simple: Row
    own: Row | None
    own_hour: Row | None
    best: int
    saved: int

    @property
    def evenly(self) -> float:
        """How long a post would wait for as many visits, evenly spread."""
        visits: float = self.most["polls_per_day"]
        return measure.DAY_MINUTES / 2.0 / max(visits, 0.01)


def read(rows: Sequence[Row], poll_minutes: float) -> Worth:
    """The answer from the simulator's rows."""
    by_kind = {(row["publisher"] == HOUR, row["client"]): row for row in rows}
    most = by_kind[False, "max-age"]
    per_day = most["updates"] / max(most["days"], 1.0)
    return Worth(
        by_kind[True, "ttl"], most, by_kind[False, "ttl"],
        by_kind.get((False, WHOLE)), by_kind.get((True, WHOLE)),
        measure.best_fixed(per_day, poll_minutes),
        round(100.0 - 100.0 * most["cost"] / most["cost_of_best_fixed"]),
    )  # fmt: skip


advise_blueprint = Blueprint("advise", __name__)

ADVICE_SECONDS, GOOD_FOR, MOST_ANSWERS = 120, timedelta(hours=1), 50
_at_work = threading.Lock()
_answers: dict[tuple[str, str], tuple[datetime, dict[str, Any]]] = {}


def advice(blog: Site, url: str, zone: str, at: datetime) -> dict[str, Any]:
    """The advice of the last hour, or the command's; TooMany while another feed is checked."""
    cached = _answers.get((url, zone))
    if cached is not None and cached[0] <= at < cached[0] + GOOD_FOR:
        return cached[1]
    if not _at_work.acquire(blocking=False):
        raise TooMany("another feed is being checked; try again in a moment", 10)
    try:
        answer: dict[str, Any] = background_commands.run(
            blog, "advise", url, "--timezone", zone, "--json", seconds=ADVICE_SECONDS,
            late="this took too long; try again later",
        )  # fmt: skip
    finally:
        _at_work.release()
    while len(_answers) >= MOST_ANSWERS:
        del _answers[next(iter(_answers))]
    _answers[url, zone] = at, answer
    return answer


@advise_blueprint.get("/readers/advise")
@login_required
def form() -> tuple[str, int] | str:
    """The form, and with `?url=` the answer below it."""
    typed, zone = request.args.get("url", "").strip(), request.args.get("timezone", "").strip()
    with site().database.read() as db:
        zone = zone or load_settings(db).timezone
    answer, problem = None, ""
    if typed:
        try:
            zone = find_zone(zone)
            answer = advice(site(), tidy_url(typed)[0], zone, now())
        except (InvalidInput, InvalidData) as error:
            problem = str(error)
    page = render_template(
        "readers/advise.html", url=typed, zone=zone, zones=cities(), found=answer, problem=problem,
        clients=CLIENTS, in_words=in_words,
    )  # fmt: skip
    return (page, 422) if problem else page
