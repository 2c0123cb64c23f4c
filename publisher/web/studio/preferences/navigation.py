"""`/studio/navigation`: the links at the head of each page, their labels and order."""

from typing import Any

from flask import Blueprint, flash, redirect, render_template, request, url_for
from sqlalchemy.orm import Session

from publisher.base.errors import FieldErrors, InvalidInput
from publisher.base.links import BUILT_IN, Link, lines_of, parse_links
from publisher.base.numerals import whole_number
from publisher.blog import published
from publisher.installation.settings import load_settings, store_settings
from publisher.web.context import admin_required, site

blueprint = Blueprint("navigation", __name__)


@blueprint.get("/navigation")
@admin_required
def page() -> str:
    """The present links, and the pages that could be added."""
    with site().database.read() as db:
        return _page(db, parse_links(load_settings(db).navigation), "")


@blueprint.post("/navigation")
@admin_required
def save() -> Any:
    """Save the typed links; a button can also move, remove or add one."""
    links = _typed()
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
        with site().database.read() as db:
            return _page(db, links, problem), 422
    flash("Saved.", "done")
    return redirect(url_for(".page"))


def _typed() -> list[Link]:
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


def _page(db: Session, links: list[Link], problem: str) -> str:
    there = {link.target for link in links}
    offered = [*parse_links(BUILT_IN), *_pages(db)]
    return render_template(
        "settings/navigation.html",
        links=links,
        problem=problem,
        problems={number: _problem(link) for number, link in enumerate(links) if problem},
        offered=[link for link in dict.fromkeys(offered) if link.target not in there],
    )


def _pages(db: Session) -> list[Link]:
    """Links to the published pages, by title; labels are shortened and have no `|`."""
    found = published.pages(db)
    return [Link(page.title.replace("|", " ")[:40] or page.slug, f"/{page.slug}") for page in found]
