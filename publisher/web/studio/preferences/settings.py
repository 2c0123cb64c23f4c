"""`/studio/settings`: the site's settings in three tabs; all changes of one are saved, or none."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from flask import Blueprint, render_template, request
from sqlalchemy.orm import Session

from publisher.base.dates import cities
from publisher.base.errors import FieldErrors
from publisher.base.text import counted
from publisher.blog import log_replay
from publisher.dynamic_ttl.core.replay.poll_worth_choices import POSITIONS
from publisher.installation import public_address
from publisher.installation.settings import (
    allow_invalid,
    load_settings,
    names_of,
    store_settings,
    values_of_all,
)
from publisher.web import background_commands
from publisher.web.context import done, need_admin, now, site
from publisher.web.day_strip import strip
from publisher.web.studio.preferences.setting_controls import TABS, groups, shown
from publisher.web.studio.shared import feeds_changed

blueprint = Blueprint("settings", __name__)
blueprint.before_request(need_admin)

NAME, CHOICES = "knob", ("ttl", "--choices", "--json")
STEPS = dict(
    zip(POSITIONS, ("Freshest", "Fresher", "Balanced", "Quieter", "Quietest"), strict=True)
)


@blueprint.get("/settings", defaults={"tab": "blog"})
@blueprint.get("/settings/visits", defaults={"tab": "visits"})
@blueprint.get("/settings/technical", defaults={"tab": "technical"})
def page(tab: str) -> Any:
    """The settings of a tab."""
    served, moment = site(), now()
    with served.database.read() as db:
        allow_invalid(db)
        replayed = _replayed(db)
    if tab == "visits" and replayed.key:
        ask = partial(background_commands.run, served, *CHOICES)
        replayed = background_commands.answered(served, replayed, replayed.key, moment, ask)
    with served.database.read() as db:
        return _page(db, tab, replayed, {}, allow_invalid(db))


@blueprint.post("/settings", defaults={"tab": "blog"})
@blueprint.post("/settings/visits", defaults={"tab": "visits"})
@blueprint.post("/settings/technical", defaults={"tab": "technical"})
def save(tab: str) -> Any:
    """Save the changes; with any mistake nothing is saved, and the form keeps what was typed."""
    form = request.form
    names = names_of(site().parts)
    typed = {name: " ".join(form[name].split()) for name in names if name in form}
    if site().environment.site_url:
        typed.pop("site_url", None)
    try:
        with site().database.write() as db:
            wrong = allow_invalid(db)
            before = _texts(db)
            changed = {n: text for n, text in typed.items() if text != before[n] or n in wrong}
            store_settings(db, changed)
    except FieldErrors as error:
        with site().database.read() as db:
            allow_invalid(db)
            return _page(db, tab, _replayed(db), typed, error.fields), error.http_status
    if changed:
        feeds_changed()
    return done("Saved." if changed else "Nothing was changed.", "studio.settings.page", tab=tab)


def _texts(db: Session) -> dict[str, str]:
    """Each setting as the form shows it; the site's address is the effective one."""
    values = values_of_all(db, site().parts) | {"site_url": public_address(db, site().environment)}
    return {
        name: f"{value:g}" if isinstance(value, float) else str(value)
        for name, value in values.items()
    }


def _replayed(db: Session) -> background_commands.State:
    """The stored replay of today for the choices of `poll_minutes`; without rows if not done."""
    key, stored = log_replay.choices_key(db, now()), background_commands.load(db, NAME)
    return stored if stored.key == key else background_commands.State(NAME, key)


def _page(
    db: Session,
    tab: str,
    replayed: background_commands.State,
    typed: dict[str, str],
    errors: dict[str, str],
) -> str:
    texts = _texts(db) | typed
    return render_template(
        "settings/site.html",
        tab=tab,
        tabs=TABS,
        groups=shown(site().parts, tab, typed if errors else ()),
        values=texts,
        errors=errors,
        labels={
            c.name: f"{TABS[group.tab]}, {c.label}"
            for group in groups(site().parts)
            for c in group.controls
        },
        zones=cities(),
        fixed_address=site().environment.site_url,
        freshness=_freshness(db, replayed, texts["poll_minutes"]),
        finer=_finer(replayed),
        replayed=replayed,
        day=strip(db, now()),
    )


def _freshness(
    db: Session, replayed: background_commands.State, chosen: str
) -> list[dict[str, str]]:
    """The choices of `poll_minutes`: value, word, and after a replay their figures. Then only those
    that differ are there; the present value always is."""
    own = load_settings(db).poll_minutes
    words = {own: f"As it is, {own:g}"} | STEPS
    figures = {row["poll_minutes"]: _in_words(row) for row in replayed.rows or ()}
    options = [
        {"value": f"{minutes:g}", "word": words[minutes], **figures.get(minutes, {})}
        for minutes in sorted(figures or words)
    ]
    if chosen not in (option["value"] for option in options):
        options.append({"value": chosen, "word": f"As typed: {chosen}"})
    return options


def _in_words(choice: Mapping[str, Any]) -> dict[str, str]:
    """The figures of programs that obey the headers; `simple` are those that know only the ttl."""
    headers, element = choice["headers"], choice["element"]
    figures = _figures(headers or element)
    return figures | ({"simple": ", ".join(_figures(element).values())} if headers else {})


def _finer(replayed: background_commands.State) -> str:
    """What a finer menu would give simple programs, where that is much; else empty."""
    for row in replayed.rows or ():
        if finer := row.get("finer"):
            now, then = (", ".join(_figures(visits).values()) for visits in (row["element"], finer))
            return (
                f"With any minute to choose from, programs of a simpler kind would gain much:"
                f" {then}, instead of {now}."
            )
    return ""


def _figures(visits: Mapping[str, Any]) -> dict[str, str]:
    figures = {"visits": f"{counted(max(round(float(visits['per_day'])), 1), 'visit')} a day"}
    if (minutes := visits["delay_minutes"]) is not None:
        figures = {"wait": f"{counted(round(minutes), 'minute')}"} | figures
    return figures
