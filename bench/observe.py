"""`river observe`: a crawler's lines per CPU-second, compared with a naive program."""

import json
import os
import random
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

from dateutil import parser

from bench.load import scratch
from bench.table import Table

LINES = int(os.environ.get("OBSERVE_LINES", "200000"))
VISITS = 10
GROUP = 5
BEGIN = 1_772_359_200


def run() -> list[Table]:
    """The real command, start-up included; the naive program gets a tenth of the lines."""
    table = Table(
        "`river observe`: lines per CPU-second",
        ["program", "lines", "lines per CPU-second", "target"],
        notes=f"Each address is visited {VISITS} times; an estimate after each {GROUP} visits.",
    )
    for form in ("RFC 3339", "seconds"):
        lines = list(_lines(LINES, form))
        speed = f"{LINES / _ours(lines):,.0f}"
        table.add(f"`river observe`, times as {form}", f"{LINES:,}", speed, ">= 20,000")
    few = list(_lines(LINES // 10, "RFC 3339"))
    speed = f"{len(few) / _naive(few):,.0f}"
    name = "naive: per line one date, one row, the address's rows read back"
    table.add(name, f"{len(few):,}", speed, "")
    return [table]


def _lines(number: int, form: str) -> Iterator[bytes]:
    """Visits to a tenth as many addresses, a day apart; one in three finds a change."""
    rng = random.Random(1)
    for visit in range(VISITS):
        for page in range(number // VISITS):
            at = BEGIN + visit * 86400 + page % 86400
            when = datetime.fromtimestamp(at, UTC).isoformat() if form == "RFC 3339" else at
            url = f"http://site{page % 997}.example/page/{page}"
            fields = {"url": url, "timestamp": when, "hash": f"{rng.randrange(3):032x}"}
            yield json.dumps({**fields, "status": 200}).encode() + b"\n"


def _ours(lines: list[bytes]) -> float:
    """CPU seconds of the command, fed through a file."""
    folder = scratch()
    source = folder / "lines"
    source.write_bytes(b"".join(lines))
    environment = {"PATH": os.environ["PATH"], "PUBLISHER_INSTANCE": str(folder / "instance")}
    command = [sys.executable, "-m", "publisher", "river", "observe"]
    with source.open("rb") as file, (folder / "answers").open("wb") as answers:
        process = subprocess.Popen(command, stdin=file, stdout=answers, env=environment)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    _check(folder / "answers", len(lines))
    return usage.ru_utime + usage.ru_stime


def _check(answers: Path, lines: int) -> None:
    with answers.open("rb") as file:
        assert sum(1 for _ in file) == lines // GROUP


def _naive(lines: list[bytes]) -> float:
    """The naive program: no batches, no checkpoint, a commit per thousand lines."""
    store = sqlite3.connect(scratch() / "visits.db", isolation_level=None)
    store.execute("PRAGMA journal_mode=WAL")
    store.execute("CREATE TABLE visits (url, at, hash)")
    store.execute("CREATE INDEX by_url ON visits (url, at)")
    answers = []
    begun = time.process_time()
    store.execute("BEGIN")
    for number, line in enumerate(lines, 1):
        fields = json.loads(line)
        at = parser.parse(fields["timestamp"]).timestamp()
        store.execute("INSERT INTO visits VALUES (?, ?, ?)", (fields["url"], at, fields["hash"]))
        visits = "SELECT at, hash FROM visits WHERE url = ? ORDER BY at"
        rows = store.execute(visits, (fields["url"],)).fetchall()
        if len(rows) % GROUP == 0:
            group = rows[-GROUP:]
            changes = sum(old[1] != new[1] for old, new in pairwise(group))
            every = (group[-1][0] - group[0][0]) / max(changes, 0.5)
            answers.append(json.dumps({"url": fields["url"], "next_interval_seconds": every}))
        if number % 1000 == 0:
            store.execute("COMMIT")
            store.execute("BEGIN")
    store.execute("COMMIT")
    assert len(answers) == len(lines) // GROUP
    return time.process_time() - begun
