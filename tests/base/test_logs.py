"""What stands in the log of a failure, and what never does."""

import json
import subprocess
import sys

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from publisher.installation import Site

PROGRAM = """
import logging, sys
import structlog
from publisher.base.system import logs

def check(password, environ):
    raise ValueError("no")

sys.stderr.isatty = lambda: {human}
logs.configure()
for logger in (structlog.get_logger("pages"), logging.getLogger("a library")):
    try:
        check("hunter" + "2", {{"HTTP_COOKIE": "session=" + "stolen"}})
    except ValueError:
        logger.exception("a page failed")
"""


@pytest.mark.parametrize("human", [False, True])
def test_a_traceback_names_places_and_no_values(human: bool) -> None:
    """Of a login that failed by our fault, the log must not hold the password."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(human=human)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr.count("check") >= 2
    assert "hunter" + "2" not in done.stderr
    assert "stolen" not in done.stderr
    if not human:
        found = [json.loads(line)["event"] for line in done.stderr.splitlines()]
        assert found == ["a page failed", "a page failed"]


def test_an_error_of_the_database_names_no_values(site: Site) -> None:
    """Its statement says enough: among the values are hashes of passwords, and drafts."""
    with pytest.raises(DBAPIError) as caught, site.database.read() as db:
        db.execute(text("SELECT nothing FROM nowhere WHERE password = :p"), {"p": "hunter2"})
    assert "nowhere" in str(caught.value)
    assert "hunter2" not in str(caught.value)
