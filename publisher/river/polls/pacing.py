"""The pause after each request to a host, learned from the host's refusals."""

from collections.abc import Mapping
from datetime import datetime, timedelta

from publisher.river.fetching.fetch import BUSY
from publisher.river.options import RiverOptions
from publisher.river.polls.feed_visit import Visit
from publisher.river.polls.poll_rows import HostRow

_FORGETTING = 0.99
"""A host's learned pause is multiplied by this after a good answer: halved after 69 answers."""


def rest(
    units: Mapping[str, HostRow],
    visit: Visit,
    again: bool,
    ended_at: datetime,
    options: RiverOptions,
) -> None:
    """Set the pause of each host that was sent a request; the answer adjusts the last one."""
    last = visit.hosts_asked[-1]
    for name in visit.hosts_asked:
        if (host := units.get(name)) is None:
            continue
        if name == last and visit.problem != BUSY:
            _pace(host, visit, again, ended_at, options)
        else:
            pause = max(host.delay_seconds, options.host_delay_seconds)
            host.rested_at = ended_at + timedelta(seconds=pause)


def _pace(
    host: HostRow, visit: Visit, again: bool, ended_at: datetime, options: RiverOptions
) -> None:
    """Set a host's pause: doubled when it refuses us, slightly shorter after good answers.

    So the pause settles a little above what the host allows, and the limit is rarely met again.

    If an address is limited `again` while its host answers other requests well, the limit is
    taken to be that address's own: the host's pause stays.
    """
    status = visit.fetched.status
    if visit.asked_to_slow_down or status in (403, 503):
        if not (again and host.strikes == 0):
            _strike(host, visit, options)
    elif visit.fetched.ok or visit.fetched.not_modified:
        host.strikes = 0
        slower = host.delay_seconds * _FORGETTING
        host.delay_seconds = max(slower, options.host_delay_seconds)
    pause = max(host.delay_seconds, options.host_delay_seconds)
    host.rested_at = ended_at + timedelta(seconds=pause)


def _strike(host: HostRow, visit: Visit, options: RiverOptions) -> None:
    host.strikes += 1
    longer = max(host.delay_seconds * 2, options.host_delay_seconds)
    host.delay_seconds = min(longer, options.host_delay_ceiling_seconds)
    if visit.asked_to_slow_down:
        told = visit.told_seconds
        seconds = told if told is not None else 60 * 2 ** min(host.strikes, 10)
        host.not_before = visit.job.at + timedelta(seconds=seconds)
