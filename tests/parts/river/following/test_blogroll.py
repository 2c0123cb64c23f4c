"""Which subscriptions strangers may see."""

import pytest
from sqlalchemy import select

from publisher.base.errors import Conflict
from publisher.installation import Site
from publisher.parts.river.following import public_feeds
from publisher.parts.river.polls.moves import take_address
from publisher.parts.river.stored.poll_rows import FeedRow
from publisher.parts.river.tables import RiverFeed
from tests.conftest import FakeClock
from tests.parts.river.test_worker import River


def feed(url: str, username: str = "") -> RiverFeed:
    return RiverFeed(url=url, added_url=url, username=username, public=False)


@pytest.mark.parametrize(
    ("url", "private"),
    [
        ("https://a.example/feed.xml", False),
        ("https://a.example/2024/03/a-long-title-with-many-words-in-it/feed", False),
        ("https://a.example/@somebody/rss", False),
        ("https://a.example/internationalization", False),
        ("https://a.example/feed?key=1", True),
        ("https://a.example/feed?channel_id=UCx", True),
        ("https://a.example/rss/9f86d081884c7d659a2feaa0c55ad015", True),
        ("https://a.example/private/feed", True),
        ("https://a.example/0b5c2a7e-6a51-4b0e-9f6e-3c1f1f9b8a11.xml", True),
        ("https://a.example/f/Zm9vYmFyYmF6cXV4MTIz", True),
    ],
)
def test_addresses_that_look_private(url: str, private: bool) -> None:
    assert bool(public_feeds.why_private(feed(url))) == private


def test_a_feed_with_a_login_is_never_shown() -> None:
    with pytest.raises(Conflict):
        public_feeds.show(feed("https://a.example/f", "ada"), True)


def test_a_shown_feed_that_moves_to_a_private_address_is_hidden(
    site: Site, clock: FakeClock
) -> None:
    river = River(site, clock)
    river.add("http://a.example/f")
    with site.database.write() as db:
        public_feeds.show_folder(db, "", True)
    assert river.feed("http://a.example/f").public
    with site.database.write() as db:
        (row,) = FeedRow.made_of(db.execute(select(*FeedRow.columns())))
        take_address(db, row, "http://a.example/f?token=1", clock())
    assert not river.feed("http://a.example/f").public
