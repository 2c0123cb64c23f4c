"""The jobs of the scheduler process: what is due is said by the database."""

import threading
from dataclasses import replace
from datetime import timedelta

import pytest

from publisher.base.clock import monotonic_seconds
from publisher.base.environment import Environment
from publisher.installation import Site
from publisher.operations import scheduler
from publisher.operations.scheduler import HOUR_SECONDS, RepeatingJob, run_upkeep
from publisher.storage.commit_notices import CommitListener
from publisher.storage.tables.publishing import Delivery
from tests.conftest import FakeClock
from tests.running_site import wait_until


def deliveries(site: Site) -> int:
    """How many messages are kept."""
    with site.database.read() as session:
        return session.query(Delivery).count()


def test_upkeep_is_due_by_what_is_stored(site: Site, clock: FakeClock) -> None:
    """Also in a site that runs for seconds at a time, for a year; once an hour where it runs on."""
    with site.database.write() as session:
        at = clock() - timedelta(days=400)
        delivery = Delivery(
            protocol="websub", target="http://a.example/", topic="", created_at=at, delivered_at=at
        )
        session.add(delivery)
    assert run_upkeep(site) == HOUR_SECONDS
    assert deliveries(site) == 0
    clock.forward(minutes=20)
    assert run_upkeep(site) == HOUR_SECONDS - 1200
    clock.forward(days=-3)
    assert run_upkeep(site) == HOUR_SECONDS


def test_upkeep_that_fails_stops_no_other(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each job stands alone; the next hour tries again."""
    done: list[str] = []

    def broken(_: Site) -> None:
        raise RuntimeError

    monkeypatch.setattr(scheduler, "tidy_up", broken)
    monkeypatch.setattr("publisher.parts.river.service.tidy", lambda _: done.append("river"))
    assert run_upkeep(site) == HOUR_SECONDS
    assert done == ["river"]


def test_a_job_that_runs_too_long_does_not_work(site: Site) -> None:
    """By its own limit; its silence lets the supervisor replace the process."""
    let_go = threading.Event()

    def wait(_: Site) -> float:
        let_go.wait(60)
        return 60.0

    begun = monotonic_seconds()
    long, short = RepeatingJob(wait, site, 300.0), RepeatingJob(wait, site, 0.05)
    for errand in (long, short):
        errand.start()
    wait_until(lambda: monotonic_seconds() > begun + 0.2, 10)
    assert (long.works, short.works) == (True, False)
    let_go.set()
    for errand in (long, short):
        errand.end()


def test_a_clock_that_jumps_wakes_every_job(
    environment: Environment, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after a machine's sleep: what is due by now is not waited for as if no time had passed."""
    ran = threading.Semaphore(0)

    def job(_: Site) -> float:
        ran.release()
        return 3600.0

    monkeypatch.setattr(scheduler, "refresh_feeds", job)
    monkeypatch.setattr(scheduler, "_PARENT_SECONDS", 0.05)
    jobs = scheduler.Jobs(replace(environment, parts="none"))
    jobs._site = replace(jobs._site, clock=clock)
    jobs._listener.close()
    jobs._listener = CommitListener(None)  # which nobody rings
    running = threading.Thread(target=jobs.run, args=[lambda: True])
    running.start()
    assert ran.acquire(timeout=60)
    clock.moment += timedelta(hours=1)
    assert ran.acquire(timeout=60)
    jobs.stop()
    running.join()


@pytest.mark.parts("readers")
def test_polls_are_looked_for_more_often_while_some_wait(site: Site) -> None:
    """An idle site folds nothing, so its scheduler rests until others write."""
    from publisher.parts.readers import jobs

    assert jobs.fold_polls(site) == jobs.FOLD_SECONDS
