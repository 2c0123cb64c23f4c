"""Polls at a person's request."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta

from sqlalchemy import select

from publisher.installation import Site
from publisher.river.on_demand import OnDemandPoller
from publisher.storage.tables.river import RiverHost
from tests.conftest import FakeClock
from tests.river.origin import Origin, Reply, rss
from tests.river.test_worker import OPTIONS


def test_a_lease_lasts_in_real_time_on_a_fast_site(
    site: Site, clock: FakeClock, origin: Origin
) -> None:
    """Ten real minutes are ten hours where the clock runs sixty times as fast.

    Otherwise another process would take the host ten seconds into the request.
    """
    leases: list[timedelta] = []

    def route(_: Mapping[str, str]) -> Reply:
        with site.database.read() as db:
            host = db.scalars(select(RiverHost)).one()
            assert host.free_at is not None
            leases.append(host.free_at - clock())
        return Reply(200, rss("a"))

    fast = replace(OPTIONS, clock_speed=60.0)
    OnDemandPoller(site.database, clock, fast).add(origin.serve("/f", route))
    assert leases == [timedelta(hours=10)]
