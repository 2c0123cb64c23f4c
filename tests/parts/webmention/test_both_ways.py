"""Mentions over real HTTP: sent with a post's life, received into a list that the author opens."""

import math
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select

from publisher.base.environment import Environment
from publisher.blog.members import authors
from publisher.blog.writing import posts
from publisher.installation import Site
from publisher.installation.settings import store_setting
from publisher.operations.scheduler import SENDERS, send_pings
from publisher.parts.webmention import mentions as receiving
from publisher.parts.webmention import pages
from publisher.parts.webmention.mentions import links_in
from publisher.parts.webmention.tables import Mention
from publisher.publishing import outbox
from publisher.storage.tables.blog import Post
from publisher.storage.tables.credentials import Author
from publisher.storage.tables.publishing import Delivery
from publisher.web.application import close_app, create_app
from publisher.web.request_checks import Pace
from tests.conftest import SITE_URL, FakeClock
from tests.factories import content, make_author, make_post
from tests.parts.elsewhere import Elsewhere, running_elsewhere


@pytest.fixture
def there() -> Iterator[Elsewhere]:
    """Somebody else's site."""
    with running_elsewhere() as running:
        yield running


def deliver(site: Site, private: bool = True) -> None:
    environment = replace(site.environment, allow_private=private)
    senders = {**SENDERS, receiving.PROTOCOL: receiving.send}
    outbox.deliver(replace(site, environment=environment), senders)


def rows(site: Site) -> list[Delivery]:
    with site.database.read() as session:
        return list(session.scalars(select(Delivery).order_by(Delivery.id)))


# Sent


def test_links_of_a_post() -> None:
    """Addresses elsewhere, each once; what is relative is one's own."""
    html = '<p><a href="https://a.example/?x=1&amp;y=2">a</a> <a href="/posts/b">b</a> '
    html += '<a class="x" href="https://a.example/?x=1&amp;y=2">again</a> https://c.example</p>'
    assert links_in(html) == ["https://a.example/?x=1&y=2"]


def test_a_life_of_a_post_is_told(site: Site, there: Elsewhere, clock: FakeClock) -> None:
    """When it is published, when a link changes (old and new are told), when it is deleted."""
    first = there.put("/one", "", headers=[("Link", "</told?to=1>; rel=webmention")])
    two = there.put("/two", '<a rel="webmention" href="/told">m</a>')
    post = make_post(site, f"See [one]({first}), [one again]({first}) and [us]({SITE_URL}/about).")
    assert there.asked == []  # no author waits for anybody
    deliver(site)
    source = f"{SITE_URL}{posts.path(post)}"
    assert there.told == [("/told?to=1", {"source": source, "target": first})]
    with site.database.write() as session:
        posts.save(session, post.id, content(f"Now [two]({two})."), 1, None, clock.forward(hours=1))
    deliver(site)
    assert sorted(form["target"] for _, form in there.told[1:]) == [first, two]
    with site.database.write() as session:
        posts.delete(session, posts.get(session, post.id), clock.forward(hours=1))
    deliver(site)
    assert [form["target"] for _, form in there.told[3:]] == [two]
    assert all(row.delivered_at for row in rows(site))


def test_what_is_not_told(site: Site, there: Elsewhere, clock: FakeClock) -> None:
    """Drafts, minor edits, texts that stay as they are, and nothing at all where it is off."""
    link = f"[x]({there.put('/x', '')})"
    with site.database.write() as session:
        posts.create(session, content(f"A draft of {link}."), None, clock())
        post = posts.create(session, content("Nothing yet."), None, clock())
        posts.publish_or_schedule(session, post, clock(), clock())
        posts.save(session, post.id, content(f"With {link}."), 1, None, clock(), minor=True)
        posts.save(session, post.id, content(f"With {link}.", "A title"), 2, None, clock())
    assert rows(site) == []
    with site.database.write() as session:
        store_setting(session, "webmention_send", "off")
    make_post(site, f"Published {link}.")
    assert rows(site) == []


