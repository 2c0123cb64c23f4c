"""`/readers/worth`: how much is knowing your day worth? `/readers/simulated` leads here.

The answer is that of `publisher simulate --mine`, and it is that very command that gives it: in a
process of its own, beside the page. Result and state are stored, so that every worker knows them.
"""

import json
import subprocess
import sys
import threading
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from flask import Blueprint, Response, make_response, redirect, render_template, request, url_for
from sqlalchemy.orm import Session

from publisher.base.clock import real_seconds
from publisher.base.dates import format_rfc3339, parse_rfc3339
from publisher.base.errors import PublisherError
from publisher.blog import update_log
from publisher.core.ttl.decision import warming_up
from publisher.foreign import mirror_document, mirrors
from publisher.installation import Site
from publisher.readers.report import make
from publisher.readers.verdicts import OBEDIENT
from publisher.settings import Settings, load_settings
from publisher.storage.tables.blog import Meta
from publisher.web.context import login_required, now, site

blueprint = Blueprint("readers_worth", __name__)

NAME = "readers_worth"
RELOAD_SECONDS = "5"
LONGEST_SECONDS = 600  # the first time, the rules are compiled
DAYS, MOST_READERS = 7, 200
COMMAND = (sys.executable, "-m", "publisher", "simulate", "--format", "json")
PUBLISHERS = ("--publisher", "forward", "--publisher", "fixed:60")
WHOLE = "population"


@dataclass(frozen=True)
class Outcome:
    """What one kind of readers would have had of the blog's own updates, with one ttl.

    `fixed_delay_minutes`: how long they would wait with fixed intervals and as many visits.
    """

    polls_per_day: float
    delay_minutes: float

    @property
    def fixed_delay_minutes(self) -> float:
        """Half of the interval at which as many visits are made."""
        return 720.0 / self.polls_per_day if self.polls_per_day else 0.0


@dataclass(frozen=True)
class Worth:
    """The answer: polite readers with the ttl of today, and with a fixed hour; `own` are the
    blog's own readers as they poll, None where they are not known."""

    polite: Outcome
    hour: Outcome
    own: Outcome | None
    own_hour: Outcome | None


@dataclass(frozen=True)
class State:
    """What is stored: what it was asked about, since when it is at work, and how it ended.

    mirror: of which mirrored feed; "" for the blog.
    """

    key: str = ""
    began_at: str = ""
    rows: tuple[dict[str, Any], ...] = ()
    problem: str = ""
    mirror: str = ""

    def waited_seconds(self, moment: datetime) -> float:
        """For how long it has been at work, in real seconds however fast the site's clock is."""
        if not self.began_at:
            return 0.0
        waited = (moment - parse_rfc3339(self.began_at)).total_seconds()
        return real_seconds(site().clock, waited)

    def at_work(self, moment: datetime) -> bool:
        """Whether a process works on the answer now; False for one that has died."""
        if not self.began_at or self.rows or self.problem:
            return False
        return 0.0 <= self.waited_seconds(moment) < LONGEST_SECONDS + 30


@blueprint.get("/readers/simulated")
def simulated() -> Any:
    """The page's former address."""
    return redirect(url_for(".worth"), 301)


@blueprint.get("/readers/worth")
@login_required
def worth() -> Response:
    """The answer, or how far it is; asked for when it is not there for today."""
    here, moment, name = site(), now(), request.args.get("mirror", "")
    with here.database.read() as session:
        settings = load_settings(session)
        key = f"{moment:%Y-%m-%d} {settings.rule} {settings.zone.key}"
        if name:
            mirror = mirrors.named(session, name)
            history = mirror_document.history_of(mirror)
            known = mirror_document.activity_of(history, mirror.timezone, moment)
            key += f" {mirror.url}"
        else:
            known = update_log.load(session)
        state = load(session, name)
        learning = known.last_update is None or warming_up(known, moment)
    if not learning and state.key != key and not state.at_work(moment):
        state = State(key, format_rfc3339(moment), mirror=name)
        begin(here, state, settings, moment)
    text = render_template(
        "readers/worth.html",
        learning=learning,
        updates=known.updates,
        working=state.at_work(moment),
        waited_seconds=max(round(state.waited_seconds(moment)), 0),
        problem=state.problem,
        worth=read(state.rows) if state.rows else None,
        mirror=name,
    )
    # In the header, not in the page: assistive programs are told of it, and need no script either.
    return make_response(text, {"Refresh": RELOAD_SECONDS} if state.at_work(moment) else {})


