"""`/subscribe`: what the feed is, its addresses to copy, and links that open it in a reader."""

from dataclasses import dataclass
from urllib.parse import quote

from flask import Blueprint, render_template, request

from publisher.blog import published
from publisher.web.context import now, site
from publisher.web.day_strip import strip
from publisher.web.rendering import settings, url
from publisher.web.translations import gettext

blueprint = Blueprint("subscribe", __name__)

NEWEST = 5


@dataclass(frozen=True, slots=True)
class ReaderLink:
    """A feed reader and the address that opens it with the feed filled in."""

    name: str
    address: str


# Name and address; the feed's address is appended, quoted as part of a query.
_WEB_READERS = (
    ("Feedly", "https://feedly.com/i/subscription/feed/"),
    ("Inoreader", "https://www.inoreader.com/?add_feed="),
    ("NewsBlur", "https://www.newsblur.com/?url="),
    ("Feedbin", "https://feedbin.com/?subscribe="),
    ("The Old Reader", "https://theoldreader.com/feeds/subscribe?url="),
)
_PODCAST_SCHEMES = (("Apple Podcasts", "podcast://"), ("Pocket Casts", "pktc://subscribe/"))


@blueprint.get("/subscribe")
def subscribe() -> str:
    """How to follow this blog, or with `?tag=` the posts of one tag."""
    with site().database.read() as db:
        slug = request.args.get("tag", "")
        tag = published.tag_called(db, slug) if slug else None
        newest = published.with_tag(db, tag, NEWEST) if tag else published.newest(db, NEWEST)
        feed = f"/tags/{tag.slug}/rss.xml" if tag else "/rss.xml"
        is_podcast = not tag and published.has_sound(db, settings().feed_items)
        return render_template(
            "blog/subscribe.html",
            tag=tag,
            feed=feed,
            readers=web_readers(url(feed)),
            podcast_readers=podcast_readers(url(feed)) if is_podcast else [],
            newest=newest,
            day=strip(db, now()),
        )


def web_readers(feed: str) -> list[ReaderLink]:
    """Readers on the web, and the program for `feed:` links on the visitor's device."""
    own = ReaderLink(gettext("A program on this device"), f"feed:{feed}")
    return [*(ReaderLink(name, start + quote(feed, safe="")) for name, start in _WEB_READERS), own]


def podcast_readers(feed: str) -> list[ReaderLink]:
    """Podcast programs: links whose scheme replaces https."""
    bare = feed.partition("://")[2]
    return [ReaderLink(name, scheme + bare) for name, scheme in _PODCAST_SCHEMES]
