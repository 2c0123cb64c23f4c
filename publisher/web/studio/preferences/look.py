"""`/studio/look`: the appearance of the public pages: look, colour, picture, texts, own CSS."""

import re
from contextlib import suppress
from dataclasses import asdict, replace
from typing import Any

from flask import Blueprint, Response, g, render_template, request
from markupsafe import Markup
from sqlalchemy.orm import Session

from publisher.base.errors import FieldErrors, InvalidInput, PublisherError
from publisher.base.text import BUILT_IN, Link, lines_of, parse_links, whole_number
from publisher.blog import published
from publisher.blog.post_files import media
from publisher.installation.settings import CHECKS, load_settings, store_settings
from publisher.web.assets import FRAMED
from publisher.web.blog import lists
from publisher.web.context import done, me, need_admin, now, settings, site
from publisher.web.studio.preferences.setting_controls import LOOK
from publisher.web.studio.shared import feeds_changed

blueprint = Blueprint("look", __name__)
blueprint.before_request(need_admin)

IN_FRAME = 6  # posts
_OUR_PICTURE = re.compile(
    r'(<img) src="/media/([0-9a-f]+-\d+x\d+\.\w+)"([^>]*?)(?: srcset="[^"]*" sizes="[^"]*")(?=[ >])'
)

# The value of the colour field until a colour is chosen.
FIRST_ACCENT = "#006375"


@blueprint.get("/look")
def page() -> str:
    """The form with the present choices."""
    return _page({}, {})


@blueprint.get("/look/preview")
def preview() -> Response:
    """The home page as it would be with other choices, for the frame beside the form."""
    tried: dict[str, Any] = {}
    for name in ("look", "accent", "home", "logo_shape"):
        with suppress(InvalidInput, KeyError):
            tried[name] = CHECKS[name](request.args[name])
    seen = min(settings().home_items, IN_FRAME)
    g.settings = replace(settings(), **tried, home_items=seen)
    g.tried_style = True
    # The frame shows the page at half its size.
    answer = Response(_OUR_PICTURE.sub(r'\1 src="/studio/media/\2/small?wide"\3', lists.home()))
    answer.headers.update(FRAMED)
    return answer


@blueprint.post("/look")
def save() -> Any:
    """Save the choices; with any mistake nothing is saved, and the form keeps what was typed."""
    typed = _typed()
    try:
        files = _files()
        with site().database.write() as db:
            before = _texts(db)
            store_settings(db, typed | {name: file.path for name, file in files.items()})
            for name, file in files.items():
                media.record(db, file, name, me().id, now())
            changed = _texts(db) != before
    except FieldErrors as error:
        return _page(typed, error.fields), error.http_status
    if changed:
        feeds_changed()
    look_at_it = Markup(' <a href="/">See the blog</a>')
    return done(Markup("Saved.") + look_at_it if changed else "Nothing was changed.", ".page")


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
    """Store what was uploaded or chosen from the library: the picture and the icon made from it, or
    an icon alone."""
    files: dict[str, media.Accepted] = {}
    folder = site().environment.media
    problems: dict[str, str] = {}
    for name in ("logo", "icon"):
        sent, chosen = request.files.get(f"{name}_file"), request.form.get(f"{name}_from", "")
        uploaded = sent is not None and bool(sent.filename)
        if not uploaded and not chosen:
            continue
        try:
            data = sent.stream.read() if sent and uploaded else media.content(folder, chosen)
            head, icon = media.accept_emblem(data)
        except PublisherError as error:
            problems[f"{name}_file"] = str(error)
            continue
        files |= {"logo": head, "icon": icon} if name == "logo" else {"icon": icon}
    if problems:
        raise FieldErrors(problems)
    for file in files.values():
        media.store(folder, file)
    return files


def _texts(db: Session) -> dict[str, str]:
    values = asdict(load_settings(db))
    return {name: values[name] for name in (*LOOK, "logo", "icon")}


def _page(typed: dict[str, str], errors: dict[str, str]) -> str:
    with site().database.read() as db:
        values = _texts(db) | typed
    return render_template(
        "settings/look.html", values=values, errors=errors, first_accent=FIRST_ACCENT
    )


@blueprint.get("/navigation")
def navigation() -> str:
    """The present links, and the pages that could be added."""
    return _navigation_page(parse_links(settings().navigation), "")


@blueprint.post("/navigation")
def save_navigation() -> Any:
    """Save the typed links; a button can also move, remove or add one."""
    links = _typed_links()
    action, _, number = request.form.get("action", "").partition(":")
    place = -1 if (typed := whole_number(number)) is None else typed
    if action == "remove" and 0 <= place < len(links):
        del links[place]
    elif action == "up" and 0 < place < len(links):
        links[place - 1 : place + 1] = links[place], links[place - 1]
    elif action == "down" and 0 <= place < len(links) - 1:
        links[place : place + 2] = links[place + 1], links[place]
    elif action == "usual":
        links = parse_links(BUILT_IN)
    links += _added(action)
    try:
        with site().database.write() as db:
            store_settings(db, {"navigation": lines_of(links)})
    except (FieldErrors, InvalidInput) as error:
        problem = error.fields["navigation"] if isinstance(error, FieldErrors) else str(error)
        return _navigation_page(links, problem), 422
    return done("Saved.", ".navigation")


def _typed_links() -> list[Link]:
    """The rows of the form, in their order."""
    form = request.form
    return [Link(*row) for row in zip(form.getlist("label"), form.getlist("target"), strict=False)]


def _added(action: str) -> list[Link]:
    """The link to add: to a chosen page, or as typed."""
    form = request.form
    if action == "add" and form.get("page"):
        label, _, target = form["page"].rpartition("|")
        return [Link(label, target)]
    if form.get("new_label", "").strip() or form.get("new_target", "").strip():
        return [Link(form.get("new_label", ""), form.get("new_target", ""))]
    return []


def _problem(link: Link) -> str:
    """What is wrong with one row; "" for nothing."""
    try:
        lines_of([link])
    except InvalidInput as error:
        return str(error)
    return ""


def _navigation_page(links: list[Link], problem: str) -> str:
    with site().database.read() as db:
        pages = published.pages(db)
    # Labels are shortened and have no `|`.
    own = [Link(page.title.replace("|", " ")[:40] or page.slug, f"/{page.slug}") for page in pages]
    there = {link.target for link in links}
    offered = dict.fromkeys([*parse_links(BUILT_IN), *own])
    return render_template(
        "settings/navigation.html",
        links=links,
        problem=problem,
        problems={number: _problem(link) for number, link in enumerate(links) if problem},
        offered=[link for link in offered if link.target not in there],
    )
