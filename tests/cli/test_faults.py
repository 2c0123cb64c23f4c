"""What a command answers to what is wrong: the one table of commands, faults and exit codes.

0 success; 2 for what was asked wrongly (arguments, unknown names, invalid options); 1 for data or a
state that does not allow it. Always one line on standard error that names the thing, nothing on
standard output, never a traceback.
"""

import io
import os
import sys
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet
from sqlalchemy import text

from publisher.base.clock import utc_now
from publisher.base.environment import Environment
from publisher.blog.members import authors
from publisher.cli import commands_there, main
from publisher.cli.parameters import echo_answer
from publisher.installation import open_site
from publisher.part import all_parts
from publisher.storage.tables.blog import Preference
from tests.databases import work_on
from tests.factories import PASSWORD

# Stand for files that the fixture makes: text that is no data, one that nobody may read, a folder.
GARBAGE, SECRET, FOLDER, MISSING = "garbage.txt", "secret.txt", "folder", "missing.txt"

FAULTS: list[tuple[str, int, str]] = [
    # commands and options that do not exist
    ("servee", 2, "Did you mean 'serve'?"),
    ("author ad", 2, "Did you mean 'add'?"),
    ("ttl --jsn", 2, "Did you mean '--json'?"),
    ("ttl extra", 2, "unexpected extra argument"),
    ("backup", 2, "Missing argument 'FILE'"),
    # names that lead nowhere
    ("author password nobody", 2, "no author called 'nobody'"),
    ("author role nobody admin", 2, "no author called 'nobody'"),
    ("author remove nobody", 2, "no author called 'nobody'"),
    ("token add nobody", 2, "no author called 'nobody'"),
    ("token list nobody", 2, "no author called 'nobody'"),
    ("token revoke 99", 2, "no token 99"),
    ("token revoke 99999999999999999999999", 2, "is not in the range"),
    ("post add --author nobody", 2, "no author called 'nobody'"),
    ("post edit nowhere", 2, "no post at 'nowhere'"),
    ("post add --title Gr\udcff\udcdfe", 2, "not text in UTF-8"),
    ("post edit a --tag \udcff", 2, "not text in UTF-8"),
    ("post edit \udcff", 2, "not text in UTF-8"),  # as Python shows a byte that is none
    ("post edit https://elsewhere.example/posts/a", 2, "no post at 'https://elsewhere"),
    ("post delete /posts/nowhere", 2, "no post at '/posts/nowhere'"),
    (f"import {GARBAGE} --author nobody", 2, "no author called 'nobody'"),
    ("river remove https://nowhere.example/", 2, "not subscribed to https://nowhere"),
    ("river poll https://nowhere.example/", 2, "not subscribed to https://nowhere"),
    ("river why https://nowhere.example/", 2, "not subscribed to https://nowhere"),
    ("river show https://nowhere.example/", 2, "not subscribed to https://nowhere"),
    ("mirror why nothing", 2, "no mirror called nothing"),
    ("mirror ping nothing", 2, "no mirror called nothing"),
    ("mirror remove nothing", 2, "no mirror called nothing"),
    ("mirror add notaurl://x", 2, "only http and https"),
    (f"stamp {MISSING}", 2, "there is no file"),
    (f"stamp {FOLDER}", 2, "is a folder"),
    (f"stamp {GARBAGE}", 1, "garbage.txt: line 1 is broken XML"),
    (f"stamp {GARBAGE} --headers geocities", 2, "geocities"),
    (f"advise {MISSING}", 2, "there is no file"),
    (f"advise {GARBAGE}", 1, "garbage.txt: the answer is not a feed"),
    ("advise http://127.0.0.1:9/", 1, "private, local or reserved"),
    # settings, policies, roles, scopes, states
    ("settings timezon", 2, "unknown setting 'timezon'; did you mean 'timezone'?"),
    ("settings timezon UTC", 2, "unknown setting 'timezon'; did you mean 'timezone'?"),
    ("settings timezone Mars/Olympus", 2, "timezone: no time zone is called 'Mars/Olympus'"),
    ("settings menu 0", 2, "menu: "),
    ("settings feed_items many", 2, "feed_items: a whole number"),
    ("settings poll_minutes x", 2, "publisher: poll_minutes: 'x' is not a number"),
    ("settings river_policy doublin", 2, "did you mean 'doubling'?"),
    ("river add https://a.example/ --policy doublin", 2, "did you mean 'doubling'?"),
    ("simulate --synthetic winner", 2, "did you mean 'winer'?"),
    ("simulate --synthetic winer --client fixd:60", 2, "did you mean 'fixed'?"),
    ("simulate --synthetic winer --publisher forwrd", 2, "did you mean 'forward'?"),
    ("author add new --role king", 2, "role: must be one of admin, author"),
    ("author role ada king", 2, "role: must be one of admin, author"),
    ("author role ada author", 2, "make another author an admin first"),
    ("author remove ada", 2, "make another author an admin first"),
    ("author add Ada!", 2, "name: use 1 to 40 letters (a-z)"),
    ("token add ada --scope everything", 2, "no scope is called 'everything'"),
    ("post list --state drafft", 2, "did you mean 'draft'?"),
    ("readers --verdict obedent", 2, "did you mean 'obedient'?"),
    (f"import {GARBAGE} --format docx", 2, "'docx' is not one of"),
    # dates and numbers
    ("ttl --at yesterday", 2, "Invalid value for '--at'"),
    ("ttl --at 2024-01-01T00:00:00", 2, "Invalid value for '--at'"),
    ("feed build --at 2024-13-01T00:00:00Z", 2, "Invalid value for '--at'"),
    ("post add --at soon", 2, "Invalid value for '--at'"),
    ("readers --days 0", 2, "0 is not in the range"),
    ("serve --port 99999", 2, "99999 is not in the range"),
    ("serve --host=", 2, "0.0.0.0 stands for all of this machine"),
    ("reader-test --host=", 2, "0.0.0.0 stands for all of this machine"),
    ("serve --clock-speed 0", 2, "0.0 is not in the range"),
    ("serve --host 203.0.113.9", 1, "cannot listen on 203.0.113.9"),
    ("demo --seed x", 2, "'x' is not a valid integer"),
    # files: missing, a folder, unreadable, not what they should be
    *[
        (command.format(name), code, message)
        for command in (
            "restore {}",
            "updates load {}",
            "river import {}",
            "post add {}",
            "post edit hello {}",
            "simulate {}",
            "import {}",
            "simulate --synthetic winer --population {}",
            "readers import {}",
            "readers follow {}",
            f"simulate compare {{}} {GARBAGE}",
        )
        for name, code, message in (
            (MISSING, 2, "there is no file"),
            (SECRET, 1, "secret.txt: Permission denied"),
        )
    ],
    (f"restore {FOLDER}", 2, "is a folder, not a file"),
    (f"restore {GARBAGE}", 1, "garbage.txt cannot be read as a backup"),
    (f"updates load {GARBAGE}", 1, "line 1: the header must have a column updated_at"),
    (f"river import {GARBAGE}", 1, "OPML"),
    (f"import {GARBAGE}", 1, "garbage.txt: "),
    (f"readers import {GARBAGE}", 1, "garbage.txt: no line can be read as a request; line 1: "),
    (f"simulate {GARBAGE}", 1, "garbage.txt"),
    (f"simulate --synthetic winer --population {GARBAGE}", 1, "garbage.txt"),
    (f"reader-test --replay {GARBAGE}", 1, "garbage.txt: this is not a trace of the reader test"),
    ("reader-test --replay none.json", 2, "there is no file 'none.json'"),
    ("reader-test --speed 0", 2, "0.0 is not in the range 1<=x<=10000"),
    # places that cannot be written
    (f"backup {GARBAGE}", 2, "garbage.txt exists already"),
    (f"backup {FOLDER}", 2, "folder exists already"),
    ("backup none/at/all.tar.gz", 2, "none/at/all.tar.gz"),
    (f"backup {GARBAGE}/b.tar.gz", 2, "no such folder as garbage.txt"),
    (f"export {GARBAGE}", 2, "garbage.txt exists; name a new folder"),
    ("export none/at/all", 2, "no such folder as none/at"),
    (f"export {GARBAGE}/x.zip", 2, "no such folder as garbage.txt"),
    ("database copy mysql://x/y", 2, "mysql:// is not known here"),
    ("database copy postgresql+psycopg://[::1", 2, "cannot be read as a database's URL"),
    ("database copy", 2, "Missing argument 'URL'"),
    ("database copy sqlite:///", 2, "name of a file is missing"),
    # addresses to listen on
    ("serve --host \udcff", 2, "an address is needed"),
    ("reader-test --host \udcff", 2, "an address is needed"),
    # a state that does not allow it
    ("author add ada", 1, "there is already an author called ada"),
    ("demo", 1, "empty"),
]
_COPYING = ("backup", "restore")
COPIES = pytest.mark.sqlite("backup and restore copy its file")


