"""One poll of a feed: the request is sent, and the answer parsed; and outages of our own network.

If many hosts fail at once and hardly any answers, our own network is taken to be down: failures
are not counted, and the first answer that arrives makes all these feeds due at once.
"""

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta

from sqlalchemy import select
from sqlalchemy.orm import Session

from publisher.base.clock import Clock
from publisher.base.errors import InvalidData, StorageUnavailable
from publisher.base.system.logs import get_logger
from publisher.base.system.processes import in_own_thread
from publisher.base.text import first_words, one_line
from publisher.dynamic_ttl.core.polling import Answer
from publisher.feed_fetching.answers import (
    SLOW_DOWN,
    HttpResult,
    asked_to_wait_seconds,
    header_hints,
)
from publisher.feed_fetching.fetch import Fetcher
from publisher.feed_reading.feed_document import (
    FeedDocument,
    FeedItem,
    NotAFeed,
    UnreadableFeed,
    digest,
    plausible,
    shared_keys,
    unpack,
)
from publisher.feed_reading.feed_html import announced_in_header
from publisher.feed_reading.parse import read_document
from publisher.feed_reading.scan import DocumentHints
from publisher.parts.river.fetching import frontier
from publisher.parts.river.following.opml import FeedList, read_list
from publisher.parts.river.polls.due_polls import PollJob
from publisher.parts.river.tables import RiverFeed

OVERLOADED = "overloaded"
"""The problem of an answer for which no parsing process was free: ours, and soon over."""

_REFUSALS: dict[type, str] = {NotAFeed: "not-a-feed", UnreadableFeed: "unreadable"}

log = get_logger("river")


@dataclass(frozen=True, slots=True)
class PollResult:
    """The result of a poll. `document` is None when it is unchanged or could not be read.

    A followed list brings `listed` instead.

    `problem` is a stored name such as ``timeout``, ``status-404`` or ``not-a-feed``, empty
    when all is well; `detail` says it in words. `announced`: the feeds that a page announces,
    addresses and titles.
    """

    job: PollJob
    fetched: HttpResult
    document: FeedDocument | None = None
    listed: FeedList | None = None
    content_hash: bytes = b""
    problem: str = ""
    detail: str = ""
    announced: tuple[tuple[str, str], ...] = ()

    @classmethod
    def failed(cls, job: PollJob, hosts_asked: tuple[str, ...] = ()) -> "PollResult":
        """A visit that ended in a bug of ours; it counts like any other failure.

        `hosts_asked` are the hosts that were sent a request before, and are to be released.
        """
        fetched = HttpResult(job.url, job.url, problem="internal", hosts_asked=hosts_asked)
        return cls(job, fetched, problem="internal", detail="an error of this program, see its log")

    @property
    def told_seconds(self) -> int | None:
        """How long the server asked to be left alone, by its headers."""
        return asked_to_wait_seconds(self.fetched.status, self.fetched.headers, self.job.at)

    @property
    def hosts_asked(self) -> tuple[str, ...]:
        """The hosts that were sent a request, in order; the job's own if there was none."""
        return self.fetched.hosts_asked or (self.job.host,)

    @property
    def hosts(self) -> frozenset[str]:
        """All hosts that were held for this visit."""
        return self.job.held.union(self.fetched.hosts_asked)

    @property
    def leads_to(self) -> str | None:
        """The other host that the feed's address redirects to, if it does."""
        last = self.fetched.waits_for or self.hosts_asked[-1]
        return last if last != self.job.host else None

    @property
    def asked_to_slow_down(self) -> bool:
        """429, or 403 or 503 with a Retry-After."""
        status = self.fetched.status
        return status == 429 or (status in SLOW_DOWN and self.told_seconds is not None)


async def run_job(fetcher: Fetcher, job: PollJob, clock: Clock) -> PollResult:
    """Request a feed and parse the answer, in a thread so that the event loop goes on.

    The visit is dated by its answer: a job may wait between its claim and its request, and a pause
    counted from the claim would be too short.
    """
    fetched = await fetcher.fetch(
        job.url, job.validators, job.credentials, job.held, owner=job.owner
    )
    job = replace(job, at=clock())
    if not fetched.ok:
        return read(job, fetched)
    try:
        async with fetcher.readers:
            return await in_own_thread(read, job, fetched)
    except StorageUnavailable as problem:
        return PollResult(job, fetched, problem=OVERLOADED, detail=str(problem))
    except Exception:  # a bug in reading one feed must not stop all the others
        log.exception("could not read an answer", url=job.url)
        return PollResult.failed(job, fetched.hosts_asked)


