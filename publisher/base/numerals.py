"""Numbers as text: what strangers wrote, read within bounds; and a number with its noun."""

LARGEST_ROW = 2**31 - 1  # what PostgreSQL's INTEGER holds


def whole_number(text: str, most: int = LARGEST_ROW) -> int | None:
    """`text`, in ASCII digits, as a number from 0 to `most`; None for anything else.

    `int` alone would take other scripts' digits, and quadratic time for a long text.
    """
    if not (text.isascii() and text.isdigit() and len(text) <= len(str(most))):
        return None
    number = int(text)
    return number if number <= most else None


def number_up_to(most: int, text: str) -> int | None:
    """As `whole_number`, but `most` for a larger number."""
    if not (text.isascii() and text.isdigit()):
        return None
    number = whole_number(text.lstrip("0") or "0", most)
    return most if number is None else number


def counted(number: int, one: str, several: str = "") -> str:
    """0 readers, 1 reader, 1,200 readers: `several` where that is not `one` and an s."""
    return f"{number:,} {one if number == 1 else several or one + 's'}"
