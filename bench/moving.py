"""What it takes to move a large blog: import, export, and the export into an empty site."""

import os
import re
import subprocess
import sys
import time
import zipfile
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bench.blog import PARAGRAPH
from bench.load import scratch
from bench.table import Table
from publisher.base.environment import Environment
from publisher.blog import posts
from publisher.installation import open_site

POSTS = int(os.environ.get("MOVING_POSTS", "100000"))
EDITED_EVERY = 100
LOOK_SECONDS = 0.05


def run() -> list[Table]:
    """A folder of Markdown in, an export out and in again; both exports must hold the same."""
    folder = scratch()
    table = Table(
        f"Moving {POSTS:,} posts",
        ["command", "largest process", "all processes (PSS)", "seconds", "target"],
        notes="Peaks, seen every 50 ms: `VmHWM` of each process, `Pss` of all together. An import "
        "has a second process, which reads the stranger's bytes.",
    )
    markdown, there, here = folder / "in.zip", folder / "there", folder / "here"
    _write_markdown(markdown)
    first, again = folder / "first.zip", folder / "again.zip"
    _measure(table, "import a zip of Markdown", there, "import", str(markdown))
    _edit(there)
    _measure(table, "export", there, "export", str(first))
    _measure(table, "import the export, dry run", here, "import", str(first), "--dry-run")
    _measure(table, "import the export", here, "import", str(first))
    _measure(table, "import it again: nothing new", here, "import", str(first))
    _measure(table, "export what was imported", here, "export", str(again))
    assert _contents(first) == _contents(again), "the exports differ"
    return [table]


def _write_markdown(path: Path) -> None:
    now = datetime.now(UTC).replace(microsecond=0)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(POSTS):
            at = now - timedelta(minutes=20 * (POSTS - number))
            head = f"title: Post {number}\ndate: {at:%Y-%m-%dT%H:%M:%SZ}\naliases: [/old/{number}]"
            text = f"Number {number}.\n\n{PARAGRAPH}\n\n{PARAGRAPH}"
            tags = f"tags: [a, b{number % 50}]"
            archive.writestr(f"{number:07}.md", f"---\n{head}\n{tags}\n---\n\n{text}\n")


def _edit(instance: Path) -> None:
    """So that some posts have more than one revision."""
    site = open_site(Environment(instance, f"sqlite:///{instance}/publisher.db", None, "bench"))
    with site.database.write() as db:
        for number in range(1, POSTS, EDITED_EVERY):
            post = posts.get(db, number)
            value = posts.content(db, post)
            posts.save(db, number, value, post.version, None, site.clock(), minor=True)
    site.database.close()


def _measure(table: Table, what: str, instance: Path, *command: str) -> None:
    environment = {**os.environ, "PUBLISHER_INSTANCE": str(instance)}
    begun = time.monotonic()
    peaks, together = dict[int, int](), 0
    with subprocess.Popen([sys.executable, "-m", "publisher", *command], env=environment) as child:
        while child.poll() is None:
            found = [_memory(pid) for pid in _family(child.pid)]
            together = max(together, sum(pss for _, _, pss in found))
            peaks.update({pid: peak for pid, peak, _ in found if peak})
            time.sleep(LOOK_SECONDS)
        assert child.returncode == 0, command
    seconds = time.monotonic() - begun
    largest = " + ".join(f"{peak / 1024:.0f} MB" for peak in peaks.values())
    table.add(what, largest, f"{together / 1024:.0f} MB", f"{seconds:.0f}", "< 150 MB")
    print(table.rows[-1], flush=True)


def _family(pid: int) -> list[int]:
    """A process and its children."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text("ascii")
    except OSError:
        return []
    return [pid, *map(int, children.split())]


def _memory(pid: int) -> tuple[int, int, int]:
    """A process, its peak of resident memory, and its share of what lies in memory now; in kB."""
    try:
        status = Path(f"/proc/{pid}/status").read_text("ascii")
        shares = Path(f"/proc/{pid}/smaps_rollup").read_text("ascii")
    except OSError:
        return pid, 0, 0
    peak, pss = re.search(r"VmHWM:\s*(\d+)", status), re.search(r"\nPss:\s*(\d+)", shares)
    return pid, int(peak[1]) if peak else 0, int(pss[1]) if pss else 0


def _contents(path: Path) -> Mapping[str, int]:
    """The files of an export and the sums of their bytes, but for the one that says when."""
    with zipfile.ZipFile(path) as archive:
        return {i.filename: i.CRC for i in archive.infolist() if i.filename != "publisher.json"}
