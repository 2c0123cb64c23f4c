"""The command `doctor`."""

import logging
import sys
from dataclasses import asdict
from urllib.parse import urlsplit

import click

from publisher.base.environment import read_environment
from publisher.base.plurals import counted
from publisher.cli.parameters import echo_json, json_option


@click.command()
@click.option("--url", help="check the site at this address instead of in this process")
@json_option
def doctor(url: str | None, as_json: bool) -> None:
    """Check the installation, the database and the feed; exit 1 when something is wrong."""
    from publisher.base import logs
    from publisher.operations.doctor import examine

    if url is not None and not (urlsplit(url).scheme in ("http", "https") and urlsplit(url).netloc):
        raise click.BadParameter("an address looks like https://blog.example", param_hint="--url")
    logs.configure(logging.CRITICAL)  # problems are printed below instead
    failed, found = 0, []
    for finding in examine(read_environment(), url):
        failed += not finding.good
        if as_json:
            found.append(asdict(finding))
            continue
        click.echo(f"{'ok  ' if finding.good else 'BAD '} {finding.what}: {finding.detail}")
        if finding.mend and not finding.good:
            click.echo(f"     to fix it: {finding.mend}")
    if as_json:
        echo_json({"good": not failed, "findings": found})
    else:
        click.echo("all is well" if not failed else f"{counted(failed, 'problem')} to fix")
    sys.exit(1 if failed else 0)
