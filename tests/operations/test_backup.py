"""Backup and restore: nothing is lost, nothing is taken in that is not a backup."""

import dataclasses
import errno
import os
import shutil
import subprocess
import sys
import tarfile
from io import BytesIO
from pathlib import Path
from unittest.mock import Mock

import pytest
from flask.testing import FlaskClient
from sqlalchemy import select, text

from publisher.base.environment import Environment
from publisher.base.errors import Conflict, InvalidData, InvalidInput, StorageUnavailable
from publisher.base.system import whole_files
from publisher.base.system.whole_files import sweep, whole_file
from publisher.blog import published
from publisher.installation import Site, open_site, serving_lock
from publisher.operations.backup import backup, cut_off, restore
from publisher.operations.doctor import examine
from publisher.publishing.rebuild import rebuild, rebuild_if_due
from publisher.storage.sqlite_file import check
from publisher.storage.tables.blog import Preference
from publisher.storage.tables.publishing import Snapshot
from tests.factories import make_post

pytestmark = pytest.mark.sqlite("backup and restore copy its file")


def titles(environment: Environment) -> list[str]:
    opened = open_site(environment)
    with opened.database.read() as db:
        post_titles = [post.title for post in published.newest(db, 10)]
    opened.database.close()
    return post_titles


def test_round_trip_while_someone_writes(
    site: Site, environment: Environment, tmp_path: Path
) -> None:
    """A backup taken in the middle of a write holds what was committed; restore brings it back."""
    make_post(site, title="Kept")
    (environment.instance / "media" / "ab").mkdir()
    (environment.instance / "media" / "ab" / "picture.webp").write_bytes(b"pixels")
    copy = tmp_path / "site.tar.gz"
    with site.database.write() as db:
        db.execute(text("UPDATE posts SET title = 'Not committed yet'"))
        backup(environment, copy)
    make_post(site, title="Later")
    site.database.close()
    (environment.instance / "media" / "ab" / "picture.webp").unlink()
    former = restore(environment, copy)
    assert titles(environment) == ["Kept"]
    assert (environment.instance / "media" / "ab" / "picture.webp").read_bytes() == b"pixels"
    assert former is not None
    assert former.exists()
    assert copy.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    "make",
    [
        lambda: b"not a tar at all",
        lambda: archive({"publisher.db": b"not a database"}),
        lambda: archive({"../escaped": b"x", "publisher.db": b""}),
        lambda: archive({"media/a": b"x"}),
        lambda: archive({"publisher.db": b"SQLite format 3\0"})[:-9],
    ],
    ids=["garbage", "damaged", "traversal", "no database", "truncated"],
)
def test_what_is_not_a_backup_changes_nothing(
    site: Site, environment: Environment, tmp_path: Path, make: object
) -> None:
    """Damaged, hostile or cut archives are refused and the site stays as it is."""
    assert callable(make)
    make_post(site, title="Still here")
    site.database.close()
    bad = tmp_path / "bad.tar.gz"
    bad.write_bytes(make())
    with pytest.raises(InvalidData):
        restore(environment, bad)
    assert titles(environment) == ["Still here"]
    assert not (tmp_path / "escaped").exists()
    assert list(environment.instance.glob(".restore-*")) == []


def test_no_restore_under_a_running_server(
    site: Site, environment: Environment, tmp_path: Path
) -> None:
    """While the site is served, its database is not replaced."""
    copy = tmp_path / "site.tar.gz"
    backup(environment, copy)
    with serving_lock(environment), pytest.raises(Conflict):
        restore(environment, copy)


def test_a_backup_overwrites_nothing(site: Site, environment: Environment, tmp_path: Path) -> None:
    """An existing file is not replaced."""
    target = tmp_path / "precious"
    target.write_text("mine")
    with pytest.raises(InvalidInput):
        backup(environment, target)
    assert target.read_text() == "mine"


def archive(members: dict[str, bytes]) -> bytes:
    file = BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz") as tar:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, BytesIO(content))
    return file.getvalue()


def test_a_damaged_database_is_not_backed_up(site: Site, environment: Environment) -> None:
    """Nothing that a restore refuses is written: scheduled ones would replace the good ones."""
    with site.database.read() as db:
        page = db.scalar(text("SELECT rootpage FROM sqlite_master WHERE name = 'updates'"))
        size = db.scalar(text("PRAGMA page_size"))
    site.database.close()
    assert isinstance(page, int)
    assert isinstance(size, int)
    target = environment.instance / "copy.tar.gz"
    database = environment.instance / "publisher.db"
    with database.open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\xa5" * size)
    for words in ("publisher.db is damaged", "none of Publisher's"):
        with pytest.raises(InvalidData, match=words):
            backup(environment, target)
        assert not target.exists()
        database.write_bytes(b"")


