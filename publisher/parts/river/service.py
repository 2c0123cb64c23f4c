"""The river of one site: its options from the settings, its worker, its upkeep."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from publisher.base.clock import real_seconds
from publisher.base.errors import PublisherError
from publisher.base.system.logs import get_logger
from publisher.installation import Site
from publisher.installation.settings import load
from publisher.parts.river import observe
from publisher.parts.river.options import RiverOptions
from publisher.parts.river.polls.on_demand import OnDemandPoller
from publisher.parts.river.settings import RiverSettings
from publisher.parts.river.stored import item_store
from publisher.parts.river.worker import RiverWorker

_RESTART_SECONDS = 5.0
_ASKED_SECONDS = 60.0  # between the worker's looks, which is asked after each change

log = get_logger("river")


def options(site: Site) -> RiverOptions:
    """What the site's settings say about its river."""
    with site.database.read() as session:
        chosen = load(session, RiverSettings)
    return RiverOptions(
        policy=chosen.river_policy,
        contact_url=f"{site.site_url}/about",
        allow_private=site.environment.allow_private,
        host_delay_seconds=float(chosen.river_host_delay_seconds),
        on_demand_minutes=float(chosen.river_on_demand_minutes),
        clock_speed=1.0 / real_seconds(site.clock, 1.0),
        locks_folder=site.environment.instance / "river-turns",
    )


def on_demand(site: Site) -> OnDemandPoller:
    """A poller for one feed at a person's request."""
    return OnDemandPoller(site.database, site.clock, options(site))


def worker(site: Site) -> RiverWorker:
    """A worker that polls all feeds."""
    return RiverWorker(site.database, site.clock, options(site))


def work_until(site: Site, stop: threading.Event) -> None:
    """Poll what becomes due until `stop`; requests under way are finished first.

    Changed settings count from the next poll on.
    """
    while not stop.is_set():
        asyncio.run(_work(site, stop))


async def _work(site: Site, stop: threading.Event) -> None:
    """One worker, for as long as the settings stay as they are."""
    over, begun_with = asyncio.Event(), options(site)
    river = RiverWorker(site.database, site.clock, begun_with, look_seconds=_ASKED_SECONDS)
    working = asyncio.create_task(river.run(over))
    with _changes(site) as changed:
        while not working.done():
            waiting = asyncio.create_task(changed.wait())
            both: set[asyncio.Task[Any]] = {working, waiting}
            pause, first = site.database.look_seconds, asyncio.FIRST_COMPLETED
            await asyncio.wait(both, timeout=pause, return_when=first)
            waiting.cancel()
            if stop.is_set():
                over.set()
            elif changed.is_set():
                changed.clear()
                river.look_for_work()
                if options(site) != begun_with:
                    over.set()
    await working


@contextmanager
def _changes(site: Site) -> Iterator[asyncio.Event]:
    """An event of this event loop that is set whenever somebody commits, by a thread that waits."""
    commits, changed, over = site.database.listen(), asyncio.Event(), threading.Event()
    loop = asyncio.get_running_loop()

    def listen() -> None:
        while not over.is_set():
            if commits.wait(_ASKED_SECONDS) and not over.is_set():
                loop.call_soon_threadsafe(changed.set)

    listener = threading.Thread(target=listen, name="river commits", daemon=True)
    listener.start()
    try:
        yield changed
    finally:
        over.set()
        commits.wake()
        listener.join()
        commits.close()


def keep_working(site: Site, stop: threading.Event) -> None:
    """`work_until`, restarted after a failure: for a thread that nobody watches."""
    while not stop.is_set():
        try:
            work_until(site, stop)
            continue
        except PublisherError as error:  # a stored setting is invalid, the database is damaged
            log.warning("the river waits", reason=str(error))
        except Exception:
            log.exception("the river stopped; it starts again in a moment")
        stop.wait(_RESTART_SECONDS)


def tidy(site: Site) -> None:
    """Delete items and visits that exceed the retention settings; safe at any time."""
    now = site.clock()
    try:
        with site.database.write() as session:
            chosen = load(session, RiverSettings)
            item_store.prune(session, now, chosen.river_keep_days, chosen.river_keep_items)
            item_store.prune_visits(session, now, chosen.river_keep_visit_days)
            observe.prune_visits(session, now, chosen.river_keep_visit_days)
    except PublisherError as error:
        log.warning("upkeep postponed", reason=str(error))
