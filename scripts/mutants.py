"""Mutation testing of the rules of the ttl and of `publisher/feeds`, by cosmic-ray's operators.

`python scripts/mutants.py [COUNT] [SEED]` changes a copy of the committed code in COUNT (100)
places, one at a time and drawn at random, and runs the tests of `make test` that are about this
code. It prints the mutants that no test notices, and how many there are: each is either no change
of behaviour or a test that is missing. One that is not noticed takes some two minutes.
"""

import random
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import closing
from pathlib import Path

ROOT = Path(__file__).parent.parent
# The quick ones first: most mutants are noticed in some seconds.
TESTS = "core feeds dynamic_ttl test_civil_dates.py test_parity.py test_same_figures.py simulator"
CONFIG = """\
[cosmic-ray]
module-path = ["publisher/dynamic_ttl/core", "publisher/feeds"]
timeout = 400.0
excluded-modules = []
test-command = "{python} -m pytest -x -q -n 0 -p no:cacheprovider -m 'not system' {tests}"
[cosmic-ray.distributor]
name = "local"
"""


def main(count: int = 100, seed: int = 1) -> int:
    """Print what became of so many mutants; 1 if the tests fail on the code as it is."""
    tests = " ".join(f"tests/{name}" for name in TESTS.split())
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, "copy")
        subprocess.run(["git", "clone", "--quiet", "--shared", str(ROOT), str(copy)], check=True)
        Path(folder, "config.toml").write_text(CONFIG.format(python=sys.executable, tests=tests))

        def cosmic_ray(command: str, *files: str) -> int:
            program = [str(Path(sys.executable).with_name("cosmic-ray")), command]
            return subprocess.run(
                [*program, f"{folder}/config.toml", *files], cwd=copy, check=False
            ).returncode

        print("The tests on the code as it is, then on each mutant; some two a minute.")
        if cosmic_ray("baseline"):
            return 1
        session = f"{folder}/session.sqlite"
        cosmic_ray("init", session)
        _draw(session, count, seed)
        cosmic_ray("exec", session)
        _tell(session)
    return 0


def _draw(session: str, count: int, seed: int) -> None:
    """Leave so many of the session's mutants, the same ones for the same code and seed."""
    with closing(sqlite3.connect(session)) as database, database:
        mutants = database.execute(
            "SELECT job_id FROM mutation_specs"
            " ORDER BY module_path, operator_name, operator_args, occurrence"
        ).fetchall()
        gone = set(mutants) - set(random.Random(seed).sample(mutants, min(count, len(mutants))))  # noqa: S311
        database.executemany("DELETE FROM mutation_specs WHERE job_id = ?", gone)
        database.executemany("DELETE FROM work_items WHERE job_id = ?", gone)


def _tell(session: str) -> None:
    with closing(sqlite3.connect(session)) as database:
        results = database.execute(
            "SELECT test_outcome, diff FROM work_results JOIN mutation_specs USING (job_id)"
            " ORDER BY module_path, start_pos_row"
        ).fetchall()
    survivors = [diff for outcome, diff in results if outcome == "SURVIVED"]
    print(*survivors, sep="\n")
    print(f"{len(results) - len(survivors)} of {len(results)} mutants were noticed")


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
