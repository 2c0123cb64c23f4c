"""Answers as bytes, and as files in memory that the kernel sends without copying them."""

import errno
import os
import socket
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from publisher.delivery.wire import Wire

DATA = b"".join(b"%07d " % number for number in range(12_000))  # 96 kB


def given(wire: Wire) -> bytes:
    """What arrives where the kernel takes less at once than there is."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.setblocking(False)
        ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 16_384)
        rest = wire.send(ours.fileno())
        theirs.setblocking(False)
        arrived = b""
        while True:
            try:
                arrived += theirs.recv(1_000_000)
            except BlockingIOError:
                return arrived + rest


def files_in_memory() -> int:
    count = 0
    for link in Path("/proc/self/fd").iterdir():
        with suppress(FileNotFoundError):  # the one by which they are listed, for one
            count += "memfd:answer" in str(link.readlink())
    return count


def test_every_client_gets_the_same() -> None:
    """However often it is asked for, and however much is taken at once."""
    wire = Wire(DATA)
    for _ in range(20):
        assert given(wire) == DATA


@pytest.mark.skipif(sys.platform != "linux", reason="memory files are Linux'")
def test_a_file_is_made_for_what_is_long_and_asked_for_often() -> None:
    """And goes with the answer, which lives for a second."""
    begun = files_in_memory()
    long, seldom, short = Wire(DATA), Wire(DATA), Wire(DATA[:400])
    given(seldom)
    for _ in range(20):
        given(long)
        given(short)
    assert files_in_memory() == begun + 1
    del long
    assert files_in_memory() == begun


def test_who_takes_nothing_and_who_is_gone() -> None:
    """Both are the system's errors, as of `os.write`, whether it is a file by then or not."""
    wire = Wire(DATA)
    for _ in range(20):
        ours, theirs = socket.socketpair()
        with ours:
            ours.setblocking(False)
            while True:
                try:
                    ours.send(DATA)
                except BlockingIOError:
                    break
            with pytest.raises(BlockingIOError):
                wire.send(ours.fileno())
            theirs.close()
            with pytest.raises(BrokenPipeError):
                wire.send(ours.fileno())


@pytest.mark.skipif(sys.platform != "linux", reason="memory files are Linux'")
def test_without_a_free_descriptor_nobody_loses_the_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The poll for which the file was to be made gets its bytes all the same."""

    def none_free(_name: str) -> int:
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr(os, "memfd_create", none_free)
    wire = Wire(DATA)
    for _ in range(20):
        assert given(wire) == DATA
