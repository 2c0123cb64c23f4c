"""A clock that was ahead for a while, and was set right: what was dated meanwhile."""

from datetime import timedelta

from sqlalchemy import func, select

from publisher.blog import published, update_log
from publisher.dynamic_ttl.core.ttl.activity import Activity
from publisher.installation import Site
from publisher.operations import future_dates
from publisher.operations.doctor import examine_processes
from publisher.publishing.rebuild import rebuild
from publisher.publishing.snapshots import known_problems
from publisher.storage.tables.blog import Update
from tests.conftest import FakeClock
from tests.factories import make_post


def in_the_feed(site: Site) -> bytes:
    """The feed as it is now, which its own doctor finds valid."""
    body = rebuild(site).body
    with site.database.read() as session:
        assert known_problems(session) == (None, [])
    return body


def shown(site: Site) -> list[str]:
    with site.database.read() as session:
        return [post.title for post in published.newest(session, 10)]


def complains(site: Site) -> bool:
    return any(check.what == "clock" and not check.good for check in examine_processes(site))


def test_lists_and_feed_agree_after_a_clock_that_was_ahead(site: Site, clock: FakeClock) -> None:
    """With dates that have been; `doctor` says it and mends it, and new posts are first again."""
    make_post(site, title="Before")
    in_the_feed(site)
    clock.moment += timedelta(days=366)
    make_post(site, title="Ahead", tags=["one"])
    in_the_feed(site)
    clock.moment -= timedelta(days=366) - timedelta(hours=5)
    feed = in_the_feed(site)
    assert feed.index(b"Ahead") < feed.index(b"Before")
    assert str(clock().year + 1).encode() not in feed
    make_post(site, title="After")
    assert shown(site) == ["Ahead", "After", "Before"]
    assert feed != in_the_feed(site)
    clock.moment += timedelta(hours=1)
    assert complains(site)

    assert future_dates.mend(site) > 3
    assert not complains(site)
    clock.moment += timedelta(minutes=1)
    make_post(site, title="New")
    assert shown(site) == ["New", "Ahead", "After", "Before"]
    with site.database.read() as session:
        latest = session.scalar(select(func.max(Update.at)))
        assert latest == clock()
        activity = update_log.load(session)
    assert isinstance(activity, Activity)
    assert activity.last_update == clock().replace(microsecond=0)
    assert future_dates.mend(site) == 0


def test_a_plan_stays(site: Site, clock: FakeClock) -> None:
    """A scheduled post is no mistake of the clock."""
    post = make_post(site, title="Soon", at=clock() + timedelta(days=3))
    assert future_dates.mend(site) == 0
    assert post.scheduled_at == clock() + timedelta(days=3)
