"""The archive by months of the author's calendar."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from publisher.base.dates import EARLIEST_YEAR, LATEST_YEAR
from publisher.base.errors import NotFound
from publisher.blog import archive
from publisher.blog.writing import posts
from publisher.installation import Site
from tests.conftest import FakeClock
from tests.factories import make_post

TOKYO = ZoneInfo("Asia/Tokyo")  # nine hours ahead


@pytest.fixture
def years(site: Site) -> Site:
    """Posts at the edges of months as Tokyo has them, and a page that is in no month."""
    for number, moment in enumerate(
        (datetime(2022, 12, 31, 14, 59, 59, tzinfo=UTC), datetime(2022, 12, 31, 15, tzinfo=UTC),
         datetime(2024, 1, 31, 14, 59, 59, tzinfo=UTC), datetime(2024, 1, 31, 15, tzinfo=UTC)),
        1,
    ):  # fmt: skip
        make_post(site, f"Post {number}.", moment, title="" if number % 2 else f"Title {number}")
    make_post(site, "A page.", kind="page")
    return site


def test_months_are_those_of_the_authors_calendar(years: Site) -> None:
    """Newest first, none without posts, each post in one; a line has the title or first words."""
    with years.database.read() as db:
        months = archive.months(db, TOKYO)
        assert [(month.year, month.month, month.posts) for month in months] == [
            (2024, 2, 1), (2024, 1, 1), (2023, 1, 1), (2022, 12, 1),
        ]  # fmt: skip
        lines = [(line.title, line.titled) for m in months for line in archive.lines(db, m)]
        assert lines == [("Title 4", True), ("Post 3.", False), ("Title 2", True), ("Post 1.", 0)]
        both = archive.month_of(2024, 1, UTC)
        assert [line.id for line in archive.lines(db, both)] == [4, 3]
        assert [line.id for line in archive.lines(db, both, before=posts.get(db, 4))] == [3]
        found = archive.lines_of(db, [1, 5, 9])
        assert [(line.id, line.kind) for line in found.values()] == [(1, "post"), (5, "page")]


@pytest.mark.parametrize(("year", "month"), [(2024, 0), (2024, 13), (0, 1), (10_000, 1)])
def test_there_is_no_such_month(year: int, month: int) -> None:
    """Whatever numbers an address has."""
    with pytest.raises(NotFound):
        archive.month_of(year, month, UTC)


def test_months_follow_each_other(years: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each ends where the next one begins, to the last one of the calendar; a list has an end."""
    begin = archive.month_of(EARLIEST_YEAR, 1, UTC).start
    for year in (EARLIEST_YEAR, 2024, LATEST_YEAR):
        months = [archive.month_of(year, month, UTC) for month in range(1, 13)]
        assert [(month.year, month.month) for month in months] == [(year, m) for m in range(1, 13)]
        assert [(month.start.year, month.start.month) for month in months] == [
            (year, number) for number in range(1, 13)
        ]
        assert [month.end for month in months[:-1]] == [month.start for month in months[1:]]
        assert months[-1].end == begin.replace(year=year + 1)
        assert {month.posts for month in months} == {0}
    for year in (EARLIEST_YEAR - 1, LATEST_YEAR + 1):
        with pytest.raises(NotFound):
            archive.month_of(year, 1, UTC)
    monkeypatch.setattr(archive, "PAGE", 1)
    with years.database.read() as db:
        both = archive.month_of(2024, 1, UTC)
        assert [line.id for line in archive.lines(db, both)] == [4]


def test_a_sitemap_goes_on_after_the_last_address(
    site: Site, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Part by part and step by step each post and page once, and nothing that is not public."""
    monkeypatch.setattr(archive, "SITEMAP_PART", 4)
    monkeypatch.setattr(archive, "SITEMAP_STEP", 2)
    with site.database.read() as db:
        assert archive.sitemap_parts(db) == 1
    for number in range(1, 10):
        make_post(
            site, f"Post {number}.", clock() + timedelta(days=number == 3),
            kind="page" if number == 2 else "post",
        )  # fmt: skip
    parts = []
    with site.database.read() as db:
        for part in range(1, archive.sitemap_parts(db) + 1):
            ids = [0]
            while rows := archive.sitemap_entries(db, part, ids[-1]):
                assert len(rows) <= 2
                ids += [row.id for row in rows]
            parts.append(ids[1:])
    assert parts == [[1, 2, 4], [5, 6, 7, 8], [9]]
