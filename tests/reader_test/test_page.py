"""docs/reader-test.md lists the week and the behaviours as they are."""

from pathlib import Path

from publisher.reader_test.behaviours import BEHAVIOURS
from publisher.reader_test.script import WEEK

PAGE = Path(__file__).parent.parent.parent / "docs" / "reader-test.md"


def tables() -> tuple[str, str]:
    """The rows of both tables."""
    ends = [*(stretch.begins for stretch in WEEK[1:]), 168]
    week = "".join(
        f"| {stretch.begins:g} to {end:g} | {stretch.purpose} |\n"
        for stretch, end in zip(WEEK, ends, strict=True)
    )
    judged = "".join(
        f"| {behaviour.title} | {behaviour.points} | {behaviour.rule} |\n"
        for behaviour in BEHAVIOURS
    )
    return week, judged


def test_the_page_lists_what_is_there() -> None:
    """Both tables, row by row."""
    page = PAGE.read_text("utf-8")
    week, judged = tables()
    assert week in page
    assert judged in page
