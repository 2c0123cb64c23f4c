"""What was written when, and where a word stands: the archive by month, and the search."""

from __future__ import annotations

from flask import Blueprint, render_template, request
from markupsafe import Markup, escape
from sqlalchemy.orm import Session

from publisher.blog import archive, search
from publisher.errors import NotFound
from publisher.web.caching import cacheable
from publisher.web.context import page_start, site
from publisher.web.rendering import settings

blueprint = Blueprint("archives", __name__)
blueprint.after_request(cacheable)

HITS, LAST_PAGE, LONGEST_QUERY = 20, 25, 200


@blueprint.get("/archives", strict_slashes=False)
def index() -> str:
    """All months with something in them."""
    with site().database.read() as db:
        return render_template(
            "blog/archives.html", years=_years(archive.months(db, settings().zone))
        )


@blueprint.get("/archives/<int:year>/<int:month>", strict_slashes=False)
def month(year: int, month: int) -> str:
    """One month's posts, by title or first words."""
    with site().database.read() as db:
        chosen = archive.month_of(year, month, settings().zone)
        lines = archive.lines(db, chosen, page_start(db))
        if not lines:
            raise NotFound("Nothing was published in that month.")
        older = lines[-1].id if len(lines) == archive.PAGE else None
        return render_template("blog/month.html", month=chosen, lines=lines, older=older)


@blueprint.get("/search")
def find() -> str:
    """Posts and pages with certain words."""
    query = " ".join(request.args.get("q", "").split())[:LONGEST_QUERY]
    page = min(max(1, request.args.get("page", 1, int)), LAST_PAGE)
    with site().database.read() as db:
        hits = _hits(db, query, page)
    return render_template(
        "blog/search.html",
        query=query,
        hits=hits[:HITS],
        page=page,
        more=len(hits) > HITS and page < LAST_PAGE,
    )


def _hits(db: Session, query: str, page: int) -> list[tuple[archive.Line, Markup]]:
    found = search.find(db, query, HITS + 1, (page - 1) * HITS)
    lines = archive.lines_of(db, [hit.post_id for hit in found])
    return [(lines[hit.post_id], _marked(hit.excerpt)) for hit in found if hit.post_id in lines]


def _marked(excerpt: str) -> Markup:
    """An excerpt as HTML, with its matches marked."""
    text = str(escape(excerpt))
    return Markup(text.replace("\x02", "<mark>").replace("\x03", "</mark>"))  # noqa: S704 - escaped


def _years(months: list[archive.Month]) -> dict[int, list[archive.Month]]:
    years: dict[int, list[archive.Month]] = {}
    for found in months:
        years.setdefault(found.year, []).append(found)
    return years
