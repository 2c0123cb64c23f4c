"""What runs for the readers' part beside its pages: counting in each worker, folding, clean-up."""

from collections import Counter

from publisher.base.clock import real_seconds
from publisher.installation import Site
from publisher.installation.settings import load_settings, smallest_ttl
from publisher.parts.readers import poll_batches, store
from publisher.parts.readers.counter import PollCounter, Polls
from publisher.parts.readers.fold import keep_up

FOLD_SECONDS = 3 * 3600.0  # by the site's clock
LOOK_SECONDS = 60.0  # real seconds between looks whether a fold is due, while polls wait for one


def poll_listener(site: Site) -> PollCounter:
    """The counter of one process, which stores its batches in the site's database."""
    return PollCounter(lambda polls: _store(site, polls), real_seconds(site.clock, 1.0))


def _store(site: Site, polls: Polls) -> None:
    """Store a batch of polls for the readers report, then count it for `/metrics`."""
    from publisher.web.api import metrics  # late: the scheduler answers no requests

    poll_batches.store(site.database, polls, site.clock())
    statuses: Counter[int] = Counter()
    sent_bytes = 0
    for group, bursts in polls.groups():
        number = sum(count for _, count in bursts)
        statuses[group.status] += number
        sent_bytes += group.sent_bytes * number
    metrics.count_polls(statuses, sent_bytes, polls.lost)


def fold_polls(site: Site) -> float:
    """Add the polls that the workers have counted to the readers' tables; returns the seconds until
    the next look."""
    seconds = keep_up(site.database, site.clock, smallest_ttl, FOLD_SECONDS)
    nothing_waits = seconds == FOLD_SECONDS
    return seconds if nothing_waits else min(seconds, LOOK_SECONDS / real_seconds(site.clock, 1.0))


def prune_polls(site: Site) -> None:
    """Delete counts of polls older than the setting `readers_days`, also those that waited to be
    folded since the site ran last."""
    fold_polls(site)
    with site.database.write() as session:
        store.prune(session, site.clock(), load_settings(session).readers_days)
        poll_batches.move_polls_of_1_0(session)