@pytest.mark.parametrize(
    ("status", "again"), [(400, False), (404, False), (429, True), (503, True)]
)
def test_a_refusal_is_taken(site: Site, there: Elsewhere, status: int, again: bool) -> None:
    """A page that does not want it is not asked six times; one that is down is."""
    target = there.put("/x", '<link rel="webmention" href="/told">')
    there.answer = status
    make_post(site, f"[x]({target})")
    deliver(site)
    (row,) = rows(site)
    assert row.answer.startswith(str(status))
    assert (row.next_at is not None) == again


def test_pages_without_an_endpoint_leave_no_trace(site: Site, there: Elsewhere) -> None:
    """Most of the web takes no mentions: the author's list is not about that."""
    make_post(site, f"[x]({there.put('/x', 'no endpoint')}) [gone]({there.url}/gone)")
    deliver(site)
    assert rows(site) == []


def test_private_addresses_are_told_nothing(site: Site, there: Elsewhere) -> None:
    """Neither the page nor the endpoint that it names may lie inside."""
    make_post(site, f"[x]({there.put('/x', '')})")
    deliver(site, private=False)
    (row,) = rows(site)
    assert "private" in row.answer
    assert there.asked == []


def test_what_is_queued_outlives_the_part(
    site: Site, environment: Environment, there: Elsewhere, clock: FakeClock
) -> None:
    """While it is off nothing is sent, tried or queued, and the outbox does not spin; what waited
    is sent once it is on again."""
    target = there.put("/x", '<link rel="webmention" href="/told">')
    post = make_post(site, f"[x]({target})")
    off = create_app(replace(environment, parts="none"), clock)
    for _ in range(2):
        assert send_pings(off.extensions["publisher"]) == math.inf
        clock.forward(days=2)
    make_post(off.extensions["publisher"], f"[y]({there.put('/y', '')})")
    (row,) = rows(site)
    figures = off.test_client().get("/metrics", environ_base={"REMOTE_ADDR": "127.0.0.1"}).text
    assert "publisher_pings_waiting 0.0" in figures  # else its age would ring for ever
    assert (row.topic, row.attempts, there.asked) == (posts.path(post), 0, [])
    close_app(off)
    send_pings(replace(site, environment=replace(environment, allow_private=True)))
    assert [form["target"] for _, form in there.told] == [target]


# Received


@pytest.fixture
def open_site(site: Site, monkeypatch: pytest.MonkeyPatch) -> Site:
    """A blog that takes mentions, on a machine that may look at loopback."""
    monkeypatch.setattr(pages, "_pace", Pace(30, timedelta(minutes=5)))
    with site.database.write() as session:
        store_setting(session, "webmention_receive", "on")
    object.__setattr__(site.environment, "allow_private", True)
    return site


def mention(client: FlaskClient, source: str, target: str) -> tuple[int, str]:
    client.environ_base.pop("HTTP_ORIGIN", None)
    answer = client.post(
        "/webmention", data={"source": source, "target": target}, base_url=SITE_URL
    )
    return answer.status_code, answer.text


def stored(site: Site) -> list[Mention]:
    with site.database.read() as session:
        return list(session.scalars(select(Mention).order_by(Mention.id)))


def address(post: Post) -> str:
    return f"{SITE_URL}{posts.path(post)}"


def page(target: str, words: str = "I agree", kind: str = "u-in-reply-to") -> str:
    return (
        f'<div class="h-entry"><a class="p-author">Eve</a> <p class="e-content">{words}'
        f'</p><a class="{kind}" href="{target}">re</a></div>'
    )


def test_closed_by_default(app: Flask, client: FlaskClient, site: Site) -> None:
    """Nothing is announced, nothing is taken."""
    post = make_post(site)
    assert "webmention" not in client.get(posts.path(post), base_url=SITE_URL).text
    assert mention(client, "https://a.example/", address(post))[0] == 404
    assert stored(site) == []


