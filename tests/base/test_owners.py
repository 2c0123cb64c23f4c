"""What root's commands make in the folder of another user's site, and that nobody can misuse it."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from publisher.base.environment import prepare_instance, read_environment
from publisher.base.system import whole_files

OTHER = 10_001
pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")


@pytest.fixture
def instance(tmp_path: Path) -> Path:
    """A folder that another user has made."""
    folder = tmp_path / "instance"
    folder.mkdir(mode=0o755)
    os.chown(folder, OTHER, OTHER)
    return folder


def test_roots_files_are_the_owners(instance: Path) -> None:
    """The folder of uploads and a file in it: the service could not read or write them."""
    prepare_instance(replace(read_environment({}), instance=instance))
    with whole_files.whole_file(instance / "media" / "picture.png") as file:
        file.write(b"x")
    for made in (instance / "media", instance / "media" / "picture.png"):
        assert (made.stat().st_uid, made.stat().st_gid) == (OTHER, OTHER)


def test_elsewhere_they_stay_roots(instance: Path) -> None:
    """A backup beside what others may read does not become readable to the folder's owner."""
    with whole_files.whole_file(instance / "backup.tar.gz") as file:
        file.write(b"x")
    assert (instance / "backup.tar.gz").stat().st_uid == 0


def test_a_link_is_not_followed(instance: Path, tmp_path: Path) -> None:
    """The folder's owner cannot have a file of root by a link in the place of a folder."""
    precious = tmp_path / "precious"
    precious.mkdir()
    (instance / "media").symlink_to(precious)
    with pytest.raises(OSError, match="symbolic links"), whole_files.in_use(instance / "media"):
        pass
    prepare_instance(replace(read_environment({}), instance=instance))
    assert precious.stat().st_uid == 0
