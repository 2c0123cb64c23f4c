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
from publisher.base.system import logs

def check(password, environ):
    raise ValueError("no")

sys.stderr.isatty = lambda: {human}
logs.configure()
for logger in (logs.get_logger("pages"), logging.getLogger("a library")):
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
        events = [json.loads(line)["event"] for line in done.stderr.splitlines()]
        assert events == ["a page failed", "a page failed"]


def test_an_error_of_the_database_names_no_values(site: Site) -> None:
    """Its statement says enough: among the values are hashes of passwords, and drafts."""
    with pytest.raises(DBAPIError) as caught, site.database.read() as db:
        db.execute(text("SELECT nothing FROM nowhere WHERE password = :p"), {"p": "hunter2"})
    assert "nowhere" in str(caught.value)
    assert "hunter2" not in str(caught.value)


EVENTS = """
import logging, sys
from publisher.base.system import logs

sys.stderr.isatty = lambda: {human}
{configure}
log = logs.get_logger("pages")
log.info("feed built", serial=4, who={{"ada"}}, api_token="hunter" + "2", level_of="\\x1b[31m")
log.warning("100% of it", reason="a b")
log.debug("details")
logging.getLogger("a library").info("chatter")
logs.request_number.set("00c0ffee")
logging.getLogger("a library").warning("hello %s", "you\\x9b2J")
"""


def logged(human: bool, configure: str) -> list[str]:
    """The lines of a process that logs."""
    program = EVENTS.format(human=human, configure=configure)
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert "hunter" + "2" not in done.stderr
    return done.stderr.splitlines()


def test_a_line_is_an_object() -> None:
    """With its values, what sounds like a secret blanked; a library's only from a warning on."""
    built, share, hello = map(json.loads, logged(False, "logs.configure()"))
    assert built.pop("timestamp").endswith("Z")
    assert built == {
        "event": "feed built", "level": "info", "serial": 4, "who": "{'ada'}",
        "api_token": "(hidden)", "level_of": "\x1b[31m",
    }  # fmt: skip
    assert (share["event"], share["level"], share["reason"]) == ("100% of it", "warning", "a b")
    assert (hello["event"], hello["request"]) == ("hello you\x9b2J", "00c0ffee")
    assert "request" not in share


def test_a_person_gets_words() -> None:
    """Warnings and errors only; nothing that is logged can steer the terminal."""
    share, hello = logged(True, "logs.configure()")
    assert "\x1b[31m" not in share + hello
    assert "\x9b" not in hello
    assert "reason='a b'" in share
    assert "request='00c0ffee'" in hello


def test_a_command_logs_warnings_only() -> None:
    """It sets nothing up, and prints its own result."""
    events = [json.loads(line)["event"] for line in logged(False, "")]
    assert events == ["100% of it", "hello you\x9b2J"]


CHOSEN = """
import sys
from publisher.base.system import logs

sys.stderr.isatty = lambda: {terminal}
logs.choose_format({name!r})
logs.configure()
log = logs.get_logger("serve")
log.info("feed built", ttl_minutes=15)
log.warning("a worker ended", status=9)
"""


@pytest.mark.parametrize("terminal", [False, True])
@pytest.mark.parametrize("name", ["text", "json"])
def test_the_format_is_chosen(name: str, terminal: bool) -> None:
    """Text tells a person what is wrong, coloured on a terminal only; JSON has every event."""
    words = [sys.executable, "-c", CHOSEN.format(name=name, terminal=terminal)]
    lines = subprocess.run(words, capture_output=True, text=True, check=True).stderr.splitlines()
    if name == "json":
        assert [json.loads(line)["event"] for line in lines] == ["feed built", "a worker ended"]
    else:
        assert len(lines) == 1
        assert ("\033[" in lines[0]) == terminal
        assert "a worker ended" in lines[0]
        assert "status=9" in lines[0]