def test_from_a_strangers_page_to_the_post(
    app: Flask, client: FlaskClient, open_site: Site, there: Elsewhere, clock: FakeClock
) -> None:
    """Taken, looked at, waiting, shown; changed and it waits again; deleted and it is gone."""
    post = make_post(open_site, "A post.", title="Ours")
    source = there.put(
        "/note", page(address(post), "<b>Yes</b> &lt;script&gt;alert(1)&lt;/script&gt;")
    )
    assert '<link rel="webmention" href="/webmention">' in client.get(posts.path(post)).text
    assert mention(client, source, address(post))[0] == 202
    assert there.asked == []
    receiving.fetch_due(open_site, clock())
    (row,) = stored(open_site)
    assert (row.state, row.said, row.author) == ("waiting", "reply", "Eve")
    assert row.words == "Yes <script>alert(1)</script>"
    clock.forward(seconds=1)
    without = client.get(posts.path(post))
    assert "Eve" not in without.text
    _allow(open_site, row)
    dated = {"If-Modified-Since": without.headers["Last-Modified"]}
    shown = client.get(posts.path(post), headers=dated).text
    assert "&lt;script&gt;alert(1)" in shown
    assert f'href="{source}" rel="nofollow ugc noopener"' in shown
    assert "<script>alert" not in shown
    clock.forward(seconds=1)
    dated = {"If-Modified-Since": client.get(posts.path(post)).headers["Last-Modified"]}
    there.put("/note", page(address(post), "Buy pills"))
    assert mention(client, source, address(post))[0] == 202
    receiving.fetch_due(open_site, clock.forward(minutes=1))
    assert stored(open_site)[0].state == "waiting"
    hidden = client.get(posts.path(post), headers=dated)
    assert (hidden.status_code, "pills" in hidden.text) == (200, False)
    there.put("/note", "", status=410)
    assert mention(client, source, address(post))[0] == 202
    receiving.fetch_due(open_site, clock.forward(minutes=1))
    assert stored(open_site) == []


def _allow(site: Site, row: Mention, show: bool = True) -> None:
    with site.database.write() as session:
        receiving.decide(session, Author(id=0, role="admin"), row.id, show)


def test_a_page_that_does_not_link_is_forgotten(
    client: FlaskClient, open_site: Site, there: Elsewhere, clock: FakeClock
) -> None:
    """Another address, a redirect to nowhere, a file of another kind."""
    post = make_post(open_site)
    pages = [
        there.put("/no", "no link"),
        there.put("/other", page(f"{address(post)}-other")),
        there.put("/png", page(address(post)), content_type="image/png"),
        f"{there.url}/missing",
    ]
    for source in pages:
        assert mention(client, source, address(post))[0] == 202
    receiving.fetch_due(open_site, clock())
    assert stored(open_site) == []


def test_what_was_refused_does_not_come_back(
    client: FlaskClient, open_site: Site, there: Elsewhere, clock: FakeClock
) -> None:
    """However often it is sent, and though its page is deleted meanwhile."""
    post = make_post(open_site)
    source = there.put("/note", page(address(post)))
    for status in (200, 200, 410, 200):
        there.pages["/note"].status = status
        mention(client, source, address(post))
        receiving.fetch_due(open_site, clock.forward(minutes=1))
        _allow(open_site, stored(open_site)[0], show=False)
    assert [row.state for row in stored(open_site)] == ["refused"]


def test_a_page_that_is_down_is_asked_again_and_then_forgotten(
    client: FlaskClient, open_site: Site, there: Elsewhere, clock: FakeClock
) -> None:
    """Three times more, hours apart."""
    post = make_post(open_site)
    mention(client, there.put("/note", "", status=503), address(post))
    for minutes in receiving.PAUSES_MINUTES:
        receiving.fetch_due(open_site, clock())
        (row,) = stored(open_site)
        assert row.next_at is not None
        clock.forward(minutes=minutes)
    receiving.fetch_due(open_site, clock())
    assert stored(open_site) == []
    assert len(there.asked) == 4


def test_what_was_planned_while_the_clock_was_ahead_waits_for_no_second_day(
    client: FlaskClient, open_site: Site, there: Elsewhere, clock: FakeClock
) -> None:
    """The clock goes a day ahead, a mention comes, its page is down, and the clock is set right."""
    post = make_post(open_site)
    clock.forward(days=1)
    mention(client, there.put("/note", "", status=503), address(post))
    receiving.fetch_due(open_site, clock())
    there.put("/note", page(address(post)))
    receiving.fetch_due(open_site, clock.forward(days=-1))
    assert [row.state for row in stored(open_site)] == ["waiting"]


