"""Signals of our child processes: Ctrl-C is left to the parent, and a child ends when it dies."""

import ctypes
import os
import signal
import sys
from collections.abc import Callable
from typing import Any

_PR_SET_PDEATHSIG = 1  # prctl(2)


def end_with_parent(
    parent_pid: int, on_stop: Callable[..., Any] | signal.Handlers = signal.SIG_DFL
) -> None:
    """Handle SIGTERM with `on_stop`; on Linux the kernel sends it too when the parent dies.

    Ctrl-C, which reaches every process of a terminal, is left to the parent. Exits if the parent
    has died already. On other systems a child has to check `os.getppid()` itself.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, on_stop)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent_pid:
        sys.exit(1)
