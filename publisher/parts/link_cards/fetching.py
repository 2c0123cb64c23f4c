"""Fetches the pages whose addresses stand alone in a post, once, and keeps what they are called.

The scheduler does it after a save, so no author waits, and no reader asks anybody else.
"""

import math

from sqlalchemy import select

from publisher.base.errors import PublisherError
from publisher.base.net import OutgoingError
from publisher.base.system.confined import Limits, read
from publisher.blog.post_files import media
from publisher.installation import Site
from publisher.parts.link_cards.page_words import PageWords, described
from publisher.parts.link_cards.tables import LinkCard
from publisher.publishing.rebuild import rebuild
from publisher.storage import database

AGENT = "link card"  # as servers see it, behind the name of the blog
MAX_PAGE, MAX_PICTURE = 1_000_000, 8_000_000
READING = Limits(seconds=5.0)
_AT_ONCE = 8


def fetch_link_cards(site: Site) -> float:
    """Fetch the cards that are wanted, some at a time; returns the seconds until the next look.

    Nothing is locked while the pages answer. A page that fails leaves a plain link.
    """
    with site.database.read() as session:
        wanted = select(LinkCard.url).where(LinkCard.wanted).limit(_AT_ONCE)
        due = session.scalars(wanted).all()
    for url in due:
        page = _fetched(site, url)
        picture = _picture(site, page.picture) if page and page.picture else None
        with site.database.write() as session:
            row = session.get(LinkCard, url)
            if row is None:
                continue
            row.wanted = False
            if page is not None:
                row.title, row.description, row.site = page.title, page.description, page.site
                row.picture = picture.path if picture else ""
            if picture is not None:
                media.record(session, picture, f"card of {url}", None, site.clock())
            database.content_changed(session)
    if due:
        rebuild(site)
    return math.inf if len(due) < _AT_ONCE else 0.0


def _fetched(site: Site, url: str) -> PageWords | None:
    try:
        accept = {"Accept": "text/html, */*;q=0.5"}
        page = site.request(url, AGENT, headers=accept, max_bytes=MAX_PAGE, beginning=True)
        if page.status != 200 or "html" not in page.headers.get("content-type", "html"):
            return None
        return read(described, READING, page.body, page.url)
    except (OutgoingError, PublisherError):
        return None


def _picture(site: Site, url: str) -> media.Accepted | None:
    """The page's picture, small, in our own encoding and stored; None when it cannot be had."""
    try:
        accept = {"Accept": "image/*"}
        answer = site.request(url, AGENT, headers=accept, max_bytes=MAX_PICTURE)
        if answer.status != 200:
            return None
        small, _ = media.accept_emblem(answer.body)
        media.store(site.environment.media, small)
    except (OutgoingError, PublisherError):
        return None
    return small
