"""`/studio/look`: the appearance of the public pages: look, colour, picture, texts, own CSS."""

import re
from contextlib import suppress
from dataclasses import asdict, replace
from typing import Any

from flask import Blueprint, Response, flash, g, redirect, render_template, request, url_for
from markupsafe import Markup
from sqlalchemy.orm import Session

from publisher.base.errors import FieldErrors, InvalidInput, PublisherError
from publisher.blog.post_files import media
from publisher.installation.settings import CHECKS, load_settings, store_settings
from publisher.publishing.rebuild import rebuild
from publisher.web.assets import PAGE_POLICY
from publisher.web.blog import lists
from publisher.web.context import admin_required, me, now, site
from publisher.web.rendering import settings
from publisher.web.studio.preferences.setting_controls import LOOK

blueprint = Blueprint("look", __name__)

# This page shows the home page in a frame, and no other site may.
FRAMING = f"{PAGE_POLICY}; frame-src 'self'"
FRAMED = PAGE_POLICY.replace("frame-ancestors 'none'", "frame-ancestors 'self'")

IN_FRAME = 6  # posts
_OUR_PICTURE = re.compile(
    r'(<img) src="/media/([0-9a-f]+-\d+x\d+\.\w+)"([^>]*?)(?: srcset="[^"]*" sizes="[^"]*")(?=[ >])'
)

# The value of the colour field until a colour is chosen.
FIRST_ACCENT = "#006375"


@blueprint.get("/look")
@admin_required
def page() -> Response:
    """The form with the present choices."""
    with site().database.read() as db:
        return _page(_texts(db), {})


@blueprint.get("/look/preview")
@admin_required
def preview() -> Response:
    """The home page as it would be with other choices, for the frame beside the form."""
    tried: dict[str, Any] = {}
    for name in ("look", "accent", "home", "logo_shape"):
        with suppress(InvalidInput):
            tried[name] = CHECKS[name](request.args[name]) if name in request.args else None
    tried = {name: value for name, value in tried.items() if value is not None}
    seen = min(settings().home_items, IN_FRAME)
    g.settings = replace(settings(), **tried, home_items=seen)
    g.tried_style = True
    # The frame shows the page at half its size.
    answer = Response(_OUR_PICTURE.sub(r'\1 src="/studio/media/\2/small?wide"\3', lists.home()))
    answer.headers["Content-Security-Policy"] = FRAMED
    answer.headers["X-Frame-Options"] = "SAMEORIGIN"
    return answer


@blueprint.post("/look")
@admin_required
def save() -> Any:
    """Save the choices; with any mistake nothing is saved, and the form keeps what was typed."""
    typed = _typed()
    try:
        files = _files()
        with site().database.write() as db:
            before = _texts(db)
            store_settings(db, typed | {name: kept.path for name, kept in files.items()})
            for name, kept in files.items():
                media.record(db, kept, name, me().id, now())
            changed = _texts(db) != before
    except FieldErrors as error:
        with site().database.read() as db:
            return _page(_texts(db) | typed, error.fields), error.http_status
    if changed:
        rebuild(site())
    look_at_it = Markup(' <a href="/">See the blog</a>')
    flash(Markup("Saved.") + look_at_it if changed else "Nothing was changed.", "done")
    return redirect(url_for(".page"))


def _typed() -> dict[str, str]:
    """The settings in the form; an unticked box is not sent and means off."""
    form = request.form
    typed = {name: form[name] for name in LOOK if name in form}
    if not form.get("own_accent"):
        typed["accent"] = ""
    typed["css_on"] = "on" if form.get("css_on") else "off"
    if form.get("no_picture"):
        typed |= {"logo": "", "icon": ""}
    return typed


def _files() -> dict[str, media.Accepted]:
    """Store the uploaded files: the picture and the icon made from it, or an icon alone."""
    found: dict[str, media.Accepted] = {}
    problems: dict[str, str] = {}
    for name in ("logo", "icon"):
        sent = request.files.get(f"{name}_file")
        if sent is None or not sent.filename:
            continue
        try:
            head, icon = media.accept_emblem(sent.stream.read())
        except PublisherError as error:
            problems[f"{name}_file"] = str(error)
            continue
        found |= {"logo": head, "icon": icon} if name == "logo" else {"icon": icon}
    if problems:
        raise FieldErrors(problems)
    for kept in found.values():
        media.store(site().environment.media, kept)
    return found


def _texts(db: Session) -> dict[str, str]:
    known = asdict(load_settings(db))
    return {name: known[name] for name in (*LOOK, "logo", "icon")}


def _page(values: dict[str, str], errors: dict[str, str]) -> Response:
    page = render_template(
        "settings/look.html", values=values, errors=errors, first_accent=FIRST_ACCENT
    )
    answer = Response(page)
    answer.headers["Content-Security-Policy"] = FRAMING
    return answer
