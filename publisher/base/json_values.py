"""Values of a stranger's JSON, turned into the expected type: text or a list."""

from typing import Any

from publisher.base.text import clean


def as_text(value: object) -> str:
    """Text, cleaned; a number (as old ids are) becomes text, anything else ""."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    return clean(str(value)).strip()


def as_list(value: object) -> list[Any]:
    """The value if it is a list, else an empty list."""
    return value if isinstance(value, list) else []
