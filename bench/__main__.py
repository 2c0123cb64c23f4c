"""Run the measurements named on the command line, or all of them.

With --record their tables are also added to their lab books, bench/lab/NAME.md.
"""

import importlib
import os
import pkgutil
import subprocess
import sys
from pathlib import Path

import bench
from bench.table import Table

BOOKS = Path(__file__).parent / "lab"


def main() -> int:
    """Run them one after the other, print their tables; 2 for a name that is no measurement."""
    names = sorted(module.name for module in pkgutil.iter_modules(bench.__path__))
    asked = [name for name in sys.argv[1:] if name != "--record"]
    for name in asked or names:
        module = importlib.import_module(f"bench.{name}") if name in names else None
        run = getattr(module, "run", None)
        if run is not None:
            print(f"\n== {name}", flush=True)
            for table in run() or []:
                print(table, flush=True)
                if "--record" in sys.argv:
                    record(name, table)
        elif asked:
            print(f"bench: no measurement {name!r} (known: {', '.join(names)})", file=sys.stderr)
            return 2
    return 0


def record(name: str, table: Table) -> None:
    """Add a table to the lab book of a measurement, with the commit and the machine's load."""
    book = BOOKS / f"{name}.md"
    words = ["git", "describe", "--always", "--dirty"]
    ran = subprocess.run(words, check=False, capture_output=True, text=True, cwd=BOOKS.parent)
    commit = ran.stdout.strip()
    at = f"`python -m bench {name}` at {commit or 'no commit'}, load {os.getloadavg()[0]:.1f}."
    text = book.read_text("utf-8") if book.exists() else f"# Lab book: {name}\n"
    book.write_text(f"{text.rstrip()}\n\n{table}\n{at}\n", "utf-8")


if __name__ == "__main__":
    sys.exit(main())
