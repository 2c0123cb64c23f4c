"""Whole numbers that strangers wrote: in addresses, headers, forms and files."""

LARGEST_ROW = 2**31 - 1  # what PostgreSQL's INTEGER holds


def whole_number(text: str, most: int = LARGEST_ROW) -> int | None:
    """The number from 0 to `most` that some ASCII digits write; None for anything else.

    Python reads other digits too, and takes the square of their count to do it.
    """
    if not (text.isascii() and text.isdigit() and len(text) <= len(str(most))):
        return None
    number = int(text)
    return number if number <= most else None


def number_up_to(most: int, text: str) -> int | None:
    """The number that some ASCII digits write, `most` if it is larger; None for anything else."""
    if not (text.isascii() and text.isdigit()):
        return None
    number = whole_number(text.lstrip("0") or "0", most)
    return most if number is None else number
