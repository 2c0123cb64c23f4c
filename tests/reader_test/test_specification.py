"""docs/specification-vectors.json against our feed, the library, the mirror, the WordPress plugin;
and against our river."""

import json
import re
import shutil
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from werkzeug.test import Client

from publisher.base.dates import format_rfc822
from publisher.dynamic_ttl import wsgi
from publisher.installation import Site
from publisher.publishing.rebuild import rebuild
from tests.conftest import FakeClock
from tests.dynamic_ttl.engines import document
from tests.dynamic_ttl.test_middleware import POSTS
from tests.factories import make_post
from tests.other_feeds import test_wordpress as wordpress
from tests.parts.mirror.test_mirror import elsewhere, environment, mirrored
from tests.parts.river.origin import Origin, Reply
from tests.parts.river.test_worker import River

__all__ = ["elsewhere", "environment", "mirrored"]  # fixtures

DOCS = Path(__file__).parent.parent.parent / "docs"
VECTORS = json.loads((DOCS / "specification-vectors.json").read_text("utf-8"))
PUBLISHER = [pytest.param(answer, id=answer["id"]) for answer in VECTORS["publisher"]]


def of_part(*parts: str) -> list[Any]:
    """The publisher's vectors about these parts of an answer."""
    vectors = [answer for answer in VECTORS["publisher"] if answer["part"] in parts]
    return [pytest.param(answer, id=answer["id"]) for answer in vectors]


READER = [pytest.param(answer, id=answer["id"]) for answer in VECTORS["reader"]]

Response = tuple[int, dict[str, str], bytes]
Ask = Callable[[str, Mapping[str, str]], Response]
"""A method and headers -> status, headers with small names, body."""


def over_wsgi(client: Client, path: str) -> Ask:
    """Asks an application."""

    def ask(method: str, headers: Mapping[str, str]) -> Response:
        answer = client.open(path, method=method, headers=dict(headers))
        return answer.status_code, {n.lower(): v for n, v in answer.headers}, answer.data

    return ask


def check_publisher(vector: dict[str, Any], ask: Ask) -> None:
    """One vector of a publisher."""
    _, first, _ = ask("GET", {})
    sent = {}
    validators = {name: first.get(name, "") for name in ("etag", "last-modified")}
    validators["opaque"] = validators["etag"].removeprefix("W/")
    for name, value in vector["send"].items():
        sent[name] = re.sub(r"\{([\w-]+)\}", lambda vectors: validators[vectors[1]], value)
    status, headers, body = ask(sent.pop(":method", "GET"), sent)
    expect = vector["expect"]
    assert str(status) == expect["status"]
    for name, pattern in expect.get("headers", {}).items():
        assert re.search(pattern, headers.get(name, "")), (name, headers)
    for name, pattern in expect.get("not_headers", {}).items():
        assert not re.search(pattern, headers.get(name, "")), (name, headers)
    for name in expect.get("same", []):
        assert headers[name] == first[name], name
    assert not set(expect.get("absent", [])) & headers.keys()
    if expect.get("empty"):
        assert body == b""
    if "body" in expect:
        head = body.partition(b"<item")[0]  # a post may talk about a ttl
        assert len(re.findall(expect["body"].encode(), head)) == 1
    if expect.get("agrees"):
        assert agrees(body.decode())


def agrees(text: str) -> bool:
    """Whether the syndication module says what the ttl says, or nothing."""
    ttl = re.search(r"<ttl>(\d+)</ttl>", text)
    period = re.search(r"<sy:updatePeriod>\s*(\w+)", text)
    times = re.search(r"<sy:updateFrequency>\s*(\d+)", text)
    if ttl is None or period is None or times is None:
        return period is None and times is None
    return {"hourly": 60, "daily": 1440}[period[1]] / int(times[1]) == int(ttl[1])


@pytest.mark.parametrize("vector", PUBLISHER)
def test_our_own_feed(vector: dict[str, Any], site: Site, app: Flask) -> None:
    """`/rss.xml`, a minute after a post."""
    make_post(site, "Words.")
    rebuild(site)
    app.extensions["front"].refresh()
    check_publisher(vector, over_wsgi(app.test_client(), "/rss.xml"))


@pytest.mark.parametrize("vector", of_part("document", "freshness", "tag", "head"))
def test_the_library(vector: dict[str, Any], clock: FakeClock) -> None:
    """`dynamic_ttl.wsgi` around an application that knows no validators; dates and compression
    are the application's own."""

    def application(_environ: Any, start_response: Callable[..., Any]) -> list[bytes]:
        start_response("200 OK", [("Content-Type", "application/rss+xml; charset=utf-8")])
        return [document("hugo")]

    clock.moment = max(POSTS) + timedelta(minutes=9)
    wrapped = wsgi.DynamicTtl(application, "/feed", lambda: POSTS, clock=clock)
    check_publisher(vector, over_wsgi(Client(wrapped), "/feed"))


