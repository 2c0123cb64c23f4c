"""The command `doctor`."""

import sys

import click

from publisher.base.environment import read_environment
from publisher.cli.parameters import echo_json, json_option


@click.command()
@click.option("--url", help="check the site at this address instead of in this process")
@json_option
def doctor(url: str | None, as_json: bool) -> None:
    """Check the installation, the database and the feed; exit 1 when something is wrong."""
    from publisher.operations.doctor import examine

    failed, found = 0, []
    for finding in examine(read_environment(), url):
        failed += not finding.good
        if as_json:
            found.append({"what": finding.what, "good": finding.good, "detail": finding.detail})
        else:
            click.echo(f"{'ok  ' if finding.good else 'BAD '} {finding.what}: {finding.detail}")
    if as_json:
        echo_json({"good": not failed, "findings": found})
    else:
        click.echo("all is well" if not failed else f"{failed} to mend")
    sys.exit(1 if failed else 0)
