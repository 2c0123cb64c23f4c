"""One web worker of `publisher serve`, which does not outlive the server."""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import signal
import sys

from flask import Flask

from publisher import logs
from publisher.web.application import create_app

_PR_SET_PDEATHSIG = 1  # prctl(2)


def application() -> Flask:
    """What the server calls in each worker process."""
    _end_with_parent()
    logs.configure()
    return create_app()


def _end_with_parent() -> None:
    """Have the kernel stop this worker when the server is killed: no orphan keeps the port."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    parent = multiprocessing.parent_process()
    if parent is not None and os.getppid() != parent.pid:
        sys.exit("the server was killed while this worker started")
