"""CSV files that a spreadsheet opens: nothing in them is run."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from publisher.base.text import from_cell, to_cell


@pytest.mark.parametrize("text", ["=cmd|' /C calc'!A0", "+1", "-1+1", "@SUM(1)", "\tx", "\r=1"])
def test_no_cell_begins_a_formula(text: str) -> None:
    """An apostrophe stands before what would be one."""
    assert to_cell(text) == f"'{text}"


@given(st.text(alphabet="'=+-@\t\ra", max_size=6))
def test_the_way_back(text: str) -> None:
    """Whatever it was, an import gets it again."""
    assert from_cell(to_cell(text)) == text
    assert to_cell(text)[:1] not in tuple("=+-@\t\r")
