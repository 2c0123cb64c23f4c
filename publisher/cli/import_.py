"""The command `import`."""

import re
from pathlib import Path

import click

from publisher.cli.parameters import (
    InputFile,
    Tell,
    echo_json,
    json_option,
    progress_option,
    site,
)

FORMATS = [
    "rss",
    "atom",
    "json",
    "wxr",
    "markdown",
    "ghost",
    "bear",
]  # READERS of exchange/importing/formats


@click.command("import")
@click.argument("source")
@click.option(
    "--format", "format_", type=click.Choice(FORMATS), help="(default: recognised by its content)"
)
@click.option("--dry-run", is_flag=True, help="show what would happen; change nothing")
@click.option("--images", "with_images", is_flag=True, help="download pictures and keep them here")
@json_option
@progress_option
@click.option("--author", "author_name", help="account for posts whose author has none here")
def import_(
    source: str,
    format_: str | None,
    dry_run: bool,
    with_images: bool,
    as_json: bool,
    tell: Tell,
    author_name: str | None,
) -> None:
    """Import posts from SOURCE: a file, folder, zip, http(s) address, or - for standard input."""
    if not re.match(r"https?://", source, re.IGNORECASE) and not Path(source).is_dir():
        InputFile(dash=True)(source)
    from publisher.cli.import_work import run

    outcome = run(site(), source, format_, dry_run, with_images, author_name, tell)
    if as_json:
        echo_json(outcome)
        return
    for sentence in outcome["facts"]:
        click.echo(sentence)
    for title, what, where in outcome["to_do"]:
        click.echo(f"  {title}: {what}{f' ({where})' if where else ''}")
    if dry_run:
        click.echo("a dry run: nothing was changed")
