"""A machine of a shared river: `python -m tests.parts.river.fetching.machine AHEAD LEASE`.

AHEAD is how many seconds its own clock is ahead of the true time, LEASE is in real seconds. It
works until SIGTERM.
"""

import asyncio
import signal
import sys
from dataclasses import replace
from datetime import datetime, timedelta

from publisher.base import clock

_true_time = clock.utc_now
_AHEAD = timedelta(seconds=float(sys.argv[1]))


def _wrong() -> datetime:
    return _true_time() + _AHEAD


clock.utc_now = _wrong  # before anybody has imported it by its name

from publisher.base.environment import read_environment  # noqa: E402
from publisher.installation import open_site  # noqa: E402
from publisher.parts.river import service  # noqa: E402
from publisher.parts.river.worker import RiverWorker  # noqa: E402


async def work() -> None:
    """Poll what becomes due."""
    site = open_site(read_environment())
    options = replace(service.options(site), lease_real_seconds=float(sys.argv[2]))
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    await RiverWorker(site.database, site.clock, options).run(stop)
    site.database.close()


asyncio.run(work())