@pytest.mark.usefixtures("mirrored")
@pytest.mark.parametrize("vector", PUBLISHER)
def test_the_mirror(vector: dict[str, Any], app: Flask) -> None:
    """`/mirror/tides.xml`."""
    app.extensions["front"].refresh()
    check_publisher(vector, over_wsgi(app.test_client(), "/mirror/tides.xml"))


@pytest.mark.skipif(shutil.which("php") is None, reason="php is not installed")
@pytest.mark.parametrize("vector", of_part("document", "freshness"))
def test_the_wordpress_plugin(vector: dict[str, Any]) -> None:
    """What the plugin writes; validators and compression are WordPress's own."""
    output = wordpress.run(wordpress.ok(wordpress.advised()))
    module = (
        f"<sy:updatePeriod>{output['period']}</sy:updatePeriod>"
        f"<sy:updateFrequency>{output['frequency']}</sy:updateFrequency>"
    )
    headers = {name.lower(): value for name, value in output["feed"].items()}
    check_publisher(vector, lambda *_: (200, headers, (output["head"] + module).encode()))


def body_of(answer: dict[str, Any], number: int) -> bytes:
    """A document with what an answer of a vector says in it."""
    parts = []
    if "ttl" in answer:
        parts.append(f"<ttl>{answer['ttl']}</ttl>")
    if "sy" in answer:
        period, times = answer["sy"]
        parts.append(f"<sy:updatePeriod>{period}</sy:updatePeriod>")
        parts.append(f"<sy:updateFrequency>{times}</sy:updateFrequency>")
    hours = "".join(f"<hour>{hour}</hour>" for hour in answer.get("skip_hours", []))
    parts.append(f"<skipHours>{hours}</skipHours>" if hours else "")
    return (
        '<rss version="2.0" xmlns:sy="http://purl.org/rss/1.0/modules/syndication/"><channel>'
        f"<title>A</title><link>http://a.example/</link>{''.join(parts)}"
        f"<item><guid>{number}</guid><title>{number}</title></item></channel></rss>"
    ).encode()


def date(value: str, now: datetime) -> str:
    """A header's value; `+60` and `-60` are HTTP dates."""
    if re.fullmatch(r"[+-]\d+", value):
        return format_rfc822(now + timedelta(seconds=int(value)))
    return value


@pytest.mark.parametrize("vector", READER)
def test_our_river(vector: dict[str, Any], site: Site, clock: FakeClock) -> None:
    """The river gets the answers one after the other, at the moments that it chooses."""
    begun, waits = clock(), list[float]()
    answers: list[Any] = list(vector["answers"])
    origin = Origin()
    origin.clock = lambda: clock().timestamp()

    def reply(_headers: Mapping[str, str]) -> Reply:
        answer: Any = answers.pop(0) if answers else {"status": 500, "headers": {}}
        now = clock()
        headers = {
            name: date(value, begun if name == "last-modified" else now)
            for name, value in answer["headers"].items()
        }
        headers |= {"Date": format_rfc822(now), "Content-Type": "application/rss+xml"}
        body = body_of(answer, len(answers)) if answer["status"] == 200 else b""
        return Reply(answer["status"], body, headers)

    river = River(site, clock)
    try:
        url = origin.serve("/feed", reply)
        river.add(url, "attentive")
        for _ in range(len(vector["answers"])):
            assert river.poll() == 1
            waits.append(river.wait(url) * 60)
            clock.forward(seconds=waits[-1])
        river.poll()
    finally:
        origin.close()
    expect, last = vector["expect"], origin.log[-1].headers
    assert waits[-1] >= expect.get("least", 0)
    if expect.get("grows"):
        assert all(later > answer for answer, later in pairwise(waits[1:]))
    for name, value in expect.get("next", {}).items():
        assert last[name] == date(value, begun)
    for name, pattern in expect.get("matches", {}).items():
        assert re.search(pattern, last[name])
    assert not set(expect.get("absent", [])) & last.keys()


def test_every_vector_has_its_rule() -> None:
    """The page has each number; the page stays short."""
    page = (DOCS / "specification.md").read_text("utf-8")
    rules = set(re.findall(r"\*\*([PR]\d+)\.\*\*", page))
    used = {answer["id"].split()[0] for answer in (*VECTORS["publisher"], *VECTORS["reader"])}
    assert used <= rules
    # Rules about what a publisher may publish, about refusals, about randomness: no answer shows.
    assert rules - used == {"P5", "P10", "P11", "R11"}
    assert len(page.split()) < 1200