RESTORE = """
import os, sys
from pathlib import Path
from publisher.base.system import whole_files
from publisher.base.environment import read_environment
from publisher.operations import backup

left = int(sys.argv[2])

def counted(call):
    def counting(*args, **options):
        global left
        left -= 1
        if left == 0:
            os._exit(9)
        return call(*args, **options)
    return counting

for name in ("link", "rename", "replace", "fsync", "mkdir", "unlink", "rmdir"):
    setattr(os, name, counted(getattr(os, name)))
backup.restore(read_environment(), Path(sys.argv[1]))
"""


def test_a_restore_that_is_killed_anywhere_leaves_a_whole_site(
    site: Site, environment: Environment, tmp_path: Path
) -> None:
    """Before each link, rename, sync and removal: the old site or the new one, never none."""
    make_post(site, title="New")
    copy = tmp_path / "site.tar.gz"
    backup(environment, copy)
    with site.database.write() as db:
        db.execute(text("UPDATE posts SET title = 'Old'"))
    site.database.close()
    seen: list[str] = []
    for step in range(1, 60):
        program = [sys.executable, "-c", RESTORE, str(copy), str(step)]
        names = {"PUBLISHER_INSTANCE": str(environment.instance), "PYTHONPATH": str(Path.cwd())}
        ended = subprocess.run(program, env=os.environ | names, capture_output=True, check=False)
        seen += titles(environment)
        rooms = list(environment.instance.glob(".restore-*/publisher.db"))
        assert bool(cut_off(environment)) == bool(rooms)
        sweep(environment.instance)
        assert list(environment.instance.glob(".*")) == []
        if ended.returncode == 0:
            break
        assert ended.returncode == 9, ended.stderr
    assert seen[0] == "Old"
    assert seen[-1] == "New"
    assert len(seen) == step


@pytest.mark.parametrize("content", [b"", b"garbage" * 1000], ids=["empty", "garbage"])
def test_a_database_that_is_none_stops_the_start(environment: Environment, content: bytes) -> None:
    """An empty or overwritten file is not taken for a new site: words, and the file as it was."""
    environment.instance.mkdir(exist_ok=True)
    file = environment.instance / "publisher.db"
    file.write_bytes(content)
    with pytest.raises(InvalidData, match="publisher restore FILE"):
        open_site(environment)
    assert file.read_bytes() == content


def test_a_database_that_cannot_be_opened_is_said(environment: Environment) -> None:
    """A file that root made for another user; here a folder, as root opens any file."""
    file = environment.instance / "publisher.db"
    file.unlink()
    file.mkdir()
    with pytest.raises(StorageUnavailable, match=r"publisher\.db cannot be opened"):
        open_site(environment)


def test_a_lost_database_is_not_replaced_by_a_new_one(site: Site, environment: Environment) -> None:
    """Beside the traces of a site an empty one is not begun, as it would serve an empty feed."""
    site.database.close()
    (environment.instance / "publisher.db").rename(environment.instance / "elsewhere")
    (environment.instance / "secret_key").write_text("x")
    with pytest.raises(InvalidData, match="missing, but secret_key is there"):
        open_site(environment)
    assert not (environment.instance / "publisher.db").exists()


def test_a_damaged_page_stops_serving_with_words(site: Site, environment: Environment) -> None:
    """Whatever is broken inside is found before anything is served; the doctor says it too."""
    for number in range(50):
        make_post(site, title=f"Post {number}")
    site.database.close()
    file = environment.instance / "publisher.db"
    content = bytearray(file.read_bytes())
    content[8192:] = os.urandom(len(content) - 8192)
    file.write_bytes(content)
    with pytest.raises(InvalidData, match="damaged"):
        check(file)
    findings = list(examine(environment))
    assert not all(finding.good for finding in findings)


def test_what_is_being_written_is_not_swept(tmp_path: Path) -> None:
    """Only what a killed process left is removed."""
    left = tmp_path / ".site.tar.gz-0123abcd"
    left.write_bytes(b"x")
    elsewhere = tmp_path / ".hidden"
    elsewhere.write_bytes(b"mine")
    with whole_file(tmp_path / "target") as file:
        file.write(b"whole")
        assert sweep(tmp_path) == [left.name]
    assert (tmp_path / "target").read_bytes() == b"whole"
    assert elsewhere.exists()


