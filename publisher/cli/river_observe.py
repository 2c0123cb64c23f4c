"""The command `river observe`: a crawler's results as JSON lines, new intervals in return."""

import json
import os
import select
import sys
from collections.abc import Iterator

import click

from publisher.base.errors import InvalidData
from publisher.cli.parameters import site

_READ_BYTES = 1 << 20


@click.command("observe")
@click.option("--estimator", help="changes or nochanges (default: the setting river_estimator)")
@click.option("--visits", type=click.IntRange(2, 1000), help="visits to base an estimate on")
@click.option("--metadata", help="names of extra fields to keep")
@click.option("--history", "url", help="print the stored visits to this address instead")
def observe_lines(
    estimator: str | None, visits: int | None, metadata: str | None, url: str | None
) -> None:
    """Read a crawler's results as JSON lines; print the next poll interval for each."""
    from publisher.installation.settings import load_settings
    from publisher.river.observe import Estimator, apply, history, observe

    here = site()
    if url is not None:
        with here.database.read() as db:
            for visit in history(db, url):
                click.echo(json.dumps(visit, ensure_ascii=False))
        return
    with here.database.read() as db:
        chosen = load_settings(db)
    names = (chosen.river_metadata if metadata is None else metadata).replace(",", " ").split()
    rule = Estimator.of(estimator or chosen.river_estimator, visits or chosen.river_visits, names)
    complaints, encode = 0, json.JSONEncoder(ensure_ascii=False).encode
    for batch in _batches(sys.stdin.fileno()):
        with here.database.write() as db:
            result = observe(db, batch, rule)
            apply(db, result.answers, here.clock())
        for answer in result.answers:
            sys.stdout.write(encode(answer) + "\n")
        sys.stdout.flush()
        for complaint in result.complaints:
            click.echo(complaint, err=True)
        complaints += len(result.complaints)
    if complaints:
        raise InvalidData(f"lines left out: {complaints}")


def _batches(handle: int) -> Iterator[list[tuple[int, bytes]]]:
    """Batches of whole lines with their numbers: all that have arrived, without waiting."""
    number, rest, open_end = 1, b"", True
    while open_end:
        parts = [rest]
        size = 0
        while size < _READ_BYTES and (not size or select.select([handle], [], [], 0)[0]):
            part = os.read(handle, _READ_BYTES)
            if not part:
                open_end = False
                break
            parts.append(part)
            size += len(part)
        *lines, rest = b"".join(parts).split(b"\n")
        if not open_end and rest:
            lines.append(rest)
        yield list(enumerate(lines, number))
        number += len(lines)
