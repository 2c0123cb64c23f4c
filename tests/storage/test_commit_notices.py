"""The bell between the processes of a site."""

import errno
import os
import threading
from pathlib import Path

import pytest
from sqlalchemy import text

from publisher.installation import Site
from publisher.installation.settings import store_setting
from publisher.storage.commit_notices import ChangeCounter, CommitListener, folder_of, notify


def test_whoever_commits_rings(site: Site) -> None:
    """Every listener hears a commit at once; nobody hears one that changed nothing."""
    bells = [site.database.listen() for _ in range(2)]
    with site.database.write() as db:
        db.execute(text("SELECT 1"))
    assert not any(bell.wait(0) for bell in bells)
    with site.database.write() as db:
        store_setting(db, "title", "Told")
        assert not bells[0].wait(0)
    assert all(bell.wait(60) for bell in bells)
    assert not bells[0].wait(0)
    for bell in bells:
        bell.close()


def test_without_a_pipe_in_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file system that takes no files: nobody rings, and a thread can be woken all the same."""

    def refuse(*_: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(os, "mkfifo", refuse)
    bell = CommitListener(tmp_path / "bells")
    notify(tmp_path / "bells")
    assert not bell.wait(0)
    bell.wake()
    assert bell.wait(0)
    bell.close()


def test_what_a_dead_process_left_is_swept_away(tmp_path: Path) -> None:
    """A pipe that nobody reads does not stop the next ring, and goes."""
    folder = tmp_path / "bells"
    dead, alive = CommitListener(folder), CommitListener(folder)
    path = dead._path
    assert path is not None
    dead._path = None
    dead.close()
    notify(folder)
    assert not path.exists()
    assert alive.wait(0)
    alive.close()
    assert list(folder.iterdir()) == []


def test_a_writer_never_sweeps_a_bell_that_is_being_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between making the pipe and opening it somebody rings: the new bell is whole all the same."""
    folder = tmp_path / "bells"
    made = os.mkfifo

    def slowly(path: Path, mode: int) -> None:
        made(path, mode)
        notify(folder)

    monkeypatch.setattr(os, "mkfifo", slowly)
    bell = CommitListener(folder)
    notify(folder)
    assert bell.wait(60)
    bell.close()


def test_a_full_pipe_stops_nobody(tmp_path: Path) -> None:
    """A listener that does not listen costs whoever writes nothing."""
    bell = CommitListener(tmp_path / "bells")

    def write() -> None:
        for _ in range(70_000):
            bell.wake()
        notify(tmp_path / "bells")

    writing = threading.Thread(target=write, daemon=True)
    writing.start()
    writing.join(60)
    assert not writing.is_alive()
    bell.close()


def test_wake_ends_a_wait() -> None:
    """Also where there is no folder to share."""
    bell = CommitListener(folder_of("postgresql+psycopg://host/name"))
    threading.Timer(0.05, bell.wake).start()
    assert bell.wait(60)
    bell.close()


@pytest.mark.sqlite("a server counts no commits: there the answer is always yes")
def test_a_counter_sees_the_commits_of_others_once(site: Site) -> None:
    counter = ChangeCounter(site.database.engine)
    assert counter.changed()
    assert not counter.changed()
    with site.database.write() as db:
        store_setting(db, "title", "Changed")
    assert counter.changed()
    assert not counter.changed()
    counter.close()
    assert counter.changed()
    counter.close()