@pytest.mark.parametrize("url", ["mysql://x", "postgresql://nosuch/x", "nonsense", "oracle:///a"])
def test_other_databases_are_refused_in_words(environment: Environment, url: str) -> None:
    """One line that names the variable, whatever drivers are installed."""
    with pytest.raises(InvalidInput, match="PUBLISHER_DATABASE_URL"):
        open_site(dataclasses.replace(environment, database_url=url))


def test_files_are_their_owners_alone(site: Site, environment: Environment) -> None:
    """Nobody else on the machine reads hashes and drafts, also where an older version let them."""
    site.database.close()
    environment.instance.chmod(0o755)
    (environment.instance / "publisher.db").chmod(0o644)
    opened = open_site(environment)
    make_post(opened)
    for path in (environment.instance, *environment.instance.iterdir()):
        assert path.stat().st_mode & 0o077 == 0, path
    opened.database.close()


def test_a_command_before_the_first_serve_fixes_no_address(environment: Environment) -> None:
    """Only `serve` knows the port that is to be remembered."""
    bare = dataclasses.replace(environment, site_url=None)
    open_site(bare).database.close()
    served = open_site(bare, first_url="http://127.0.0.1:9000")
    assert served.site_url == "http://127.0.0.1:9000"
    served.database.close()
    again = open_site(bare)
    assert again.site_url == "http://127.0.0.1:9000"
    again.database.close()


def test_a_command_without_the_unit_s_variables_knows_the_address(environment: Environment) -> None:
    """And where it does not, as the setting names another one, the scheduler mends the feed."""
    bare = dataclasses.replace(environment, site_url=None)
    open_site(bare, first_url="http://127.0.0.1:9000").database.close()
    served = open_site(environment, first_url="http://127.0.0.1:9000")
    command = open_site(bare)
    assert command.site_url == environment.site_url
    with command.database.write() as db:
        db.add(Preference(name="site_url", value="https://elsewhere.example"))
    rebuild(command)
    assert rebuild_if_due(served)
    with command.database.read() as db:
        bodies = db.scalars(select(Snapshot.body)).all()
    assert bodies
    assert not any(b"elsewhere.example" in body for body in bodies)
    assert not rebuild_if_due(served)
    command.database.close()
    served.database.close()


@pytest.mark.parametrize("full", [True, False], ids=["full", "read-only"])
def test_a_disk_without_room_can_be_backed_up_to_another(
    site: Site,
    environment: Environment,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    full: bool,
) -> None:
    """The copy that the archive is made from lies beside the archive then; it is removed."""
    elsewhere = tmp_path / "other"
    elsewhere.mkdir()
    if full:
        nothing = shutil.disk_usage(tmp_path)._replace(free=0)
        monkeypatch.setattr(shutil, "disk_usage", lambda _: nothing)
    else:  # it turned so after a fault: the rights do not say it
        refused = OSError(errno.EROFS, os.strerror(errno.EROFS))
        monkeypatch.setattr("publisher.operations.backup.TemporaryFile", Mock(side_effect=refused))
    drafts: list[Path] = []
    made = whole_files.draft_of

    def noted(target: Path) -> Path:
        drafts.append(target)
        return made(target)

    monkeypatch.setattr(whole_files, "draft_of", noted)
    backup(environment, elsewhere / "blog.tar.gz")
    assert {draft.parent for draft in drafts} == {elsewhere}
    assert [path.name for path in elsewhere.iterdir()] == ["blog.tar.gz"]


def test_a_disk_that_takes_nothing_is_said(
    client: FlaskClient, environment: Environment, monkeypatch: pytest.MonkeyPatch
) -> None:
    """/healthz and the doctor try a write: a full disk is not "ok"."""

    def full(_handle: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    answer = client.get("/healthz")
    assert (answer.status_code, "No space" in answer.get_json()["status"]) == (503, True)
    problems = [finding.detail for finding in examine(environment) if not finding.good]
    assert any("No space" in detail for detail in problems)


def test_the_look_at_a_large_database_ends(site: Site, environment: Environment) -> None:
    """The start waits some seconds at most; with time enough everything is read."""
    with site.database.write() as db:
        db.execute(text("CREATE TABLE large (id INTEGER PRIMARY KEY, a TEXT)"))
        numbers = "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50000)"
        db.execute(text(f"INSERT INTO large {numbers} SELECT i, hex(i) FROM n"))  # noqa: S608
    file = environment.instance / "publisher.db"
    assert not check(file, 0.0)
    assert check(file, 60.0)
    assert check(file)
