"""`publisher serve`: one scheduler process and N web workers, started, watched and stopped."""

from __future__ import annotations

import multiprocessing
import os
import sys
import threading
from dataclasses import replace

from granian.constants import Interfaces
from granian.log import LogLevels
from granian.server.mp import MPServer

from publisher import jobs
from publisher.clock import ShiftedClock
from publisher.rebuild import refresh
from publisher.settings import Settings
from publisher.site import Site, claim_clock, open_site, setup_path

RESTART_PAUSE_SECONDS = 1.0


def serve(
    settings: Settings, host: str, port: int, workers: int, clock: ShiftedClock | None
) -> None:
    """Serve the site until SIGTERM or Ctrl-C; raises the errors of opening it."""
    if clock is not None:
        settings = replace(settings, clock=clock)
        os.environ["PUBLISHER_CLOCK"] = clock.to_text()
    site = open_site(settings, first_url=f"http://{_name(host)}:{port}")
    claim_clock(site)
    refresh(site, site.clock())
    _greet(site, host, port)
    site.database.close()
    stop = threading.Event()
    watcher = threading.Thread(target=_keep_scheduler, args=[stop], name="keep-scheduler")
    watcher.start()
    try:
        _web(host, port, workers).serve()
    finally:
        stop.set()
        watcher.join()


def _greet(site: Site, host: str, port: int) -> None:
    """Print where the site is, and how to make the first author while there is none."""
    here = f"http://{_name(host)}:{port}"
    print(f"Publisher is on {here}  (feed: /rss.xml, studio: /studio/)")
    if path := setup_path(site):
        base = site.settings.site_url or here
        print(f"Create the first author (this link works once): {base}{path}")
    sys.stdout.flush()


def _web(host: str, port: int, workers: int) -> MPServer:
    return MPServer(
        "publisher.web.application:create_app",
        factory=True,
        address=host,
        port=port,
        interface=Interfaces.WSGI,
        workers=workers,
        blocking_threads=4,
        log_level=LogLevels.warning,
        respawn_failed_workers=True,
        workers_kill_timeout=10,
    )


def _keep_scheduler(stop: threading.Event) -> None:
    """Run the scheduler process until `stop`; start a new one when it dies."""
    spawn = multiprocessing.get_context("spawn")
    while not stop.is_set():
        child = spawn.Process(target=jobs.run_forever, args=[os.getpid()], name="scheduler")
        child.start()
        while child.is_alive() and not stop.wait(0.2):
            pass
        if child.is_alive():
            child.terminate()
            child.join(10)
        if child.is_alive():
            child.kill()
        stop.wait(RESTART_PAUSE_SECONDS)


def _name(host: str) -> str:
    return f"[{host}]" if ":" in host else host