def test_a_hostile_page(
    client: FlaskClient, open_site: Site, there: Elsewhere, clock: FakeClock
) -> None:
    """Deep, long, or inside: bounded, and no link counts beyond the bound."""
    post = make_post(open_site)
    link = page(address(post))
    mention(client, there.put("/deep", "<div>" * 150_000 + link), address(post))
    mention(client, there.put("/long", " " * 2_000_000 + link), address(post))
    object.__setattr__(open_site.environment, "allow_private", False)
    receiving.fetch_due(open_site, clock())
    assert there.asked == []  # loopback is private
    object.__setattr__(open_site.environment, "allow_private", True)
    receiving.fetch_due(open_site, clock.forward(minutes=5))
    assert sorted(there.asked) == ["/deep", "/long"]
    assert not [row for row in stored(open_site) if row.source.endswith("/long")]
    assert all(row.next_at is None for row in stored(open_site))


BAD_ADDRESSES = [
    ("", "/posts/x"),
    ("https://a.example/", ""),
    ("javascript:alert(1)", f"{SITE_URL}/posts/a-short-note"),
    ("https://u:p@a.example/", f"{SITE_URL}/posts/a-short-note"),
    ("https://a.example/\u0000", f"{SITE_URL}/posts/a-short-note"),
    ("https://a.example/" + "x" * 2_001, f"{SITE_URL}/posts/a-short-note"),
    (f"{SITE_URL}/posts/a-short-note", f"{SITE_URL}/posts/a-short-note"),
    ("https://a.example/", "https://b.example/posts/a-short-note"),
    ("https://a.example/", f"{SITE_URL}/posts/nothing"),
    ("https://a.example/", f"{SITE_URL}/"),
    ("https://a.example/", f"{SITE_URL}/posts/[::"),
    ("https://a.example/", "https://[::/posts/a-short-note"),
]


def test_bad_addresses_are_refused_in_words(client: FlaskClient, open_site: Site) -> None:
    """400 and a line; nothing is noted, nothing is fetched."""
    make_post(open_site)
    for source, target in BAD_ADDRESSES:
        status, words = mention(client, source, target)
        assert status == 400, (source, target)
        assert words.strip(), (source, target)
    assert stored(open_site) == []


def test_drafts_and_deleted_posts_take_none(
    client: FlaskClient, open_site: Site, clock: FakeClock
) -> None:
    """Whether there is a draft is nobody's business."""
    with open_site.database.write() as session:
        draft = posts.create(session, content("A draft.", slug="secret"), None, clock())
        gone = posts.create(session, content("Gone.", slug="gone"), None, clock())
        posts.publish_or_schedule(session, gone, clock(), clock())
        posts.delete(session, gone, clock())
    missing = mention(client, "https://a.example/", f"{SITE_URL}/posts/nothing")
    assert mention(client, "https://a.example/", address(draft)) == missing
    assert mention(client, "https://a.example/", address(gone))[0] in (400, 410)


def test_limits(client: FlaskClient, open_site: Site) -> None:
    """Pages of one host, and requests of one address."""
    post = make_post(open_site)
    answers = [
        mention(client, f"https://a.example/{number}", address(post))[0] for number in range(31)
    ]
    assert answers[:20] == [202] * 20
    assert set(answers[20:]) == {429}
    assert len(stored(open_site)) == receiving.MOST_OF_A_HOST


