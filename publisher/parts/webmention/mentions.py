"""Webmention (W3C recommendation, 2017): pages that posts link to are notified (`send`).

Received mentions are stored, verified by fetching their page, then shown or refused by the author.

A stranger decides what we fetch here, so fetches are small, rare, and behind the guard against
private addresses; at most `MOST_OF_A_HOST` pages of one host wait to be fetched.

The outbox has the post's path, not its address, so that a blog that moves sends the new address.
"""

import math
import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from html import unescape
from itertools import islice
from urllib.parse import unquote, urljoin, urlsplit

from sqlalchemy import func, or_, select
from sqlalchemy.orm import Session, joinedload

from publisher.base.errors import FieldErrors, InvalidInput, TooMany, must_exist
from publisher.base.net import OutgoingError, Reply, check_url
from publisher.base.system.confined import Limits, Unreadable, read
from publisher.blog import published
from publisher.blog.members import permissions
from publisher.blog.writing import posts
from publisher.installation import Site
from publisher.installation.settings import load
from publisher.parts.webmention.documents import (
    MentionText,
    endpoint_in_header,
    endpoint_in_page,
    mention_in,
)
from publisher.parts.webmention.settings import WebmentionSettings
from publisher.parts.webmention.tables import Mention
from publisher.publishing.outbox import request_delivery
from publisher.storage import database
from publisher.storage.tables.blog import Post
from publisher.storage.tables.credentials import Author
from publisher.storage.tables.publishing import Delivery

PROTOCOL = "webmention"  # in the outbox
AGENT = "Webmention"  # as servers see it, behind the name of the blog
MAX_PAGE, MAX_ADDRESS = 1_000_000, 2_000
READING = Limits(seconds=5.0)
AT_ONCE = 4
MOST_NEW, MOST_OF_A_HOST, MOST_OF_A_POST = 500, 20, 1_000
PAUSES_MINUTES = (5, 60, 720)  # until a page that did not answer is asked again
SHOWN_BELOW, LISTED = 200, 200
MOST_LINKS = 100  # of one post
# For sanitised HTML only, in which attributes are in double quotes.
_LINK = re.compile(r'<a\s(?:[^<>]*\s)?href="(https?://[^"\s]+)"', re.IGNORECASE)


def receive(session: Session, site_url: str, source: str, target: str, now: datetime) -> Mention:
    """Store the claim that `source` links to `target`; `fetch_due` fetches `source` soon.

    Raises FieldErrors for invalid addresses, InvalidInput for a target that is no published post or
    page, TooMany when too many wait.
    """
    problems = {name: problem for name, text in (("source", source), ("target", target))
                if (problem := _problem(text))}  # fmt: skip
    if problems:
        raise FieldErrors(problems)
    if source.startswith(f"{site_url}/"):
        raise InvalidInput("source: this blog does not mention itself")
    post = _post_at(session, site_url, target)
    mention = session.scalar(
        select(Mention).where(Mention.source == source, Mention.post_id == post.id)
    )
    if mention is None:
        _check_room(session, source, post)
        mention = Mention(post_id=post.id, source=source, received_at=now)
        session.add(mention)
    mention.target, mention.next_at, mention.attempts = target, now, 0
    session.flush()
    return mention


def fetch_due(site: Site, now: datetime, limit: int = 16) -> datetime | None:
    """Fetch the pages that are due, several at once; returns when the next one is due."""
    # What waits for longer than anything may was planned while the clock was ahead.
    wanted = or_(
        Mention.next_at <= now, Mention.next_at > now + timedelta(minutes=PAUSES_MINUTES[-1])
    )
    with site.database.read() as session:
        due = session.scalars(
            select(Mention).where(wanted).order_by(Mention.next_at).limit(limit)
        ).all()
    if due:
        with ThreadPoolExecutor(min(AT_ONCE, len(due)), thread_name_prefix="mentions") as pool:
            pages = list(pool.map(lambda row: _fetched(site, row), due))
        with site.database.write() as session:
            for before, page in zip(due, pages, strict=True):
                row = session.get(Mention, before.id)
                if row is not None and row.next_at == before.next_at:
                    _store_result(session, row, page, now)
    with site.database.read() as session:
        return session.scalar(select(func.min(Mention.next_at)))


def look_at_mentions(site: Site) -> float:
    """Fetch the pages that are said to link to a post; returns the seconds until the next look."""
    due = fetch_due(site, site.clock())
    return math.inf if due is None else (due - site.clock()).total_seconds()


def below(session: Session, post: Post) -> Sequence[Mention]:
    """The mentions shown below a post, oldest first."""
    query = select(Mention).where(Mention.post_id == post.id, Mention.state == "shown")
    return session.scalars(query.order_by(Mention.id).limit(SHOWN_BELOW)).all()


def listed(session: Session, author: Author) -> list[tuple[Mention, Post]]:
    """The mentions that the studio lists for `author`: waiting ones first, then shown ones, each
    the newest first."""
    query = (
        select(Mention, Post)
        .join(Post, Post.id == Mention.post_id)
        .where(Mention.state.in_(("waiting", "shown")))
        .options(joinedload(Post.author))
    )
    if not permissions.is_admin(author):
        query = query.where(Post.author_id == author.id)
    rows = session.execute(query.order_by(Mention.state.desc(), Mention.id.desc()).limit(LISTED))
    return [(row.Mention, row.Post) for row in rows]


