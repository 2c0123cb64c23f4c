"""The outbox: pings of WebSub and rssCloud, purge requests and what parts send, stored, and sent
until they are answered."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from urllib.parse import urlsplit

from sqlalchemy import delete, or_, select
from sqlalchemy.orm import Session

from publisher.base.net import OutgoingError, Reply
from publisher.base.system.logs import get_logger
from publisher.base.text import number_up_to, one_line
from publisher.installation import Site
from publisher.installation.settings import load_settings
from publisher.part import Part
from publisher.storage.tables.publishing import Delivery

log = get_logger("push")

WEBSUB, RSSCLOUD, PURGE = OWN = "websub", "rsscloud", "purge"


def protocols(parts: Iterable[Part]) -> list[str]:
    """The kinds of messages that are sent while these parts are on; others wait."""
    return [*OWN, *(kind for part in parts for kind in part.senders)]


def request_delivery(session: Session, protocol: str, url: str, topic: str, now: datetime) -> None:
    """Queue a message to `url` about `topic`; one that still waits is replaced by this one."""
    waiting = session.scalar(
        select(Delivery).where(
            Delivery.target == url, Delivery.topic == topic, Delivery.next_at.is_not(None)
        )
    )
    if waiting is None:
        waiting = Delivery(protocol=protocol, target=url, topic=topic, answer="")
        session.add(waiting)
    waiting.created_at = waiting.next_at = now
    waiting.attempts = 0


def announce(session: Session, topics: Sequence[str], now: datetime) -> None:
    """Queue the pings about new content in the documents at `topics`, of which RSS is the first.

    Hubs get one for each document, a cloud one for the RSS document.
    """
    settings = load_settings(session)
    for hub in settings.hubs.split():
        for topic in topics:
            request_delivery(session, WEBSUB, hub, topic, now)
    for cloud in settings.cloud.split():
        request_delivery(session, RSSCLOUD, ping_address(cloud), topics[0], now)


def ping_form(protocol: str, topic: str) -> dict[str, str]:
    """The form that a ping sends."""
    if protocol == RSSCLOUD:
        return {"url": topic}
    return {"hub.mode": "publish", "hub.url": topic, "hub.topic": topic}


def cloud_element(url: str) -> dict[str, str]:
    """The attributes of `cloud` for the one whose `pleaseNotify` is at `url`."""
    parts = urlsplit(url)
    secure = parts.scheme == "https"
    return {
        "domain": parts.hostname or "",
        "port": str(parts.port or (443 if secure else 80)),
        "path": parts.path or "/pleaseNotify",
        "registerProcedure": "",
        "protocol": "https-post" if secure else "http-post",
    }


def ping_address(cloud: str) -> str:
    """Where a cloud is pinged: `/ping` beside its `pleaseNotify`."""
    parts = urlsplit(cloud)
    folder = parts.path.rpartition("/")[0]
    return f"{parts.scheme}://{parts.netloc}{folder}/ping"


def link_headers(hubs: str, topic: str) -> tuple[str, ...]:
    """Values of the Link header of the document at `topic`: hubs and `self`; () without hubs."""
    hub_links = [f'<{hub}>; rel="hub"' for hub in hubs.split()]
    return (*hub_links, f'<{topic}>; rel="self"') if hub_links else ()


# Minutes until the next try after the first, second, ... failure; after the last it is given up.
PAUSES_MINUTES = (1, 5, 15, 60, 240, 720)
AT_ONCE = 8
LONGEST_PAUSE = timedelta(days=1)
LONGEST_ANSWER = 120

Send = Callable[[Site, Delivery], Reply | None]  # None: the target takes no such messages
Outcome = tuple[bool, str, timedelta] | None


def deliver(site: Site, senders: Mapping[str, Send]) -> int:
    """Send what is due, several at once, by its protocol's sender; returns how many were tried.
    What has no sender waits.

    Nothing is locked while the hubs answer. A crash may repeat a ping, which is harmless.
    """
    now = site.clock()
    with site.database.read() as session:
        due = session.scalars(
            select(Delivery)
            # What waits for longer than anything may was planned while the clock was ahead.
            .where(or_(Delivery.next_at <= now, Delivery.next_at > now + LONGEST_PAUSE))
            .where(Delivery.protocol.in_(senders))
            .order_by(Delivery.protocol.not_in(OWN), Delivery.next_at)  # hubs come first
            .limit(64)
        ).all()
    if not due:
        return 0
    with ThreadPoolExecutor(min(AT_ONCE, len(due)), thread_name_prefix="push") as pool:
        outcomes = list(pool.map(lambda row: _try(site, row, senders[row.protocol]), due))
    with site.database.write() as session:
        for before, outcome in zip(due, outcomes, strict=True):
            row = session.get(Delivery, before.id)
            if row is None or row.created_at != before.created_at:  # queued anew: to be sent again
                continue
            if outcome is None:
                session.delete(row)
            else:
                _store_outcome(row, *outcome, now)
    return len(due)


def ping(site: Site, row: Delivery) -> Reply:
    """Ping a hub or a cloud; raises OutgoingError."""
    return site.request(row.target, method="POST", form=ping_form(row.protocol, row.topic))


def prune(session: Session, before: datetime) -> None:
    """Delete messages that were delivered or given up before `before`."""
    session.execute(
        delete(Delivery).where(
            or_(Delivery.delivered_at < before, Delivery.given_up_at < before),
            Delivery.next_at.is_(None),
        )
    )


def _try(site: Site, row: Delivery, send: Send) -> Outcome:
    """Whether it was accepted, the answer, and the wait that it asks for; None if the target takes
    no such messages."""
    try:
        reply = send(site, row)
    except OutgoingError as error:
        return False, str(error)[:LONGEST_ANSWER], timedelta(0)
    except Exception:  # what one target makes us stumble over must not keep the others waiting
        log.exception("a message failed", protocol=row.protocol)
        return False, "it could not be sent; the fault is ours and has been logged", timedelta(0)
    if reply is None:
        return None
    words = one_line(reply.body[:400].decode("utf-8", "replace"))
    answer = f"{reply.status} {words}".strip()[:LONGEST_ANSWER]
    return 200 <= reply.status < 300, answer, _retry_after(reply)


def _retry_after(reply: Reply) -> timedelta:
    longest = int(LONGEST_PAUSE.total_seconds())
    return timedelta(seconds=number_up_to(longest, reply.headers.get("retry-after", "")) or 0)


def _store_outcome(
    row: Delivery, delivered: bool, answer: str, wait: timedelta, now: datetime
) -> None:
    row.attempts += 1
    row.answer = answer
    # What parts send goes to strangers' pages, who may refuse it.
    refused = row.protocol not in OWN and answer.startswith("4") and answer[:3] != "429"
    if delivered:
        row.delivered_at, row.next_at = now, None
    elif refused or row.attempts > len(PAUSES_MINUTES):
        row.given_up_at, row.next_at = now, None
    else:
        pause = timedelta(minutes=PAUSES_MINUTES[row.attempts - 1])
        row.next_at = now + max(pause, wait)
