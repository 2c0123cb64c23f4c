"""A CDN is told of changed documents: what is called, when, and where the secret never goes."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import select

from publisher.base.environment import Purge, read_environment
from publisher.base.errors import InvalidInput
from publisher.base.net import Reply
from publisher.installation import Site
from publisher.operations.scheduler import send_pings
from publisher.publishing import purge
from publisher.publishing.outbox import PURGE
from publisher.publishing.rebuild import rebuild
from publisher.storage.tables.publishing import Delivery, Snapshot
from tests.conftest import SITE_URL, FakeClock
from tests.factories import make_post
from tests.publishing.push.hub import Hub, running_hub

SECRET = "s3cret-token"
CLOUDFLARE = "https://api.cloudflare.com/client/v4/zones/1234/purge_cache"
FASTLY = "https://api.fastly.com/purge/{host}/{path}"


@pytest.fixture
def hub() -> Iterator[Hub]:
    """A server that answers and remembers."""
    with running_hub() as listening:
        yield listening


@pytest.fixture
def cached(site: Site, hub: Hub) -> Site:
    """A site behind a CDN."""
    settings = Purge(f"{hub.url}/purge/{{host}}/{{path}}", "Fastly-Key", SECRET)
    rebuild(site)
    return replace(site, environment=replace(site.environment, purge=settings, allow_private=True))


def rows(site: Site) -> list[Delivery]:
    """The outbox."""
    with site.database.read() as session:
        return list(session.scalars(select(Delivery).order_by(Delivery.id)))


def test_each_changed_document_once(cached: Site, hub: Hub, clock: FakeClock) -> None:
    """After a build that changed them, not after one that changed nothing."""
    paths = [f"/purge/blog.example/{name}" for name in ("atom.xml", "feed.json", "rss.xml")]
    send_pings(cached)
    assert sorted(path for path, _ in hub.pings) == paths
    send_pings(cached)
    rebuild(cached)
    send_pings(cached)
    assert len(hub.pings) == 3
    make_post(cached, "New.")
    rebuild(cached)
    send_pings(cached)
    assert sorted(path for path, _ in hub.pings[3:]) == paths
    assert {row.protocol for row in rows(cached)} == {PURGE}


def test_tried_again_and_never_redirected(cached: Site, hub: Hub, clock: FakeClock) -> None:
    """A redirect is a failure: the secret is for one address alone. It is tried again."""
    hub.answers = [(302, {"Location": f"{hub.url}/elsewhere"})] * 3
    send_pings(cached)
    assert [path for path, _ in hub.pings if "elsewhere" in path] == []
    assert all(row.next_at is not None for row in rows(cached))
    clock.forward(minutes=2)
    send_pings(cached)
    assert all(row.delivered_at is not None for row in rows(cached))


def test_no_secret_is_kept_or_shown(
    cached: Site, hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not in the outbox, even when the answer repeats it, and not in what a failure may print."""

    def echo(url: str, **options: Any) -> Reply:
        return Reply(url, 403, {}, str(options["headers"]).encode())

    monkeypatch.setattr("publisher.installation.request_public", echo)
    send_pings(cached)
    assert all(row.answer.startswith("403") and SECRET not in row.answer for row in rows(cached))
    assert SECRET not in repr(cached.environment)


def test_private_addresses_are_refused(cached: Site, hub: Hub) -> None:
    """The guard of all outgoing requests counts here too."""
    private = replace(cached.environment, allow_private=False)
    send_pings(replace(cached, environment=private))
    assert hub.pings == []
    assert "private" in rows(cached)[0].answer


@pytest.mark.parametrize(
    ("template", "address", "body"),
    [
        (CLOUDFLARE, CLOUDFLARE, b'{"files": ["https://blog.example/rss.xml"]}'),
        (FASTLY, "https://api.fastly.com/purge/blog.example/rss.xml", None),
        ("https://c.example/{url}", "https://c.example/https%3A%2F%2Fblog.example%2Frss.xml", None),
    ],
)
def test_the_forms(
    site: Site, monkeypatch: pytest.MonkeyPatch, template: str, address: str, body: bytes | None
) -> None:
    """Cloudflare's and Fastly's, and one of somebody's own."""
    calls: list[tuple[str, dict[str, Any]]] = []

    def take(url: str, **options: Any) -> Reply:
        calls.append((url, options))
        return Reply(url, 200, {}, b"")

    monkeypatch.setattr("publisher.installation.request_public", take)
    settings = Purge(template, "Authorization", f"Bearer {SECRET}")
    row = Delivery(protocol=PURGE, target=template, topic=f"{SITE_URL}/rss.xml")
    cdn = replace(site, environment=replace(site.environment, purge=settings))
    purge.send(cdn, row)
    [(url, options)] = calls
    assert (url, options["form"]) == (address, body)
    assert options["headers"]["Authorization"] == f"Bearer {SECRET}"
    assert not options["redirects"]


def test_without_a_cdn_nothing_is_told(cached: Site) -> None:
    """And what still waited for one is forgotten."""
    without = replace(cached, environment=replace(cached.environment, purge=None))
    purge.request_calls(without)
    assert rows(cached) == []
    assert purge.send(without, Delivery(protocol=PURGE, target="x", topic="y")) is None


def test_one_changed_document_is_told(cached: Site, hub: Hub) -> None:
    """Those before and after it in the alphabet are as they were; what is special is encoded."""
    send_pings(cached)
    with cached.database.write() as session:
        session.get_one(Snapshot, "json").etag = 'W/"other"'
        session.add(tag_feed := Snapshot(**vars_of(session.get_one(Snapshot, "rss"))))
        tag_feed.name = "/tags/b é/rss.xml"
    send_pings(cached)
    assert sorted(path for path, _ in hub.pings[3:]) == [
        "/purge/blog.example/feed.json", "/purge/blog.example/tags/b%20%C3%A9/rss.xml",
    ]  # fmt: skip
    with cached.database.write() as session:
        session.get_one(Snapshot, "rss").etag = 'W/"another"'
    send_pings(cached)
    assert [path for path, _ in hub.pings[5:]] == ["/purge/blog.example/rss.xml"]


def vars_of(row: Snapshot) -> dict[str, Any]:
    """The columns of a row, for another one like it."""
    return {column.name: getattr(row, column.name) for column in Snapshot.__table__.columns}


@pytest.mark.parametrize(
    ("template", "header", "words"),
    [
        (CLOUDFLARE, "", "PUBLISHER_PURGE_HEADER: a header such as"),
        (CLOUDFLARE, SECRET, "PUBLISHER_PURGE_HEADER: a header such as"),
        (CLOUDFLARE, f"Key: {SECRET}\r\nX: y", "PUBLISHER_PURGE_HEADER: a header such as"),
        ("", f"Key: {SECRET}", "PUBLISHER_PURGE_URL: an https address"),
        ("http://cdn.example/", f"Key: {SECRET}", "PUBLISHER_PURGE_URL: an https address"),
    ],
)
def test_bad_variables(tmp_path: object, template: str, header: str, words: str) -> None:
    """They stop the start, and the secret is not in the message."""
    variables = {"PUBLISHER_PURGE_URL": template, "PUBLISHER_PURGE_HEADER": header}
    with pytest.raises(InvalidInput, match=words) as raised:
        read_environment({"PUBLISHER_INSTANCE": str(tmp_path), **variables})
    assert SECRET not in str(raised.value)
