"""From a post to the hub, over real HTTP: what is sent, when, how often, and what never is."""

import threading
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import timedelta

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select
from werkzeug.serving import make_server

from publisher import installation
from publisher.base.net import OutgoingError, Reply, is_public
from publisher.blog.update_log import record_all
from publisher.blog.writing import posts
from publisher.feeds import rss, validation
from publisher.installation import Site
from publisher.installation.settings import store_setting
from publisher.operations.scheduler import SENDERS
from publisher.part import Part
from publisher.publishing import outbox
from publisher.publishing.outbox import PAUSES_MINUTES
from publisher.publishing.rebuild import rebuild
from publisher.storage.tables.publishing import Delivery
from tests.conftest import SITE_URL, FakeClock
from tests.factories import make_post, set_settings
from tests.publishing.push.hub import Hub, running_hub


@pytest.fixture
def hub() -> Iterator[Hub]:
    """A hub that listens."""
    with running_hub() as listening:
        yield listening


@pytest.fixture
def pushing(site: Site, hub: Hub) -> Site:
    """A site with a hub and a cloud, built once."""
    set_settings(site, {"hubs": f"{hub.url}/hub", "cloud": f"{hub.url}/pleaseNotify"})
    rebuild(site)
    return replace(site, environment=replace(site.environment, allow_private=True))


def rows(site: Site) -> list[Delivery]:
    """The outbox."""
    with site.database.read() as session:
        return list(session.scalars(select(Delivery).order_by(Delivery.id)))


def guarded(site: Site) -> Site:
    """As without PUBLISHER_ALLOW_PRIVATE."""
    return replace(site, environment=replace(site.environment, allow_private=False))


def deliver(site: Site) -> int:
    """What the scheduler does."""
    return outbox.deliver(site, SENDERS)


def test_a_post_is_told_to_hub_and_cloud_once(pushing: Site, hub: Hub) -> None:
    """Each document to the hub, the RSS document to the cloud; nothing is sent twice."""
    make_post(pushing)
    rebuild(pushing)
    assert hub.pings == []
    assert deliver(pushing) == 4
    pinged = sorted((path, form.get("hub.url") or form["url"]) for path, form in hub.pings)
    assert pinged == [
        ("/hub", f"{SITE_URL}/atom.xml"),
        ("/hub", f"{SITE_URL}/feed.json"),
        ("/hub", f"{SITE_URL}/rss.xml"),
        ("/ping", f"{SITE_URL}/rss.xml"),
    ]
    assert all(row.delivered_at == pushing.clock() for row in rows(pushing))
    assert deliver(pushing) == 0


def test_only_new_content_is_told(pushing: Site, clock: FakeClock) -> None:
    """Neither a new ttl, nor a minor edit, a setting, loaded history or a page."""
    post = make_post(pushing, "One.")
    rebuild(pushing)
    deliver(pushing)
    count = len(rows(pushing))
    clock.forward(hours=4)
    assert rebuild(pushing).ttl_minutes == 480
    with pushing.database.write() as session:
        row = posts.get(session, post.id)
        draft = replace(posts.content(session, row), source="One, spelled right.")
        posts.save(session, post.id, draft, row.version, None, clock(), minor=True)
    rebuild(pushing)
    with pushing.database.write() as session:
        store_setting(session, "title", "Another title")
        record_all(session, [clock() - timedelta(days=1)], "loaded")
    rebuild(pushing)
    make_post(pushing, "A page.", kind="page")
    rebuild(pushing)
    assert len(rows(pushing)) == count
    with pushing.database.write() as session:
        row = posts.get(session, post.id)
        draft = replace(posts.content(session, row), source="Two.")
        posts.save(session, post.id, draft, row.version, None, clock())
    rebuild(pushing)
    assert len(rows(pushing)) == 2 * count


def test_one_target_that_breaks_the_program_holds_up_no_other(pushing: Site) -> None:
    """The others would be sent again with each try, and nothing would ever be stored as sent."""
    make_post(pushing)
    rebuild(pushing)

    def broken(_site: Site, _row: Delivery) -> Reply:
        raise AttributeError("a fault of ours")

    assert outbox.deliver(pushing, {**SENDERS, outbox.RSSCLOUD: broken}) == 4
    assert sum(row.delivered_at is not None for row in rows(pushing)) == 3
    (failed,) = [row for row in rows(pushing) if row.protocol == outbox.RSSCLOUD]
    assert (failed.attempts, failed.delivered_at) == (1, None)


def test_failures_are_tried_again_with_growing_pauses(
    pushing: Site, hub: Hub, clock: FakeClock
) -> None:
    """A minute, five, a quarter of an hour ...; a Retry-After that is longer is respected."""
    set_settings(pushing, {"cloud": ""})
    make_post(pushing)
    rebuild(pushing)
    hub.answers = [(503, {})] * 3 + [(503, {"Retry-After": "1200"})] * 3
    deliver(pushing)
    assert {row.next_at for row in rows(pushing)} == {clock() + timedelta(minutes=1)}
    clock.forward(minutes=1)
    deliver(pushing)
    assert {row.next_at for row in rows(pushing)} == {clock() + timedelta(minutes=20)}
    clock.forward(minutes=20)
    deliver(pushing)
    assert {(row.attempts, row.answer) for row in rows(pushing)} == {(3, "202")}
    assert len(hub.pings) == 9


def test_what_was_planned_while_the_clock_was_ahead_waits_for_no_second_day(
    pushing: Site, hub: Hub, clock: FakeClock
) -> None:
    """The clock goes a day and two hours ahead, a try fails, and the clock is set right."""
    make_post(pushing)
    rebuild(pushing)
    hub.answers = [(503, {})] * 100
    clock.forward(hours=26)
    deliver(pushing)
    clock.forward(hours=-26)
    hub.answers = []
    deliver(pushing)
    assert all(row.delivered_at == clock() for row in rows(pushing))


def test_after_the_last_pause_it_is_given_up(pushing: Site, hub: Hub, clock: FakeClock) -> None:
    """A hub that is gone costs a bounded number of tries."""
    make_post(pushing)
    rebuild(pushing)
    hub.answers = [(410, {})] * 1000
    for minutes in (*PAUSES_MINUTES, 1, 1):
        deliver(pushing)
        clock.forward(minutes=minutes)
    assert {row.attempts for row in rows(pushing)} == {len(PAUSES_MINUTES) + 1}
    assert all(row.given_up_at and row.next_at is None for row in rows(pushing))
    assert deliver(pushing) == 0


def test_a_hub_that_never_answers_holds_nobody_up(
    pushing: Site, hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is left after the time limit, and the database stays free meanwhile."""
    monkeypatch.setattr(installation, "TIMEOUT_SECONDS", 1.5)
    hub.sleep_seconds = 4.0
    make_post(pushing)
    rebuild(pushing)
    working = threading.Thread(target=deliver, args=[pushing])
    working.start()
    make_post(pushing, "Written while the hub is silent.")
    rebuild(pushing)
    working.join(60)
    assert not working.is_alive()
    assert all(row.delivered_at is None for row in rows(pushing))


def test_private_addresses_are_refused(pushing: Site, hub: Hub) -> None:
    """Without PUBLISHER_ALLOW_PRIVATE a hub on loopback is never connected to."""
    make_post(pushing)
    rebuild(pushing)
    deliver(guarded(pushing))
    assert hub.pings == []
    assert all("private" in row.answer for row in rows(pushing))


def test_a_hub_that_redirects_to_a_private_address_is_not_followed(
    pushing: Site, hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The hub counts as public here, and sends us on to what does not: that is never reached."""
    monkeypatch.setattr(
        "publisher.base.net.is_public", lambda at: at == "127.0.0.1" or is_public(at)
    )
    with running_hub("127.0.0.2") as inside:
        hub.answers += [(307, {"Location": f"{inside.url}/admin"})] * 8
        make_post(pushing)
        rebuild(pushing)
        assert deliver(guarded(pushing)) > 0
        assert hub.pings
        assert inside.pings == []
    assert all("private" in row.answer for row in rows(pushing))
    assert all(row.next_at is not None for row in rows(pushing))


def test_waiting_pings_of_two_posts_become_one(pushing: Site, hub: Hub, clock: FakeClock) -> None:
    """A ping says that there is something, not what: one is enough."""
    for minute in range(3):
        clock.forward(minutes=minute)
        make_post(pushing, f"Note {minute}.")
        rebuild(pushing)
    assert deliver(pushing) == 4


def test_an_ill_document_is_not_announced(
    pushing: Site, monkeypatch: pytest.MonkeyPatch, clock: FakeClock
) -> None:
    """The ping waits until readers would find the news."""
    whole = rss.render
    monkeypatch.setattr(rss, "render", lambda made: whole(made).replace(b"<ttl>", b"<ttl>0"))
    make_post(pushing)
    rebuild(pushing)
    assert rows(pushing) == []
    monkeypatch.setattr(rss, "render", whole)
    rebuild(pushing)
    assert len(rows(pushing)) == 4


def test_hub_and_cloud_are_named_in_headers_and_document(
    app: Flask, client: FlaskClient, pushing: Site, hub: Hub
) -> None:
    """Link on GET, HEAD and 304: each hub, and exactly one self; the doctor is content."""
    app.extensions["front"].refresh()
    answer, head = client.get("/rss.xml"), client.head("/rss.xml")
    expected = [f'<{hub.url}/hub>; rel="hub"', f'<{SITE_URL}/rss.xml>; rel="self"']
    assert answer.headers.getlist("Link") == head.headers.getlist("Link") == expected
    again = client.get("/rss.xml", headers={"If-None-Match": answer.headers["ETag"]})
    assert (again.status_code, again.headers.getlist("Link")) == (304, expected)
    assert f'<atom:link rel="hub" href="{hub.url}/hub"/>'.encode() in answer.data
    assert answer.data.count(b'rel="self"') == 1
    assert b"<cloud " in answer.data
    assert validation.CLOUD[3].encode() in answer.data
    assert b'rel="hub"' in client.get("/atom.xml").data


def test_a_hub_finds_the_news_when_it_comes(
    app: Flask, pushing: Site, hub: Hub, clock: FakeClock
) -> None:
    """The whole way: post, ping, the hub's own fetch over HTTP with the new post in it."""
    server = make_server("127.0.0.1", 0, app, threaded=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    site = replace(
        pushing,
        environment=replace(pushing.environment, site_url=f"http://127.0.0.1:{server.port}"),
    )
    hub.fetches = True
    make_post(site, "Extra, extra.")
    rebuild(site)
    app.extensions["front"].refresh()
    deliver(site)
    server.shutdown()
    thread.join(60)
    server.server_close()
    assert len(hub.fetched) == 3
    assert all(b"Extra, extra." in body for body in hub.fetched.values())
    assert any('rel="hub"' in link for link in hub.links)


def test_settled_pings_are_forgotten_in_time(pushing: Site, clock: FakeClock) -> None:
    """What was delivered long ago goes; what still waits stays."""
    make_post(pushing)
    rebuild(pushing)
    deliver(pushing)
    make_post(pushing, "Another.")
    rebuild(pushing)
    clock.forward(days=40)
    with pushing.database.write() as session:
        outbox.prune(session, clock() - timedelta(days=30))
    assert [row.delivered_at for row in rows(pushing)] == [None] * 4


def test_what_is_over_is_kept_for_a_while(site: Site, clock: FakeClock) -> None:
    """Delivered or given up; what waits stays, however long ago it was queued."""
    with site.database.write() as session:
        for topic in ("delivered", "given up", "waiting"):
            outbox.request_delivery(session, "websub", "https://hub.example", topic, clock())
        session.flush()
        over = session.scalars(select(Delivery).order_by(Delivery.id)).all()[:2]
        over[0].delivered_at = over[1].given_up_at = clock()
        for row in over:
            row.next_at = None
    for forward, left in ((0, ["delivered", "given up", "waiting"]), (1, ["waiting"])):
        clock.forward(seconds=forward)
        with site.database.write() as session:
            outbox.prune(session, clock())
        assert [row.topic for row in rows(site)] == left


def queue(site: Site, *messages: tuple[str, str, str]) -> None:
    """Messages, each a protocol, a target and a topic."""
    with site.database.write() as session:
        for message in messages:
            outbox.request_delivery(session, *message, site.clock())
            session.flush()


def answering(reply: Reply | Exception | None) -> Mapping[str, outbox.Send]:
    """Senders of hubs' and of a part's messages that all get the same answer."""

    def send(_site: Site, _row: Delivery) -> Reply | None:
        if isinstance(reply, Exception):
            raise reply
        return reply

    return dict.fromkeys(("websub", "mail"), send)


def answer_of(status: int, body: bytes = b"", retry_after: str = "") -> Reply:
    return Reply("https://a.example", status, {"retry-after": retry_after}, body)


def test_what_becomes_of_a_message(site: Site) -> None:
    """A hub may mend its fault; a page that a part wrote to does not want the message."""
    for protocol, status, state in (
        ("websub", 200, "delivered"), ("websub", 299, "delivered"), ("websub", 199, "waits"),
        ("websub", 300, "waits"), ("websub", 404, "waits"), ("mail", 200, "delivered"),
        ("mail", 400, "given up"), ("mail", 499, "given up"), ("mail", 429, "waits"),
        ("mail", 399, "waits"), ("mail", 500, "waits"),
    ):  # fmt: skip
        queue(site, (protocol, f"https://{status}.example", protocol))
        assert outbox.deliver(site, answering(answer_of(status))) == 1
        *_, row = rows(site)
        assert (row.attempts, row.answer) == (1, str(status))
        found = {"delivered": row.delivered_at, "given up": row.given_up_at, "waits": row.next_at}
        assert {name for name, moment in found.items() if moment} == {state}, (protocol, status)
        if state != "waits":
            assert found[state] == site.clock()


def test_what_is_kept_of_an_answer(site: Site) -> None:
    """Its beginning on one line, and how long it wants us to wait: a day at most."""
    fault = "it could not be sent; the fault is ours and has been logged"
    answers: tuple[tuple[Reply | Exception, str, int], ...] = (
        (answer_of(503), "503", 60), (answer_of(503, b" a\n\x07b "), "503 a b", 60),
        (answer_of(503, b"x" * 300), "503 " + "x" * 116, 60),
        (answer_of(503, b" " * 399 + b"xy"), "503 x", 60),
        (answer_of(503, retry_after="61"), "503", 61),
        (answer_of(503, retry_after="59"), "503", 60),
        (answer_of(503, retry_after="soon"), "503", 60),
        (answer_of(503, retry_after="86401"), "503", 86_400),
        (answer_of(503, retry_after="9" * 99), "503", 86_400),
        (OutgoingError("y" * 200), "y" * 120, 60),
        (AttributeError("z"), fault, 60),
    )  # fmt: skip
    for number, (reply, answer, seconds) in enumerate(answers):
        queue(site, ("mail", "https://a.example", str(number)))
        outbox.deliver(site, answering(reply))
        *_, row = rows(site)
        assert (row.answer, row.next_at) == (answer, site.clock() + timedelta(seconds=seconds))


def test_each_pause_is_longer_than_the_one_before(site: Site, clock: FakeClock) -> None:
    """The seventh failure is the last one."""
    queue(site, ("websub", "https://a.example", "topic"))
    pauses = []
    while True:
        outbox.deliver(site, answering(answer_of(500)))
        (row,) = rows(site)
        if row.next_at is None:
            break
        pauses.append((row.next_at - clock()).total_seconds() / 60)
        clock.moment = row.next_at
    assert pauses == [1, 5, 15, 60, 240, 720]
    assert (row.attempts, row.given_up_at) == (7, clock())


def test_a_message_that_waits_is_replaced_by_the_same(site: Site, clock: FakeClock) -> None:
    """To the same target about the same topic; one that was sent is followed by another."""
    places = [("websub", target, topic) for target in ("a", "b", "c") for topic in ("x", "y", "z")]
    queue(site, *places)
    outbox.deliver(site, answering(answer_of(500)))
    clock.forward(seconds=7)
    queue(site, ("websub", "b", "y"))
    due = [(row.target, row.topic) for row in rows(site) if row.next_at == clock()]
    assert due == [("b", "y")]
    assert [row.attempts for row in rows(site)] == [1, 1, 1, 1, 0, 1, 1, 1, 1]
    outbox.deliver(site, answering(answer_of(200)))
    queue(site, ("websub", "b", "y"))
    assert [(row.target, row.topic) for row in rows(site)][9:] == [("b", "y")]


def test_which_messages_are_due(site: Site, clock: FakeClock) -> None:
    """Those whose time has come, and those that were planned by a clock that was ahead; what has
    no sender waits; hubs come first, and 64 at a time."""
    now = clock()
    queue(site, *[("mail", "a", str(number)) for number in range(4)], ("websub", "a", "hub"),
          ("other", "a", "waits"))  # fmt: skip
    sent: list[str] = []

    def send(_site: Site, row: Delivery) -> Reply:
        sent.append(row.topic)
        return answer_of(200)

    with site.database.write() as session:
        times = (timedelta(seconds=-1), timedelta(seconds=1), timedelta(days=1),
                 timedelta(days=1, seconds=1), timedelta(0))  # fmt: skip
        ordered = select(Delivery).order_by(Delivery.id)
        for row, wait in zip(session.scalars(ordered), times, strict=False):
            row.next_at = now + wait
    senders = {"mail": send, "websub": send}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(outbox, "AT_ONCE", 1)
        assert outbox.deliver(site, senders) == 3
    assert sent == ["hub", "0", "3"]
    queue(site, *[("mail", "b", str(number)) for number in range(65)])
    assert outbox.deliver(site, senders) == 64
    assert outbox.deliver(site, senders) == 1


def test_what_changes_while_a_message_is_sent(site: Site, clock: FakeClock) -> None:
    """Queued anew, it is sent again; taken back or refused by its sender, it is gone."""
    queue(site, ("websub", "a", "anew"), ("websub", "a", "gone"), ("websub", "a", "none"),
          ("websub", "a", "sent"))  # fmt: skip

    def send(site: Site, row: Delivery) -> Reply | None:
        with site.database.write() as session:
            if row.topic == "anew":
                later = clock() + timedelta(seconds=1)
                outbox.request_delivery(session, "websub", "a", "anew", later)
            elif row.topic == "gone":
                session.delete(session.get_one(Delivery, row.id))
        return None if row.topic == "none" else answer_of(200)

    assert outbox.deliver(site, {"websub": send}) == 4
    assert [(row.topic, row.attempts) for row in rows(site)] == [("anew", 0), ("sent", 1)]


def test_what_is_sent_while_which_parts_are_on() -> None:
    """Ours always, and what the parts send."""
    parts = [Part(name="one", senders={"mail": ""}), Part(name="two")]
    assert outbox.protocols(parts) == ["websub", "rsscloud", "purge", "mail"]
