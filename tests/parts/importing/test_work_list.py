"""What an import leaves to a person: in groups, as lines, in a file."""

from pathlib import Path

import pytest

from publisher.base.errors import InvalidInput
from publisher.parts.importing.work_list import WorkList, text_of


def filled(file: Path | None = None, lines: int = 1) -> WorkList:
    work = WorkList(file)
    work.add("2", "B", "no date")
    for number in range(lines):
        work.add("1", "A", f"a picture is gone: {number}", "/studio/posts/1")
    work.add("2", "B", "a picture is gone: x: y")
    return work


def test_groups_of_a_kind() -> None:
    """The kind with the most posts first, each post once; what stands behind a colon is its own."""
    assert filled(lines=2).groups() == [
        {"what": "a picture is gone", "posts": 2, "more": 0,
         "lines": [["A", "0", "/studio/posts/1"], ["A", "1", "/studio/posts/1"],
                   ["B", "x: y", ""]]},
        {"what": "no date", "posts": 1, "more": 0, "lines": [["B", "", ""]]},
    ]  # fmt: skip


@pytest.mark.parametrize(("lines", "more"), [(18, 0), (19, 0), (20, 1), (30, 11)])
def test_no_more_than_twenty_lines_of_a_kind(tmp_path: Path, lines: int, more: int) -> None:
    """The others are counted; in the file they all are."""
    for file in (None, tmp_path / "list"):
        group = filled(file, lines).groups()[0]
        assert (len(group["lines"]), group["more"]) == (lines + 1 - more, more)
    work = filled(tmp_path / "list", lines)
    work.save()
    assert (tmp_path / "list").read_text().count("a picture") == 1
    assert (tmp_path / "list").read_text().count("  A: ") == lines


def test_posts_that_need_a_hand() -> None:
    """Each once, as long as its lines stand together; some lines do not count."""
    work = WorkList(None)
    assert work.facts() == []
    work.add("1", "A", "x", needs=False)
    assert work.facts() == []
    work.add("1", "A", "x")
    work.add("1", "A", "y", needs=False)
    work.add("1", "A", "y")
    assert work.facts() == ["needs your hand: 1 post, see the list"]
    work.add("2", "B", "x")
    assert work.facts() == ["needs your hand: 2 posts, see the list"]


def test_the_groups_on_a_terminal() -> None:
    assert text_of(filled(lines=1).groups()) == [
        "  2 posts: a picture is gone", "    A: 0 (/studio/posts/1)", "    B: x: y",
        "  1 post: no date", "    B",
    ]  # fmt: skip
    assert text_of(filled(lines=1020).groups())[21] == (
        "    and 1,001 more: --report FILE writes the whole list"
    )


def test_the_file(tmp_path: Path) -> None:
    """A line for each, whatever their titles have; none without a file."""
    work = WorkList(tmp_path / "list")
    work.add("1", "A\n title", "no text", "/x")
    work.save()
    assert (tmp_path / "list").read_text() == "1 post: no text\n  A title (/x)\n\n"
    filled().save()
    with pytest.raises(InvalidInput, match=r"No such file.*; the import itself is done"):
        filled(tmp_path / "gone/list").save()
