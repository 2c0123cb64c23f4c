"""The commands `readers import` and `readers follow`: polls from access logs."""

import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from publisher.base.errors import InvalidData, PublisherError
from publisher.base.plurals import counted
from publisher.cli.parameters import InputFile, echo_json, json_option, site

if TYPE_CHECKING:
    from publisher.readers.access_logs.intake import Intake
    from publisher.readers.access_logs.logged_polls import FeedAddresses

PAUSE_SECONDS = 1.0

every_option = click.option(
    "--every", is_flag=True,
    help="also count requests that the cache passed on (it must send X-Counted-By: log with them)",
)  # fmt: skip


@click.command("import")
@click.argument("files", nargs=-1, required=True, type=InputFile())
@every_option
@json_option
def import_(files: tuple[Path, ...], every: bool, as_json: bool) -> None:
    """Count the polls in FILES: logs of nginx, Caddy, Cloudflare or Fastly, or in the combined
    format, plain or gzipped. Each line counts once, however often its file is read.
    """
    from publisher.readers.access_logs.intake import take_in

    here, told = site(), {}
    for path in files:
        found = take_in(here.database, path, _feeds(), here.clock, whole=True, every=every)
        told[str(path)] = found
        if found.lines and found.unreadable == found.lines:
            raise InvalidData(f"{path}: no line can be read as a request; {found.faults[0]}")
        if not as_json:
            for line in _lines(str(path), found):
                click.echo(line)
    if as_json:
        echo_json([{"file": name, **vars(found)} for name, found in told.items()])


@click.command()
@click.argument("file", type=InputFile())
@every_option
def follow(file: Path, every: bool) -> None:
    """Count the polls in FILE as they are written, through its rotations, until stopped."""
    from publisher.readers.access_logs.follow import Follower

    here = site()
    follower = Follower(here.database, file.absolute(), _feeds(), here.clock, every)
    first, never = True, threading.Event()
    while True:
        try:
            found = follower.look()
        except PublisherError as error:  # the database is busy: the next try reads the same lines
            click.echo(f"publisher: {error}", err=True)
        else:
            if first or found.unreadable:
                for line in _lines(str(file), found):
                    click.echo(line, err=not first)
            first = False
        never.wait(PAUSE_SECONDS)


def _feeds() -> "FeedAddresses":
    from publisher.publishing.rebuild import ADDRESSES, RSS
    from publisher.readers.access_logs.logged_polls import FeedAddresses

    return FeedAddresses({address: name for name, address in ADDRESSES.items()}, RSS)


def _lines(name: str, found: "Intake") -> list[str]:
    parts = [
        counted(found.lines, "new line"),
        f"{counted(found.polls, 'poll')} counted",
        *([f"{found.passed_on} passed on to the site, which counted them"] * bool(found.passed_on)),
        *([f"{found.doubles} seen before"] * bool(found.doubles)),
        *([counted(found.other, "other request")] * bool(found.other)),
        *([f"{found.unreadable} unreadable"] * bool(found.unreadable)),
    ]
    return [f"{name}: {', '.join(parts)}", *(f"  {fault}" for fault in found.faults)]


COMMANDS: dict[str, Any] = {"import": import_, "follow": follow}
