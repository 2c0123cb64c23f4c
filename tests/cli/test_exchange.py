"""`import` as it is typed."""

import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result
from sqlalchemy import func, select

from publisher import web
from publisher.base.environment import Environment
from publisher.base.errors import PublisherError
from publisher.cli import cli, parameters
from publisher.installation import open_site
from publisher.parts.importing import command
from publisher.parts.importing.formats import recognition
from publisher.storage.tables.blog import Post
from publisher.storage.tables.publishing import Snapshot
from tests.databases import database_url, settings_of

TOUCH_ICON = Path(web.__file__).parent / "static/touch-icon.png"
FEED = """<rss version="2.0"><channel><title>Old</title><link>https://old.example/</link>
<item><guid>https://old.example/1</guid><link>https://old.example/1</link><title>One</title>
<description>Text</description><pubDate>Tue, 07 Jan 2020 10:00:00 GMT</pubDate></item>
<item><guid>https://old.example/2</guid><description>Undated</description></item>
</channel></rss>"""


@pytest.fixture
def instance(tmp_path: Path) -> Path:
    """An instance folder for one test."""
    return tmp_path / "instance"


def run(instance: Path, *arguments: str, **options: str) -> Result:
    """The command line with its own instance; known errors are kept for the test to see."""
    return CliRunner().invoke(cli, arguments, env=settings_of(instance), **options)  # type: ignore[arg-type]


def count(instance: Path) -> tuple[int, int]:
    """How many posts and snapshots there are."""
    blog = open_site(Environment(instance, database_url(instance)))
    with blog.database.read() as db:
        posts = db.scalar(select(func.count()).select_from(Post)) or 0
        built = db.scalar(select(func.count()).select_from(Snapshot)) or 0
    blog.database.close()
    return posts, built


def test_every_format_can_be_named() -> None:
    """The command names the formats without loading their modules."""
    assert list(recognition.READERS) == command.FORMATS


@pytest.mark.parts("importing")
def test_a_dry_run_says_everything_and_does_nothing(instance: Path, tmp_path: Path) -> None:
    """The same sentences as the import itself, and an empty blog afterwards."""
    file = tmp_path / "feed.xml"
    file.write_text(FEED)
    dry = run(instance, "import", str(file), "--dry-run")
    assert dry.exit_code == 0
    assert dry.output.splitlines() == [
        "2 new posts (1 published, 1 draft)",
        "counted in the day of this blog, by date: 1 post, 2020-01-07",
        "2 old addresses to redirect",
        "1 × post without a date becomes a draft",
        "a dry run: nothing was changed",
    ]
    assert count(instance) == (0, 0)
    real = run(instance, "import", str(file))
    assert real.output.splitlines() == dry.output.splitlines()[:-1]
    posts, built = count(instance)
    assert posts == 2
    assert built > 0


@pytest.mark.parts("importing")
def test_what_needs_a_hand_is_listed(instance: Path, tmp_path: Path) -> None:
    """Pictures that are not there, shortcodes, empty texts, links; where to mend them."""
    blog = tmp_path / "blog"
    (blog / "img").mkdir(parents=True)
    (blog / "img/here.png").write_bytes(TOUCH_ICON.read_bytes())
    texts = {
        "one": "![a](img/here.png) ![b](img/gone.png) {{< youtube abc >}}\n\n`{{< code >}}`",
        "two": "[one](/posts/one), [its file](one.md), [gone](/gone/?p=3), [me](/about#x)",
        "three": "",
    }
    for name, text in texts.items():
        head = f"---\ntitle: {name}\ndate: 2020-01-02\n---\n"
        (blog / f"{name}.md").write_text(head + text)
    wanted = [
        "  1 post: the shortcode {{< youtube >}}",
        "    one",
        "  1 post: a picture could not be copied",
        "    one: img/gone.png (there is no such file in the folder)",
        "  1 post: it has no text",
        "    three",
        "  1 post: a link leads nowhere here",
        "    two: one.md",
        "    two: /gone/?p=3",
    ]
    dry = run(instance, "import", str(blog), "--images", "--dry-run").output.splitlines()
    assert set(wanted) <= set(dry)
    assert not [
        line for line in dry if "here.png" in line or "/posts/one" in line or "/about" in line
    ]
    real = run(instance, "import", str(blog), "--images").output.splitlines()
    assert "needs your hand: 3 posts, see the list" in real
    for line in wanted:
        where = " (/studio/posts/" if line.startswith("    ") else ""
        assert [line_read for line_read in real if line_read.startswith(f"{line}{where}")], (
            line,
            real,
        )
    without = run(tmp_path / "other", "import", str(blog)).output
    assert "a picture is not here, as pictures were not copied (--images)" in without
    assert "    one: img/here.png (/studio" in without


@pytest.mark.parts("importing")
def test_standard_input(instance: Path) -> None:
    """`-` reads what is piped in; `--format` says what it is."""
    assert run(instance, "import", "-", "--format", "rss", input=FEED).exit_code == 0
    assert count(instance)[0] == 2


@pytest.mark.parametrize(("text", "exit_code"), [(FEED[:200], 1), ("<html>", 1)])
def test_nothing_is_imported_from_broken_files(
    instance: Path, tmp_path: Path, text: str, exit_code: int
) -> None:
    """One line, exit 1, an empty blog."""
    file = tmp_path / "feed.xml"
    file.write_text(text)
    outcome = run(instance, "import", str(file))
    assert isinstance(outcome.exception, PublisherError)
    assert outcome.exception.exit_code == exit_code
    assert "\n" not in str(outcome.exception)
    assert count(instance) == (0, 0)


@pytest.mark.parametrize(
    ("terminal", "words", "lines"),
    [
        (True, [], ["progress: at 4 s", "progress: at 8 s"]),
        (False, [], []),
        (False, ["--progress"], [f"progress: at {second} s" for second in range(1, 9)]),
    ],
)
def test_a_terminal_hears_now_and_then_how_far_it_is(
    terminal: bool,
    words: list[str],
    lines: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Nothing of what is done at once; a pipe hears nothing, whoever asks each step."""
    now = 0

    @click.command()
    @parameters.progress_option
    def work(tell: parameters.Tell) -> None:
        nonlocal now
        for now in range(1, 9):
            tell(f"at {now} s")

    monkeypatch.setattr(parameters, "monotonic", lambda: now)
    monkeypatch.setattr(parameters, "TOLD_EVERY_SECONDS", 4)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal, raising=False)
    work.main(words, standalone_mode=False)
    assert capsys.readouterr().err.splitlines() == lines
