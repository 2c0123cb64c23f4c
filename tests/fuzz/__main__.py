"""`make fuzz`: all targets in turn, as long as asked; what an input broke is left out from then on.

FUZZ_SECONDS (60), FUZZ_SEED (the time), FUZZ_ONLY (names, with commas), FUZZ_INPUTS (a number of
inputs for each target; then there is no time where none is asked for), all from the environment.
"""

import os
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

from publisher.base.environment import Environment
from publisher.blog.members import passwords, tokens
from publisher.installation import open_site
from publisher.web.api import program_posts
from publisher.web.application import close_app, create_app
from tests.conftest import SITE_URL
from tests.factories import make_author, make_post
from tests.fuzz import targets
from tests.fuzz.engine import Fell, run
from tests.fuzz.targets import FILES, Target

MOST_MEMORY = 300 * 1024  # kB that inputs may add


@contextmanager
def _all_targets() -> Iterator[dict[str, Target]]:
    with tempfile.TemporaryDirectory() as folder:
        instance = Path(folder) / "instance"
        url = f"sqlite:///{instance}/publisher.db"
        environment = Environment(instance, url, SITE_URL, "a key for fuzzing only")
        passwords.METHOD = "scrypt:128:1:1"
        program_posts.WRITES_PER_MINUTE = 10**9
        site = open_site(environment)
        author = make_author(site)
        make_post(site, "Hello there.", title="A", author_id=author.id)
        with site.database.write() as db:
            token = tokens.create(db, author, tokens.SCOPES, site.clock())
        app = create_app(environment)
        try:
            yield FILES | targets.requests(app.test_client(), site, token)
        finally:
            close_app(app)
            site.database.close()


def main() -> int:
    """Run until the time is over; 1 when something fell."""
    asked = os.environ
    seed = int(asked.get("FUZZ_SEED") or time.time())
    inputs = int(asked.get("FUZZ_INPUTS") or 0)
    seconds = float(asked.get("FUZZ_SECONDS") or (10**9 if inputs else 60))
    until = time.monotonic() + seconds
    print(f"seed {seed}", flush=True)
    fell = 0
    with _all_targets() as known:
        only = [name for name in asked.get("FUZZ_ONLY", "").split(",") if name] or list(known)
        running = {name: run(name, known[name], seed) for name in only}
        done = dict.fromkeys(only, 0)
        before = 0
        for turn in count():
            if not running or time.monotonic() > until or (inputs and turn >= inputs):
                break
            for name in list(running):
                try:
                    next(running[name])
                    done[name] += 1
                except Fell as error:
                    print(f"FELL {error}", flush=True)
                    fell += 1
                    del running[name]
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            before = before or peak
            if peak - before > MOST_MEMORY:
                print(f"memory grew by {(peak - before) // 1024} MB")
                return 1
    print("inputs: " + ", ".join(f"{name} {number}" for name, number in done.items()))
    print(f"memory at most {peak // 1024} MB, {(peak - before) // 1024} MB more than at the start")
    return 1 if fell else 0


if __name__ == "__main__":
    sys.exit(main())
