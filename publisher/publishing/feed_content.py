"""The content of a feed: posts and settings as the plain values of `feeds.channel`."""

import re
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from html import escape
from urllib.parse import quote, urljoin, urlsplit

from sqlalchemy.orm import Session, object_session

from publisher.base.text import clean
from publisher.blog import update_log
from publisher.blog.markup.safe_html import absolute
from publisher.blog.post_files.file_kinds import type_of
from publisher.blog.published import with_links_shown
from publisher.blog.writing import posts
from publisher.blog.writing.content import of_post
from publisher.feeds.channel import Channel, Item, Podcast
from publisher.installation.settings import Settings
from publisher.publishing.outbox import cloud_element
from publisher.storage.tables.blog import Post, Tag

_OWN_TARGET = re.compile(r"""(\]\(<?|\b(?:href|poster|src)=["'])/(?!/)""")
_FULL_ADDRESS = re.compile(r"https?://\S+", re.IGNORECASE)


def frame(settings: Settings, site_url: str) -> Channel:
    """The main feed without items, ttl and dates."""
    return Channel(
        title=settings.title,
        description=settings.description,
        language=settings.language,
        home_url=f"{site_url}/",
        feed_url=f"{site_url}/rss.xml",
        hubs=tuple(settings.hubs.split()),
        cloud=cloud_element(settings.cloud) if settings.cloud else None,
        accounts=accounts(settings.elsewhere),
        podcast=_podcast(settings, site_url),
    )


def tag_frame(main: Channel, tag: Tag) -> Channel:
    """The feed of one tag, without items; it has no hubs and no cloud."""
    home_url = f"{main.home_url}tags/{quote(tag.slug)}"
    return replace(
        main,
        title=f"{main.title}: {tag.name}",
        home_url=home_url,
        feed_url=f"{home_url}/rss.xml",
        hubs=(),
        cloud=None,
        podcast=replace(main.podcast, guid=""),  # a podcast:guid belongs to one feed only
    )


def items(rows: Iterable[Post], site_url: str, with_markdown: bool = True) -> tuple[Item, ...]:
    """Posts as feed items, on request with their Markdown source."""
    return tuple(_item(post, site_url, with_markdown) for post in rows)


def not_ahead(session: Session, items: Iterable[Item], now: datetime) -> tuple[Item, ...]:
    """Items without dates after `now`, which were made while the clock was ahead: they take that of
    the last update, so that they change with it alone."""
    latest = _whole_second(update_log.last_update(session, now) or now)
    return tuple(
        replace(
            item,
            published_at=item.published_at if item.published_at <= now else latest,
            changed_at=item.changed_at if item.changed_at <= now else latest,
        )
        for item in items
    )


def tombstones(rows: Iterable[tuple[str, datetime]]) -> tuple[tuple[str, datetime], ...]:
    """Deleted posts for `Channel.deleted`, from pairs of guid and time."""
    return tuple((clean(guid), _whole_second(moment)) for guid, moment in rows)


def _podcast(settings: Settings, site_url: str) -> Podcast:
    image = settings.podcast_image
    return Podcast(
        image_url=_whole(image, site_url),
        category=settings.podcast_category,
        author=settings.podcast_author,
        owner_email=settings.podcast_email,
        explicit=settings.podcast_explicit == "yes",
        guid=settings.podcast_guid,
    )


def _item(post: Post, site_url: str, with_markdown: bool) -> Item:
    url = site_url + quote(posts.path(post))
    content = of_post(post, tuple(tag.name for tag in post.tags))
    file = content.enclosure
    # Typed text was cleaned when it was saved; but a guid may be imported, and HTML may contain
    # character references (&#1;).
    return Item(
        guid=clean(post.guid),
        guid_is_permalink=post.guid_is_permalink and bool(_FULL_ADDRESS.fullmatch(post.guid)),
        url=url,
        title=post.title,
        html=clean(absolute(with_picture(post), url)),
        image=urljoin(url, post.image) if post.image else "",
        summary=post.summary,
        published_at=_whole_second(post.published_at or post.changed_at),
        changed_at=_whole_second(post.changed_at),
        author=post.author.display_name if post.author else "",
        tags=content.tags,
        attachment=file and replace(file, url=_whole(file.url, site_url)),
        markdown=_markdown(post, site_url) if with_markdown else "",
        transcript=_transcript(post, site_url),
        author_url=f"{site_url}/authors/{quote(post.author.name)}" if post.author else "",
    )


def with_picture(post: Post) -> str:
    """A post's HTML with its own picture above the text, and with the links that parts show."""
    session, html = object_session(post), post.html
    if session is not None:
        html = with_links_shown(session, html)
    if not post.image:
        return html
    return f'<p><img src="{escape(post.image)}" alt="{escape(post.image_alt)}"></p>\n{html}'


def _transcript(post: Post, site_url: str) -> tuple[str, str] | None:
    if not post.transcript:
        return None
    return _whole(post.transcript, site_url), type_of(post.transcript)


def _whole(address: str, site_url: str) -> str:
    """An address as others read it: that of a file of this site (`/media/...`) made complete."""
    return site_url + address if address.startswith("/") else address


def _markdown(post: Post, site_url: str) -> str:
    """The Markdown source of a post, with links to this site made absolute; "" for HTML posts."""
    if post.source_format != "markdown":
        return ""
    return clean(_OWN_TARGET.sub(rf"\1{site_url}/", post.source))


def _whole_second(moment: datetime) -> datetime:
    """Cut off the fraction of a second, which feeds do not have."""
    return moment.replace(microsecond=0)


# Profile addresses: a service's host, and the path before the account name.
_SERVICES = {
    ("github.com", "/"): "github",
    ("gitlab.com", "/"): "gitlab",
    ("codeberg.org", "/"): "codeberg",
    ("x.com", "/"): "twitter",
    ("twitter.com", "/"): "twitter",
    ("bsky.app", "/profile/"): "bluesky",
    ("linkedin.com", "/in/"): "linkedin",
    ("instagram.com", "/"): "instagram",
    ("threads.net", "/@"): "threads",
    ("youtube.com", "/@"): "youtube",
    ("micro.blog", "/"): "micro.blog",
}


def accounts(addresses: str) -> tuple[tuple[str, str], ...]:
    """The accounts among some addresses (the setting `elsewhere`), as (service, name)."""
    return tuple(account for address in addresses.split() if (account := _account(address)))


def _account(address: str) -> tuple[str, str] | None:
    """The account at an address; `/@name` at an unknown host is one of the Fediverse."""
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return None
    host, path = parts.hostname.removeprefix("www."), parts.path.rstrip("/")
    for (place, before), service in _SERVICES.items():
        if host == place:
            name = path.removeprefix(before)
            return (service, name) if path.startswith(before) and _is_name(name) else None
    name = path.removeprefix("/@")
    fediverse = path.startswith("/@") and _is_name(name)
    return ("mastodon", f"@{name}@{host}") if fediverse else None


def _is_name(text: str) -> bool:
    return bool(text) and "/" not in text and text.isprintable()
