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

FAULTS: dict[int, list[tuple[str, str]]] = {
    2: [
        # commands and options that do not exist
        ("servee", "Did you mean 'serve'?"),
        ("author ad", "Did you mean 'add'?"),
        ("ttl --jsn", "Did you mean '--json'?"),
        ("ttl extra", "unexpected extra argument"),
        ("backup", "Missing argument 'FILE'"),
        # names that lead nowhere
        ("author password nobody", "no author called 'nobody'"),
        ("author role nobody admin", "no author called 'nobody'"),
        ("author remove nobody", "no author called 'nobody'"),
        ("token add nobody", "no author called 'nobody'"),
        ("token list nobody", "no author called 'nobody'"),
        ("token revoke 99", "no token 99"),
        ("token revoke 99999999999999999999999", "is not in the range"),
        ("post add --author nobody", "no author called 'nobody'"),
        ("post edit nowhere", "no post at 'nowhere'"),
        ("post add --title Gr\udcff\udcdfe", "not text in UTF-8"),
        ("post edit a --tag \udcff", "not text in UTF-8"),
        ("post edit \udcff", "not text in UTF-8"),  # as Python shows a byte that is none
        ("post edit https://elsewhere.example/posts/a", "no post at 'https://elsewhere"),
        ("post delete /posts/nowhere", "no post at '/posts/nowhere'"),
        (f"import {GARBAGE} --author nobody", "no author called 'nobody'"),
        ("river remove https://nowhere.example/", "not subscribed to https://nowhere"),
        ("river poll https://nowhere.example/", "not subscribed to https://nowhere"),
        ("river why https://nowhere.example/", "not subscribed to https://nowhere"),
        ("river show https://nowhere.example/", "not subscribed to https://nowhere"),
        ("mirror why nothing", "no mirror called nothing"),
        ("mirror ping nothing", "no mirror called nothing"),
        ("mirror remove nothing", "no mirror called nothing"),
        ("mirror add notaurl://x", "only http and https"),
        (f"stamp {MISSING}", "there is no file"),
        (f"stamp {FOLDER}", "is a folder"),
        (f"stamp {GARBAGE} --headers geocities", "geocities"),
        (f"advise {MISSING}", "there is no file"),
        # settings, policies, roles, scopes, states
        ("settings timezon", "unknown setting 'timezon'; did you mean 'timezone'?"),
        ("settings timezon UTC", "unknown setting 'timezon'; did you mean 'timezone'?"),
        ("settings timezone Mars/Olympus", "timezone: no time zone is called 'Mars/Olympus'"),
        ("settings menu 0", "menu: "),
        ("settings feed_items many", "feed_items: a whole number"),
        ("settings poll_minutes x", "publisher: poll_minutes: 'x' is not a number"),
        ("settings river_policy doublin", "did you mean 'doubling'?"),
        ("river add https://a.example/ --policy doublin", "did you mean 'doubling'?"),
        ("simulate --synthetic winner", "did you mean 'winer'?"),
        ("simulate --synthetic winer --client fixd:60", "did you mean 'fixed'?"),
        ("simulate --synthetic winer --publisher forwrd", "did you mean 'forward'?"),
        ("author add new --role king", "role: must be one of admin, author"),
        ("author role ada king", "role: must be one of admin, author"),
        ("author role ada author", "make another author an admin first"),
        ("author remove ada", "make another author an admin first"),
        ("author add Ada!", "name: use 1 to 40 letters (a-z)"),
        ("token add ada --scope everything", "no scope is called 'everything'"),
        ("post list --state drafft", "did you mean 'draft'?"),
        ("readers --verdict obedent", "did you mean 'obedient'?"),
        (f"import {GARBAGE} --format docx", "'docx' is not one of"),
        # dates and numbers
        ("ttl --at yesterday", "Invalid value for '--at'"),
        ("ttl --at 2024-01-01T00:00:00", "Invalid value for '--at'"),
        ("feed build --at 2024-13-01T00:00:00Z", "Invalid value for '--at'"),
        ("post add --at soon", "Invalid value for '--at'"),
        ("readers --days 0", "0 is not in the range"),
        ("serve --port 99999", "99999 is not in the range"),
        ("serve --host=", "0.0.0.0 stands for all of this machine"),
        ("reader-test --host=", "0.0.0.0 stands for all of this machine"),
        ("serve --clock-speed 0", "0.0 is not in the range"),
        ("demo --seed x", "'x' is not a valid integer"),
        # files: missing, a folder, unreadable, not what they should be
        (f"restore {FOLDER}", "is a folder, not a file"),
        ("reader-test --replay none.json", "there is no file 'none.json'"),
        ("reader-test --speed 0", "0.0 is not in the range 1<=x<=10000"),
        # places that cannot be written
        (f"backup {GARBAGE}", "garbage.txt exists already"),
        (f"backup {FOLDER}", "folder exists already"),
        ("backup none/at/all.tar.gz", "none/at/all.tar.gz"),
        (f"backup {GARBAGE}/b.tar.gz", "no such folder as garbage.txt"),
        (f"export {GARBAGE}", "garbage.txt exists; name a new folder"),
        ("export none/at/all", "no such folder as none/at"),
        (f"export {GARBAGE}/x.zip", "no such folder as garbage.txt"),
        ("database copy mysql://x/y", "mysql:// is not known here"),
        ("database copy postgresql+psycopg://[::1", "cannot be read as a database's URL"),
        ("database copy", "Missing argument 'URL'"),
        ("database copy sqlite:///", "name of a file is missing"),
        # addresses to listen on
        ("serve --host \udcff", "an address is needed"),
        ("reader-test --host \udcff", "an address is needed"),
    ],
    1: [
        (f"stamp {GARBAGE}", "garbage.txt: line 1 is broken XML"),
        (f"advise {GARBAGE}", "garbage.txt: the answer is not a feed"),
        ("advise http://127.0.0.1:9/", "private, local or reserved"),
        ("serve --host 203.0.113.9", "cannot listen on 203.0.113.9"),
        (f"restore {GARBAGE}", "garbage.txt cannot be read as a backup"),
        (f"updates load {GARBAGE}", "line 1: the header must have a column updated_at"),
        (f"river import {GARBAGE}", "OPML"),
        (f"import {GARBAGE}", "garbage.txt: "),
        (f"readers import {GARBAGE}", "garbage.txt: no line can be read as a request; line 1: "),
        (f"simulate {GARBAGE}", "garbage.txt"),
        (f"simulate --synthetic winer --population {GARBAGE}", "garbage.txt"),
        (f"reader-test --replay {GARBAGE}", "garbage.txt: this is not a trace of the reader test"),
        ("author add ada", "there is already an author called ada"),
        ("demo", "empty"),
    ],
}
# Commands that read a file: one that is missing, and one that they may not read.
for _command in (
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
):
    FAULTS[2].append((_command.format(MISSING), "there is no file"))
    FAULTS[1].append((_command.format(SECRET), "secret.txt: Permission denied"))
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
    [
        pytest.param(command, code, message, id=command, marks=marks_of(command))
        for code, faults in FAULTS.items()
        for command, message in faults
    ],
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
    met = {command.split()[0] for faults in FAULTS.values() for command, _ in faults}
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
