"""One gesture makes one post, whoever sends it: the second request of a name gets the first one's
answer."""

import xmlrpc.client
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any, cast

import pytest
from flask import Flask
from flask.testing import FlaskClient

from publisher.blog.members import tokens
from publisher.blog.writing import editing
from publisher.blog.writing.editing import Intent
from publisher.installation import Site
from publisher.storage.tables.blog import Post
from tests.conftest import FakeClock
from tests.factories import content, make_author


@pytest.fixture
def secret(site: Site) -> str:
    """A token of ada's."""
    ada = make_author(site)
    with site.database.write() as db:
        return tokens.create(db, ada, tokens.SCOPES, site.clock())


def sources(site: Site) -> list[str]:
    with site.database.read() as db:
        return sorted(post.source for post in db.query(Post))


@pytest.mark.parts("micropub")
def test_micropub(client: FlaskClient, site: Site, secret: str, clock: FakeClock) -> None:
    """`Idempotency-Key`: the same address again, for a day."""

    def send(key: str, content: str = "Hello", status: int = 201) -> str | None:
        headers = {"Authorization": f"Bearer {secret}", "Idempotency-Key": key}
        answer = client.post("/micropub", data={"h": "entry", "content": content}, headers=headers)
        assert answer.status_code == status, answer.text
        assert status == 201 or "Idempotency-Key" in answer.text
        return answer.location

    first = send("a")
    clock.forward(hours=23)
    assert send("a") == first
    assert send("a", "Another text, which would be dropped", 400) is None
    assert sources(site) == ["Hello"]
    assert send("b") != first
    clock.forward(hours=2)
    assert send("a") != first
    assert len(sources(site)) == 3


@pytest.mark.parts("xml_rpc")
def test_xml_rpc(app: Flask, site: Site, secret: str) -> None:
    """The header again; calls of one request are told apart."""

    def send(method: str, *parameters: object, key: str = "k") -> object:
        answer = app.test_client().post(
            "/xmlrpc", data=xmlrpc.client.dumps(cast("Any", parameters), method),
            headers={"Content-Type": "text/xml", "Idempotency-Key": key},
        )  # fmt: skip
        return xmlrpc.client.loads(answer.data)[0][0]

    new = ("1", "ada", secret, {"title": "T", "description": "One"}, True)
    assert send("metaWeblog.newPost", *new) == send("metaWeblog.newPost", *new)
    wordpress = ("1", "ada", secret, {"post_title": "T", "post_content": "Two"})
    assert send("wp.newPost", *wordpress, key="w") == send("wp.newPost", *wordpress, key="w")
    calls = [
        {"methodName": "metaWeblog.newPost", "params": ["1", "ada", secret, {"description": text}]}
        for text in ("Three", "Four")
    ]
    assert send("system.multicall", calls, key="m") == send("system.multicall", calls, key="m")
    assert sources(site) == ["Four", "One", "Three", "Two"]


def test_many_at_once(site: Site) -> None:
    """Of twenty requests of one name at once, on as many connections, one makes the post."""
    ada = make_author(site)
    began = Barrier(20)

    def submit(_: int) -> int:
        began.wait()
        with site.database.write() as db:
            value, now = content("One note."), site.clock()
            return editing.submit(db, ada, 0, value, 0, Intent("now"), now, 60, attempt="a").id

    with ThreadPoolExecutor(20) as pool:
        assert list(pool.map(submit, range(20))) == [1] * 20
    assert sources(site) == ["One note."]