def load(session: Session, mirror: str = "") -> State:
    """The stored state of the answer."""
    row = session.get(Meta, _stored_as(mirror))
    if row is None:
        return State()
    values = json.loads(row.value)
    rows = tuple(values["rows"])
    return State(values["key"], values["began_at"], rows, values["problem"], mirror)


def save(here: Site, state: State) -> None:
    """Store the state of the answer."""
    values = {
        "key": state.key, "began_at": state.began_at, "rows": state.rows,
        "problem": state.problem,
    }  # fmt: skip
    with here.database.write() as session:
        session.merge(Meta(name=_stored_as(state.mirror), value=json.dumps(values)))


def _stored_as(mirror: str) -> str:
    return f"{NAME}:{mirror}" if mirror else NAME


def begin(here: Site, state: State, settings: Settings, moment: datetime) -> threading.Thread:
    """Start the simulation in a thread; its result is stored when it is done."""
    save(here, state)
    with here.database.read() as session:
        mix = population(session, settings, moment, state.mirror)

    def work() -> None:
        try:
            found = replace(state, rows=tuple(simulate(here, mix, state.mirror)))
        except PublisherError as error:
            found = replace(state, problem=str(error))
        save(here, found)

    thread = threading.Thread(target=work, name="worth", daemon=True)
    thread.start()
    return thread


def population(session: Session, settings: Settings, moment: datetime, mirror: str = "") -> str:
    """The feed's own readers as `--population` reads them: polite ones obey, others keep time."""
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


def simulate(here: Site, mix: str, mirror: str = "") -> list[dict[str, Any]]:
    """Ask the simulator, for polite readers and for the mix; PublisherError with its own words."""
    asked = [*(("--mirror", mirror) if mirror else ("--mine",)), *PUBLISHERS]
    rows = _ask(here, [*asked, "--client", "max-age", "--client", "ttl"])
    if mix:
        with TemporaryDirectory() as folder:
            file = Path(folder) / "readers.txt"
            file.write_text(mix, "utf-8")
            rows += [
                row
                for row in _ask(here, [*asked, "--population", str(file)])
                if row["client"] == WHOLE
            ]
    wanted = ("publisher", "client", "polls_per_day", "delay_mean_minutes")
    return [{name: row[name] for name in wanted} for row in rows]


def read(rows: tuple[dict[str, Any], ...]) -> Worth:
    """The answer read from the simulator's rows."""
    found = {
        (row["publisher"], row["client"]): Outcome(row["polls_per_day"], row["delay_mean_minutes"])
        for row in rows
    }
    return Worth(
        found["forward", "max-age"], found["fixed:60", "ttl"],
        found.get(("forward", WHOLE)), found.get(("fixed:60", WHOLE)),
    )  # fmt: skip


def _ask(here: Site, options: list[str]) -> list[dict[str, Any]]:
    try:
        done = subprocess.run(
            [*COMMAND, *options], env=here.environment.variables(), capture_output=True, text=True,
            timeout=LONGEST_SECONDS, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired as error:
        raise PublisherError("the simulator took too long; it is tried again tomorrow") from error
    if done.returncode != 0:
        last_line = (done.stderr.strip().splitlines() or ["no answer"])[-1]
        raise PublisherError(last_line.removeprefix("publisher: "))
    rows: list[dict[str, Any]] = json.loads(done.stdout)
    return rows