def test_many_senders_do_not_make_us_ask_one_host_without_end(
    client: FlaskClient,
    open_site: Site,
    there: Elsewhere,
    clock: FakeClock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A page that is known, or is not kept, is fetched anew, up to a megabyte, for each request:
    thirty times, the second kind here up to a lower limit."""
    post = make_post(open_site)
    for kind, most in ((page(address(post)), 30), ("No link.", 4)):
        there.asked.clear()
        clock.forward(minutes=6)
        source = there.put("/note", kind)
        for number in range(most + 2):
            form = {"source": source, "target": address(post)}
            sender = {"REMOTE_ADDR": f"198.51.100.{number}"}
            client.post("/webmention", data=form, environ_overrides=sender)
            receiving.fetch_due(open_site, clock())
        assert len(there.asked) == most
        monkeypatch.setattr(pages, "_pace", Pace(4, timedelta(minutes=5)))


def test_old_addresses_of_a_post_count(
    client: FlaskClient, open_site: Site, there: Elsewhere, clock: FakeClock
) -> None:
    """A page links to where the post was."""
    post = make_post(open_site, slug="before")
    before = address(post)
    with open_site.database.write() as session:
        posts.save(session, post.id, content("New.", slug="after"), 1, None, clock())
    assert mention(client, there.put("/note", page(before)), before)[0] == 202
    receiving.fetch_due(open_site, clock())
    assert [row.state for row in stored(open_site)] == ["waiting"]


def test_the_room(
    app: Flask, client: FlaskClient, open_site: Site, there: Elsewhere, clock: FakeClock
) -> None:
    """An admin sees all that waits; another author nothing of it."""
    app.config["FORM_KEYS"] = False
    ada, eve = make_author(open_site, "ada"), make_author(open_site, "eve")
    post = make_post(open_site, author_id=ada.id)
    mention(client, there.put("/note", page(address(post))), address(post))
    receiving.fetch_due(open_site, clock())
    client.environ_base["HTTP_ORIGIN"] = SITE_URL
    for person, sees in ((eve, False), (ada, True)):
        with open_site.database.write() as session:
            token = authors.open_session(session, person, "", clock())
        with client.session_transaction(base_url=SITE_URL) as session:
            session["token"] = token
        assert ("I agree" in client.get("/studio/mentions", base_url=SITE_URL).text) == sees
    assert "1 mention waits for you" in client.get("/studio/", base_url=SITE_URL).text
    assert "Mentions (1)" in client.get("/studio/posts", base_url=SITE_URL).text
    answer = client.post("/studio/mentions/1/show", base_url=SITE_URL, follow_redirects=True)
    assert "It is shown below the post." in answer.text
    assert "I agree" in client.get(posts.path(post)).text


# webmention.rocks' discovery cases: the Link headers of the page and its HTML; HERE is its site.
LINK, ERROR, TOLD = "Link", "/wrong", "/notes/told"
DISCOVERY: dict[int, tuple[list[tuple[str, str]], str]] = {
    1: ([(LINK, f"<{TOLD}>; rel=webmention")], ""),
    2: ([(LINK, f"<HERE{TOLD}>; rel=webmention")], ""),
    3: ([], f'<link rel="webmention" href="{TOLD}">'),
    4: ([], f'<link href="HERE{TOLD}" rel="webmention">'),
    5: ([], f'<p>An <a rel="webmention" href="{TOLD}">endpoint</a>.'),
    6: ([], f'<p>An <a href="HERE{TOLD}" rel="webmention">endpoint</a>.'),
    7: ([("LinK", f"<HERE{TOLD}>; rel=webmention")], ""),
    8: ([(LINK, f'<HERE{TOLD}>; rel="webmention"')], ""),
    9: ([], f'<link rel="webmention somethingelse" href="HERE{TOLD}">'),
    10: ([(LINK, f'<HERE{TOLD}>; rel="webmention somethingelse"')], ""),
    11: ([(LINK, f'<{TOLD}>; rel="webmention"')],
         f'<link rel="webmention" href="{ERROR}"><a href="{ERROR}" rel="webmention">x</a>'),
    12: ([], f'<link rel="not-webmention" href="{ERROR}"><a href="{TOLD}" rel="webmention">x</a>'),
    13: ([], f'<!-- <a href="{ERROR}" rel="webmention"></a> --><a href="{TOLD}" rel=webmention>x'),
    14: ([], f'&lt;a href="{ERROR}" rel="webmention"&gt; <a href="{TOLD}" rel="webmention">x</a>'),
    15: ([], '<link rel="webmention" href="">'),
    16: ([], f'<a href="{TOLD}" rel="webmention">x</a> <link rel="webmention" href="{ERROR}">'),
    17: ([], f'<link rel="webmention" href="{TOLD}"> <a href="{ERROR}" rel="webmention">x</a>'),
    18: ([(LINK, f'<HERE{ERROR}>; rel="other"'), (LINK, f'<HERE{TOLD}>; rel="webmention"')], ""),
    19: ([(LINK, f'<HERE{ERROR}>; rel="other", <HERE{TOLD}>; rel="webmention"')], ""),
    20: ([], f'<link rel="webmention"> <a href="{TOLD}" rel="webmention">x</a>'),
    21: ([], f'<link rel="webmention" href="{TOLD}?query=yes">'),
    22: ([], '<link rel="webmention" href="told">'),
    23: ([], '<link rel="webmention" href="told">'),
}  # fmt: skip


def test_an_endpoint_is_found_over_http(site: Site, there: Elsewhere) -> None:
    """Told once, at the right place; a redirect is followed, and seen from where it ended."""
    for number, (headers, html) in DISCOVERY.items():
        whole = [(name, value.replace("HERE", there.url)) for name, value in headers]
        target = there.put("/notes/page", html.replace("HERE", there.url), headers=whole)
        if number == 23:
            target = there.put("/moved", "", status=302, headers=[("Location", "/notes/page")])
        make_post(site, f"See [this]({target}).")
        there.told.clear()
        deliver(site)
        wanted = {15: "/notes/page", 21: f"{TOLD}?query=yes"}.get(number, TOLD)
        told = [(path, form["target"]) for path, form in there.told]
        assert told == [(wanted, target)], number


@pytest.mark.parametrize(
    ("before", "after"),
    [(["one"], ["one", "two"]), (["one", "two"], ["one"]), (["one"], None)],
    ids=["update 1: a link is added", "update 2: a link is removed", "delete 1"],
)
def test_every_page_is_told_of_a_change(
    site: Site, there: Elsewhere, clock: FakeClock, client: FlaskClient,
    before: list[str], after: list[str] | None,
) -> None:  # fmt: skip
    """Those that are linked to now and those that were; by then a deleted post's page is 410."""
    pages = {name: there.put(f"/{name}", '<link rel="webmention" href="/told">')
             for name in ("one", "two")}  # fmt: skip
    post = make_post(site, " ".join(f"[x]({pages[name]})" for name in before))
    deliver(site)
    there.told.clear()
    with site.database.write() as session:
        if after is None:
            posts.delete(session, posts.get(session, post.id), clock.forward(hours=1))
        else:
            text = " ".join(f"[x]({pages[name]})" for name in after)
            posts.save(session, post.id, content(text), 1, None, clock.forward(hours=1))
    if after is None:
        assert client.get(posts.path(post)).status_code == 410
    deliver(site)
    targets = sorted(form["target"] for _, form in there.told)
    assert targets == sorted(pages[name] for name in {*before, *(after or ())})


def test_receiving(client: FlaskClient, open_site: Site, there: Elsewhere) -> None:
    """Case 1: a valid pair is 202 without a Location; case 2: an invalid one of either is 400."""
    post = make_post(open_site)
    source, target = there.put("/note", page(address(post))), address(post)
    client.environ_base.pop("HTTP_ORIGIN", None)
    for sent, status in (
        ({"source": source, "target": target}, 202),
        ({"source": source, "target": "ftp://blog.example/x"}, 400),
        ({"source": "ftp://a.example/x", "target": target}, 400),
        ({"source": "no address", "target": target}, 400),
        ({"source": source, "target": f"{SITE_URL}/posts/none"}, 400),
        ({"source": target, "target": target}, 400),
        ({"source": source}, 400),
        ({"target": target}, 400),
    ):
        answer = client.post("/webmention", data=sent, base_url=SITE_URL)
        assert (answer.status_code, answer.headers.get("Location")) == (status, None)


def test_mentions_outlive_the_part(
    open_site: Site, environment: Environment, clock: FakeClock, client: FlaskClient
) -> None:
    """While it is off no page knows of them, and posts are deleted and restored; then they are
    below their post again."""
    post = make_post(open_site, "A post.", title="Ours")
    with open_site.database.write() as db:
        seen = {"state": "shown", "words": "I agree.", "said": "reply", "received_at": clock()}
        db.add(Mention(post_id=post.id, source="https://m.example/", target="x", **seen))
    off = create_app(replace(environment, parts="none"), clock)
    with off.extensions["publisher"].database.write() as db:
        posts.delete(db, posts.get(db, post.id), clock())
        posts.restore(db, posts.get(db, post.id), clock())
    page = off.test_client().get("/posts/ours").text
    assert "A post." in page
    assert "mention" not in page
    assert "I agree." not in page
    close_app(off)
    assert "I agree." in client.get("/posts/ours").text
