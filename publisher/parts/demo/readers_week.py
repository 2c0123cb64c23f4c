"""A week of polls for the demonstration, by several programs, polite and impolite.

The feed's documents of the last day are decided again, hour by hour, and also used for the six days
before. Each program polls them in its own way; the polls are counted, stored and folded by the same
code as real ones.
"""

import random
from bisect import bisect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from heapq import merge
from operator import itemgetter

from sqlalchemy import select, update

from publisher.dynamic_ttl.core.civil import seconds
from publisher.dynamic_ttl.core.ttl.activity import fold as fold_updates
from publisher.dynamic_ttl.core.ttl.activity import histogram
from publisher.dynamic_ttl.core.ttl.decision import Decision, decide
from publisher.dynamic_ttl.core.ttl.headers import Expiries
from publisher.feeds.conditional import Freshness, Served
from publisher.installation import Site
from publisher.installation.settings import load_settings
from publisher.parts.readers.counter import SITE, CountedGroup, Polls
from publisher.parts.readers.fold import fold
from publisher.parts.readers.poll_batches import store
from publisher.publishing.rebuild import RSS
from publisher.storage.tables.blog import Update
from publisher.storage.tables.publishing import Delivery, DocumentVersion

DAYS = timedelta(days=7)
HOUR = timedelta(hours=1)
PLAIN_BYTES, GZIP_BYTES = 48_000, 11_000
_BODIES = bytes(PLAIN_BYTES), bytes(GZIP_BYTES)
HUB, CLOUD = "https://hub.example/", "https://cloud.example/ping"


class ServedVersion(Served):
    """A version of the feed's document, served from `built` on; its bytes do not matter."""

    def __init__(
        self, built: datetime, etag: str, modified: datetime, max_age: int, freshness: Freshness
    ) -> None:
        super().__init__(*_BODIES, "", etag, modified, max_age, freshness=freshness)
        self.built = built


@dataclass
class DemoReader:
    """A reader. It polls when the ttl `element` or the `header` asks it to, or every `minutes`.

    `addresses`: the number of its IP addresses, 0 for a new one each time; `pushed`: it also polls
    at once after a post.
    """

    agent: str
    hears: str = ""
    minutes: float = 60.0
    validators: bool = True
    addresses: int = 1
    method: str = "GET"
    pushed: bool = False
    tag: str = ""
    turn: int = 0


def programs() -> list[DemoReader]:
    """The readers of the demonstration."""
    nnw = "NetNewsWire (RSS Reader; https://netnewswire.com/)"
    browser = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
    google = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"
    return [
        *(DemoReader(nnw, "header") for _ in range(5)),
        DemoReader(nnw, "header", addresses=0),
        *(DemoReader("newsboat/2.38.0 (Linux x86_64)", "element") for _ in range(3)),
        DemoReader("Miniflux/2.2.9 (+https://miniflux.app)", "header", pushed=True),
        DemoReader("Feedly/1.0 (+https://feedly.com; 42 subscribers)", minutes=30, addresses=5),
        DemoReader("FreshRSS/1.26.1 (Linux; https://freshrss.org)", minutes=60),
        DemoReader("hourly-script/0.3 (mail@script.example)", minutes=60, validators=False),
        DemoReader("python-requests/2.32", minutes=4, validators=False),
        DemoReader("UptimeRobot/2.0", minutes=30, validators=False, method="HEAD"),
        DemoReader(browser, minutes=1900, validators=False),
        DemoReader(google, minutes=700, validators=False, addresses=7),
    ]


def live(site: Site, rng: random.Random, now: datetime) -> int:
    """Make and store a week of polls; returns their number."""
    posts = _announce(site, now)
    documents = list(_documents(site, now, posts))
    _keep_versions(site, documents)
    polls = Polls()
    visits = (_visits(rng, program, documents, posts, now) for program in programs())
    for at, program, document in merge(*visits, key=itemgetter(0)):
        _poll(polls, program, document, at, rng)
    store(site.database, polls, now)
    with site.database.read() as session:
        smallest = load_settings(session).rule.menu.smallest
    return fold(site.database, smallest)


def _announce(site: Site, now: datetime) -> list[datetime]:
    """Mark the week's updates as made here, and add pings of its posts to a hub and a cloud."""
    with site.database.write() as session:
        week = (Update.at >= now - DAYS, Update.at <= now)
        of_posts = (*week, Update.post_id.is_not(None))
        session.execute(update(Update).where(*week).values(kind="edit"))
        session.execute(update(Update).where(*of_posts).values(kind="publish"))
        posts = list(session.scalars(select(Update.at).where(*of_posts).order_by(Update.at)))
        for number, at in enumerate(posts):
            for protocol, target in (("websub", HUB), ("rsscloud", CLOUD)):
                failed = number == 0 and protocol == "websub"
                session.add(
                    Delivery(
                        protocol=protocol, target=target, topic="/rss.xml", created_at=at,
                        attempts=7 if failed else 1,
                        delivered_at=None if failed else at + timedelta(seconds=1),
                        given_up_at=at + timedelta(hours=17) if failed else None,
                        answer="503 come back later" if failed else "202 Accepted",
                    )
                )  # fmt: skip
    return posts


