"""Which items are the same: notices that repeat themselves, ids that change, sites that move."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from sqlalchemy import select

from publisher.parts.river.stored.identity import Sites, site_of
from publisher.parts.river.tables import RiverItem, RiverVisit
from tests.parts.river.origin import Origin, Reply, Route, rss
from tests.parts.river.test_worker import XML, River

Entry = tuple[str, str, str, int | None]
"""An item: id, address, title, and how many days ago it was published (None: no date)."""


def document(entries: Iterable[Entry], now: datetime, site: str = "https://blog.example/") -> bytes:
    parts = []
    for name, address, title, age in entries:
        date = "" if age is None else format_datetime(now - timedelta(days=age))
        parts.append(
            f"<item><title>{title}</title><link>{address}</link><guid>{name}</guid>"
            f"<description>About {title}</description><pubDate>{date}</pubDate></item>"
        )
    head = f"<title>My blog</title><link>{site}</link>"
    return f'<rss version="2.0"><channel>{head}{"".join(parts)}</channel></rss>'.encode()


class Followed:
    """A feed that is followed, and what each poll of it brought."""

    def __init__(self, river: River, origin: Origin) -> None:
        self.river, self.origin = river, origin
        self.now = river.clock()
        self.url = origin.url + "/f"

    def show(self, *entries: Entry, site: str = "https://blog.example/") -> int:
        """The feed has these items now, and is polled; returns how many were new."""
        body = document(entries, self.now, site)
        first = "/f" not in self.origin.routes
        self.origin.serve("/f", Reply(200, body, XML))
        if first:
            self.river.add(self.url, "fixed:60")
        self.river.later(hours=1)
        with self.river.site.database.read() as db:
            newest = select(RiverVisit.new_items).order_by(RiverVisit.id.desc()).limit(1)
            return db.scalar(newest) or 0

    def items(self) -> int:
        with self.river.site.database.read() as db:
            return len(db.scalars(select(RiverItem)).all())


@pytest.fixture
def feed(river: River, origin: Origin) -> Followed:
    return Followed(river, origin)


STATUS = "https://status.example/"
DONE = "Backup completed"


def notice(name: str, age: int | None) -> Entry:
    return name, STATUS, DONE, age


@pytest.mark.parametrize("dated", [True, False])
def test_a_notice_that_repeats_the_words_of_an_older_one(feed: Followed, dated: bool) -> None:
    """An id of its own makes an item, whatever its text, while the older one is still there."""
    ages = {"b3": 1, "b2": 2, "b1": 3}
    notices = {name: notice(name, age if dated else None) for name, age in ages.items()}
    assert feed.show(notices["b1"]) == 1
    assert feed.show(notices["b2"], notices["b1"]) == 1
    assert feed.show(notices["b3"], notices["b2"]) == 1
    assert feed.items() == 3


def test_notices_of_which_only_the_newest_is_shown(feed: Followed) -> None:
    """The dates differ: neither id nor text of the old one is left, and it is another one."""
    assert [feed.show(notice(f"b{n}", 9 - n)) for n in range(4)] == [1, 1, 1, 1]


def test_one_old_item_is_taken_for_one_new_one(feed: Followed) -> None:
    """Of two undated items with the words of one that has gone, one is new."""
    feed.show(notice("b1", None))
    assert feed.show(notice("b3", None), notice("b2", None)) == 1


@pytest.mark.parametrize("age", [2, None])
def test_ids_that_change_at_every_fetch(feed: Followed, age: int | None) -> None:
    """The same addresses, words and dates under other ids are the same items."""
    for turn in range(3):
        new = feed.show(*((f"{turn}-{n}", f"https://a.example/{n}", f"t{n}", age) for n in "ab"))
        assert new == (0 if turn else 2)


def posts(old: str, *, count: int = 5, age: int | None = None) -> list[Entry]:
    """Posts whose addresses are their ids, below `old`."""
    return [
        (f"{old}posts/{n}/", f"{old}posts/{n}/", f"Post {n}", age and age + count - n)
        for n in range(count, 0, -1)
    ]


@pytest.mark.parametrize("age", [3, None])
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("http://blog.example/", "https://blog.example/"),
        ("https://blog.example/", "https://www.blog.example/"),
        ("http://blog.example/", "https://new.example/"),
        ("http://ada.host.example/blog/", "https://ada.example/"),
        ("https://ada.example/", "https://host.example/ada/"),
    ],
)
def test_a_site_that_moves(feed: Followed, before: str, after: str, age: int | None) -> None:
    """Its old posts are known under their new addresses, and a new one is new."""
    assert feed.show(*posts(before, age=age), site=before) == 5
    assert feed.show(*posts(after, count=6, age=age)[:5], site=after) == 1
    assert feed.show(*posts(after, count=7, age=age)[:5], site=after) == 1
    assert feed.items() == 7


def test_a_site_that_moves_is_recognised_among_ids_that_stay(feed: Followed) -> None:
    """Half of the ids are no addresses, and do not change."""
    fixed = ("7f3a", "http://blog.example/x", "Fixed", None)
    feed.show(*posts("http://blog.example/"), fixed, site="http://blog.example/")
    assert feed.show(*posts("https://blog.example/"), fixed) == 0


def test_tags_of_a_moved_site(feed: Followed) -> None:
    """Atom's tag: ids name the host too."""
    old = [(f"tag:old.example,2026:{n}", f"http://old.example/{n}", f"P{n}", None) for n in "abc"]
    new = [(f"tag:new.example,2026:{n}", f"http://new.example/{n}", f"P{n}", None) for n in "abc"]
    feed.show(*old, site="http://old.example/")
    assert feed.show(*new, site="http://new.example/") == 0