def marks_of(command: str) -> list[pytest.MarkDecorator]:
    """What a command needs: a database that is a file, the part that it is one of."""
    first, *arguments = command.split()
    parts = [name for name, part in all_parts().items() if first in part.commands]
    parts += ["river"] if first == "settings" and arguments[0].startswith("river_") else []
    parts += ["importing"] if command == f"simulate {GARBAGE}" else []
    return [COPIES] * (first in _COPYING) + [pytest.mark.parts(name) for name in parts]


def marked(*commands: str) -> list[ParameterSet]:
    """Commands as parameters of a test, each with its marks."""
    return [pytest.param(command, marks=marks_of(command)) for command in commands]


@pytest.fixture
def in_folder(tmp_path: Path, environment: Environment, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the files above, beside a blog with one admin."""
    monkeypatch.chdir(tmp_path)
    work_on(environment.instance, monkeypatch)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(f"{PASSWORD}\n".encode())))
    (tmp_path / GARBAGE).write_text("neither XML nor CSV\n")
    (tmp_path / SECRET).write_text("for others\n")
    (tmp_path / FOLDER).mkdir()
    (tmp_path / FOLDER / "full").touch()
    # Root may read what nobody may: the answer of the system is given here instead.
    allowed = os.access
    monkeypatch.setattr(
        os, "access", lambda path, mode: Path(path).name != SECRET and allowed(path, mode)
    )
    site = open_site(environment)
    with site.database.write() as db:
        authors.add(db, "ada", authors.hashed(PASSWORD), None, utc_now())
    site.database.close()
    return tmp_path


def answer(command: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of a command as it is typed."""
    try:
        main(command.split())
    except SystemExit as end:
        output = capsys.readouterr()
        return int(end.code or 0), output.out, output.err
    output = capsys.readouterr()
    return 0, output.out, output.err


@pytest.mark.usefixtures("in_folder")
@pytest.mark.parametrize(
    ("command", "code", "message"),
    [pytest.param(*row, id=row[0], marks=marks_of(row[0])) for row in FAULTS],
)
def test_each_fault_has_its_code_and_one_line(
    command: str, code: int, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The table, row by row."""
    exit_code, out, err = answer(command, capsys)
    assert message in err
    assert (exit_code, out) == (code, "")
    assert err.startswith("publisher: ")
    assert err.count("\n") == 1
    assert "Traceback" not in err


@pytest.mark.usefixtures("in_folder")
@pytest.mark.parametrize(
    "command",
    [
        pytest.param(name, marks=marks_of(name))
        for name in ("import", "simulate", "post add", "updates load")
    ],
)
def test_an_empty_name_is_not_the_present_folder(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """As `import "$FILE"` with a variable that is not set: nothing is read, nothing imported."""
    with pytest.raises(SystemExit) as end:
        main([*command.split(), ""])
    assert end.value.code == 2
    assert "there is no file ''" in capsys.readouterr().err


@pytest.mark.usefixtures("in_folder")
def test_a_name_of_any_length_is_not_repeated_whole(capsys: pytest.CaptureFixture[str]) -> None:
    """The line ends as it does for a short one."""
    _, _, short = answer("settings colour", capsys)
    _, _, err = answer("post edit " + "a" * 100_000, capsys)
    assert "no post at 'aaa" in err
    assert len(err) < 2_100
    assert short.count("\n") == err.count("\n") == 1


@pytest.mark.usefixtures("in_folder")
def test_a_standard_input_that_was_closed_is_empty(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As by `<&-`: a sentence, no traceback."""
    monkeypatch.setattr(sys, "stdin", None)
    exit_code, out, err = answer("post add", capsys)
    assert (exit_code, out, err.count("\n")) == (2, "", 1)


def test_the_table_has_every_command() -> None:
    """No command may come without its faults."""
    met = {command.split()[0] for command, _, _ in FAULTS}
    # None of them takes a name or a file; their faults are those of the installation, below.
    assert set(commands_there()) - met <= {"doctor", "scheduler"}


@pytest.mark.usefixtures("in_folder")
@pytest.mark.parametrize("name", ["timezone", "menu", "planner", "poll_minutes", "home_items"])
def test_a_stored_setting_that_is_invalid_is_named_and_can_be_set(
    environment: Environment, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Changed by hand, or a time zone that is no longer known: each command says what to do."""
    site = open_site(environment)
    with site.database.write() as db:
        db.add(Preference(name=name, value="odd"))
    site.database.close()
    exit_code, out, err = answer("ttl", capsys)
    assert f"the stored {name} is invalid" in err
    assert (exit_code, out, err.count("\n")) == (1, "", 1)
    good = {"timezone": "UTC", "menu": "any", "planner": "auto"}.get(name, "10")
    assert answer(f"settings {name} {good}", capsys)[0] == 0
    assert answer("ttl", capsys)[0] == 0


@pytest.mark.usefixtures("in_folder")
def test_a_dropped_table_is_one_line(
    environment: Environment, capsys: pytest.CaptureFixture[str]
) -> None:
    """`doctor` names it, as its own test says."""
    site = open_site(environment)
    with site.database.write() as db:
        db.execute(text("DROP TABLE preferences"))
    site.database.close()
    exit_code, out, err = answer("ttl", capsys)
    assert "a table is missing in the database: `publisher doctor` names it" in err
    assert (exit_code, out, err.count("\n")) == (1, "", 1)


@pytest.mark.parametrize(
    ("name", "value", "code", "message"),
    [
        ("PUBLISHER_INSTANCE", "~nobody-here/x", 2, "PUBLISHER_INSTANCE: "),
        ("PUBLISHER_INSTANCE", "garbage.txt/instance", 1, "garbage.txt/instance cannot be written"),
        ("PUBLISHER_DATABASE_URL", "sqlite:////none/at/all.db", 1, "/none/at/all.db"),
        ("PUBLISHER_DATABASE_URL", "oracle://x", 2, "PUBLISHER_DATABASE_URL"),
        ("PUBLISHER_DATABASE_URL", "nonsense", 2, "PUBLISHER_DATABASE_URL"),
        ("PUBLISHER_DATABASE_URL", "sqlite:///", 2, "name of a file is missing"),
        ("PUBLISHER_DATABASE_URL", "sqlite:///:memory:", 2, "name of a file is missing"),
        ("PUBLISHER_SITE_URL", "ftp://x", 2, "PUBLISHER_SITE_URL: an address such as"),
        ("PUBLISHER_SITE", "x", 2, "did you mean PUBLISHER_SITE_URL?"),
    ],
)
@pytest.mark.parametrize(
    "command",
    [
        pytest.param(name, marks=marks_of(name))
        for name in ("author list", "post list", "ttl", "river list")
    ],
)
def test_a_wrong_environment_is_named(
    in_folder: Path,
    command: str,
    name: str,
    value: str,
    code: int,
    message: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whatever the command: the variable or the place, in one line."""
    monkeypatch.setenv(name, value.replace("garbage.txt", str(in_folder / GARBAGE)))
    exit_code, out, err = answer(command, capsys)
    assert message in err
    assert (exit_code, out, err.count("\n")) == (code, "", 1)


def test_others_texts_cannot_steer_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    """C1 controls are allowed in XML, and so in the title of a feed that a command names."""
    echo_answer(False, None, ["a\x9b31m\tb\x1b[2Jc"])
    assert capsys.readouterr().out == "a31m\tb[2Jc\n"
    with pytest.raises(SystemExit):
        main(["ttl", "--at", "a\x9b31m"])
    assert "\x9b" not in capsys.readouterr().err