def _documents(site: Site, now: datetime, posts: Sequence[datetime]) -> Iterator[ServedVersion]:
    """The feed's documents: one each hour of the week, one for each post."""
    with site.database.read() as session:
        settings = load_settings(session)
        updates = list(session.scalars(select(Update.at).order_by(Update.at)))
    top = now.replace(minute=0, second=0, microsecond=0)
    hours = [top - HOUR * back for back in range(int(DAYS / HOUR), -1, -1)]
    decisions: dict[int, Decision] = {}
    known, activity = hours[-24], histogram(updates, hours[-24], settings.zone.key)
    for at in hours[-24:]:
        new = (one for one in updates if seconds(known) < seconds(one) <= seconds(at))
        known, activity = at, fold_updates(activity, new)
        decisions[at.hour] = decide(activity, at, settings.rule)
    before: ServedVersion | None = None
    for at in sorted({*hours, *posts}):
        decision = decisions[at.hour]
        content = sum(post <= at for post in posts)
        etag = f'W/"{content:08x}.{decision.ttl_minutes:04x}"'
        modified = before.last_modified if before and before.etag == etag else at
        before = ServedVersion(
            at, etag, modified, decision.ttl_minutes * 60, Freshness(_moved(decision, at))
        )
        yield before


def _moved(decision: Decision, at: datetime) -> Expiries | None:
    """The decision's expiry times, moved to the same hour of an earlier day."""
    if decision.expiries is None:
        return None
    top = at.replace(minute=0, second=0, microsecond=0)
    shift = int(top.timestamp()) - decision.expiries.top
    moved = (expiry + shift for expiry in decision.expiries.instants)
    return Expiries(decision.expiries.top + shift, tuple(moved))


def _keep_versions(site: Site, documents: Sequence[ServedVersion]) -> None:
    """Store the served versions, for the week's chart and the validators."""
    last = ""
    with site.database.write() as session:
        for document in documents:
            if document.etag != last:
                session.add(
                    DocumentVersion(
                        name=RSS, built_at=document.built, etag=document.etag,
                        last_modified=document.last_modified, content_hash=document.etag[3:11],
                        ttl_minutes=document.max_age_seconds // 60, bytes=PLAIN_BYTES,
                        gzip_bytes=GZIP_BYTES,
                    )
                )  # fmt: skip
            last = document.etag


def _visits(
    rng: random.Random,
    program: DemoReader,
    documents: Sequence[ServedVersion],
    posts: Sequence[datetime],
    now: datetime,
) -> Iterator[tuple[datetime, DemoReader, ServedVersion]]:
    """The polls of one reader in order of time, each with the document that it finds."""
    at = documents[0].built + timedelta(minutes=rng.uniform(0, min(program.minutes, 60)))
    while at < now:
        document = documents[bisect(documents, at, key=lambda served: served.built) - 1]
        yield at, program, document
        coming = at + _wait(program, document, at, rng)
        if program.pushed and (later := posts[bisect(posts, at) :]):
            coming = min(coming, later[0] + timedelta(seconds=rng.uniform(4, 14)))
        at = coming


def _wait(
    program: DemoReader, document: ServedVersion, at: datetime, rng: random.Random
) -> timedelta:
    if program.hears == "element":
        return timedelta(seconds=document.max_age_seconds + rng.uniform(1, 40))
    if program.hears == "header":
        expiries = document.freshness.expiries
        seconds = expiries.max_age_seconds(int(at.timestamp())) if expiries else 0
        return timedelta(seconds=max(seconds, document.max_age_seconds // 4) + rng.uniform(1, 40))
    return timedelta(minutes=program.minutes * rng.uniform(0.995, 1.005))


def _poll(
    polls: Polls, program: DemoReader, document: ServedVersion, at: datetime, rng: random.Random
) -> None:
    """Count one request and its answer."""
    program.turn += 1
    place = rng.randrange(10**6) if program.addresses == 0 else program.turn % program.addresses
    unchanged = program.validators and program.tag == document.etag
    sent = 0 if unchanged or program.method == "HEAD" else document.gzip_bytes
    group = CountedGroup(
        document_id=id(document),
        path="/rss.xml",
        method=program.method,
        status=304 if unchanged else 200,
        sent_bytes=sent,
        peer=f"{id(program)}-{place}",
        agent=program.agent,
        tags=program.tag,
        since="",
        encoding="gzip",
        source=SITE,
    )
    polls.add(group, document, int(at.timestamp() * 1000))
    if program.validators:
        program.tag = document.etag
