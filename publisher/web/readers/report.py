"""`/readers`: who reads, how they poll, what the ttl is worth; and how to erase it all."""

from typing import Any

from flask import Blueprint, flash, redirect, render_template, request, url_for

from publisher.base.errors import InvalidInput
from publisher.readers import retention
from publisher.readers.report import make
from publisher.readers.verdicts import VERDICTS
from publisher.settings import load_settings
from publisher.web.context import admin_required, login_required, now, site
from publisher.web.dashboard import Dashboard, dashboard

blueprint = Blueprint("readers", __name__)

SHOWN, DAYS = 100, (1, 7, 30)
MEANING = {
    "obedient": "comes back when the ttl is over",
    "fixed": "keeps an interval of its own",
    "unconditional": "fetches the whole document every time",
    "abusive": "comes faster than the smallest ttl, without validators",
    "too-few": "has not come often enough to tell",
}


@blueprint.app_template_global("readers_dashboard")
def current_dashboard() -> Dashboard:
    """The dashboard of this moment, for the page that includes it."""
    with site().database.read() as session:
        return dashboard(session, now())


@blueprint.get("/readers")
@login_required
def report() -> str:
    """The readers of the last days."""
    days = _days(request.args.get("days", "7"))
    with site().database.read() as session:
        settings = load_settings(session)
        found = make(session, now(), days, settings.rule.menu.smallest, SHOWN)
        shown = [reader.to_dict(found.smallest_ttl_minutes) for reader in found.readers[:SHOWN]]
        return render_template(
            "readers/report.html",
            report=found,
            readers=shown,
            totals=found.totals(),
            delays=found.delay_summary(),
            days=days,
            choices=DAYS,
            verdicts=VERDICTS,
            meaning=MEANING,
            privacy=retention.privacy_text(settings.readers_days),
        )


@blueprint.post("/readers/erase")
@admin_required
def erase() -> Any:
    """Forget every count."""
    with site().database.write() as session:
        retention.erase(session)
    flash("Everything that was counted is erased.", "done")
    return redirect(url_for("readers.report"))


def _days(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 1 <= int(text[:9]) <= 400):
        raise InvalidInput("the number of days is a whole number from 1 to 400")
    return int(text)
