"""The demonstration's posts (from `posts/`), its update history, and its river's subscriptions.

The history is random updates at the rates of the authors' usual day; the subscriptions have
prepared items and are never polled.
"""

import random
import tomllib
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from importlib.resources import files
from typing import Any
from zoneinfo import ZoneInfo

from sqlalchemy.orm import Session

from publisher.exchange.importing.formats import markdown_files
from publisher.river.following import subscriptions
from publisher.river.polls import item_store
from publisher.river.reading.feed_document import FeedItem
from publisher.river.reading.feed_html import sanitised
from publisher.storage.tables.blog import PostKind, PostStatus


@dataclass(frozen=True)
class Text:
    """A post as in its file; all fields but `source` are in the front matter.

    `day`: how many days ago (negative: in the future); `time`: local civil time, hh:mm. In the
    source and in `image`, `{lighthouse}` and other names of `pictures/` are replaced by addresses.
    """

    day: int
    time: str
    source: str
    title: str = ""
    tags: tuple[str, ...] = ()
    by: str = "mara"
    summary: str = ""
    image: str = ""
    image_alt: str = ""
    status: PostStatus = "published"
    kind: PostKind = "post"
    episode: bool = False


def all_texts() -> list[Text]:
    """Every post, in the order of the files' names."""
    found = sorted(files(__package__).joinpath("posts").iterdir(), key=lambda path: path.name)
    return [_text(path.read_text("utf-8")) for path in found if path.name.endswith(".md")]


def _text(file: str) -> Text:
    fields, source = markdown_files.split_front_matter(file)
    values: dict[str, Any] = {
        **fields,
        "day": int(fields["day"]),
        "tags": tuple(fields.get("tags", ())),
        "episode": "episode" in fields,
    }
    return Text(source=source, **values)


DAYS = 91
WEEKEND = 0.6

# Updates an hour, by local hour: busy mornings, few in the afternoon, more in the evening, none at
# night.
RATES = (
    0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.05, 1.1, 1.7, 1.9, 1.8, 1.5,
    1.2, 0.9, 0.45, 0.4, 0.4, 0.3, 0.1, 0.8, 0.7, 0.2, 0.08, 0.0,
)  # fmt: skip


def history(rng: random.Random, now: datetime, zone: ZoneInfo) -> list[datetime]:
    """The times of posts and edits in the last three months, oldest first, before `now`."""
    today = now.astimezone(zone).date()
    found = []
    for back in range(DAYS, -1, -1):
        day = today - timedelta(days=back)
        share = WEEKEND if day.weekday() >= 5 else 1.0
        for hour, rate in enumerate(RATES):
            start = datetime.combine(day, time(hour), zone).astimezone(UTC)
            number = _poisson(rng, rate * share)
            found += [start + timedelta(seconds=rng.randrange(3600)) for _ in range(number)]
    return sorted(moment for moment in found if moment < now)


def moment(day: int, clock: str, now: datetime, zone: ZoneInfo) -> datetime:
    """`day` days ago at a civil time; a day earlier if that would be after `now`."""
    hour, minute = map(int, clock.split(":"))
    date = now.astimezone(zone).date() - timedelta(days=day)
    at = datetime.combine(date, time(hour, minute), zone).astimezone(UTC)
    return at - timedelta(days=1) if day >= 0 and at >= now else at


def _poisson(rng: random.Random, mean: float) -> int:
    """A random number from the Poisson distribution with this mean (Knuth's method)."""
    number, product, limit = 0, rng.random(), 2.718281828459045**-mean
    while product > limit:
        number += 1
        product *= rng.random()
    return number


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
    return sanitised(FeedItem(address, address, told["title"], markup, published_at=at), address)
