"""Lists that are followed: feeds come and go with them, and nothing that is kept is lost."""

from datetime import timedelta

import pytest
from sqlalchemy import select

from publisher.blog.members import authors
from publisher.parts.river.following import reading_list, subscriptions
from publisher.parts.river.polls.on_demand import OnDemandPoller
from publisher.parts.river.tables import RiverFeed, RiverItem
from tests.parts.river.origin import Origin, Reply, conditional, rss
from tests.parts.river.test_worker import OPTIONS, River

LIST = "/list.opml"


def opml(*lines: str) -> bytes:
    """A list; a line is the address of a feed, after `folder|` where it has one."""
    body = ""
    for line in lines:
        folder, _, address = line.rpartition("|")
        outline = f'<outline text="{address[-1]}" xmlUrl="{address}"/>'
        body += f'<outline text="{folder}">{outline}</outline>' if folder else outline
    return f"<opml><head><title>Friends</title></head><body>{body}</body></opml>".encode()


def follow(river: River, origin: Origin, *lines: str, folder: str = "Lists") -> None:
    """Follow a list, and poll what it brought."""
    url = origin.serve(LIST, Reply(200, opml(*lines)))
    OnDemandPoller(river.site.database, river.clock, OPTIONS).add(url, folder=folder)
    for line in lines:
        path = line.rpartition("|")[2].removeprefix(origin.url)
        origin.serve(path, conditional(rss(f"one{path}", title=f"Feed {path}"), '"1"'))
    river.later(minutes=5)


def folders(river: River) -> dict[str, str]:
    """The folder of each feed, by the end of its address."""
    with river.site.database.read() as db:
        return {row.url[-2:]: row.folder for row in subscriptions.with_items(db)}


def tomorrow(river: River, origin: Origin, *lines: str) -> RiverFeed:
    """The list as it is after a day with these lines."""
    origin.serve(LIST, Reply(200, opml(*lines)))
    river.later(hours=25)
    return river.feed(origin.url + LIST)


def test_feeds_come_and_go_with_a_list(river: River, origin: Origin) -> None:
    a, b, c = (f"{origin.url}/{name}" for name in "abc")
    follow(river, origin, a, f"Tech|{b}")
    assert folders(river) == {"/a": "Lists", "/b": "Lists/Tech"}
    assert river.feed(origin.url + LIST).title == "Friends"
    assert sorted(river.titles()) == ["one/a", "one/b"]
    origin.serve("/c", Reply(200, rss("one/c")))
    row = tomorrow(river, origin, a, f"News|{c}")
    assert folders(river) == {"/a": "Lists", "/c": "Lists/News"}
    assert row.reasons[0] == "a list of 2 feeds: 1 followed, 1 let go"
    assert sorted(river.titles()) == ["one/a", "one/c"]
    assert river.feed(c).list_id == row.id


def test_what_a_person_did_is_left_as_it_is(river: River, origin: Origin) -> None:
    """Followed before, moved, kept, removed by hand: the list changes none of it."""
    own, moved, renamed, removed = (f"{origin.url}/{name}" for name in "omkr")
    origin.serve("/o", Reply(200, rss("one/o")))
    river.add(own)
    follow(river, origin, own, moved, renamed, removed)
    with river.site.database.write() as db:
        subscriptions.named(db, moved).folder = "Mine"
        subscriptions.named(db, renamed).list_id = None
        subscriptions.unsubscribe(db, subscriptions.named(db, removed))
    tomorrow(river, origin, f"Other|{own}", f"Other|{moved}", f"Other|{renamed}", removed)
    assert folders(river) == {"/o": "", "/m": "Mine", "/k": "Lists"}
    tomorrow(river, origin, removed)
    assert folders(river) == {"/o": "", "/k": "Lists"}


def test_starred_items_outlive_their_list(river: River, origin: Origin) -> None:
    a, b = f"{origin.url}/a", f"{origin.url}/b"
    follow(river, origin, a, b)
    with river.site.database.write() as db:
        author = authors.add(db, "ann", authors.hashed("a long password"), None, river.clock()).id
        number = db.scalar(select(RiverItem.id).where(RiverItem.title == "one/b"))
        assert number is not None
        reading_list.star_many(db, author, [number], True, river.clock())
    origin.serve("/b", Reply(200, rss("two/b", "one/b")))
    river.later(hours=2)
    assert "two/b" in river.titles()
    tomorrow(river, origin, a)
    assert sorted(river.titles()) == ["one/a", "one/b"]
    row = river.feed(b)
    assert (row.state, row.list_id, row.next_poll_at) == ("paused", None, None)


