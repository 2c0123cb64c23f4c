"""What users notice is written down: the check of `changes/`, and how a release gathers it."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


class Project:
    """A repository with a release of 1 May, to which commits are added."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.git("init", "--quiet")
        self.write("pyproject.toml", (ROOT / "pyproject.toml").read_text("utf-8"))
        self.write("publisher/old.py", "before the rule")
        self.commit("No word of it", "2020-01-01")
        self.write("publisher/__init__.py", '__version__ = "1.0"\n')
        self.commit("Version 1.0", "2020-05-01")

    def git(self, *arguments: str) -> None:
        """Run git as somebody."""
        who = ["-c", "user.name=a", "-c", "user.email=a@b.example", "-c", "commit.gpgsign=false"]
        command = ["git", "-C", str(self.folder), *who, *arguments]
        subprocess.run(command, check=True, capture_output=True)

    def write(self, name: str, text: str) -> None:
        """Write a file."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")

    def commit(self, message: str, day: str) -> None:
        """Commit all files, as of a day."""
        self.git("add", "--all")
        self.git("commit", "--quiet", "--date", f"{day}T12:00:00Z", "--message", message)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A repository of its own."""
    return Project(tmp_path)


def check(project: Project) -> "subprocess.CompletedProcess[str]":
    """What the check says of it."""
    command = [sys.executable, str(ROOT / "scripts/check_changes.py"), str(project.folder)]
    return subprocess.run(command, check=False, capture_output=True, text=True)


@pytest.mark.parametrize(
    ("file", "message", "day", "wrong"),
    [
        ("publisher/new.py", "A new thing", "2020-05-02", "(A new thing) has neither a file"),
        ("templates/a.html", "A page", "2020-05-02", "(A page) has neither a file in changes/"),
        ("publisher/new.py", "Tidied\n\nChangelog: none", "2020-05-02", ""),
        ("publisher/new.py", "Put right", "2020-05-01", ""),
        ("docs/a.md", "A page", "2020-05-02", ""),
        ("changes/a.odd.md", "Odd", "2020-05-02", "changes/a.odd.md is not called NAME.KIND.md"),
    ],
)
def test_what_is_noticed_has_a_file(
    project: Project, file: str, message: str, day: str, wrong: str
) -> None:
    """Asked of commits after the day of the release alone, below two folders."""
    project.write(file, "new")
    project.commit(message, day)
    done = check(project)
    assert done.returncode == bool(wrong)
    assert wrong in done.stderr


def test_a_file_goes_with_its_change(project: Project) -> None:
    """A commit with its fragment passes."""
    project.write("publisher/new.py", "new")
    project.write("changes/new.writing.md", "A new thing.")
    project.commit("A new thing", "2020-05-02")
    assert check(project).returncode == 0


def test_the_changelog_takes_in_the_files(project: Project) -> None:
    """`make release`: the groups in their order below the newest version; the files go."""
    for name in ("changes/template.jinja", "CHANGELOG.md"):
        project.write(name, (ROOT / name).read_text("utf-8"))
    project.write("changes/b.running.md", "It runs.")
    project.write("changes/a.upgrade.md", "Stop it first.")
    project.commit("More", "2020-05-02")
    arguments = ["build", "--yes", "--version", "9.9.9", "--date", "1 May 2030"]
    subprocess.run(
        [sys.executable, "-m", "towncrier", *arguments],
        cwd=project.folder,
        check=True,
        capture_output=True,
    )
    text = (project.folder / "CHANGELOG.md").read_text("utf-8")
    _, _, section = text.partition("## 9.9.9, 1 May 2030\n\n")
    assert section.startswith(
        "### Before you upgrade\n\n- Stop it first.\n\n### Running a site\n\n- It runs.\n\n"
    )
    assert text.index("<!-- the next release -->") < text.index("## 9.9.9") < text.index("## 1.0")
    assert [path.name for path in (project.folder / "changes").iterdir()] == ["template.jinja"]
