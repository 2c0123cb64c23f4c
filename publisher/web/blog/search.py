"""`/search`: posts and pages with certain words."""

from flask import Blueprint, render_template, request
from markupsafe import Markup, escape
from sqlalchemy.orm import Session

from publisher.blog import archive, search
from publisher.web.context import site

blueprint = Blueprint("search", __name__)

HITS, LAST_PAGE, LONGEST_QUERY = 20, 25, 200


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


def _hits(db: Session, query: str, page: int) -> list[tuple[archive.ListedPost, Markup]]:
    found = search.find(db, query, HITS + 1, (page - 1) * HITS)
    lines = archive.lines_of(db, [hit.number for hit in found])
    return [(lines[hit.number], _marked(hit.excerpt)) for hit in found if hit.number in lines]


def _marked(excerpt: str) -> Markup:
    """An excerpt as HTML, with its matches marked."""
    text = str(escape(excerpt))  # the only markup is added below
    return Markup(text.replace("\x02", "<mark>").replace("\x03", "</mark>"))  # noqa: S704  # nosec
