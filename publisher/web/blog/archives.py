"""`/archives`: the published posts, month by month."""

from flask import Blueprint, render_template

from publisher.base.errors import NotFound
from publisher.blog import archive
from publisher.web.context import page_start, site
from publisher.web.rendering import settings

blueprint = Blueprint("archives", __name__)

ON_ONE_PAGE = 500  # posts


@blueprint.get("/archives", strict_slashes=False)
def index() -> str:
    """All posts by month; of a blog with many posts, the months only."""
    with site().database.read() as db:
        months = archive.months(db, settings().zone)
        few = sum(month.posts for month in months) <= ON_ONE_PAGE
        lines = {month: archive.lines(db, month) for month in months} if few else None
    return render_template("blog/archives.html", years=_years(months), lines=lines)


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


def _years(months: list[archive.Month]) -> dict[int, list[archive.Month]]:
    years: dict[int, list[archive.Month]] = {}
    for found in months:
        years.setdefault(found.year, []).append(found)
    return years
