"""A number with its noun: 0 readers, 1 reader, 1,200 readers."""


def counted(number: int, one: str, several: str = "") -> str:
    """`number` and the form of the noun it needs; `several` where that is not `one` and an s."""
    return f"{number:,} {one if number == 1 else several or one + 's'}"