def read(job: PollJob, fetched: HttpResult) -> PollResult:
    """Read an answer: unchanged, a document, or the problem with it."""
    if fetched.problem:
        return PollResult(job, fetched, problem=fetched.problem, detail=fetched.detail)
    if fetched.not_modified and not fetched.conditional:
        why = "the server answered 304 to a request without validators"
        return PollResult(job, fetched, problem="status-304", detail=why)
    if fetched.not_modified:
        return PollResult(job, fetched, content_hash=job.content_hash)
    if not fetched.ok:
        words = first_words(fetched.body[:20_000].decode("utf-8", "replace"), 300)
        start = one_line(words)
        return PollResult(job, fetched, problem=f"status-{fetched.status}", detail=start)
    content_hash = digest(fetched.body)
    if content_hash == job.content_hash:
        return PollResult(job, fetched, content_hash=content_hash)
    try:
        if job.is_list:
            listed = read_list(fetched.body)
            if listed.cut_off:  # feeds behind the break are not to be unsubscribed
                raise InvalidData("the list breaks off: nothing of it is applied")
            return PollResult(job, fetched, listed=listed, content_hash=content_hash)
        kind = fetched.headers.get("content-type", "")
        window = shared_keys(unpack(job.window)) if job.anew else unpack(job.window)
        document = read_document(fetched.body, kind, fetched.url, window)
    except InvalidData as refusal:
        problem = "not-a-list" if job.is_list else _REFUSALS.get(type(refusal), "unsafe")
        announced = refusal.alternates if isinstance(refusal, NotAFeed) else ()
        if isinstance(refusal, NotAFeed):
            named = announced_in_header(fetched.headers.get("link", ""), fetched.url)
            announced = tuple((dict(announced) | dict(named)).items())
        return PollResult(job, fetched, problem=problem, detail=str(refusal), announced=announced)
    if document.cut_off:  # the same bytes again must not count as unchanged
        content_hash = b""
    return PollResult(job, fetched, document, content_hash=content_hash)


def answer_of(result: PollResult, new: list[FeedItem], changed: bool) -> Answer:
    """A visit as the input of a poll policy. An unchanged 200 counts as a 304.

    `changed`: whether items are new or were edited. A document may differ without that, as where a
    build date moves.
    """
    document = result.document
    dates = (plausible(item.published_at, result.job.at) for item in new)
    hints = document.hints if document else DocumentHints()
    return Answer(
        status=result.fetched.status if document else 304,
        new_items=len(new),
        changed=changed,
        item_dates=tuple(int(moment.timestamp()) for moment in dates if moment),
        ttl_minutes=hints.ttl_minutes,
        update_period_seconds=(hints.syndication_minutes or 0) * 60 or None,
        skip_hours=hints.skip_hours,
        skip_days=hints.skip_days,
        **asdict(header_hints(result.fetched.headers, result.job.at)),
        on_demand=result.job.on_demand,
    )


OFFLINE = "offline"
RETRY = timedelta(minutes=15)
UNREACHED = frozenset({"dns", "connect", "timeout"})
"""Problems in which no server answered."""

_LEAST_HOSTS = 4
_HOSTS_REMEMBERED = 20
_SHARE = 0.8
_MEMORY = timedelta(minutes=30)


class NetworkHealth:
    """Whether our network works, judged by the newest poll of each of the last hosts.

    One per process. `down_since` is the first of the failures that make up the outage.
    """

    def __init__(self) -> None:
        self.down_since: datetime | None = None
        self._newest: OrderedDict[str, tuple[datetime, bool]] = OrderedDict()

    def note(self, results: Iterable[PollResult]) -> datetime | None:
        """Take in finished polls; returns since when we were offline if that is over now."""
        was_down = self.down_since
        answered = False
        for result in results:
            reached = result.problem not in UNREACHED
            answered = answered or reached
            self._newest[result.job.host] = (result.job.at, reached)
            self._newest.move_to_end(result.job.host)
            while len(self._newest) > _HOSTS_REMEMBERED:
                self._newest.popitem(last=False)
        if was_down is not None and answered:
            self.down_since = None
            self._newest.clear()
            return was_down
        if was_down is None:
            self.down_since = self._begin_of_outage()
        return None

    def _begin_of_outage(self) -> datetime | None:
        if not self._newest:
            return None
        latest = max(at for at, _ in self._newest.values())
        recent = [(at, ok) for at, ok in self._newest.values() if latest - at <= _MEMORY]
        failed = [at for at, reached in recent if not reached]
        if len(failed) < _LEAST_HOSTS or len(failed) < _SHARE * len(recent):
            return None
        return min(failed)


def resume(session: Session, since: datetime, now: datetime) -> int:
    """After an outage that began at `since`: make the feeds it hit due now; returns how many.

    Failures that were counted before the outage was detected are taken back.
    """
    hit = select(RiverFeed).where(
        RiverFeed.state == "active",
        RiverFeed.last_polled_at >= since,
        RiverFeed.problem.in_([OFFLINE, *UNREACHED]),
    )
    feeds = session.scalars(hit).all()
    turns: dict[str, datetime] = {}
    for feed in feeds:
        if feed.problem != OFFLINE:
            feed.failures = max(feed.failures - 1, 0)
        feed.next_poll_at = turns[feed.host] = now
        feed.reasons = ["our network was down: due now that it works again"]
    session.flush()
    frontier.enqueue_all(session, turns)
    return len(feeds)
