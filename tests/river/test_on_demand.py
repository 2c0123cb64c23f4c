"""Polls at a person's request."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import func, select

from publisher.base.errors import InvalidData
from publisher.installation import Site
from publisher.river.on_demand import OnDemandPoller
from publisher.storage.tables.river import RiverFeed, RiverHost
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


def test_a_word_is_no_address(site: Site, clock: FakeClock) -> None:
    """What cannot be resolved and has no dot is a typing mistake, not a server that fails."""
    with pytest.raises(InvalidData, match="notaurl"):
        OnDemandPoller(site.database, clock, OPTIONS).add("notaurl")
    with site.database.read() as db:
        assert db.scalar(select(func.count()).select_from(RiverFeed)) == 0


def test_a_304_to_a_first_request_is_a_problem(
    site: Site, clock: FakeClock, origin: Origin
) -> None:
    """Nothing was ever had from there; it would read as well for ever."""
    url = origin.serve("/f", Reply(304))
    feed = OnDemandPoller(site.database, clock, OPTIONS).add(url)
    assert feed.problem == "status-304"
    assert feed.last_success_at is None