def waiting(session: Session, author: Author) -> int:
    """How many mentions wait for a decision by `author`."""
    query = select(func.count(Mention.id)).where(Mention.state == "waiting")
    if not permissions.is_admin(author):
        query = query.join(Post, Post.id == Mention.post_id).where(Post.author_id == author.id)
    return session.scalar(query) or 0


def decide(session: Session, author: Author, mention_id: int, show: bool) -> Mention:
    """Show a mention below its post, or refuse it for good.

    Raises Forbidden unless `author` may edit the post.
    """
    row = must_exist(session.get(Mention, mention_id), "there is no such mention")
    posts.editable(session, author, row.post_id)
    row.state = "shown" if show else "refused"
    database.content_changed(session)  # the post's page changes
    return row


def _problem(address: str) -> str:
    try:
        check_url(address)
    except ValueError as error:
        return str(error)
    return "the address is too long" if len(address) > MAX_ADDRESS else ""


def _post_at(session: Session, site_url: str, target: str) -> Post:
    """The post that anybody can open at `target`."""
    parts = urlsplit(target)
    path = unquote(parts.path)
    if f"{parts.scheme}://{parts.netloc}".lower() == site_url.lower():
        post = published.at_address(session, path.rstrip("/"))
        if post is None:
            query = f"?{parts.query}" if parts.query else ""
            post = published.moved(session, path, parts.path, f"{path}{query}")
        if post is not None and published.is_public(post):
            return post
    raise InvalidInput("target: no post of this blog has that address")


def _check_room(session: Session, source: str, post: Post) -> None:
    parts = urlsplit(source)
    host = f"{parts.scheme}://{parts.netloc}/"
    fresh = select(func.count(Mention.id)).where(Mention.state == "new")
    of_host = fresh.where(Mention.source.startswith(host, autoescape=True))
    of_post = select(func.count(Mention.id)).where(Mention.post_id == post.id)
    for query, most in (
        (fresh, MOST_NEW), (of_host, MOST_OF_A_HOST), (of_post, MOST_OF_A_POST),
    ):  # fmt: skip
        if (session.scalar(query) or 0) >= most:
            raise TooMany("too many mentions wait here; try again in an hour", 3600)


def _fetched(site: Site, row: Mention) -> MentionText | bool:
    """What the page says; False if it is gone or has no link; True if it did not answer."""
    try:
        page = _page(site, row.source)
        if page.status != 200:
            return False
        kind = page.headers.get("content-type", "")
        return read(mention_in, READING, page.body, kind, page.url, row.target) or False
    except OutgoingError:
        return True
    except Unreadable:
        return False


def _store_result(session: Session, row: Mention, page: MentionText | bool, now: datetime) -> None:
    """Store the result. A shown mention whose text has changed waits for the author again."""
    row.next_at = None
    was_shown = row.state == "shown"
    if page is True:
        if row.attempts < len(PAUSES_MINUTES):
            row.next_at = now + timedelta(minutes=PAUSES_MINUTES[row.attempts])
            row.attempts += 1
        elif row.state == "new":
            session.delete(row)
    elif isinstance(page, MentionText):
        before = MentionText(row.said, row.author, row.title, row.words)
        row.said, row.author, row.title, row.words = page.said, page.author, page.title, page.words
        if row.state == "new" or (row.state == "shown" and page != before):
            row.state = "waiting"
    elif row.state != "refused":
        session.delete(row)
    if was_shown and (row in session.deleted or row.state != "shown"):
        database.content_changed(session)


def links_in(html: str) -> list[str]:
    """The addresses elsewhere that a post's HTML links to, each once, in order."""
    addresses = dict.fromkeys(unescape(address) for address in _LINK.findall(html))
    fit = (address for address in addresses if address.isascii() and len(address) <= MAX_ADDRESS)
    return list(islice(fit, MOST_LINKS))


def request(session: Session, post: Post, path: str, now: datetime, before: str) -> None:
    """Queue a mention to each page that the post links to now, or did in its HTML `before`."""
    if load(session, WebmentionSettings).webmention_send != "on":
        return
    for address in links_in(post.html + before):
        request_delivery(session, PROTOCOL, address, path, now)


def send(site: Site, row: Delivery) -> Reply | None:
    """Notify the page at `row.target` that our post at the path `row.topic` links to it, or did;
    None if it has no endpoint.

    Raises OutgoingError if another try may help.
    """
    site_url = site.site_url
    if row.target.startswith(f"{site_url}/"):
        return None
    endpoint = endpoint_of(_page(site, row.target))
    if endpoint is None:
        return None
    form = {"source": site_url + row.topic, "target": row.target}
    return site.request(endpoint, AGENT, method="POST", form=form, beginning=True)


def endpoint_of(page: Reply) -> str | None:
    """A page's Webmention endpoint: from its Link header, else from its first such element."""
    address = endpoint_in_header(page.headers.get("link", ""))
    try:
        if address is not None:
            return check_url(urljoin(page.url, address))
        if "html" not in page.headers.get("content-type", "html"):
            return None
        address = read(endpoint_in_page, READING, page.body, page.url)
        return None if address is None else check_url(address)
    except (ValueError, Unreadable):
        return None


def _page(site: Site, address: str) -> Reply:
    """A page, or its beginning; OutgoingError if another try may help."""
    accept = {"Accept": "text/html, */*;q=0.5"}
    page = site.request(address, AGENT, headers=accept, max_bytes=MAX_PAGE, beginning=True)
    if page.status >= 500 or page.status == 429:
        raise OutgoingError(f"the page answered {page.status}")
    return page