def test_a_site_that_was_built_anew(feed: Followed) -> None:
    """Other ids and other addresses, but titles and dates of the stored ones."""
    feed.show(*((f"x{n}", f"https://a.example/?p={n}", f"Post {n}", n) for n in range(1, 6)))
    again = [(f"y{n}", f"https://a.example/post-{n}/", f"Post {n}", n) for n in range(1, 6)]
    assert feed.show(("y0", "https://a.example/post-0/", "Post 0", 0), *again[:4]) == 1


def test_the_same_titles_week_after_week(feed: Followed) -> None:
    """A programme whose titles repeat with other dates is not the old one built anew."""
    days = ["Monday", "Tuesday", "Wednesday", "Thursday"]
    feed.show(*((f"a{d}", f"https://a.example/a{d}", d, 20 - n) for n, d in enumerate(days)))
    later = [(f"b{d}", f"https://a.example/b{d}", d, 13 - n) for n, d in enumerate(days)]
    assert feed.show(*later) == 4


def test_two_undated_items_alike_are_no_site_built_anew(feed: Followed) -> None:
    """Two titles are too few evidence without dates."""
    feed.show(
        ("a1", "https://a.example/a1", "Links", None), ("a2", "https://a.example/a2", "Note", None)
    )
    second = (
        ("b1", "https://a.example/b1", "Links", None),
        ("b2", "https://a.example/b2", "Note", None),
    )
    assert feed.show(*second) == 2


def test_an_aggregator_is_no_moved_site(feed: Followed) -> None:
    """The same path on another host is another post where neither host is the feed's own."""
    feed.show(
        ("http://ada.example/1", "http://ada.example/1", "One", None), site="http://planet.example/"
    )
    second = ("http://bob.example/1", "http://bob.example/1", "Uno", None)
    assert feed.show(second, site="http://planet.example/") == 1


def test_earlier_ids() -> None:
    """Only an id on one of the feed's own sites had others before, and a host must end there."""
    sites = Sites(frozenset({"old.example"}), frozenset({"old.example", "new.example"}))
    assert "http://old.example/1" in set(sites.earlier_ids("https://www.new.example/1"))
    assert "http://old.example/1" in set(sites.earlier_ids("https://old.example/1"))
    for foreign in ("https://new.example.org/1", "https://other.example/1", "1", "", "http://"):
        assert list(sites.earlier_ids(foreign)) == []
    assert site_of("HTTPS://WWW.Blog.example/a/") == "blog.example/a"
    assert site_of("none") == site_of("") == ""


def test_dates_to_the_second_are_compared(feed: Followed) -> None:
    """A date in the future was stored as the moment at which it was seen."""
    soon = datetime(2024, 3, 4, 18, tzinfo=UTC)
    assert (soon - feed.now).days == 0
    entry = ("a-1", "https://a.example/1", "Soon", 0)
    feed.now = soon
    assert feed.show(entry) == 1
    assert feed.show(("a-2", *entry[1:])) == 0


def test_a_build_date_that_moves_is_no_change(river: River, origin: Origin) -> None:
    """Policies that count changes of a document wait as long as where it stays the same."""
    policies = ["adaptive", "cho-changes:visits=3", "cho-nochanges:visits=3"]
    polls = dict.fromkeys(policies, 0)

    def route(policy: str, moves: bool) -> Route:
        def answer(_headers: Mapping[str, str]) -> Reply:
            polls[policy] += moves
            date = f"<lastBuildDate>{polls[policy] if moves else 0}</lastBuildDate>".encode()
            return Reply(200, rss("a", "b").replace(b"<item>", date + b"<item>", 1), XML)

        return answer

    pairs = {
        policy: [origin.serve(f"/{n}{moves}", route(policy, moves)) for moves in (True, False)]
        for n, policy in enumerate(policies)
    }
    for policy, pair in pairs.items():
        for url in pair:
            river.add(url, policy)
    for _ in range(12):
        due = [river.feed(url).next_poll_at for pair in pairs.values() for url in pair]
        river.clock.moment = max(at or river.clock() for at in due)
        river.poll()
    assert min(polls.values()) > 10
    for policy, (moving, staying) in pairs.items():
        assert river.wait(moving) == river.wait(staying) > 60, policy
