"""Builds bench/timelines, the second set of real timelines, from clones of public repositories.

    python -m bench.second_set CLONES

CLONES/OWNER/NAME is a clone (bare or not) of each repository in bench/timelines/rules.csv. Only
dates are taken. Rules: `tags`: the creation of each tag whose name matches; `added`: the commit
that brought a file whose path matches to the main branch; `touched`: each commit on the main
branch that changes such a file. A newer clone gives a longer timeline; a rule whose repository is
not there leaves its timeline as it is.
"""

import csv
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parent / "timelines"
COLUMNS = ("slug", "kind", "source", "how", "timezone", "first", "last", "updates", "half")
# The repositories of the open set, on which the rules were tuned.
USED = frozenset((
    "rumca-js/RSS-Link-Database-2022", "rumca-js/RSS-Link-Database-2023", "apify/crawlee",
    "JupiterBroadcasting/jupiterbroadcasting.com", "scripting/Scripting-News", "gohugoio/hugo",
    "jser/jser.info", "miniflux/v2", "kaihendry/natalian", "ploeh/ploeh.github.com",
    "ruanyf/weekly", "simonw/simonwillisonblog-backup", "pypi/warehouse",
))  # fmt: skip
DAYS, AT_LEAST_OF_THEM, AT_MOST = timedelta(days=1500), 150, 4000
UPDATES, SPAN = 40, timedelta(days=200)
BULK = 5  # files in one commit: an import, not as many posts

HOW = {
    "tags": "creation of each tag",
    "added": f"commit that brought the file to the main branch; {BULK} files or more: left out",
    "touched": "commits on the main branch that change the file",
}
# Minutes from UTC in winter and in summer: which zone is meant; offset 0 is most often a server's.
ZONES = {
    (0, 60): "Europe/London", (60, 120): "Europe/Berlin", (120, 180): "Europe/Helsinki",
    (180, 180): "Europe/Moscow", (330, 330): "Asia/Kolkata", (480, 480): "Asia/Shanghai",
    (540, 540): "Asia/Tokyo", (600, 600): "Australia/Brisbane", (660, 600): "Australia/Sydney",
    (-180, -180): "America/Sao_Paulo", (-300, -240): "America/New_York",
    (-360, -300): "America/Chicago", (-420, -360): "America/Denver",
    (-480, -420): "America/Los_Angeles", (780, 720): "Pacific/Auckland",
}  # fmt: skip


class Update(NamedTuple):
    """One update: when it was public, and the offset of its author's clock in minutes."""

    at: datetime
    offset: int


def half(slug: str) -> str:
    """The half of the set a timeline belongs to: decided by its name alone."""
    return "unseen" if sha256(slug.encode()).digest()[-1] % 2 else "tuning"


def git(clone: Path, *arguments: str) -> str:
    """What git prints about `clone`."""
    command = ["git", "-C", str(clone), "-c", "safe.directory=*", *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def update(public: str, written: str) -> Update:
    """An update of two ISO dates: the instant of the first, the offset of the second."""
    offset = datetime.fromisoformat(written).utcoffset() or timedelta()
    return Update(datetime.fromisoformat(public).astimezone(UTC), offset // timedelta(minutes=1))


def tags(clone: Path, pattern: str) -> Iterator[Update]:
    """The tags whose name matches."""
    listed = git(clone, "for-each-ref", "refs/tags",
                 "--format=%(creatordate:iso-strict) %(refname:short)")  # fmt: skip
    for line in listed.splitlines():
        date, _, name = line.partition(" ")
        if date and re.search(pattern, name):
            yield update(date, date)


def commits(clone: Path, pattern: str, only: str) -> Iterator[Update]:
    """The commits on the main branch with matching files: `added` or `touched`."""
    kinds = ["--diff-filter=A"] if only == "added" else []
    log = git(clone, "-c", "core.quotePath=off", "log", "--first-parent", "-m", "--no-renames",
              "--name-only", "--format=%x00%cI %aI", *kinds)  # fmt: skip
    seen: set[str] = set()
    for entry in reversed(log.split("\0")[1:]):
        dates, *paths = entry.splitlines()
        matching = {path for path in paths if re.search(pattern, path)}
        new = matching - seen if only == "added" else matching
        seen |= matching
        if new and (only == "touched" or len(new) < BULK):
            yield update(*dates.split())


def zone(updates: list[Update]) -> str:
    """The zone that most authors' clocks agree with, or nothing where they do not agree."""
    most = []
    for months in ((12, 1, 2), (6, 7, 8)):
        counts = Counter(update.offset for update in updates if update.at.month in months)
        offset, number = counts.most_common(1)[0] if counts else (0, 0)
        if number * 3 < sum(counts.values()) * 2:
            return ""
        most.append(offset)
    return ZONES.get((most[0], most[1]), "")


def capped(updates: list[Update]) -> list[Update]:
    """The last updates of a long history, one for each instant."""
    by_time = sorted({update.at: update for update in updates}.values())
    since = by_time[-1].at - DAYS if by_time else None
    inside = [update for update in by_time if since and update.at >= since]
    return max(inside, by_time[-AT_LEAST_OF_THEM:], key=len)[-AT_MOST:]


def text(at: datetime) -> str:
    """An instant as it stands in the files."""
    return f"{at:%Y-%m-%dT%H:%M:%SZ}"


def build(clones: Path, rule: dict[str, str], built: dict[str, dict[str, str]]) -> None:
    """Writes the timeline of one rule and its row of the index."""
    slug, how, source = rule["slug"], rule["how"], rule["source"]
    if source in USED:
        sys.exit(f"{slug}: {source} is in the open set")
    clone = clones / source
    if not clone.is_dir():
        print(f"{slug}: no clone of {source}, left as it is")
        return
    updates_found = (
        tags(clone, rule["rule"]) if how == "tags" else commits(clone, rule["rule"], how)
    )
    before = datetime.fromisoformat(rule["before"] or "9999-01-01").replace(tzinfo=UTC)
    updates = capped([update for update in updates_found if update.at < before])
    instants = sorted({update.at for update in updates})
    if len(instants) < UPDATES or instants[-1] - instants[0] < SPAN:
        print(f"{slug}: {len(instants)} updates are too few or too close together")
        return
    lines = "\n".join(["updated_at", *map(text, instants), ""])
    (FOLDER / f"{slug}.csv").write_text(lines, encoding="utf-8")
    built[slug] = {
        "slug": slug, "kind": rule["kind"], "source": f"{source}: {rule['rule']}".rstrip(": "),
        "how": HOW[how], "timezone": zone(updates), "first": text(instants[0]),
        "last": text(instants[-1]), "updates": str(len(instants)), "half": half(slug),
    }  # fmt: skip


def main(clones: Path) -> None:
    """Builds each timeline whose clone is there, and the index."""
    index = FOLDER / "index.csv"
    built: dict[str, dict[str, str]] = {}
    if index.exists():
        with index.open(encoding="utf-8", newline="") as file:
            built = {row["slug"]: row for row in csv.DictReader(file)}
    with (FOLDER / "rules.csv").open(encoding="utf-8", newline="") as file:
        rules = list(csv.DictReader(file))
    for rule in rules:
        build(clones, rule, built)
    with index.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(built[slug] for slug in sorted(built))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
