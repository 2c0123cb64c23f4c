"""Values of a stranger's JSON, taken for what they should be: text, a list."""

from typing import Any

from publisher.base.text import clean


def as_text(value: object) -> str:
    """Text that can be kept, a number as text (ids were numbers once), nothing for the rest."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    return clean(str(value)).strip()


def as_list(value: object) -> list[Any]:
    """A list as it is, an empty one for the rest."""
    return value if isinstance(value, list) else []
