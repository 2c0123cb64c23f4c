"""The commands that begin and look after a site: `serve`, `settings`, `doctor`; and those
that copy it, write it out or read another: `backup`, `restore`, `database`, `export`, `import`.
"""

import logging
import os
import signal
import sys
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from urllib.parse import urlsplit

import click

from publisher.base.clock import ShiftedClock, utc_now
from publisher.base.environment import read_environment
from publisher.base.errors import InvalidInput
from publisher.base.text import counted
from publisher.cli.parameters import (
    InputFile,
    Instant,
    Tell,
    echo_answer,
    echo_json,
    host_option,
    json_option,
    progress_option,
    site,
)


@click.command()
@host_option
@click.option("--port", default=8000, show_default=True, type=click.IntRange(1, 65535))
@click.option("--workers", default=1, show_default=True, type=click.IntRange(1, 64))
@click.option("--clock-start", type=Instant(), help="for trials: start the site's clock here")
@click.option(
    "--clock-speed",
    type=click.FloatRange(0, 100_000, min_open=True),
    default=None,
    help="for trials: run the clock this many times faster",
)
@click.option("--tls-cert", metavar="FILE", help="certificate chain (PEM): serve https")
@click.option("--tls-key", metavar="FILE", help="the certificate's private key (PEM)")
@click.option(
    "--log-format",
    type=click.Choice(["text", "json"]),
    help="text: warnings and errors for a person; json: each event (default: text on a terminal)",
)
def serve(
    host: str, port: int, workers: int, clock_start: datetime | None, clock_speed: float | None,
    tls_cert: str | None, tls_key: str | None, log_format: str | None,
) -> None:  # fmt: skip
    """Run the site: web workers, and one scheduler process for the hourly job."""
    # The first process of a container would ignore it during the start.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    from publisher.base.system import logs
    from publisher.operations.supervisor import serve as run

    if log_format is not None:
        logs.choose_format(log_format)
    clock = None
    if clock_start is not None or clock_speed is not None:
        started = utc_now()
        clock = ShiftedClock(started, clock_start or started, clock_speed or 1.0)
    files = {"PUBLISHER_TLS_CERT": tls_cert, "PUBLISHER_TLS_KEY": tls_key}
    os.environ.update({name: path for name, path in files.items() if path})  # the workers' too
    run(read_environment(), host, port, workers, clock)


@click.command()
def scheduler() -> None:
    """Run the site's jobs, beside web processes of another server than `publisher serve`."""
    from publisher.operations.supervisor import schedule

    schedule(read_environment())


@click.command()
@click.argument("key", required=False)
@click.argument("value", required=False)
@json_option
def settings(key: str | None, value: str | None, as_json: bool) -> None:
    """List the site's settings, show one, or set one."""
    from publisher.installation import public_address
    from publisher.installation.settings import check_name, store_setting, values_of_all

    if key is not None:
        check_name(key)
    blog = site()
    if key is not None:
        check_name(key, blog.parts)
    if key is not None and value is not None:
        from publisher.publishing.rebuild import rebuild

        if key == "site_url" and blog.environment.site_url:
            raise InvalidInput("site_url is fixed by PUBLISHER_SITE_URL; change it there")
        with blog.database.write() as db:
            store_setting(db, key, value)
        rebuild(blog)
    with blog.database.read() as db:
        values = values_of_all(db, blog.parts) | {"site_url": public_address(db, blog.environment)}
    if key is not None:
        echo_answer(as_json, {key: values[key]}, [str(values[key])])
    else:
        echo_answer(as_json, values, (f"{name} = {current}" for name, current in values.items()))


