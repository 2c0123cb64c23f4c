"""Everything that reads what strangers send: by name, samples and a function that takes bytes.

A target refuses with one of our own errors or answers below 500. Whatever else it raises is a bug.
"""

import io
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC
from pathlib import Path
from urllib.parse import quote_from_bytes

from flask.testing import FlaskClient
from werkzeug.test import EnvironBuilder, run_wsgi_app

from publisher.base.errors import PublisherError
from publisher.base.written_dates import parse_written, usage_of
from publisher.blog import published
from publisher.blog.markup import markdown
from publisher.feed_fetching.answers import asked_to_wait_seconds, header_hints
from publisher.feed_reading.parse import parse_sanitised
from publisher.installation import Site
from publisher.parts.importing import planning
from publisher.parts.importing.formats import recognition
from publisher.parts.importing.sources import Document
from publisher.parts.mirror import mirrors
from publisher.parts.river.following import opml, subscriptions
from publisher.publishing.rebuild import rebuild
from publisher.reader_test import scorecard
from publisher.reader_test.answering import WeekPlace, answer
from publisher.reader_test.tester_trace import read_trace
from publisher.simulator.timelines import read_timeline
from tests.conftest import MONDAY_MORNING
from tests.fuzz import samples
from tests.reader_test.invented import hourly, week


@dataclass(frozen=True)
class Target:
    """What is fuzzed: real samples of what it reads, and the reader."""

    samples: tuple[bytes, ...]
    read: Callable[[bytes], object]


def refusing(read: Callable[[bytes], object]) -> Callable[[bytes], object]:
    """`read`, where refusing with one of our errors is an answer."""

    def tolerant(data: bytes) -> None:
        with suppress(PublisherError):
            read(data)

    return tolerant


def _markdown(data: bytes) -> object:
    return markdown.render(data.decode("utf-8", "replace")[: markdown.SHORT])


def _trace(data: bytes) -> object:
    """A recorded trace of the reader test, and its page."""
    return scorecard.fragment(scorecard.score(read_trace(data.decode("utf-8", "replace"))))


def _river(data: bytes) -> object:
    return parse_sanitised(data, "application/xml", "https://a.example/feed")


def _imported(data: bytes) -> object:
    batch = recognition.read(Document("a file", io.BytesIO(data)), None, UTC)
    return list(planning.prepare(batch, MONDAY_MORNING))


def _front_matter(data: bytes) -> object:
    batch = recognition.read(Document("a.md", io.BytesIO(data)), "markdown", UTC)
    return list(planning.prepare(batch, MONDAY_MORNING))


def _date(data: bytes) -> object:
    text = data.decode("utf-8", "replace")
    return parse_written(text, usage=usage_of(text.splitlines()))


def _timeline(data: bytes) -> object:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.csv"
        path.write_bytes(data)
        return read_timeline(path)


def _answer_headers(data: bytes) -> object:
    lines = data.decode("latin-1").splitlines()
    headers = {line.partition(":")[0].lower(): line.partition(":")[2].strip() for line in lines}
    header_hints(headers, MONDAY_MORNING)
    return [asked_to_wait_seconds(status, headers, MONDAY_MORNING) for status in (200, 429)]


def _reader_headers(data: bytes) -> object:
    """A reader's headers at the test feed, at different hours."""
    lines = data.decode("latin-1").splitlines()
    headers = {line.partition(":")[0].lower(): line.partition(":")[2].strip() for line in lines}
    place = WeekPlace("http://a.example/word", MONDAY_MORNING.replace(minute=0))
    return [answer(place, hour, "GET", "feed.xml", headers) for hour in (1.0, 5.0, 12.0)]


FILES = {
    "reader-trace": Target((week(hourly, hours=9).to_json().encode(),), refusing(_trace)),
    "reader-headers": Target(
        (
            b'If-None-Match: W/"12ab"\nA-IM: feed\nAccept-Encoding: gzip, br;q=0.5',
            b"If-Modified-Since: Mon, 04 Mar 2024 09:00:00 GMT\nIf-None-Match: *",
        ),
        refusing(_reader_headers),
    ),
    "date": Target(samples.DATES, refusing(_date)),
    "markdown": Target(samples.MARKDOWN, refusing(_markdown)),
    "river": Target(samples.FEEDS, refusing(_river)),
    "import": Target(samples.FEEDS + samples.EXPORTS, refusing(_imported)),
    "front-matter": Target(samples.FRONT_MATTER, refusing(_front_matter)),
    "csv": Target(samples.CSV, refusing(_timeline)),
    "opml": Target(samples.OPML, refusing(opml.read_opml)),
    "json-feed": Target(samples.JSON_FEEDS, refusing(_river)),
    "answer-headers": Target(samples.ANSWER_HEADERS, refusing(_answer_headers)),
}


