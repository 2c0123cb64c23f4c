"""Whose fault it is: a server's, which is waited for; or our own, which nobody pays for."""

import asyncio
import threading
from collections.abc import Mapping
from unittest.mock import Mock

import pytest
from sqlalchemy import select

from publisher.base.errors import StorageUnavailable, TooMany
from publisher.feed_fetching.fetch import open_fetcher
from publisher.installation import Site
from publisher.parts.river import service
from publisher.parts.river.fetching import frontier
from publisher.parts.river.following import subscriptions
from publisher.parts.river.polls import on_demand
from publisher.parts.river.polls.poll_job import OFFLINE
from publisher.parts.river.tables import RiverFeed, RiverHost, RiverVisit
from publisher.storage.tables.blog import Preference
from tests.parts.river.origin import Origin, Reply, conditional, rss
from tests.parts.river.test_worker import OPTIONS, River

XML = {"Content-Type": "application/rss+xml"}
FEEDS = 8


def next_wait(river: River, url: str) -> float:
    """Poll a feed when it is due; minutes until the poll after that."""
    river.clock.moment = river.feed(url).next_poll_at or river.clock()
    river.poll()
    return river.wait(url)


def test_first_failures_come_back_soon(river: River, everywhere: Origin) -> None:
    """A quarter of an hour, one hour, four, a day: not a day at once."""
    urls = {}
    for number, status in enumerate((500, 503, 404), 1):
        url = everywhere.serve(f"/{status}", Reply(status, b""))
        urls[status] = url.replace("127.0.0.1", f"127.0.5.{number}")
        river.add(urls[status], "histogram")
    for expected in (15, 60, 240, 1440, 1440):
        next_wait(river, urls[500])
        waits = {status: river.wait(url) for status, url in urls.items()}
        assert waits == dict.fromkeys(urls, expected)


@pytest.mark.parametrize("status", [206, 226])
def test_a_part_that_nobody_asked_for_is_no_document(
    river: River, origin: Origin, status: int
) -> None:
    """As the end of the feed would be taken for all of it, and the rest for removed."""
    url = origin.serve("/f", Reply(status, rss("a"), XML))
    river.add(url)
    river.poll()
    assert river.feed(url).problem == f"status-{status}"


def test_a_connection_that_fails_once(river: River) -> None:
    """The feed of a day's policy is not left for a day because one connection failed."""
    river.add("http://127.0.0.1:9/f", "fixed:1440")
    assert next_wait(river, "http://127.0.0.1:9/f") == 15


def test_a_dead_feed_is_looked_for_weekly_then_monthly(river: River, origin: Origin) -> None:
    url = origin.serve("/f", conditional(rss("a"), '"1"'))
    river.add(url)
    river.poll()
    origin.serve("/f", Reply(404, b"gone fishing"))
    waits = [next_wait(river, url) / 1440 for _ in range(20)]
    assert waits == sorted(waits)
    assert waits.count(7) >= 6
    assert waits[-1] == 30
    origin.serve("/f", conditional(rss("a"), '"1"'))
    assert next_wait(river, url) == 60


def test_our_own_outage_costs_nobody_anything(river: River) -> None:
    """Most hosts fail at once: nothing is counted, and the first answer brings all back."""
    home = Origin("0.0.0.0")  # noqa: S104 - reached under many loopback addresses
    port, urls = home.port, []
    for number in range(FEEDS):
        home.serve("/f", conditional(rss(str(number)), '"1"'))
        urls.append(f"http://127.0.0.{number + 10}:{port}/f")
        river.add(urls[-1], "fixed:1440")
    assert river.poll() == FEEDS
    home.close()
    # One worker sees the outage begin and end, as the one that serves a site does.
    worker = river.worker()
    river.clock.forward(days=1)
    asyncio.run(worker.drain())
    with river.site.database.read() as db:
        rows = db.scalars(select(RiverFeed)).all()
    assert {row.problem for row in rows} <= {OFFLINE, "connect"}
    assert sum(row.failures for row in rows) <= 4
    for _ in range(3):
        river.clock.forward(minutes=16)
        asyncio.run(worker.drain())
    with river.site.database.read() as db:
        rows = db.scalars(select(RiverFeed)).all()
    assert {row.problem for row in rows} == {OFFLINE}
    assert sum(row.failures for row in rows) <= 4
    home = Origin("0.0.0.0", port)  # noqa: S104
    home.serve("/f", conditional(rss("x"), '"1"'))
    river.clock.forward(minutes=1)
    with river.site.database.write() as db:  # one of them has its turn, all others would wait
        row = db.get_one(RiverFeed, 1)
        row.next_poll_at = river.clock()
        frontier.enqueue(db, row.host, river.clock())
    asyncio.run(worker.drain())
    asyncio.run(worker.drain())
    home.close()
    with river.site.database.read() as db:
        rows = db.scalars(select(RiverFeed)).all()
    assert {row.problem for row in rows} == {""}
    assert {row.failures for row in rows} == {0}


