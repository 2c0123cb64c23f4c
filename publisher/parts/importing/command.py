"""The command `import`, whose work is in `work`."""

from pathlib import Path
from typing import Any

import click

from publisher.cli.parameters import (
    check_source,
    echo_answer,
    json_option,
    progress_option,
    site,
)

# READERS of formats/recognition
FORMATS = [
    "rss", "atom", "json", "wxr", "markdown", "ghost", "bear", "beehiiv", "movabletype", "writeas"
]  # fmt: skip


@click.command("import")
@click.argument("source")
@click.option(
    "--format", "format_", type=click.Choice(FORMATS), help="(default: recognised by its content)"
)
@click.option("--dry-run", is_flag=True, help="show what would happen; change nothing")
@click.option("--images", "with_images", is_flag=True, help="download pictures and keep them here")
@click.option(
    "--permalink",
    default="",
    metavar="PATTERN",
    help="how the old site made its addresses, if its files do not say it: /:year/:month/:title/",
)
@click.option(
    "--report",
    type=click.Path(path_type=Path, dir_okay=False),
    help="write the whole list of what needs your hand to this file",
)
@json_option
@progress_option
@click.option("--author", "heir", help="account for posts whose author has none here")
def import_(as_json: bool, **options: Any) -> None:
    """Import posts from SOURCE: a file, folder, zip, http(s) address, or - for standard input."""
    check_source(options["source"])
    from publisher.parts.importing.work import run
    from publisher.parts.importing.work_list import text_of

    outcome = run(site(), **options)
    lines = [*outcome["facts"], *text_of(outcome["to_do"])]
    lines += [f"the whole list is in {options['report']}"] if options["report"] else []
    if options["dry_run"]:
        lines.append("a dry run: nothing was changed")
    echo_answer(as_json, outcome, lines)
