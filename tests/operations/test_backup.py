"""Backup and restore: nothing is lost, nothing is taken in that is not a backup."""

import tarfile
from io import BytesIO
from pathlib import Path

import pytest
from sqlalchemy import text

from publisher.base.environment import Environment
from publisher.base.errors import Conflict, InvalidData, InvalidInput
from publisher.blog import published
from publisher.installation import Site, open_site, serving_lock
from publisher.operations.backup import backup, restore
from tests.factories import make_post


def titles(environment: Environment) -> list[str]:
    opened = open_site(environment)
    with opened.database.read() as db:
        found = [post.title for post in published.newest(db, 10)]
    opened.database.close()
    return found


def test_round_trip_while_someone_writes(
    site: Site, environment: Environment, tmp_path: Path
) -> None:
    """A backup taken in the middle of a write holds what was committed; restore brings it back."""
    make_post(site, title="Kept")
    (environment.media / "ab").mkdir()
    (environment.media / "ab" / "picture.webp").write_bytes(b"pixels")
    copy = tmp_path / "site.tar.gz"
    with site.database.write() as db:
        db.execute(text("UPDATE posts SET title = 'Not committed yet'"))
        backup(environment, copy)
    make_post(site, title="Later")
    site.database.close()
    (environment.media / "ab" / "picture.webp").unlink()
    kept = restore(environment, copy)
    assert titles(environment) == ["Kept"]
    assert (environment.media / "ab" / "picture.webp").read_bytes() == b"pixels"
    assert kept is not None
    assert kept.exists()
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
