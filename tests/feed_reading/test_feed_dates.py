"""Dates of one document, with the help of each other."""

from datetime import UTC, datetime

import pytest

from publisher.base.written_dates import usage_of
from publisher.feed_reading.feed_dates import FeedDates
from publisher.feed_reading.parse import parse_document

MARCH = datetime(2020, 3, 10, tzinfo=UTC)
AMBIGUOUS = "03/10/2020"


def dates(*others: str) -> FeedDates:
    return FeedDates(lambda: usage_of(others, ""))


@pytest.mark.parametrize(
    ("texts", "others", "moment"),
    [
        (["2020-03-10", "2020-03-11"], [], MARCH),
        (["soon", "2020-03-10"], [], MARCH),
        ([AMBIGUOUS, "2020-03-10"], [], MARCH),
        ([AMBIGUOUS], ["03/25/2020"], MARCH),
        ([AMBIGUOUS], ["25/03/2020"], datetime(2020, 10, 3, tzinfo=UTC)),
        ([], [], None),
    ],
)
def test_the_first_that_is_understood(
    texts: list[str], others: list[str], moment: datetime | None
) -> None:
    """Without a word about the others."""
    read = dates(*others)
    assert (read.read(texts), read.remarks) == (moment, ())


@pytest.mark.parametrize(
    ("texts", "kind", "begins"),
    [
        (["soon", AMBIGUOUS], "date-not-understood", "A date is not understood ('soon'): the mom"),
        ([AMBIGUOUS, "soon"], "date-ambiguous", "The day and t"),
        (["x" * 61], "date-not-understood", f"A date is not understood ('{'x' * 60}')"),
    ],
)
def test_what_is_not_understood_is_remarked_once_an_item(
    texts: list[str], kind: str, begins: str
) -> None:
    read = dates()
    assert read.read(texts) is None
    assert read.read(["never"]) is None
    remark = read.remarks[0]
    assert (remark.kind, remark.sentence[: len(begins)]) == (kind, begins)
    assert sum(remark.count for remark in read.remarks) == 2


def test_how_dates_are_written_is_asked_once() -> None:
    asked = iter([usage_of([], "")])
    read = FeedDates(lambda: next(asked))
    for _ in range(3):
        assert read.read([AMBIGUOUS]) is None
    assert next(asked, None) is None


@pytest.mark.parametrize(("before", "understood"), [(1_998, True), (1_999, False)])
def test_so_many_dates_are_looked_at(before: int, understood: bool) -> None:
    item = f"<item><guid>1</guid><pubDate>{AMBIGUOUS}</pubDate></item>"
    others = f"<date>{AMBIGUOUS}</date>" * before + "<date>25/03/2020</date>"
    document = f"<rss><channel>{item}{others}</channel></rss>"
    parsed = parse_document(document.encode(), "", "https://a.example/")
    assert (parsed.items[0].published_at is not None) == understood
