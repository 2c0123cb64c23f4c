"""Prints the branch coverage of each room of `publisher`, from what `coverage run` has stored.

`make coverage` runs the tests of a small change first. A room's figure is the share of its lines
and of its branches (the ways out of each `if`, loop and `match`) that a test went through.
"""

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parent.parent


def main() -> None:
    """One line for each room, the least covered first, and one for all."""
    report = subprocess.run(
        [sys.executable, "-m", "coverage", "json", "-q", "-o", "/dev/stdout"],
        cwd=ROOT, check=True, capture_output=True, text=True,
    )  # fmt: skip
    parts, met = Counter[str](), Counter[str]()
    for name, file in json.loads(report.stdout)["files"].items():
        for room in (Path(name).parts[1], "all"):
            summary = file["summary"]
            parts[room] += summary["num_statements"] + summary["num_branches"]
            met[room] += summary["covered_lines"] + summary["covered_branches"]
    for room in sorted(filter(parts.get, parts), key=lambda room: met[room] / parts[room]):
        print(f"{met[room] / parts[room]:7.1%}  {room}")


if __name__ == "__main__":
    main()