@click.command()
@click.option("--url", help="check the site at this address instead of in this process")
@click.option("--rebuild", is_flag=True, help="make search, histogram and feeds anew, then check")
@click.option("--dates", is_flag=True, help="set dates in the future to now, then check")
@json_option
def doctor(url: str | None, rebuild: bool, dates: bool, as_json: bool) -> None:
    """Check the installation, the database and the feed; exit 1 when something is wrong."""
    from publisher.base.system import logs

    if rebuild:
        _rebuild()
    if dates:
        from publisher.operations import future_dates

        blog = site()
        rows = future_dates.mend(blog)
        click.echo(
            f"{counted(rows, 'row')} dated after {blog.clock():%Y-%m-%d %H:%M} UTC: now then"
        )
    from publisher.operations.doctor import examine

    if url is not None and not (urlsplit(url).scheme in ("http", "https") and urlsplit(url).netloc):
        raise click.BadParameter("an address looks like https://blog.example", param_hint="--url")
    logs.configure(logging.CRITICAL)  # problems are printed below instead
    failed, findings = 0, []
    for finding in examine(read_environment(), url):
        failed += not finding.good
        if as_json:
            findings.append(asdict(finding))
            continue
        click.echo(f"{'ok  ' if finding.good else 'BAD '} {finding.what}: {finding.detail}")
        if finding.mend and not finding.good:
            click.echo(f"     to fix it: {finding.mend}")
    if as_json:
        echo_json({"good": not failed, "findings": findings})
    else:
        click.echo("all is well" if not failed else f"{counted(failed, 'problem')} to fix")
    sys.exit(1 if failed else 0)


def _rebuild() -> None:
    from publisher.installation import open_site, serving_lock
    from publisher.operations import derived
    from publisher.storage import sqlite_file

    environment = read_environment()
    with serving_lock(environment, "being rebuilt"):
        file = sqlite_file.path_of(environment.database_url)
        names = derived.mend_file(file) if file is not None and file.exists() else []
        opened = open_site(environment)
        derived.rebuild(opened)
        opened.database.close()
    emptied = f"; damaged and emptied before: {', '.join(names)}" if names else ""
    click.echo(f"search, histogram and feeds are made anew{emptied}")


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@progress_option
def backup(file: Path, tell: Tell) -> None:
    """Write a consistent copy of the site, running or not, to FILE (a .tar.gz)."""
    from publisher.operations import backup as copies

    size = copies.backup(read_environment(), file, tell)
    click.echo(f"wrote {file} ({size:,} bytes)")


@click.command()
@click.argument("file", type=InputFile())
def restore(file: Path) -> None:
    """Replace the site's data with the backup FILE; the old database is kept beside it."""
    from publisher.operations import backup as copies

    former = copies.restore(read_environment(), file)
    click.echo(f"restored {file}" + (f"; the previous database is {former}" if former else ""))


@click.group()
def database() -> None:
    """The site's database as a whole."""


@database.command("copy")
@click.argument("url")
@progress_option
def copy(url: str, tell: Tell) -> None:
    """Copy the whole site into the empty database at URL (sqlite:///FILE or postgresql+psycopg://...).

    Stop `serve` first, and set PUBLISHER_DATABASE_URL to URL afterwards. The media stay in the
    instance folder.
    """
    from publisher.operations.database_copy import copy_site

    count = copy_site(read_environment(), url, tell)
    click.echo(f"{count:,} rows copied and compared; set PUBLISHER_DATABASE_URL to use them")


@click.command("export")
@click.argument("destination", type=click.Path(path_type=Path))
@progress_option
def export(destination: Path, tell: Tell) -> None:
    """Write everything to DESTINATION: a new folder, or a file that ends in .zip."""
    from publisher.exchange.export import export as write_everything
    from publisher.exchange.export import target

    blog = site()
    with target(destination) as write, blog.database.read() as db:
        media, now = blog.environment.media, blog.clock()
        done = write_everything(db, write, media, blog.site_url, now, tell)
    posts, updates = counted(done.posts, "post"), counted(done.updates, "update")
    click.echo(f"{posts}, {updates}, {counted(done.files, 'file')}: {destination}")
