"""`/studio/settings`: the site's settings as a form; all changes are saved, or none."""

from collections.abc import Mapping
from dataclasses import asdict
from functools import partial
from typing import Any

from flask import Blueprint, flash, redirect, render_template, request, url_for
from sqlalchemy.orm import Session

from publisher.base.dates import cities
from publisher.base.errors import FieldErrors
from publisher.base.numerals import counted
from publisher.blog import own_replay
from publisher.core.replay.knob import POSITIONS
from publisher.installation import public_address
from publisher.installation.settings import CHECKS, load_settings, store_settings
from publisher.publishing.rebuild import rebuild
from publisher.web import background_commands
from publisher.web.context import admin_required, now, site
from publisher.web.day_strip import strip
from publisher.web.studio.preferences.setting_controls import groups

blueprint = Blueprint("settings", __name__)

NAME, CHOICES = "knob", ("ttl", "--choices", "--json")
STEPS = dict(
    zip(POSITIONS, ("Freshest", "Fresher", "Balanced", "Quieter", "Quietest"), strict=True)
)


@blueprint.get("/settings")
@admin_required
def page() -> Any:
    """All settings."""
    here, moment = site(), now()
    with here.database.read() as db:
        replayed = _replayed(db)
    if replayed.key:
        ask = partial(background_commands.run, here, *CHOICES)
        replayed = background_commands.answered(here, replayed, replayed.key, moment, ask)
    with here.database.read() as db:
        return _page(db, replayed, _texts(db), {})


@blueprint.post("/settings")
@admin_required
def save() -> Any:
    """Save the changes; with any mistake nothing is saved, and the form keeps what was typed."""
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
            return _page(db, _replayed(db), before | typed, error.fields), error.http_status
    if changed:
        rebuild(site())
    flash("Saved." if changed else "Nothing was changed.", "done")
    return redirect(url_for("studio.settings.page"))


def _texts(db: Session) -> dict[str, str]:
    """Each setting as the form shows it; the site's address is the effective one."""
    values = asdict(load_settings(db)) | {"site_url": public_address(db, site().environment)}
    return {
        name: f"{value:g}" if isinstance(value, float) else str(value)
        for name, value in values.items()
    }


def _replayed(db: Session) -> background_commands.State:
    """The stored replay of today for the choices of `poll_minutes`; without rows if not done."""
    key, stored = own_replay.key(db, now()), background_commands.load(db, NAME)
    return stored if stored.key == key else background_commands.State(NAME, key)


def _page(
    db: Session, replayed: background_commands.State, texts: dict[str, str], errors: dict[str, str]
) -> str:
    return render_template(
        "settings/site.html",
        groups=groups(),
        values=texts,
        errors=errors,
        zones=cities(),
        fixed_address=site().environment.site_url,
        freshness=_freshness(db, replayed, texts["poll_minutes"]),
        replayed=replayed,
        day=strip(db, now()),
    )


def _freshness(
    db: Session, replayed: background_commands.State, chosen: str
) -> list[tuple[str, str]]:
    """The choices of `poll_minutes` as (value, label); after a replay only those that differ, with
    their figures. The present value is always among them."""
    own = load_settings(db).poll_minutes
    words = {own: f"As it is, {own:g}"} | STEPS
    if replayed.rows:
        said = {row["poll_minutes"]: f": {_in_words(row)}" for row in replayed.rows}
    else:
        said = dict.fromkeys(words, "")
    options = [
        (f"{minutes:g}", f"{words[minutes]}{figures}") for minutes, figures in sorted(said.items())
    ]
    typed = [] if chosen in dict(options) else [(chosen, f"As typed: {chosen}")]
    return [*options, *typed]


def _in_words(choice: Mapping[str, Any]) -> str:
    """The figures of readers that obey the headers, then of those that obey only the ttl."""
    headers, element = choice["headers"], choice["element"]
    told = headers or element
    text = f"about {counted(_visits(told), 'visit')} a day{_known(told, ', a post known after ')}"
    if headers is None:
        return text
    return f"{text} (by the feed's ttl alone {_visits(element)}{_known(element, ', after ')})"


def _visits(visits: Mapping[str, Any]) -> int:
    return max(round(float(visits["per_day"])), 1)


def _known(visits: Mapping[str, Any], word: str) -> str:
    minutes = visits["delay_minutes"]
    return "" if minutes is None else f"{word}{minutes:.0f} minutes"
