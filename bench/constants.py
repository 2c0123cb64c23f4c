"""The constants of the decision that somebody chose: `python -m bench.constants`.

Chosen is a number, or a tuple of numbers, that is written out in publisher/dynamic_ttl/core/ttl,
alone or times a unit. Not counted: names of choices (0, 1, 2), the version of the stored form,
Winer's own numbers (`WARM_UP_SECONDS`, `WARM_UP_MINUTES`), and what follows from others.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "publisher" / "dynamic_ttl" / "core" / "ttl"
UNITS = ("DAY_SECONDS", "HOUR_SECONDS")
NOT_CHOSEN = ("WARM_UP_SECONDS", "WARM_UP_MINUTES", "FORMAT")


def written_out(value: ast.expr) -> bool:
    """Whether `value` is a number, a tuple of numbers, or a number times a unit."""
    if isinstance(value, ast.Tuple):
        return all(map(written_out, value.elts))
    if isinstance(value, ast.BinOp):
        unit = isinstance(value.right, ast.Name) and value.right.id in UNITS
        return unit and written_out(value.left)
    return isinstance(value, ast.Constant) and isinstance(value.value, int | float)


def chosen(path: Path) -> Iterator[tuple[str, str]]:
    """The chosen constants of a module, with their values as text."""
    for statement in ast.parse(path.read_text("utf-8")).body:
        if not isinstance(statement, ast.Assign):
            continue
        target, value = statement.targets[0], statement.value
        pairs = [(target, value)]
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            pairs = list(zip(target.elts, value.elts, strict=True))
            if [ast.unparse(element) for element in value.elts] == list(
                map(str, range(len(pairs)))
            ):
                continue  # names of choices
        for name, number in pairs:
            if isinstance(name, ast.Name) and written_out(number) and name.id not in NOT_CHOSEN:
                yield name.id, ast.unparse(number)


def main() -> None:
    """Print them by module, their number, and the lines of the folder."""
    number = lines = 0
    for path in sorted(FOLDER.glob("*.py")):
        lines += len(path.read_text("utf-8").splitlines())
        for name, value in chosen(path):
            number += 1
            print(f"{path.stem:10} {name:16} {value}")
    print(f"{number} constants, {lines} lines")


if __name__ == "__main__":
    main()
