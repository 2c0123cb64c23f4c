"""Click parameter types, options and helpers that several commands share, and how a command ends.

Every module of this folder imports only light modules at its top, and heavy ones inside the command
that needs them: `--help`, a wrong option and a missing file are then answered at once.
"""

import io
import json
import os
import re
import sys
from collections.abc import Callable, Iterable
from datetime import datetime
from math import isnan
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, NoReturn

import click
from click.exceptions import NoArgsIsHelpError

from publisher.base.dates import format_rfc3339, parse_rfc3339
from publisher.base.errors import InvalidData, InvalidInput, PublisherError
from publisher.dynamic_ttl.core.specs import SpecError

if TYPE_CHECKING:
    from publisher.installation import Site

json_option = click.option("--json", "as_json", is_flag=True, help="print JSON instead of text")
Tell = Callable[[str], None]
TOLD_EVERY_SECONDS = 3.0
LONGEST_LINE = 2_000  # characters of an error
STOPPED = 130  # the exit code that shells give for Ctrl-C


def _teller(_ctx: click.Context, _param: click.Parameter, wanted: bool) -> Tell:
    """A function that prints progress: each step with `--progress`, else on a terminal only, at
    most every `TOLD_EVERY_SECONDS`."""
    shown_at = monotonic()

    def tell(words: str) -> None:
        nonlocal shown_at
        if wanted or (sys.stderr.isatty() and monotonic() >= shown_at + TOLD_EVERY_SECONDS):
            shown_at = monotonic()
            click.echo(f"progress: {words}", err=True)

    return tell


progress_option = click.option(
    "--progress",
    "tell",
    is_flag=True,
    callback=_teller,
    help="print each step on standard error (default: every few seconds, on a terminal only)",
)
password_option = click.option(
    "--password-stdin", is_flag=True, help="read the password from standard input instead of asking"
)


def _host(_ctx: click.Context, _param: click.Parameter, host: str) -> str:
    """A name or an address to listen on; not an empty one, as sockets take that for every one."""
    try:
        usable = host.encode("idna")
    except UnicodeError:
        usable = b""
    if not usable:
        raise click.BadParameter("an address is needed; 0.0.0.0 stands for all of this machine")
    return host


host_option = click.option(
    "--host", default="127.0.0.1", show_default=True, callback=_host, help="address to listen on"
)


class Instant(click.ParamType[datetime]):
    """A moment as RFC 3339 with its offset."""

    name = "RFC3339"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> datetime:
        """The moment in UTC; a usage error when it is anything else."""
        if isinstance(value, datetime):
            return value
        try:
            return parse_rfc3339(str(value))
        except InvalidInput as error:
            self.fail(str(error), param, ctx)


class Days(click.FloatRange):
    """A number of days above 0; the maximum, 50,000, is longer than the time since 1970."""

    def __init__(self) -> None:
        super().__init__(0, 50_000, min_open=True)

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """The number; a usage error for anything else, "nan" included."""
        days = float(super().convert(value, param, ctx))
        if isnan(days):
            self.fail(f"{value!r} is not a number of days", param, ctx)
        return days


class InputFile(click.ParamType[Path]):
    """A file to read; `-` is standard input where `dash` allows it.

    A file that does not exist is a wrong argument (exit 2), one that cannot be read bad data
    (exit 1).
    """

    name = "FILE"

    def __init__(self, dash: bool = False) -> None:
        self._dash = dash

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """The path of a file that exists and can be read."""
        path = Path(value)
        if self._dash and str(path) == "-":
            return path
        if not str(value) or not path.exists():  # an empty name would be the present folder
            self.fail(f"there is no file {str(value)!r}", param, ctx)
        if path.is_dir():
            self.fail(f"{str(path)!r} is a folder, not a file", param, ctx)
        if not os.access(path, os.R_OK):
            raise InvalidData(f"{path}: Permission denied")
        return path


def check_source(name: str) -> None:
    """Raise for a file that is missing or cannot be read; web addresses and folders are looked at
    by who reads them, and `-` is standard input."""
    folder = name and Path(name).is_dir()  # an empty name would be the present one
    if not folder and not re.match(r"https?://", name, re.IGNORECASE):
        InputFile(dash=True)(name)


def password(from_stdin: bool) -> str:
    """A password: typed twice on a terminal, without echo, or a line of standard input."""
    if from_stdin or not on_terminal():
        return sys.stdin.readline().rstrip("\r\n")
    typed: str = click.prompt("Password", hide_input=True, confirmation_prompt=True, err=True)
    return typed


def on_terminal() -> bool:
    """Whether standard input is a terminal, so that a person can be asked."""
    return sys.stdin.isatty()


def echo_json(value: Any) -> None:
    """Print a value as JSON; moments as RFC 3339 in UTC."""
    click.echo(json.dumps(value, indent=2, ensure_ascii=False, default=_moment))


def echo_answer(as_json: bool, value: Any, lines: Iterable[str]) -> None:
    """Print an answer: its `value` as JSON, or its `lines`."""
    if as_json:
        echo_json(value)
        return
    for line in lines:  # of others' feeds and headers: without what steers a terminal
        click.echo("".join(sign for sign in str(line) if sign.isprintable() or sign in "\t\n"))


def echo_rows(rows: list[dict[str, Any]], as_json: bool) -> None:
    """Print rows as a JSON list, or as one line each with tabs between the values."""
    echo_answer(as_json, rows, ("\t".join(map(_plain, row.values())) for row in rows))


def _plain(value: Any) -> str:
    from publisher.base.text import one_line

    if value is None:
        return "-"
    return _moment(value) if isinstance(value, datetime) else one_line(str(value))


def _moment(value: Any) -> str:
    if isinstance(value, datetime):
        return format_rfc3339(value.replace(microsecond=0))
    raise TypeError(f"no JSON for {type(value).__name__}")


def site() -> "Site":
    """The installation that the environment names; its connections close when the command ends."""
    from publisher.base.environment import read_environment
    from publisher.installation import open_site

    opened = open_site(read_environment())
    if command := click.get_current_context(silent=True):
        command.call_on_close(opened.database.close)
    return opened


def run(command: click.Command, name: str, arguments: list[str] | None = None) -> None:
    """Run a command; an expected error becomes one line on standard error, which begins with the
    program's name, and an exit code."""

    def stop(message: str, exit_code: int) -> NoReturn:
        from publisher.base.text import one_line

        line = one_line(message)
        if len(line) > LONGEST_LINE:  # it repeats a name of any length
            line = f"{line[: LONGEST_LINE // 2]} … {line[-LONGEST_LINE // 2 :]}"
        click.echo(f"{name}: {line}", err=True)
        sys.exit(exit_code)

    os.umask(0o077)  # files hold hashes, drafts and backups: only their owner may read them
    if sys.stdin is None:  # it was closed by who started this, which reads as nothing
        sys.stdin = io.TextIOWrapper(io.BytesIO())
    try:
        command.main(arguments, standalone_mode=False)
    except NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        sys.exit(error.exit_code)
    except click.ClickException as error:
        stop(error.format_message(), error.exit_code)
    except SpecError as error:
        stop(str(error), 2)
    except PublisherError as error:
        stop(str(error), error.exit_code)
    except click.Abort:
        stop("stopped", STOPPED)
    except UnicodeError:
        stop("an argument or the standard input is not text in UTF-8", 2)
    except BrokenPipeError:  # the other program has read enough, as in `publisher ... | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except OSError as error:
        stop(f"{error.filename or 'the system'}: {error.strerror or error}", 1)
