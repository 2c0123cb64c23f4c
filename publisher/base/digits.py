"""Whole numbers that strangers wrote: in addresses, forms and files."""

LARGEST_ROW = 2**31 - 1  # what PostgreSQL's INTEGER holds


def whole_number(text: str, most: int = LARGEST_ROW) -> int | None:
    """The number from 0 to `most` that some ASCII digits write; None for anything else.

    Python reads other digits too, and takes the square of their count to do it.
    """
    if not (text.isascii() and text.isdigit() and len(text) <= len(str(most))):
        return None
    number = int(text)
    return number if number <= most else None