def test_a_list_that_fails_changes_nothing(river: River, origin: Origin) -> None:
    follow(river, origin, f"{origin.url}/a")
    for answer, problem in (
        (Reply(200, b"<html>gone</html>"), "not-a-list"),
        (Reply(500), "status-500"),
        (Reply(200, b"<opml><bo"), "not-a-list"),
        (Reply(404), "status-404"),
    ):
        origin.serve(LIST, answer)
        river.later(days=8)
        assert folders(river) == {"/a": "Lists"}
        assert river.feed(origin.url + LIST).problem == problem, answer


def test_a_list_that_loses_most_is_believed_a_day_later(river: River, origin: Origin) -> None:
    lines = [f"{origin.url}/{name}" for name in "abcde"]
    follow(river, origin, *lines)
    row = tomorrow(river, origin, lines[0])
    assert (row.problem, len(folders(river))) == (subscriptions.SHRUNK, 5)
    row = tomorrow(river, origin, *lines)
    assert (row.problem, len(folders(river))) == ("", 5)
    tomorrow(river, origin)
    row = tomorrow(river, origin)
    assert (row.problem, folders(river)) == ("", {})


def test_a_feed_of_two_lists_stays_with_the_other(river: River, origin: Origin) -> None:
    a, b = f"{origin.url}/a", f"{origin.url}/b"
    follow(river, origin, a, b)
    second_list = origin.serve("/other.opml", Reply(200, opml(a)))
    OnDemandPoller(river.site.database, river.clock, OPTIONS).add(second_list)
    tomorrow(river, origin, b)
    assert river.feed(a).list_id == river.feed(second_list).id


def test_a_list_goes_with_its_feeds(river: River, origin: Origin) -> None:
    follow(river, origin, f"{origin.url}/a", f"{origin.url}/b")
    with river.site.database.write() as db:
        subscriptions.named(db, f"{origin.url}/b").list_id = None
        subscriptions.unsubscribe(db, subscriptions.named(db, origin.url + LIST))
    assert folders(river) == {"/b": "Lists"}


def test_a_strangers_list_is_bounded(
    river: River, origin: Origin, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither its number of feeds, its policies, nor lists within it are taken on trust."""
    monkeypatch.setattr(subscriptions, "MOST_FEEDS", 2)
    inside = (
        f'<outline type="include" text="i" url="{origin.url}/i.opml"/>'
        + "".join(
            f'<outline xmlUrl="http://127.0.0.{n}:1/" river:policy="fixed:1" river:state="paused"/>'
            for n in range(2, 7)
        )
    )  # fmt: skip
    body = f'<opml xmlns:river="urn:publisher:river"><body>{inside}</body></opml>'
    url = origin.serve(LIST, Reply(200, body.encode()))
    OnDemandPoller(river.site.database, river.clock, OPTIONS).add(url)
    with river.site.database.read() as db:
        feeds = subscriptions.with_items(db)
    assert [(row.policy, row.state) for row in feeds] == [("", "active")] * 2
    reasons = river.feed(url).reasons
    assert reasons[:2] == [
        "a list of 2 feeds: 2 followed, 0 let go",
        "3 beyond the first 2 left out",
    ]


def test_an_unchanged_list_is_asked_once_a_day(river: River, origin: Origin) -> None:
    follow(river, origin, f"{origin.url}/a")
    origin.serve(LIST, conditional(opml(f"{origin.url}/a"), '"1"'))
    origin.log.clear()
    for _ in range(8):
        river.later(hours=12)
    moments = [entry.at for entry in origin.log if entry.target == LIST]
    assert 3 <= len(moments) <= 4
    wait = river.feed(origin.url + LIST).next_poll_at
    assert wait is not None
    assert wait - river.clock() > timedelta(hours=11)
