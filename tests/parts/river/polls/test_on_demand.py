"""Polls at a person's request."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import func, select

from publisher.base.errors import InvalidData
from publisher.installation import Site
from publisher.parts.river.following import subscriptions
from publisher.parts.river.polls import on_demand
from publisher.parts.river.polls.on_demand import OnDemandPoller
from publisher.parts.river.tables import RiverFeed, RiverHost
from tests.conftest import FakeClock
from tests.parts.river.origin import Origin, Reply, rss
from tests.parts.river.test_worker import OPTIONS, River


def test_a_lease_lasts_in_real_time_on_a_fast_site(
    site: Site, clock: FakeClock, origin: Origin
) -> None:
    """90 real seconds are 90 minutes where the clock runs sixty times as fast.

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
    assert leases == [timedelta(minutes=90)]


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


def test_retrieve_all(site: Site, clock: FakeClock, everywhere: Origin) -> None:
    """All that may be asked is due at once and begins anew; the rest says why not by being left."""
    river = River(site, clock)
    for name in ("a", "b", "limited", "paused"):
        limited = Reply(429, b"", {"Retry-After": "7200"})
        reply = limited if name == "limited" else Reply(200, rss(name))
        url = everywhere.url.replace("127.0.0.1", f"127.0.5.{ord(name[0])}") + f"/{name}"
        everywhere.serve(f"/{name}", reply)
        river.add(url)
    river.poll()
    with site.database.write() as db:
        feeds = subscriptions.everyone(db)
        subscriptions.pause(next(feed for feed in feeds if feed.url.endswith("paused")))
    clock.forward(minutes=10)
    before = len(everywhere.log)
    for expected, expected_polls in (((2, 1), 2), ((0, 3), 2)):
        with site.database.write() as db:
            assert on_demand.make_all_due(db, clock(), OPTIONS) == expected
        river.poll()
        assert len(everywhere.log) - before == expected_polls
        clock.forward(minutes=5)
    clock.forward(minutes=OPTIONS.on_demand_minutes)
    with site.database.write() as db:
        assert on_demand.make_all_due(db, clock(), OPTIONS, folder="elsewhere") == (0, 0)
        assert on_demand.make_all_due(db, clock(), OPTIONS) == (2, 1)


@pytest.mark.parametrize("elsewhere", [False, True])
def test_a_login_is_not_sent_to_the_host_that_a_page_announces(
    site: Site, clock: FakeClock, everywhere: Origin, elsewhere: bool
) -> None:
    """Who may write a line of the page's head would have the password."""
    there = everywhere.url.replace("127.0.0.1", "127.0.5.9") if elsewhere else everywhere.url
    link = f'<link rel="alternate" type="application/rss+xml" href="{there}/f">'
    everywhere.serve("/", Reply(200, f"<html><head>{link}</head></html>".encode()))
    everywhere.serve("/f", Reply(200, rss("a")))
    poller = OnDemandPoller(site.database, clock, OPTIONS)
    address = f"{everywhere.url}/".replace("://", "://ada:secret@")
    if elsewhere:
        with pytest.raises(InvalidData, match="add that address itself"):
            poller.add(address)
    else:
        assert poller.add(address).username == "ada"
    assert [entry.target for entry in everywhere.log] == ["/"] + ["/f"] * (not elsewhere)
