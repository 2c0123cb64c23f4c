"""`/studio/settings`, the site's settings as a form: saved all or none."""

from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any

from flask import Blueprint, flash, redirect, render_template, request, url_for
from sqlalchemy.orm import Session

from publisher.base.errors import FieldErrors
from publisher.base.plurals import counted
from publisher.base.zones import cities
from publisher.blog import update_log
from publisher.core.ttl.knob import REPLAYED_DAYS, KnobChoice, Visits, knob_choices
from publisher.installation import public_address
from publisher.publishing.rebuild import rebuild
from publisher.settings import CHECKS, load_settings, store_settings
from publisher.web.blog_day import strip
from publisher.web.context import admin_required, now, site
from publisher.web.studio.setting_controls import groups

blueprint = Blueprint("settings", __name__)

# From freshest to quietest: minutes of one update's waiting that one poll is worth.
STEPS = ((5.0, "Freshest"), (10.0, "Fresher"), (20.0, "Balanced"), (40.0, "Quieter"),
         (80.0, "Quietest"))  # fmt: skip


@blueprint.get("/settings")
@admin_required
def page() -> Any:
    """All settings."""
    with site().database.read() as db:
        return _page(db, _texts(db), {})


@blueprint.post("/settings")
@admin_required
def save() -> Any:
    """Take what was changed; with any mistake nothing is changed and everything typed is kept."""
    form = request.form
    typed = {name: " ".join(form[name].split()) for name in CHECKS if name in form}
    if site().environment.site_url:
        typed.pop("site_url", None)
    try:
        with site().database.write() as db:
            before = _texts(db)
            changed = {name: text for name, text in typed.items() if text != before[name]}
            store_settings(db, changed)
    except FieldErrors as error:
        with site().database.read() as db:
            return _page(db, before | typed, error.fields), error.http_status
    if changed:
        rebuild(site())
    flash("Saved." if changed else "Nothing was changed.", "done")
    return redirect(url_for("studio.settings.page"))


def _texts(db: Session) -> dict[str, str]:
    """Each setting as a person would type it; the address is the one that is in force."""
    values = asdict(load_settings(db)) | {"site_url": public_address(db, site().environment)}
    return {
        name: f"{value:g}" if isinstance(value, float) else str(value)
        for name, value in values.items()
    }


def _page(db: Session, texts: dict[str, str], errors: dict[str, str]) -> str:
    return render_template(
        "settings/site.html",
        groups=groups(),
        values=texts,
        errors=errors,
        zones=cities(),
        fixed_address=site().environment.site_url,
        freshness=_freshness(db, now(), texts["poll_minutes"]),
        day=strip(db, now()),
    )


def _freshness(db: Session, moment: datetime, chosen: str) -> list[tuple[str, str]]:
    """The positions of the knob that differ at this blog, in words; the chosen one among them."""
    known, rule, words = update_log.load(db), load_settings(db).rule, dict(STEPS)
    updates = update_log.since(db, moment - timedelta(days=REPLAYED_DAYS))
    words.setdefault(rule.poll_minutes, f"As it is, {rule.poll_minutes:g}")
    positions = sorted(words, key=lambda minutes: (minutes != rule.poll_minutes, minutes))
    choices = knob_choices(known, updates, moment, rule, positions)
    options = [
        (f"{choice.poll_minutes:g}", f"{words[choice.poll_minutes]}: {_in_words(choice)}")
        for choice in sorted(choices, key=lambda choice: choice.poll_minutes)
    ]
    typed = [] if chosen in dict(options) else [(chosen, f"As typed: {chosen}")]
    return [*options, *typed]


def _in_words(choice: KnobChoice) -> str:
    """The figures of those that hear the headers, then of those that hear the ttl alone."""
    told = choice.headers or choice.element
    text = f"about {counted(_visits(told), 'visit')} a day{_known(told, ', a post known after ')}"
    if choice.headers is None:
        return text
    element = choice.element
    return f"{text} (by the feed's ttl alone {_visits(element)}{_known(element, ', after ')})"


def _visits(visits: Visits) -> int:
    return max(round(visits.per_day), 1)


def _known(visits: Visits, word: str) -> str:
    return "" if visits.delay_minutes is None else f"{word}{visits.delay_minutes:.0f} minutes"
