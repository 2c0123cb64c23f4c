"""What a child process of ours arranges first: it leaves Ctrl-C to its parent and ends with it."""

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
    was gone before the kernel had been told. Elsewhere a child has to look at `os.getppid()`.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, on_stop)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent_pid:
        sys.exit(1)
