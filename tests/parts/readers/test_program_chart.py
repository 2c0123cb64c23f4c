"""The chart of polls by program: its layers, heights and the table behind it."""

from datetime import UTC, datetime

import pytest
from sqlalchemy.orm import Session

from publisher.installation import Site
from publisher.parts.readers.reporting.charts import ProgramChart, chart
from publisher.parts.readers.store import OTHER_PROGRAMS
from publisher.parts.readers.tables import ProgramDay

FIRST, LAST = datetime(2024, 3, 4, tzinfo=UTC), datetime(2024, 3, 5, tzinfo=UTC)
DAY = 19786  # 4 March 2024, in days since 1970


def drawn(site: Site, *rows: tuple[int, str, int], program: str = "") -> ProgramChart:
    """The chart of days, programs and requests, of which half were answered without a body."""
    with site.database.write() as db:
        for day, name, requests in rows:
            add(db, day, name, requests)
    with site.database.read() as session:
        return chart(session, FIRST, LAST, program)


def add(db: Session, day: int, name: str, requests: int) -> None:
    db.add(ProgramDay(
        day=DAY + day, name=name, requests=requests, not_modified=requests // 2, bytes=requests * 10
    ))  # fmt: skip


def test_the_busiest_have_a_layer_each(site: Site) -> None:
    """The rest shares one, with what was never told by name, however much that is."""
    rows = [(0, name, 10 - number) for number, name in enumerate("abcde")]
    picture = drawn(site, *rows, (1, OTHER_PROGRAMS, 100))
    assert picture.layers == ("a", "b", "c", "d", "others")
    assert [(line.name, line.requests) for line in picture.lines] == [
        ("a", 10), ("b", 9), ("c", 8), ("d", 7), ("others", 106),
    ]  # fmt: skip


def test_bars_are_stacked_to_their_day(site: Site) -> None:
    """The highest day reaches the top, another in proportion; the busiest lies at the bottom."""
    picture = drawn(site, (0, "a", 30), (0, "b", 10), (1, "a", 20))
    polls = picture.pictures[0]
    assert (polls.measure, polls.highest, picture.width) == ("requests", 40, 200)
    assert [(bar.x, bar.y, bar.height, bar.layer) for bar in polls.parts] == [
        (0, 25.0, 75.0, 0), (0, 0.0, 25.0, 1), (100, 50.0, 50.0, 0),
    ]  # fmt: skip


@pytest.mark.parametrize(("program", "requests"), [("a", 3), (OTHER_PROGRAMS, 5)])
def test_one_program(site: Site, program: str, requests: int) -> None:
    picture = drawn(site, (0, "a", 3), (0, OTHER_PROGRAMS, 5), program=program)
    assert [line.requests for line in picture.lines] == [requests]


def test_nothing_to_draw(site: Site) -> None:
    picture = drawn(site)
    assert (picture.layers, picture.pictures, picture.lines) == ((), (), ())
