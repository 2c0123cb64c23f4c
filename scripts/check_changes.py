"""Checks that what users notice is written down: `python scripts/check_changes.py [FOLDER]`.

A commit that changes something below `publisher/` or `templates/` adds or changes a file in
`changes/`, or its message has the line `Changelog: none`. Asked of each commit since the last
release, which is the last commit that changed `__version__`; those of its day belong to it.
Problems are printed, exit 1.
"""

import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

BELOW = ("publisher", "templates")
NONE = "changelog: none"


def git(folder: Path, *arguments: str) -> str:
    """What git prints."""
    command = ["git", "-C", str(folder), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def problems(folder: Path) -> Iterator[str]:
    """What is wrong, one sentence each."""
    project = tomllib.loads((folder / "pyproject.toml").read_text("utf-8"))
    kinds = [kind["directory"] for kind in project["tool"]["towncrier"]["type"]]
    for path in sorted((folder / "changes").glob("*.md")):
        if path.name != "README.md" and path.name.split(".")[1:] not in [[k, "md"] for k in kinds]:
            yield f"changes/{path.name} is not called NAME.KIND.md; kinds: {', '.join(kinds)}"
    version = ("-G^__version__ =", "--", "publisher/__init__.py")
    release, _, day = git(folder, "log", "-1", "--format=%H %as", *version).strip().partition(" ")
    since = f"{release}..HEAD" if release else "HEAD"
    commits = git(folder, "log", "--no-merges", "--format=%H %as", since, "--", *BELOW)
    for commit, _, date in (line.partition(" ") for line in commits.splitlines()):
        message = git(folder, "log", "-1", "--format=%B", commit)
        written = git(folder, "show", "--format=", "--name-only", commit, "--", "changes")
        is_said = NONE in [line.strip().lower() for line in message.splitlines()]
        if date > day and not is_said and not written:
            subject = message.partition("\n")[0]
            yield f"{commit[:8]} ({subject}) has neither a file in changes/ nor `Changelog: none`"


def main(folder: Path) -> int:
    """0 if there are no problems, else 1, with the problems on standard error."""
    sentences = list(problems(folder))
    for problem in sentences:
        print(f"changes: {problem}; CONTRIBUTING.md has the rule", file=sys.stderr)
    return 1 if sentences else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if sys.argv[1:] else Path(__file__).parent.parent))
