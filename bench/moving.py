"""Memory and time of moving a large blog: export, import into an empty site, export again."""

import os
import re
import subprocess
import sys
import time
import zipfile
from collections.abc import Mapping
from pathlib import Path

from sqlalchemy import insert, select
from sqlalchemy.orm import selectinload

from bench.blog import make_blog
from bench.load import scratch
from bench.table import Table
from publisher.blog.writing import content
from publisher.installation import Site
from publisher.storage.tables.blog import Post, Redirect, Revision

POSTS = int(os.environ.get("MOVING_POSTS", "100000"))
EDITED_EVERY = 100
LOOK_SECONDS = 0.1


def run() -> list[Table]:
    """Export a generated blog, import it into an empty site; its export must be the same."""
    folder = scratch()
    table = Table(
        f"Moving {POSTS:,} posts",
        ["command", "largest process", "all processes (PSS)", "seconds", "target"],
        notes="Peaks, sampled ten times a second: `VmHWM` of each process, `Pss` of all together. "
        "An import has a second process, which parses the untrusted bytes.",
    )
    there, here = folder / "there", folder / "here"
    _add_revisions(make_blog(there, POSTS))
    first, again = folder / "first.zip", folder / "again.zip"
    _measure(table, "export", there, "export", str(first))
    _measure(table, "import it into an empty site", here, "import", str(first))
    _measure(table, "export that", here, "export", str(again))
    assert _contents(first) == _contents(again), "the exports differ"
    return [table]


def _add_revisions(site: Site) -> None:
    """Add what the use-cases would have stored: revisions (two of some posts), old addresses."""
    with site.database.write() as db:
        for start in range(1, POSTS + 1, 1_000):
            some = Post.id.between(start, start + 999)
            query = (
                select(Post).where(some, Post.slug.like("old-%")).options(selectinload(Post.tags))
            )
            rows = []
            for post in db.scalars(query):
                post.version = 2 if post.id % EDITED_EVERY == 0 else 1
                plain = content.to_plain(content.of_post(post, ()))
                rows += [
                    {"post_id": post.id, "version": version, "saved_at": post.created_at,
                     "minor": version > 1, "content": plain}
                    for version in range(1, post.version + 1)
                ]  # fmt: skip
                db.add(Redirect(path=f"/{post.id}.html", post_id=post.id))
            if rows:
                db.execute(insert(Revision), rows)
            db.flush()
            db.expunge_all()
    site.database.close()


def _measure(table: Table, what: str, instance: Path, *command: str) -> None:
    environment = {**os.environ, "PUBLISHER_INSTANCE": str(instance)}
    begun = time.monotonic()
    peaks, together = dict[int, int](), 0
    with subprocess.Popen([sys.executable, "-m", "publisher", *command], env=environment) as child:
        while child.poll() is None:
            sizes = [_memory(pid) for pid in _family(child.pid)]
            together = max(together, sum(pss for _, _, pss in sizes))
            peaks.update({pid: peak for pid, peak, _ in sizes if peak})
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
    """The pid, its peak resident memory and its present proportional share (PSS), in kB."""
    try:
        status = Path(f"/proc/{pid}/status").read_text("ascii")
        shares = Path(f"/proc/{pid}/smaps_rollup").read_text("ascii")
    except OSError:
        return pid, 0, 0
    peak, pss = re.search(r"VmHWM:\s*(\d+)", status), re.search(r"\nPss:\s*(\d+)", shares)
    return pid, int(peak[1]) if peak else 0, int(pss[1]) if pss else 0


def _contents(path: Path) -> Mapping[str, int]:
    """The files of an export with checksums, without the one that has the time of the export."""
    with zipfile.ZipFile(path) as archive:
        return {i.filename: i.CRC for i in archive.infolist() if i.filename != "publisher.json"}
