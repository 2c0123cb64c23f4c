"""`/readers/simulated`: what would my readers have had, with fixed ttls and with mine?

The answer is that of `publisher simulate --mine`, and it is that very command that gives it: in a
process of its own, so that the numeric libraries never weigh on a web worker.
"""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from flask import Blueprint, render_template

from publisher.base.errors import PublisherError, TooMany
from publisher.blog import update_log
from publisher.installation import Site
from publisher.settings import load_settings
from publisher.web.context import login_required, now, site

blueprint = Blueprint("readers_simulated", __name__)

LONGEST_SECONDS = 180  # the first time, the rules are compiled
COMMAND = [sys.executable, "-m", "publisher", "simulate", "--mine", "--format", "json"]


@dataclass(frozen=True)
class Outcome:
    """What readers that obey would have had of one publisher in the last month."""

    publisher: str
    mine: bool
    polls_per_day: float
    delay_mean_minutes: float
    delay_p95_minutes: float
    stale_share: float
    missed_updates: float
    efficiency: float


class Answers:
    """The last answer, kept until an update, a setting or the day changes."""

    def __init__(self) -> None:
        self._asking = threading.Lock()
        self._key: object = None
        self._outcomes: Sequence[Outcome] = ()

    def get(self, here: Site, key: object) -> Sequence[Outcome]:
        """The outcomes for what `key` stands for; TooMany while another request computes them."""
        if key == self._key:
            return self._outcomes
        if not self._asking.acquire(blocking=False):
            raise TooMany("the simulator is at work for somebody else; try again in a moment", 10)
        try:
            self._outcomes, self._key = simulate(here), key
        finally:
            self._asking.release()
        return self._outcomes


_answers = Answers()


@blueprint.get("/readers/simulated")
@login_required
def simulated() -> str:
    """The table; computed at the first look after an update."""
    with site().database.read() as db:
        settings = load_settings(db)
        last = update_log.last_update(db, now())
    key = (site().environment.database_url, settings, last, now().date())
    outcomes = _answers.get(site(), key) if last else ()
    return render_template("readers/simulated.html", outcomes=outcomes, mine=settings)


def simulate(here: Site) -> list[Outcome]:
    """Ask the simulator; PublisherError with its own words when it cannot answer."""
    environment = {
        **os.environ,
        "PUBLISHER_INSTANCE": str(here.environment.instance),
        "PUBLISHER_DATABASE_URL": here.environment.database_url,
    }
    try:
        done = subprocess.run(
            COMMAND, env=environment, capture_output=True, text=True,
            timeout=LONGEST_SECONDS, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired as error:
        raise PublisherError("the simulator took too long; try again later") from error
    if done.returncode != 0:
        last_line = (done.stderr.strip().splitlines() or ["no answer"])[-1]
        raise PublisherError(last_line.removeprefix("publisher: "))
    return [_outcome(row) for row in json.loads(done.stdout)]


def _outcome(row: dict[str, Any]) -> Outcome:
    return Outcome(
        publisher=row["publisher"],
        mine=row["publisher"].startswith("forward"),
        polls_per_day=row["polls_per_day"],
        delay_mean_minutes=row["delay_mean_minutes"],
        delay_p95_minutes=row["delay_p95_minutes"],
        stale_share=row["stale_share"],
        missed_updates=row["missed_updates"],
        efficiency=row["efficiency"],
    )
