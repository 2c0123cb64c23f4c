"""Fill an empty instance with the demonstration: people, settings, media, posts, history.

The history is random updates at the rates of the authors' usual day; the river's subscriptions have
prepared items and are never polled.
"""

import random
import re
import tomllib
import uuid
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, time, timedelta
from importlib import resources
from typing import Any
from zoneinfo import ZoneInfo

from sqlalchemy import select
from sqlalchemy.orm import Session

from publisher.base.errors import Conflict
from publisher.base.media_files import MediaFiles
from publisher.blog import update_log
from publisher.blog.members import authors
from publisher.blog.members.passwords import Hash
from publisher.blog.post_files import media
from publisher.blog.post_files.media import Accepted
from publisher.blog.writing import posts
from publisher.exchange.front_matter import split_front_matter
from publisher.feed_reading.feed_document import FeedDocument, FeedItem
from publisher.feed_reading.feed_html import sanitised
from publisher.installation.settings import store_setting
from publisher.parts.importing import planning, writer
from publisher.parts.importing.formats import markdown_files
from publisher.parts.importing.imported import Batch, ImportedPost
from publisher.parts.importing.planning import prepare
from publisher.parts.river.following import subscriptions
from publisher.parts.river.stored import item_store
from publisher.storage.tables.blog import Post
from publisher.storage.tables.credentials import Author

ZONE = "Europe/Lisbon"
SETTINGS = {
    "title": "Told You When",
    "description": "Mornings, bread, stairs, and a feed that knows when we speak.",
    "timezone": ZONE,
}
PEOPLE = {"mara": "Mara Lind", "tomas": "Tomas Reis"}
_CORRECTED = "Patience is a protocol"
HERE = resources.files("publisher.parts.demo")
_EPISODE = "five-in-the-morning.mp3"
# Half a minute of MPEG-1 layer III: 32 kbit/s, mono, 32 kHz, frames of 144 bytes and 36 ms.
_SILENCE = (bytes([0xFF, 0xFB, 0x18, 0xC0]) + bytes(140)) * 833


def texts(addresses: Mapping[str, str], episode: Accepted, now: datetime) -> list[ImportedPost]:
    """Every post, in the order of the files' names; in them, `{lighthouse}` and other names of
    `pictures/` are replaced by `addresses`."""
    files = sorted(HERE.joinpath("posts").iterdir(), key=lambda path: path.name)
    written = (path.read_text("utf-8") for path in files if path.name.endswith(".md"))
    return [_text(text, addresses, episode, now) for text in written]


def _text(
    text: str, addresses: Mapping[str, str], episode: Accepted, now: datetime
) -> ImportedPost:
    """A post as in its file. In the front matter, `day` is how many days ago (negative: in the
    future), `time` the local civil time."""
    _, typed = split_front_matter(text)
    whole = re.sub(r"\{([\w-]+)\}", lambda named: addresses.get(named[1], named[0]), text)
    fields, source = split_front_matter(whole)
    post = markdown_files.post("", {"state": "published", **fields}, source, UTC)
    at = moment(int(fields["day"]), fields["time"], now, ZoneInfo(ZONE))
    return replace(
        post,
        where=post.title or source[:30],
        guid=f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, typed)}",
        slug="about" if post.kind == "page" else "",
        published_at=at if post.status != "draft" else None,
        enclosure=episode.attachment if "episode" in fields else None,
    )


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
    moments = []
    for back in range(DAYS, -1, -1):
        day = today - timedelta(days=back)
        share = WEEKEND if day.weekday() >= 5 else 1.0
        for hour, rate in enumerate(RATES):
            start = datetime.combine(day, time(hour), zone).astimezone(UTC)
            number = _poisson(rng, rate * share)
            moments += [start + timedelta(seconds=rng.randrange(3600)) for _ in range(number)]
    return sorted(moment for moment in moments if moment < now)


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
    feeds = tomllib.loads(HERE.joinpath("neighbours.toml").read_text("utf-8"))["feed"]
    for neighbour in feeds:
        feed = subscriptions.subscribe(
            session,
            neighbour["url"],
            now,
            now,
            title=neighbour["title"],
            folder=neighbour["folder"],
        )
        items = tuple(_item(neighbour["url"], item, now) for item in neighbour["items"])
        item_store.keep(session, feed, FeedDocument("rss", items=items), feed.url, now, rows)
        feed.last_new_at = max(item.published_at for item in items if item.published_at)
        subscriptions.pause(feed)
        feed.reasons = ["its items came with the demonstration; it is not visited"]
    item_store.insert_new(session, rows)
    return len(feeds)


def _item(url: str, item: dict[str, Any], now: datetime) -> FeedItem:
    address = f"{url.rpartition('/')[0]}/{item['hours']}"
    at = now - timedelta(hours=item["hours"])
    markup = f"<p>{item['text']}</p>"
    return sanitised(FeedItem(address, address, item["title"], markup, published_at=at), address)


def files() -> dict[str, Accepted]:
    """The media of the demonstration by name, ready to be stored; slow, so call it outside a
    transaction."""
    pictures = HERE.joinpath("pictures").iterdir()
    uploads = {path.name.removesuffix(".png"): media.accept(path.read_bytes()) for path in pictures}
    return uploads | {_EPISODE: media.accept(_SILENCE)}


def build(
    session: Session,
    uploads: Mapping[str, Accepted],
    passwords: Mapping[str, Hash],
    rng: random.Random,
    now: datetime,
) -> int:
    """Write the whole blog; `passwords` by author, hashed. Returns the number of posts.

    Raises Conflict when the instance is not empty.
    """
    check_empty(session)
    for name, value in SETTINGS.items():
        store_setting(session, name, value)
    for name, shown in PEOPLE.items():
        authors.add(session, name, passwords[name], None, now, shown)
    for name, upload in uploads.items():
        media.record(session, upload, name, None, now)
    addresses = {name: upload.path for name, upload in uploads.items()}
    prepared = list(prepare(Batch(texts(addresses, uploads[_EPISODE], now)), now))
    planned = planning.make_plan(session, prepared, None)
    writer.store(session, planned, now)
    past = history(rng, now, ZoneInfo(ZONE))
    update_log.record_all(session, past, "loaded")
    _correct(session, now)
    return len(prepared)


def check_empty(session: Session) -> None:
    """Conflict unless the instance has no authors and no posts."""
    if session.scalar(select(Post.id).limit(1)) or session.scalar(select(Author.id).limit(1)):
        raise Conflict(
            "this instance is in use; the demonstration only fills an empty one "
            "(set PUBLISHER_INSTANCE to a new folder)"
        )


def store_files(media_files: MediaFiles, uploads: Mapping[str, Accepted]) -> None:
    """Store the files."""
    for upload in uploads.values():
        media.store(media_files, upload)


def _correct(session: Session, now: datetime) -> None:
    """One minor edit, so that there is a revision to look at."""
    post = session.scalars(select(Post).where(Post.title == _CORRECTED)).one()
    value = posts.content(session, post)
    better = replace(value, source=value.source.replace("*a village*", "*living in a village*"))
    posts.save(session, post.id, better, post.version, post.author_id, now, minor=True)
