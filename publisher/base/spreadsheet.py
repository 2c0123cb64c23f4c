"""Escaping of CSV cells, so that a spreadsheet takes no text for a formula, and its reverse."""

import re

_FORMULA = re.compile(r"'*[=+\-@\t\r]")


def cell(text: str) -> str:
    """`text`, with an apostrophe before what a spreadsheet would take for a formula."""
    return f"'{text}" if _FORMULA.match(text) else text


def text_of(value: str) -> str:
    """The text that `cell` made `value` of."""
    return value[1:] if value[:1] == "'" and _FORMULA.match(value, 1) else value
