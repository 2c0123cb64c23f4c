"""`/readers/advise`: which ttl any feed should have.

Runs the command `publisher advise` in a process of its own, one at a time, behind the guard against
private addresses, and keeps each answer for an hour.
"""

import json
import subprocess
import sys
import threading
from datetime import datetime, timedelta
from typing import Any

from flask import Blueprint, render_template, request

from publisher.base.dates import cities, find_zone
from publisher.base.errors import InvalidData, InvalidInput, PublisherError, TooMany
from publisher.foreign.advise import CLIENTS, in_words
from publisher.installation import Site
from publisher.installation.settings import load_settings
from publisher.river.following.subscriptions import tidy_url
from publisher.web.context import login_required, now, site

blueprint = Blueprint("advise", __name__)

LONGEST_SECONDS, KEPT, MOST_KEPT = 120, timedelta(hours=1), 50


class AdviceCache:
    """The answers of the last hour, by address and time zone."""

    def __init__(self) -> None:
        self._asking = threading.Lock()
        self._known: dict[tuple[str, str], tuple[datetime, dict[str, Any]]] = {}

    def get(self, here: Site, url: str, zone: str, at: datetime) -> dict[str, Any]:
        """The answer, from the cache or the command; TooMany while another feed is checked."""
        known = self._known.get((url, zone))
        if known is not None and known[0] <= at < known[0] + KEPT:
            return known[1]
        if not self._asking.acquire(blocking=False):
            raise TooMany("another feed is being checked; try again in a moment", 10)
        try:
            found = ask(here, url, zone)
        finally:
            self._asking.release()
        while len(self._known) >= MOST_KEPT:
            del self._known[next(iter(self._known))]
        self._known[url, zone] = at, found
        return found


_advice = AdviceCache()


@blueprint.get("/readers/advise")
@login_required
def form() -> tuple[str, int] | str:
    """The form, and with `?url=` the answer below it."""
    typed, zone = request.args.get("url", "").strip(), request.args.get("timezone", "").strip()
    with site().database.read() as db:
        zone = zone or load_settings(db).timezone
    found, problem = None, ""
    if typed:
        try:
            zone = find_zone(zone)
            found = _advice.get(site(), tidy_url(typed)[0], zone, now())
        except (InvalidInput, InvalidData) as error:
            problem = str(error)
    page = render_template(
        "readers/advise.html", url=typed, zone=zone, zones=cities(), found=found, problem=problem,
        clients=CLIENTS, in_words=in_words,
    )  # fmt: skip
    return (page, 422) if problem else page


def ask(here: Site, url: str, zone: str) -> dict[str, Any]:
    """Run the command; InvalidData with the command's own message when it fails."""
    environment = {**here.environment.variables(), "PUBLISHER_SITE_URL": here.site_url}
    command = [sys.executable, "-m", "publisher", "advise", url, "--timezone", zone, "--json"]
    try:
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True,
            timeout=LONGEST_SECONDS, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired as error:
        raise PublisherError("this took too long; try again later") from error
    if done.returncode != 0:
        last_line = (done.stderr.strip().splitlines() or ["no answer"])[-1]
        raise InvalidData(last_line.removeprefix("publisher: "))
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer
