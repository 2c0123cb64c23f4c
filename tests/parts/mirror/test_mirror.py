"""Mirrors: an origin on loopback, served from here with our head and our headers."""

import gzip
import hashlib
import hmac
import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from click.testing import CliRunner, Result
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select
from werkzeug.test import TestResponse

from publisher.base.environment import Environment
from publisher.base.errors import Conflict, InvalidData, InvalidInput, NotFound, PublisherError
from publisher.cli import cli
from publisher.dynamic_ttl.feed_head import outline_of
from publisher.feed_fetching.answers import Validators
from publisher.feed_reading.feed_document import FeedDocument
from publisher.feed_reading.parse import parse_document
from publisher.feed_reading.scan import scan
from publisher.installation import Site
from publisher.installation.settings import store_setting
from publisher.parts.mirror import mirror_poll, mirrors
from publisher.parts.mirror.tables import Mirror
from publisher.parts.river.polls import due_polls
from publisher.parts.river.polls.on_demand import OnDemandPoller
from publisher.parts.river.polls.poll_job import PollResult
from publisher.storage.tables.publishing import Delivery
from publisher.web.application import close_app, create_app
from tests.conftest import FakeClock
from tests.dynamic_ttl.test_feed_head import outside
from tests.other_feeds.test_stamp import feed_of
from tests.parts.river.origin import Origin, Reply


class Elsewhere:
    """A blog of somebody else: its feed, what is wrong with it, who asked for it."""

    def __init__(self, origin: Origin, clock: FakeClock) -> None:
        self.origin, self.clock = origin, clock
        self.dates: list[datetime] = [
            clock() - timedelta(days=day, minutes=30) for day in range(20, 0, -1)
        ]
        self.reply: Reply | None = None
        self.extra = ""
        self.asked = 0
        origin.routes["/feed"] = self.answer

    @property
    def url(self) -> str:
        return f"{self.origin.url}/feed"

    @property
    def body(self) -> bytes:
        title = b"<title>A</title>"
        return feed_of(self.dates).replace(title, title + self.extra.encode(), 1)

    def answer(self, headers: Mapping[str, str]) -> Reply:
        self.asked += 1
        kind = {"Content-Type": "application/rss+xml", "ETag": f'"{len(self.dates)}"'}
        if self.reply is not None:
            return self.reply
        if headers.get("if-none-match") == kind["ETag"]:
            return Reply(304, headers=kind)
        return Reply(200, self.body, kind)

    def post(self) -> None:
        """Write something now."""
        self.dates.append(self.clock())


@pytest.fixture
def environment(environment: Environment) -> Environment:
    """One that may fetch from loopback."""
    return replace(environment, allow_private=True)


@pytest.fixture
def elsewhere(clock: FakeClock) -> Iterator[Elsewhere]:
    """The origin."""
    origin = Origin()
    yield Elsewhere(origin, clock)
    origin.close()


def mirror_of(site: Site, elsewhere: Elsewhere) -> Mirror:
    """A mirror of it, read once."""
    with site.database.write() as session:
        mirrors.add(session, elsewhere.url, "tides", "UTC", site.clock())
    return mirror_poll.poll(site, "tides")


@pytest.fixture
def mirrored(site: Site, elsewhere: Elsewhere) -> str:
    """A mirror of it, read once; its token."""
    with site.database.write() as session:
        made, token = mirrors.add(session, elsewhere.url, "tides", "UTC", site.clock())
        assert made.name == "tides"
    mirror_poll.poll(site, "tides")
    return token


def row(site: Site) -> Mirror:
    with site.database.read() as session:
        mirror = mirrors.named(session, "tides")
        session.expunge_all()
        return mirror


def get(app: Flask, **headers: str) -> TestResponse:
    """The mirrored document, as a reader fetches it."""
    app.extensions["front"].refresh()
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    return app.test_client().get("/mirror/tides.xml", headers=sent)


CHARACTER_SETS = {
    "gb2312": ("gb18030", "潮汐与時間"), "gbk": ("gb18030", "潮汐与時間"),
    "Big5": ("big5", "潮汐與時間"), "Shift_JIS": ("cp932", "潮の満ち引き①"),
    "EUC-JP": ("euc_jp", "潮の満ち引き"), "ISO-2022-JP": ("iso2022_jp", "潮の満ち引き"),
    "euc-kr": ("cp949", "조수와 시간똠"), "utf-16": ("utf-16", "Ebbe, Flut – 潮"),
}  # fmt: skip


@pytest.mark.parametrize("named_in", ["declaration", "header"])
def test_a_feed_in_several_bytes_a_character_is_served_in_utf_8(
    app: Flask, site: Site, clock: FakeClock, elsewhere: Elsewhere, named_in: str
) -> None:
    """Everything else is the origin's; declaration and header say the new character set."""
    for label, (codec, title) in CHARACTER_SETS.items():
        plain = elsewhere.body.decode().replace("<title>A</title>", f"<title>{title}</title>", 1)
        inside = plain.partition("?>")[2] if plain.startswith("<?xml") else plain
        declared = f'<?xml version="1.0" encoding="{label}"?>' if named_in == "declaration" else ""
        kind = "text/xml" + (f"; charset={label}" if named_in == "header" else "")
        sent = (declared + inside).encode(codec)
        elsewhere.reply = Reply(200, sent, {"Content-Type": kind})
        assert mirror_of(site, elsewhere).problem == "", label
        served = get(app)
        assert served.headers["Content-Type"] == "text/xml; charset=utf-8", label
        head, _, body = served.data.decode().partition("?>")
        assert 'encoding="utf-8"' in head
        assert outside(body.encode()) == outside(inside.encode())
        assert outline_of(served.data).kind == "rss"
        assert scan(served.data).hints.ttl_minutes is not None
        with site.database.write() as session:
            mirrors.remove(session, "tides")
        clock.forward(minutes=1)  # the origin's turn


def test_a_feed_in_one_byte_a_character_keeps_its_bytes(
    app: Flask, site: Site, elsewhere: Elsewhere
) -> None:
    """Latin-1 is edited as it is, and its Content-Type stays."""
    inside = elsewhere.body.decode().partition("?>")[2] or elsewhere.body.decode()
    sent = f'<?xml version="1.0" encoding="iso-8859-1"?>{inside}'.replace(
        "<title>A</title>", "<title>Flut für Ärzte</title>", 1
    ).encode("latin-1")
    kind = "application/rss+xml; charset=iso-8859-1"
    elsewhere.reply = Reply(200, sent, {"Content-Type": kind})
    mirror_of(site, elsewhere)
    served = get(app)
    assert (served.headers["Content-Type"], outside(served.data)) == (kind, outside(sent))


def test_one_damaged_character_costs_one_character(
    app: Flask, site: Site, elsewhere: Elsewhere
) -> None:
    """The rest of the document is served."""
    sent = elsewhere.body.replace(b"<title>A</title>", "<title>Ebbe – \0 Ärzte</title>".encode(), 1)
    elsewhere.reply = Reply(200, sent.replace(b"\0", b"\xe2\x82"), {"Content-Type": "text/xml"})
    assert mirror_of(site, elsewhere).problem == ""
    title = get(app).data.decode().partition("<title>")[2].partition("</title>")[0]
    assert title.startswith("Ebbe – ")
    assert title.endswith(" Ärzte")


@pytest.mark.parametrize("before", [b"\n", b"<br />\n<b>Warning</b>: x in y on line 3<br />\n"])
def test_what_stands_before_the_declaration_is_left_out(
    app: Flask, site: Site, elsewhere: Elsewhere, before: bytes
) -> None:
    """Readers get a feed that is well-formed."""
    plain = elsewhere.body
    declared = plain if plain.startswith(b"<?xml") else b'<?xml version="1.0"?>' + plain
    elsewhere.reply = Reply(200, before + declared, {"Content-Type": "application/rss+xml"})
    assert mirror_of(site, elsewhere).problem == ""
    served = get(app).data
    assert outside(served).partition(b"?>")[2] == outside(declared).partition(b"?>")[2]


def test_a_hub_is_read_in_any_character_set(elsewhere: Elsewhere) -> None:
    """The hub that a feed in GBK names is asked."""
    link = '<link xmlns="http://www.w3.org/2005/Atom" rel="hub" href="https://hub.example/"/>'
    plain = elsewhere.body.decode().replace("<title>A</title>", f"<title>潮汐</title>{link}", 1)
    inside = plain.partition("?>")[2] if plain.startswith("<?xml") else plain
    sent = f'<?xml version="1.0" encoding="gbk"?>{inside}'.encode("gbk")
    assert parse_document(sent, "text/xml", elsewhere.url).hub_url == "https://hub.example/"


@pytest.mark.usefixtures("mirrored")
def test_the_origin_s_bytes_with_our_head(app: Flask, elsewhere: Elsewhere) -> None:
    """Everything but ttl, sy, self, hub and cloud is the origin's; the headers are ours."""
    served = get(app)
    assert served.status_code == 200
    assert outside(served.data) == outside(elsewhere.body)
    assert scan(served.data).hints.ttl_minutes in (15, 60, 480)
    assert b'rel="self"' in served.data
    assert b"https://blog.example/mirror/tides.xml" in served.data
    assert served.headers["Content-Type"] == "application/rss+xml"
    assert served.headers["Cache-Control"].startswith("public, max-age=")
    again = get(app, If_None_Match=served.headers["ETag"])
    assert (again.status_code, again.data) == (304, b"")
    assert again.headers["Cache-Control"] == served.headers["Cache-Control"]
    packed = get(app, Accept_Encoding="gzip")
    assert gzip.decompress(packed.data) == served.data


@pytest.mark.usefixtures("mirrored")
def test_the_ttl_moves_without_the_origin(app: Flask, site: Site, clock: FakeClock) -> None:
    """Each hour has its document; max-age says the minute."""
    first = get(app)
    seen = set()
    for _ in range(24):
        clock.forward(hours=1)
        mirror_poll.refresh(site, "tides")
        seen.add(scan(get(app).data).hints.ttl_minutes)
    assert len(seen) > 1
    assert outline_of(first.data).kind == "rss"


def test_a_ping_with_the_token_brings_news_at_once(
    app: Flask, site: Site, clock: FakeClock, elsewhere: Elsewhere, mirrored: str
) -> None:
    """The token opens it, nothing else does; the update is learned at its own date."""
    client = app.test_client()
    clock.forward(minutes=2)
    elsewhere.post()
    assert client.post("/mirror/tides/ping").status_code == 403
    wrong = {"Authorization": "Bearer wrong"}
    assert client.post("/mirror/tides/ping", headers=wrong).status_code == 403
    assert mirror_poll.poll_due_origins(site) > 0
    assert elsewhere.asked == 1  # neither told nor due
    accepted = client.post("/mirror/tides/ping", headers={"Authorization": f"Bearer {mirrored}"})
    assert accepted.status_code == 202
    mirror_poll.poll_due_origins(site)
    assert elsewhere.asked == 2
    served = get(app)
    assert outside(served.data) == outside(elsewhere.body)
    assert mirrors.history_of(row(site)).updates[-1] == elsewhere.dates[-1]
    assert row(site).asked_at is None
    assert client.post("/mirror/nothing/ping", data={"token": mirrored}).status_code == 404


@pytest.mark.usefixtures("mirrored")
def test_an_xml_rpc_ping_is_heard(
    app: Flask, site: Site, clock: FakeClock, elsewhere: Elsewhere
) -> None:
    """WordPress' update services: by the blog's address; a minute apart at least."""
    call = (
        "<?xml version='1.0'?><methodCall><methodName>weblogUpdates.ping</methodName><params>"
        f"<param><value>A</value></param><param><value><string>{elsewhere.origin.url}/</string>"
        "</value></param></params></methodCall>"
    )
    client = app.test_client()
    elsewhere.post()
    answer = client.post("/mirror/ping", data=call)
    assert b"<boolean>0</boolean>" in answer.data
    mirror_poll.poll_due_origins(site)
    assert elsewhere.asked == 1  # it was looked at just now
    clock.forward(seconds=61)
    mirror_poll.poll_due_origins(site)
    assert elsewhere.asked == 2
    second = call.replace(elsewhere.origin.url, "https://other.example")
    assert b"<boolean>1</boolean>" in client.post("/mirror/ping", data=second).data
    thousands = call.replace("<params>", "<params>" + "<param><value>http://a</value></param>" * 5)
    assert b"<boolean>1</boolean>" in client.post("/mirror/ping", data=thousands).data
    unknown = call.replace("weblogUpdates.ping", "system.shutdown")
    assert b"<boolean>1</boolean>" in client.post("/mirror/ping", data=unknown).data
    entity = "<!DOCTYPE a [<!ENTITY b 'c'>]>" + call.partition("?>")[2]
    for garbage in (b"", b"<", entity.encode(), b"\xff\xfe<"):
        assert client.post("/mirror/ping", data=garbage).status_code == 400


def test_a_hub_tells_us(app: Flask, site: Site, clock: FakeClock, elsewhere: Elsewhere) -> None:
    """Subscribed with a secret, the intent verified, only what is signed counts."""

    def hub(headers: Mapping[str, str]) -> Reply:
        return Reply(202)

    elsewhere.origin.routes["/hub"] = hub
    elsewhere.extra = (
        '<a:link xmlns:a="http://www.w3.org/2005/Atom" rel="hub" '
        f'href="{elsewhere.origin.url}/hub"/>'
    )
    mirror = mirror_of(site, elsewhere)
    assert mirror.hub_url.endswith("/hub")
    assert mirror.hub_asked_at == clock()
    assert any(entry.target == "/hub" for entry in elsewhere.origin.log)
    client, path = app.test_client(), f"/mirror/tides/websub/{mirror.hub_key}"
    request = {"hub.mode": "subscribe", "hub.topic": elsewhere.url, "hub.challenge": "c1",
             "hub.lease_seconds": "86400"}  # fmt: skip
    assert client.get(path, query_string=request | {"hub.topic": "https://x/"}).status_code == 404
    assert client.get(path[:-3] + "abc", query_string=request).status_code == 404
    verified = client.get(path, query_string=request)
    assert (verified.status_code, verified.data) == (200, b"c1")
    assert row(site).hub_until == clock() + timedelta(days=1)
    clock.forward(minutes=1)
    assert mirror_poll.wait_minutes(row(site), clock()) >= mirror_poll.TOLD_MINUTES
    assert client.post(path, data=b"news", headers={"X-Hub-Signature": "sha1=0"}).status_code == 202
    assert row(site).asked_at is None
    signature = hmac.new(mirror.hub_secret.encode(), b"news", hashlib.sha256).hexdigest()
    client.post(path, data=b"news", headers={"X-Hub-Signature": f"sha256={signature}"})
    assert row(site).asked_at == clock()
    elsewhere.extra = elsewhere.extra.replace("/hub", "/other")  # the former hub is not heard again
    clock.forward(hours=1)
    elsewhere.post()
    mirror_poll.poll(site, "tides")
    assert row(site).hub_url.endswith("/other")
    assert row(site).hub_secret != mirror.hub_secret
    assert client.get(path, query_string=request).status_code == 404


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        (Reply(500), "status 500"),
        (Reply(200, b"<html><body>Maintenance</body></html>"), "not a feed"),
        (Reply(200, b"<rss><channel><item><title>cut"), "the document is not well-formed"),
        (Reply(200, b"x" * 10_000_001), "too large"),
        (Reply(429, headers={"Retry-After": "7200"}), "asked to slow down (429)"),
    ],
)
@pytest.mark.usefixtures("mirrored")
def test_the_last_good_document_is_served_on(
    app: Flask, site: Site, clock: FakeClock, elsewhere: Elsewhere, reply: Reply,
    problem: str,
) -> None:  # fmt: skip
    """Whatever the origin does; it is said, backed off from, and over when it answers again."""
    good = elsewhere.body
    clock.forward(minutes=40)
    elsewhere.reply = reply
    mirror_poll.poll(site, "tides")
    assert row(site).problem.startswith(problem)
    wait = 7200 if "429" in problem else 300
    assert row(site).next_poll_at == clock() + timedelta(seconds=wait)
    assert outside(get(app).data) == outside(good)
    assert app.test_client().get("/mirror/tides/ttl.json").get_json()["problem"]
    elsewhere.reply = None
    elsewhere.post()
    clock.forward(seconds=wait)
    mirror_poll.poll_due_origins(site)
    assert row(site).problem == ""
    assert outside(get(app).data) == outside(elsewhere.body)


@pytest.mark.usefixtures("mirrored")
def test_a_build_date_alone_is_no_news(
    app: Flask, site: Site, clock: FakeClock, elsewhere: Elsewhere
) -> None:
    """An origin that is never the same twice costs its readers nothing here."""
    clock.forward(minutes=1)
    before = get(app)
    elsewhere.extra = "<lastBuildDate>Mon, 04 Mar 2024 09:31:00 GMT</lastBuildDate>"
    elsewhere.reply = Reply(200, elsewhere.body, {"Content-Type": "application/rss+xml"})
    mirror_poll.poll(site, "tides")
    assert get(app, If_None_Match=before.headers["ETag"]).status_code == 304


@pytest.mark.usefixtures("mirrored")
def test_the_older_of_two_answers_is_not_stored_last(
    site: Site, clock: FakeClock, elsewhere: Elsewhere, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two look at once: what the origin said first is dropped where it comes to be stored last."""
    ask = OnDemandPoller.poll_once

    def overtaken(self: OnDemandPoller, url: str, validators: Validators) -> PollResult:
        monkeypatch.setattr(OnDemandPoller, "poll_once", ask)
        clock.forward(minutes=1)
        older = ask(self, url, validators)
        clock.forward(minutes=1)
        elsewhere.post()
        mirror_poll.poll(site, "tides")
        return older

    elsewhere.post()
    monkeypatch.setattr(OnDemandPoller, "poll_once", overtaken)
    mirror_poll.poll(site, "tides")
    assert row(site).body == elsewhere.body
    assert (elsewhere.asked, row(site).last_polled_at) == (3, clock())
    with site.database.write() as session:  # from before the clock was set back: stops nothing
        mirrors.named(session, "tides").last_polled_at = clock() + timedelta(hours=1)
    clock.forward(minutes=1)
    elsewhere.post()
    assert mirror_poll.poll(site, "tides").body == elsewhere.body


@pytest.mark.usefixtures("mirrored")
def test_hubs_of_ours_are_told_of_the_origin_s_news(
    site: Site, clock: FakeClock, elsewhere: Elsewhere
) -> None:
    """Of a new item, not of a new hour."""
    with site.database.write() as session:
        store_setting(session, "hubs", "https://hub.example/")
    clock.forward(hours=2)
    mirror_poll.refresh(site, "tides")
    with site.database.read() as session:
        assert session.scalars(select(Delivery)).all() == []
    elsewhere.post()
    mirror_poll.poll(site, "tides")
    with site.database.read() as session:
        (owed,) = session.scalars(select(Delivery))
        assert owed.topic == "https://blog.example/mirror/tides.xml"
    assert row(site).last_new_at == clock()


@pytest.mark.usefixtures("mirrored")
def test_it_looks_by_itself_when_nobody_tells(
    site: Site, clock: FakeClock, elsewhere: Elsewhere
) -> None:
    """By its own forecast: between 5 minutes and 4 hours, conditionally."""
    for _ in range(3):
        wait = (row(site).next_poll_at or clock()) - clock()
        assert timedelta(minutes=5) <= wait <= timedelta(hours=4)
        clock.forward(seconds=wait.total_seconds())
        mirror_poll.poll_due_origins(site)
    assert elsewhere.asked == 4
    assert row(site).status == 304


@pytest.mark.usefixtures("mirrored")
def test_a_poll_planned_while_the_clock_was_ahead_waits_for_no_second_day(
    site: Site, clock: FakeClock, elsewhere: Elsewhere
) -> None:
    """The clock goes two days ahead, the origin is polled, and the clock is set right."""
    clock.forward(days=2)
    mirror_poll.poll_due_origins(site)
    clock.forward(days=-2)
    with site.database.write() as session:
        due_polls.repair(session, clock())  # as the river does at that moment
    mirror_poll.poll_due_origins(site)
    assert elsewhere.asked == 3
    assert (row(site).next_poll_at or clock()) - clock() <= timedelta(hours=4)


def test_several_feeds_and_names(site: Site, clock: FakeClock) -> None:
    """Names are made from hosts, told apart, and checked; a feed is mirrored once."""
    with site.database.write() as session:
        names = [
            mirrors.add(session, url, "", "UTC", clock())[0].name
            for url in ("https://www.a.example/feed", "https://a.example/comments/feed")
        ]
        assert names == ["a-example", "a-example-2"]
        with pytest.raises(Conflict):
            mirrors.add(session, "https://a.example/comments/feed", "other", "UTC", clock())
        for bad in ("ping", "../x", "a/b", "A", "-", "x" * 41):
            with pytest.raises(InvalidInput):
                mirrors.add(session, f"https://{len(bad)}.example/", bad, "UTC", clock())
        assert {m.name for m in mirrors.pinged(session, "https://a.example/")} == {"a-example-2"}
        for path, count in (("/comments", 1), ("/comments/", 1), ("/comm", 0), ("/comments/fe", 0)):
            assert len(mirrors.pinged(session, f"https://a.example{path}")) == count


@pytest.mark.usefixtures("mirrored")
def test_what_is_removed_is_gone(app: Flask, site: Site) -> None:
    """The document with it, in every process that looks."""
    assert get(app).status_code == 200
    with site.database.write() as session:
        mirrors.remove(session, "tides")
    assert get(app).status_code == 404
    with pytest.raises(NotFound):
        row(site)


@pytest.mark.usefixtures("mirrored")
def test_the_page_needs_a_login(client: FlaskClient) -> None:
    """What is known of somebody's feed is not for everybody; the ttl is."""
    assert client.get("/mirror").status_code == 302
    ttl = client.get("/mirror/tides/ttl.json").get_json()
    assert ttl["ttl_minutes"] in (15, 60, 480)
    assert ttl["update_period"] in ("hourly", "daily")
    assert len(ttl["good_until"]) == 12
    assert client.get("/mirror/other/ttl.json").status_code == 404


def run(environment: Environment, *arguments: str) -> Result:
    """The command line on the instance of this test."""
    return CliRunner().invoke(cli, ["mirror", *arguments], env=environment.variables())


def test_the_commands(environment: Environment, elsewhere: Elsewhere) -> None:
    """Add, list, why, ping, remove; a page offers its feeds, and nothing is left of it."""
    done = run(environment, "add", elsewhere.url, "--name", "tides", "--timezone", "berlin")
    assert done.exit_code == 0, done.exception
    address, token = done.output.splitlines()
    assert address == "https://blog.example/mirror/tides.xml"
    assert len(token.removeprefix("token: ")) == 32
    listed = json.loads(run(environment, "list", "--json").output)
    assert [(r["name"], r["url"], r["problem"]) for r in listed] == [("tides", elsewhere.url, "")]
    assert "Next check" in run(environment, "why", "tides").output
    assert json.loads(run(environment, "why", "tides", "--json").output)["updates"] == 20
    assert run(environment, "remove", "tides").exit_code == 0
    assert json.loads(run(environment, "list", "--json").output) == []
    page = b'<html><link rel="alternate" type="application/rss+xml" href="/feed"></html>'
    elsewhere.origin.routes["/"] = lambda _: Reply(200, page, {"Content-Type": "text/html"})
    refused = run(environment, "add", elsewhere.origin.url + "/")
    assert isinstance(refused.exception, PublisherError)
    assert elsewhere.url in str(refused.exception)
    assert json.loads(run(environment, "list", "--json").output) == []
    assert run(environment, "why", "nothing").exception is not None


def test_a_new_mirror_is_read_by_its_command_alone(
    environment: Environment, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The scheduler of a served site asked the origin as well, in the same second."""

    def look(site: Site, name: str) -> Mirror:
        with site.database.read() as session:
            due.append(mirrors.due_at(mirrors.named(session, name)))
            assert due[0] is not None
            assert due[0] > site.clock()
        raise InvalidData("enough")

    due: list[datetime | None] = []
    monkeypatch.setattr(mirror_poll, "poll", look)
    assert isinstance(run(environment, "add", "https://a.example/").exception, InvalidData)
    assert due


def test_private_addresses_stay_closed(
    environment: Environment, elsewhere: Elsewhere, clock: FakeClock
) -> None:
    """Without the permission for loopback nothing is asked there."""
    closed = create_app(replace(environment, allow_private=False), clock)
    site: Site = closed.extensions["publisher"]
    assert mirror_of(site, elsewhere).problem.startswith("private address")
    assert elsewhere.asked == 0
    close_app(closed)


@pytest.mark.usefixtures("mirrored")
@pytest.mark.parametrize(
    ("sent", "kind"),
    [
        ("text/html", "application/xml"),
        ("image/svg+xml; charset=ISO-8859-1", "application/xml; charset=ISO-8859-1"),
        ('Application/Atom+XML; x="\t"; charset="utf-8"', "application/atom+xml; charset=utf-8"),
        ("", "application/xml"),
    ],
)
def test_no_mirrored_document_is_a_page_of_this_site(
    app: Flask, site: Site, clock: FakeClock, elsewhere: Elsewhere, sent: str, kind: str
) -> None:
    """As text/html, or in elements of XHTML, an origin's scripts would have the author's login."""
    clock.forward(minutes=1)
    elsewhere.post()
    elsewhere.extra = '<script xmlns="http://www.w3.org/1999/xhtml">alert(1)</script>'
    elsewhere.reply = Reply(200, elsewhere.body, {"Content-Type": sent})
    mirror_poll.poll(site, "tides")
    served = get(app, A_IM="feed", If_None_Match='W/"other"')
    assert served.headers["Content-Type"] == kind
    held = get(app, If_None_Match=served.headers["ETag"])
    for answer in (served, held):
        assert answer.headers["Content-Security-Policy"] == "default-src 'none'; sandbox"
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert (served.status_code, held.status_code) == (200, 304)


@pytest.mark.usefixtures("mirrored")
def test_a_mirrored_document_is_never_taken_apart_here(
    app: Flask, site: Site, clock: FakeClock, elsewhere: Elsewhere
) -> None:
    """A namespace that libxml2 cannot put in order was an error at every look; thousands of them
    in a small document held the database for minutes."""
    clock.forward(minutes=1)
    elsewhere.post()
    elsewhere.extra = '<x xmlns:a="relative"/>'
    body = elsewhere.body.replace(b"<item>", b'<item><a:b xmlns:a="../relative"/>')
    elsewhere.reply = Reply(200, body, {"Content-Type": "application/rss+xml"})
    assert mirror_poll.poll(site, "tides").problem == ""
    assert b"../relative" in get(app).data


@pytest.mark.usefixtures("mirrored")
def test_one_mirror_s_error_is_not_the_others(
    site: Site, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor is its origin asked again and again for it."""
    with site.database.write() as session:
        mirrors.add(session, "https://b.example/feed", "b", "UTC", clock())
        mirrors.add(session, "https://z.example/feed", "z", "UTC", clock())
    looked = []

    def broken(site: Site, name: str) -> None:
        looked.append(name)
        if name == "b":
            raise KeyError(name)

    monkeypatch.setattr(mirror_poll, "poll", broken)
    for _ in range(3):
        mirror_poll.poll_due_origins(site)
    assert looked == ["b", "z", "z", "z"]
    with site.database.read() as session:
        assert mirrors.named(session, "b").problem.startswith("an error of this program")


@pytest.mark.usefixtures("mirrored")
def test_a_blog_that_moves_to_https_is_followed(
    app: Flask, site: Site, clock: FakeClock, elsewhere: Elsewhere
) -> None:
    """With other guids throughout and another address of its own: what is at the address is its
    feed, whatever was there before."""
    moved = elsewhere.body.replace(b"https://", b"http://")
    elsewhere.reply = Reply(200, moved, {"Content-Type": "application/rss+xml"})
    clock.forward(minutes=400)
    mirror_poll.poll_due_origins(site)
    assert row(site).problem == ""
    assert outside(get(app).data) == outside(moved)
    assert mirrors.history_of(row(site)).updates[-1] == clock()


@pytest.mark.usefixtures("mirrored")
def test_an_address_that_leads_elsewhere_is_told(
    site: Site, clock: FakeClock, elsewhere: Elsewhere
) -> None:
    """Else nobody would know until the old address is gone."""
    assert not any("leads to" in line for line in mirror_poll.why(row(site), clock(), str))
    there = f"{elsewhere.origin.url}/new"
    elsewhere.origin.serve("/new", Reply(200, elsewhere.body, {"Content-Type": "text/xml"}))
    elsewhere.reply = Reply(301, b"", {"Location": there})
    clock.forward(minutes=5)
    mirror_poll.poll(site, "tides")
    assert any(f"leads to {there}" in line for line in mirror_poll.why(row(site), clock(), str))


@pytest.mark.usefixtures("mirrored")
def test_a_document_that_cannot_be_stored_is_not_fetched_again_at_once(
    site: Site, clock: FakeClock, elsewhere: Elsewhere, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The origin would be asked every second, and nobody told."""

    def refuse(*_: object) -> None:
        raise InvalidData("no")

    monkeypatch.setattr(mirror_poll, "store_result", refuse)
    clock.forward(minutes=400)
    before = elsewhere.asked
    for _ in range(3):
        mirror_poll.poll_due_origins(site)
    assert (elsewhere.asked, row(site).problem) == (before + 1, "no")


def test_a_link_header_without_an_end(site: Site, elsewhere: Elsewhere) -> None:
    """Looking for a hub in it takes its length, not the square of it: hours for this one."""
    with site.database.write() as session:
        made, _ = mirrors.add(session, elsewhere.url, "tides", "UTC", site.clock())
        document = FeedDocument("rss")
        for part in ("<a>;", "<<<>; re", "<a>; rel ", "<a>" + " " * 60):
            mirrors.note_hub(made, document, {"link": part * 100_000})
            assert made.hub_url == ""
        hub = '<https://a.example/json>; rel="https://api.w.org/", <https://hub.example>; rel=hub'
        mirrors.note_hub(made, document, {"link": hub})
        assert made.hub_url == "https://hub.example"