def test_an_answer_that_nobody_was_free_to_read(
    river: River, origin: Origin, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours, not the feed's: nothing is counted, and it is asked again soon."""

    def busy(*_: object) -> None:
        raise StorageUnavailable("the server is busy reading other files; try again")

    url = origin.serve("/f", conditional(rss("a"), '"1"'))
    river.add(url, "fixed:1440")
    with monkeypatch.context() as patched:
        patched.setattr("publisher.parts.river.polls.poll_job.read_document", busy)
        river.poll()
    feed = river.feed(url)
    assert (feed.problem, feed.failures, feed.etag) == ("overloaded", 0, None)
    assert feed.reasons == ["this site was too busy to read the answer: next try in 15 min"]
    river.later(minutes=15)
    assert (river.feed(url).problem, river.titles()) == ("", ["a"])


def test_a_bug_in_reading_holds_no_host(river: River, monkeypatch: pytest.MonkeyPatch) -> None:
    """The host that a redirect led to was taken on the way; it is free again, and asked again."""

    def bug(*_: object) -> None:
        raise RuntimeError("a bug")

    origin = Origin("0.0.0.0")  # noqa: S104 - reached under two loopback addresses
    target = origin.serve("/t", conditional(rss("a"), '"1"')).replace("127.0.0.1", "127.0.4.1")
    url = origin.serve("/f", Reply(302, b"", {"Location": target}))
    river.add(url)
    monkeypatch.setattr("publisher.parts.river.polls.poll_job.read_document", bug)
    river.poll()
    origin.close()
    with river.site.database.read() as db:
        owners = db.scalars(select(RiverHost.owner)).all()
    assert (river.feed(url).problem, owners) == ("internal", [None, None])


@pytest.mark.parametrize(
    ("headers", "minutes"), [({"Retry-After": "7200"}, 120), ({"Retry-After": "0"}, 15), ({}, 60)]
)
def test_a_new_feed_that_is_limited_comes_when_its_server_says(
    river: River, origin: Origin, headers: dict[str, str], minutes: int
) -> None:
    """Nothing is known of it, so there is no usual wait that could be longer."""
    url = origin.serve("/f", Reply(429, b"", headers))
    river.add(url, "fixed:1440")
    assert next_wait(river, url) == minutes


def test_one_host_that_is_down_is_its_own_fault(river: River, origin: Origin) -> None:
    """Ten feeds of one host, and five hosts that answer: nobody is offline."""
    for number in range(10):
        river.add(f"http://127.0.0.1:9/{number}")
    river.add(origin.serve("/f", conditional(rss("a"), '"1"')))
    river.poll()
    with river.site.database.read() as db:
        rows = db.scalars(select(RiverFeed)).all()
    assert {row.problem for row in rows} == {"connect", ""}
    assert {row.failures for row in rows} == {1, 0}


def test_a_failed_retrieval_does_not_use_up_the_hour(river: River, origin: Origin) -> None:
    """A minute later it may be tried again; one that worked holds for the hour."""
    url = origin.serve("/f", Reply(500, b""))
    river.add(url)
    river.poll()
    river.clock.forward(minutes=2)

    def ask() -> None:
        with river.site.database.write() as db:
            feed = subscriptions.named(db, url)
            on_demand.make_due(db, feed, river.clock(), OPTIONS)

    ask()
    river.poll()
    with pytest.raises(TooMany, match="failed a moment ago"):
        ask()
    river.clock.forward(minutes=2)
    origin.serve("/f", conditional(rss("a"), '"1"'))
    ask()
    assert river.poll() == 1
    river.clock.forward(minutes=2)
    with pytest.raises(TooMany, match="retrieved on demand already"):
        ask()


def test_retry_polls_what_failed_and_nothing_else(river: River, origin: Origin) -> None:
    """Where a server asked for silence it is left alone."""
    good = origin.serve("/good", conditional(rss("a"), '"1"'))
    bad = origin.serve("/bad", Reply(500, b""))
    limited = "http://127.0.0.1:9/limited"
    for url in (good, bad, limited):
        river.add(url)
    river.poll()
    with river.site.database.write() as db:
        row = subscriptions.named(db, limited)
        row.problem, row.limited = "status-429", 1
        newest = select(RiverVisit).where(RiverVisit.feed_id == row.id)
        db.scalars(newest).one().told_seconds = 3600
    river.clock.forward(minutes=2)
    before = len(origin.log)
    with river.site.database.write() as db:
        assert on_demand.retry_failed(db, river.clock()) == 1
    river.later(seconds=5)
    assert [entry.target for entry in origin.log[before:]] == ["/bad"]


def test_a_dropped_connection_is_one_request(origin: Origin) -> None:
    """The library would ask again at once; nobody would know."""
    calls = 0

    def route(_: Mapping[str, str]) -> Reply:
        nonlocal calls
        calls += 1
        if calls > 1:
            raise ConnectionError("hang up without a word")
        return Reply(200, rss("a"), XML)

    url = origin.serve("/f", route)

    async def twice() -> list[str]:
        async with open_fetcher(contact_url="https://b.example/", allow_private=True) as fetcher:
            return [(await fetcher.fetch(url)).problem for _ in range(2)]

    assert asyncio.run(twice()) == ["", "connect"]
    assert calls == 2


def test_what_an_operator_has_to_mend_is_a_line(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not a traceback every five seconds: an invalid stored setting, a damaged database."""
    with site.database.write() as session:
        session.merge(Preference(name="river_policy", value="nonsense"))
    stop, log = threading.Event(), Mock()
    log.warning.side_effect = log.exception.side_effect = lambda *_, **__: stop.set()
    monkeypatch.setattr(service, "log", log)
    service.keep_working(site, stop)
    assert "the stored river_policy is invalid" in log.warning.call_args.kwargs["reason"]
    assert not log.exception.called
