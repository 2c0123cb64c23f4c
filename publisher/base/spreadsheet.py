"""Texts in CSV files, kept from being formulas where a spreadsheet opens them, and the way back."""

import re

_FORMULA = re.compile(r"'*[=+\-@\t\r]")


def cell(text: str) -> str:
    """`text`, with an apostrophe before what a spreadsheet would take for a formula."""
    return f"'{text}" if _FORMULA.match(text) else text


def text_of(value: str) -> str:
    """What `cell` was given."""
    return value[1:] if value[:1] == "'" and _FORMULA.match(value, 1) else value
