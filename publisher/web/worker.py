"""One web worker of `publisher serve`: a process with one event loop that owns the public port."""

import asyncio
import gc
import os
import resource
import signal
import socket
import ssl
import sys

from flask import Flask

from publisher.base.system import logs
from publisher.base.system.logs import get_logger
from publisher.base.system.processes import end_with_parent
from publisher.http_server.server import HttpServer
from publisher.web.application import close_app, create_app, current_site
from publisher.web.request_checks import body_limit

try:
    from uvloop import run as run_loop  # of the extra `fast`
except ImportError:
    run_loop = asyncio.run  # type: ignore[assignment]

BACKLOG = 1_024
OPEN_FILES = 10_240  # for as many connections as are taken, files, and answers in memory
BEAT_SECONDS, FINISH_SECONDS, LEAVE_SECONDS = 5.0, 7.0, 3
# How long a rendering thread may keep the interpreter lock while the event loop waits for it.
_SWITCH_SECONDS = 0.001

log = get_logger("serve")


def _open_more_files() -> None:
    """Raise the limit of open files: it is usually 1,024, which one address could use up."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(OPEN_FILES, hard)), hard))


def run(listener: socket.socket, tls: ssl.SSLContext | None, beat: int, parent_pid: int) -> None:
    """Serve connections to `listener` until SIGTERM, or until the parent process is gone.

    The first worker that is ready makes it listen. Every few seconds a byte is written to the pipe
    `beat`, for the first time when requests can be answered.
    """
    os.umask(0o077)
    end_with_parent(parent_pid)
    _open_more_files()
    logs.configure()
    app = create_app()
    app.extensions["front"].start()
    # Objects that exist now stay. Without this each full garbage collection looks through them,
    # which takes a third of the time of a page that makes many objects (the readers report).
    gc.collect()
    gc.freeze()
    sys.setswitchinterval(_SWITCH_SECONDS)
    run_loop(_serve(app, listener, tls, beat))
    signal.alarm(LEAVE_SECONDS)  # ends the process where a page still waits for something
    close_app(app)


async def _serve(
    app: Flask, listener: socket.socket, tls: ssl.SSLContext | None, beat: int
) -> None:
    try:
        listener.listen(BACKLOG)
    except OSError as error:  # another program took the port; the supervisor tries again
        log.error("cannot listen", port=listener.getsockname()[1], reason=error.strerror)
        return
    stop, loop = asyncio.Event(), asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, stop.set)
    trusted = current_site(app).environment.trusted_proxies
    server = HttpServer(app.extensions["front"], body_limit, trusted)
    server.start(listener, tls)
    while not stop.is_set():
        try:
            if not server.stuck:  # without beats the supervisor replaces this process
                os.write(beat, b".")
            await asyncio.wait_for(stop.wait(), BEAT_SECONDS)
        except TimeoutError:
            pass
        except BrokenPipeError:
            break
    await server.stop(FINISH_SECONDS)
