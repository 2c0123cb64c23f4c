"""Polls as the tests make them: documents, answers, requests, and a blog that counts them."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from publisher.feeds.conditional import Freshness, Served
from publisher.feeds.feed_answer import FeedAnswer
from publisher.installation import Site
from publisher.parts.readers import poll_batches
from publisher.parts.readers.counter import PollCounter
from publisher.parts.readers.fold import fold
from publisher.serving.trusted_proxies import SOURCE
from publisher.storage.tables.publishing import DocumentVersion

TTL_ALONE = Freshness()


class FakeDocument(Served):
    """A document of a thousand bytes, three hundred when gzipped."""

    def __init__(
        self,
        etag: str = 'W/"one"',
        last_modified: datetime = datetime(2024, 3, 4, 9, tzinfo=UTC),
        max_age_seconds: int = 900,
        plain_bytes: int = 1000,
        gzip_bytes: int = 300,
        freshness: Freshness = TTL_ALONE,
    ) -> None:
        super().__init__(
            bytes(plain_bytes), bytes(gzip_bytes), "application/rss+xml", etag, last_modified,
            max_age_seconds, freshness=freshness,
        )  # fmt: skip


FULL = FeedAnswer(200, "200 OK", [], [], 1000)
PACKED = FeedAnswer(200, "200 OK", [], [], 300)
NOT_MODIFIED = FeedAnswer(304, "304 Not Modified", [], [])
REFUSED = FeedAnswer(429, "429 Too Many Requests", [], [], 50)


def request(
    agent: str = "newsboat/2.30", address: str = "192.0.2.1", **more: str
) -> dict[str, Any]:
    """A WSGI environment of a poll; `more` are headers by their WSGI names without HTTP_."""
    path = more.pop("path", "/rss.xml")
    method = more.pop("method", "GET")
    through = {SOURCE: more.pop("through")} if "through" in more else {}
    headers = {f"HTTP_{name.upper()}": value for name, value in more.items()}
    return {
        "REMOTE_ADDR": address, "HTTP_USER_AGENT": agent, "PATH_INFO": path,
        "REQUEST_METHOD": method, **headers, **through,
    }  # fmt: skip


@dataclass
class Counting:
    """A site that counts: polls go through the real counter, batch and fold."""

    site: Site
    counter: PollCounter = field(init=False)

    def __post_init__(self) -> None:
        self.counter = PollCounter(
            lambda polls: poll_batches.store(self.site.database, polls, self.site.clock())
        )

    def poll(
        self,
        at: datetime,
        answer: FeedAnswer = FULL,
        document: FakeDocument | None = None,
        **headers: str,
    ) -> None:
        """One poll at `at`."""
        self.counter.count(document or FakeDocument(), answer, request(**headers), at)

    def fold(self, until: datetime | None = None) -> int:
        """Flush and fold; the number of polls folded."""
        self.counter.flush()
        return fold(self.site.database, 15, until)

    def version(self, document: Served, content_hash: str) -> None:
        """Note a version as served."""
        self.versions([(document, content_hash)])

    def versions(self, served: Iterable[tuple[Served, str]]) -> None:
        """Note versions as served: documents, each with the hash of its content."""
        with self.site.database.write() as session:
            session.add_all(
                DocumentVersion(
                    name="rss", built_at=document.last_modified, etag=document.etag,
                    last_modified=document.last_modified, content_hash=content_hash,
                    ttl_minutes=document.max_age_seconds // 60, bytes=document.plain_bytes,
                    gzip_bytes=document.gzip_bytes,
                )
                for document, content_hash in served
            )  # fmt: skip
