"""The demonstration's river: a few subscriptions with prepared items; they are never polled."""

import tomllib
from datetime import datetime, timedelta
from importlib.resources import files
from typing import Any

from sqlalchemy.orm import Session

from publisher.river.following import subscriptions
from publisher.river.polls import item_store
from publisher.river.reading.feed_document import FeedItem
from publisher.river.reading.feed_html import harmless


def follow(session: Session, now: datetime) -> int:
    """Subscribe to all feeds, paused, and store their items; returns the number of feeds."""
    rows: list[item_store.NewRow] = []
    feeds = tomllib.loads(files(__package__).joinpath("neighbours.toml").read_text("utf-8"))["feed"]
    for told in feeds:
        feed = subscriptions.subscribe(
            session, told["url"], now, now, title=told["title"], folder=told["folder"]
        )
        items = [_item(told["url"], item, now) for item in told["items"]]
        item_store.keep(session, feed, items, now, rows)
        feed.last_new_at = max(item.published_at for item in items if item.published_at)
        subscriptions.pause(feed)
        feed.reasons = ["its items came with the demonstration; it is not polled"]
    item_store.insert_new(session, rows)
    return len(feeds)


def _item(url: str, told: dict[str, Any], now: datetime) -> FeedItem:
    address = f"{url.rpartition('/')[0]}/{told['hours']}"
    at = now - timedelta(hours=told["hours"])
    markup = f"<p>{told['text']}</p>"
    return harmless(FeedItem(address, address, told["title"], markup, published_at=at), address)