def requests(client: FlaskClient, site: Site, token: str) -> dict[str, Target]:
    """What reaches a site over HTTP; `token` may do everything for the site's author."""
    rebuild(site)
    bearer = [("Authorization", f"Bearer {token}")]
    with site.database.write() as db:
        mirror, _ = mirrors.add(db, "https://a.example/feed", "a", "UTC", site.clock())
        hub = f"/mirror/a/websub/{mirror.hub_key}"
        subscriptions.subscribe(db, "https://a.example/feed", site.clock(), site.clock())

    def send(builder: EnvironBuilder, **headers: str) -> None:
        environ = builder.get_environ() | {"wsgi.url_scheme": "https"} | headers
        body, status, _ = run_wsgi_app(client.application, environ, buffered=True)
        assert int(status[:3]) < 500, (status, b"".join(body)[-2_000:])
        builder.close()

    def micropub(kind: str) -> Callable[[bytes], object]:
        return lambda data: send(
            EnvironBuilder("/micropub", method="POST", data=data, headers=bearer, content_type=kind)
        )

    def query(path: str, headers: list[tuple[str, str]]) -> Callable[[bytes], object]:
        def ask(data: bytes) -> None:
            asked = quote_from_bytes(data, safe="=&+%")
            send(EnvironBuilder(path, query_string=asked, headers=headers))

        return ask

    def head(path: str, *names: str) -> Callable[[bytes], object]:
        def ask(data: bytes) -> None:
            values = data.decode("latin-1").replace("\r", "").split("\n")
            named = {f"HTTP_{name}": value for name, value in zip(names, values, strict=False)}
            send(EnvironBuilder(path), **named)

        return ask

    def posted(path: str, kind: str) -> Callable[[bytes], object]:
        return lambda data: send(EnvironBuilder(path, method="POST", data=data, content_type=kind))

    def called(root: str, headers: list[tuple[str, str]]) -> Callable[[bytes], object]:
        """A path below `root` and a form, with a question mark between the two."""

        def ask(data: bytes) -> None:
            place, _, body = data.partition(b"?")
            path = root + quote_from_bytes(place)
            send(EnvironBuilder(path, method="POST", data=body, headers=headers, content_type=form))
            send(EnvironBuilder(path, query_string=quote_from_bytes(body, safe="=&+%")))

        return ask

    def hub_news(data: bytes) -> None:
        signature, _, body = data.partition(b"\n")
        sent = [("X-Hub-Signature", signature.decode("latin-1").replace("\r", ""))]
        send(EnvironBuilder(hub, method="POST", data=body, headers=sent))

    def searched(data: bytes) -> None:
        with site.database.read() as db:
            published.search(db, data.decode("utf-8", "replace"))

    reader = [("Authorization", f"GoogleLogin auth={token}")]
    form = "application/x-www-form-urlencoded"
    conditions = ("IF_NONE_MATCH", "IF_MODIFIED_SINCE", "IF_MATCH", "RANGE", "ACCEPT_ENCODING")
    return {
        "micropub-json": Target(samples.MICROPUB_JSON, micropub("application/json")),
        "micropub-form": Target(samples.MICROPUB_FORMS, micropub(form)),
        "micropub-parts": Target(samples.MULTIPART, micropub("multipart/form-data; boundary=x")),
        "micropub-query": Target(samples.MICROPUB_QUERIES, query("/micropub", bearer)),
        "search-query": Target(samples.SEARCHES, query("/search", [])),
        "search-words": Target(samples.SEARCHES, refusing(searched)),
        "cookie": Target(samples.COOKIES, head("/studio/", "COOKIE", "USER_AGENT", "ACCEPT")),
        "conditional": Target(samples.CONDITIONS, head("/rss.xml", *conditions)),
        "xml-rpc": Target(samples.calls(token.encode()), posted("/xmlrpc", "text/xml")),
        "weblog-ping": Target(samples.PINGS, posted("/mirror/ping", "text/xml")),
        "websub-question": Target(samples.HUB_QUESTIONS, query(hub, [])),
        "websub-news": Target(samples.HUB_NEWS, hub_news),
        "reader-api": Target(samples.READER_CALLS, called("/reader/api/0/", reader)),
        "indieauth": Target(samples.INDIEAUTH, called("/indieauth/", bearer)),
        "forwarded": Target(samples.FORWARDED, head("/", "HOST", "X_FORWARDED_FOR", "ORIGIN")),
    }
