"""The command `reader-test`: a test feed for feed readers, and what a reader does with it."""

import re
import signal
import sys
import tempfile
import threading
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import click

from publisher.base.clock import utc_now
from publisher.base.errors import InvalidData, InvalidInput
from publisher.base.system.whole_files import check_folder_of
from publisher.cli.parameters import (
    InputFile,
    Tell,
    echo_answer,
    host_option,
    json_option,
    progress_option,
    run,
)

if TYPE_CHECKING:
    from publisher.reader_test.tester_trace import Trace

CLOCKS = ("auto", "faketime", "variable")


@click.command("reader-test")
@click.option("--port", type=click.IntRange(0, 65535), help="of the test feed (default: 8010)")
@host_option
@click.option("--address", default="", help="at which readers find it, as http://HOST:PORT")
@click.option(
    "--speed",
    type=click.FloatRange(1, 10_000),
    help="how many times faster the test's clock runs (default: 1; with --long-running 1000);"
    " without effect on a CMD that ends: its clock jumps from one run to the next",
)
@click.option("--url-command", metavar="CMD", help="run this; URL in it becomes the address")
@click.option("--long-running", is_flag=True, help="CMD keeps running instead of being run often")
@click.option(
    "--clock",
    type=click.Choice(CLOCKS),
    default="auto",
    show_default=True,
    help="how CMD learns the time: libfaketime, or READER_TEST_TIME alone",
)
@click.option("--replay", type=InputFile(), metavar="FILE", help="judge a recorded trace")
@click.option("--save", type=click.Path(path_type=Path, dir_okay=False), help="write the trace")
@click.option("--fail-under", type=click.IntRange(0, 100), help="exit with 1 below this score")
@progress_option
@json_option
def reader_test(
    port: int | None,
    host: str,
    address: str,
    speed: float | None,
    url_command: str | None,
    long_running: bool,
    clock: str,
    replay: Path | None,
    save: Path | None,
    fail_under: int | None,
    tell: Tell,
    as_json: bool,
) -> None:
    """Test a feed reader: play it a scripted week, and say what it does well and badly."""
    from publisher.reader_test.scorecard import lines, score

    if url_command is not None and replay is not None:
        raise InvalidInput("--url-command and --replay exclude each other")
    if long_running and url_command is None:
        raise InvalidInput("--long-running needs --url-command")
    if address and not re.fullmatch(r"https?://[^/?#\s]+/?", address):
        raise InvalidInput(f"--address: {address!r} is not like http://HOST:PORT")
    if save is not None:
        check_folder_of(save)
    if replay is not None:
        trace = _read(replay)
    elif url_command is not None:
        trace = _run(url_command, port or 0, speed, long_running, clock, tell)
    else:
        trace = _serve(host, 8010 if port is None else port, address, speed or 1.0)
    if save is not None:
        save.write_text(trace.to_json(), "utf-8")
    card = score(trace)
    echo_answer(as_json, card.to_dict(), lines(card))
    if fail_under is not None and (card.score is None or card.score < fail_under):
        result = "too little was seen for a score" if card.score is None else f"{card.score} of 100"
        raise InvalidData(f"{result}; --fail-under {fail_under}")


def _read(file: Path) -> "Trace":
    from publisher.reader_test.tester_trace import read_trace

    try:
        return read_trace(file.read_text("utf-8", "replace"))
    except InvalidData as error:
        raise InvalidData(f"{file}: {error}") from None


def _run(
    command: str, port: int, speed: float | None, long_running: bool, clock: str, tell: Tell
) -> "Trace":
    from publisher.reader_test import command_runs

    library = None if clock == "variable" else command_runs.faketime_library()
    if clock == "faketime" and library is None:
        raise InvalidInput("libfaketime is not installed (Debian: apt install faketime)")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the program ends with us
    begins = utc_now().replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=7)
    run = command_runs.CommandRun(command, begins, library, port)
    if long_running:
        return command_runs.run_once_for_all(run, speed or 1000.0, tell)
    return command_runs.run_each_time(run, tell)


def _serve(host: str, port: int, address: str, speed: float) -> "Trace":
    """Serve until Ctrl-C; the trace of the tester whose address was printed."""
    from publisher.reader_test.tester_server import serving
    from publisher.reader_test.testers import ReaderTests

    over = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: over.set())
    with tempfile.TemporaryDirectory(prefix="reader-test-") as folder:
        desk = ReaderTests(Path(folder), utc_now, speed)
        with serving(desk, host, port, address) as base:
            word = desk.new_word("")
            click.echo(f"Subscribe a reader to {base}/{word}/feed.xml", err=True)
            click.echo(f"Its score: {base}/{word}/score   More tests: {base}/", err=True)
            click.echo("Ctrl-C ends the test and prints the score.", err=True)
            try:
                over.wait()
            except KeyboardInterrupt:
                click.echo(err=True)
            return desk.trace(base, word)


def main() -> None:
    """The command as a program of its own, in the wheel `publisher_reader_test`."""
    run(reader_test, "reader-test")
