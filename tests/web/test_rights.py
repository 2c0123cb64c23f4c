"""Who may do what: every route of the site x every role x every state of a post.

A route that is not in the table fails the first test, so that nobody adds one without saying who
may use it.
"""

import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from secrets import token_bytes, token_hex
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from publisher.blog.members import authors, tokens
from publisher.blog.writing import autosave, posts
from publisher.installation import Site
from publisher.part import all_parts
from publisher.parts.passkeys.tables import Passkey
from publisher.parts.river.following import subscriptions
from publisher.parts.webmention.tables import Mention
from publisher.publishing.rebuild import rebuild
from publisher.storage.tables.blog import Media, Post
from publisher.storage.tables.credentials import Author, LoginSession
from tests.conftest import SITE_URL, FakeClock
from tests.factories import content, make_author

# The table has the routes of all parts.
pytestmark = [pytest.mark.parts(*all_parts()), pytest.mark.any_database]
ROLES = ("nobody", "other", "owner", "admin")
STATES = ("draft", "scheduled", "published", "taken back", "deleted")
IN, LOGIN, FORBIDDEN, HIDDEN = "in", "login", "forbidden", "hidden"

# Gate: what each role meets in front of it. "in" is past the gate, whatever is said behind it.
GATES: dict[str, tuple[str, str, str, str]] = {
    "public": (IN, IN, IN, IN),
    "login": (LOGIN, IN, IN, IN),
    "admin": (LOGIN, FORBIDDEN, FORBIDDEN, IN),
    "post": (LOGIN, FORBIDDEN, IN, IN),
    "medium": (LOGIN, FORBIDDEN, IN, IN),
    "person": (LOGIN, FORBIDDEN, IN, IN),
    "mention": (LOGIN, FORBIDDEN, IN, IN),
    "own": (LOGIN, HIDDEN, IN, HIDDEN),  # a login or a token: nobody else's business, not even ..
    "token": (LOGIN, LOGIN, LOGIN, LOGIN),  # .. the admin's; and no cookie opens the programs' door
    "machine": (FORBIDDEN, FORBIDDEN, FORBIDDEN, FORBIDDEN),  # from elsewhere, without a token
}
# Where readers come: what they meet by the state of the post, whoever they are.
SHOWN = dict.fromkeys(STATES, HIDDEN) | {"published": IN}
LINK = dict.fromkeys(STATES, IN) | {"deleted": HIDDEN}

NUMBER = "<int(max=9223372036854775807):%s>"
READER_GETS = (
    "preference/list", "preference/stream/list", "stream/contents", "stream/contents/<path:name>",
    "stream/items/contents", "stream/items/ids", "subscription/list", "tag/list", "token",
    "unread-count", "user-info",
)  # fmt: skip
READER_POSTS = (
    "disable-tag", "edit-tag", "mark-all-as-read", "rename-tag", "stream/items/contents",
    "subscription/edit", "subscription/quickadd",
)  # fmt: skip
TABLE: dict[tuple[str, str], str] = {
    **{
        ("GET", rule): "public"
        for rule in (
            "/", "/<path:old>", "/about", "/archives", "/archives/<int:year>/<int:month>",
            "/archive/<int:year>/<int:month>/rss.xml", "/archive/<int:year>/<int:month>/atom.xml",
            "/atom.xml", "/authors/<name>", "/favicon.ico", "/feed.json", "/healthz",
            "/indieauth/metadata", "/media/<name>", "/opml.xml", "/robots.txt", "/rss.xml",
            "/search", "/setup/<secret>",
            "/sitemap-<int:part>.xml", "/sitemap.xml", "/static/<path:name>", "/static/feed.css",
            "/studio/login",
            "/subscribe", "/tags", "/tags/<name>", "/tags/<tag>/rss.xml", "/xmlrpc",
            "/xmlrpc.php",
        )
    },
    ("GET", "/metrics"): "machine",
    ("GET", "/mirror/<name>.xml"): "public",
    ("GET", "/mirror/<name>/ttl.json"): "public",
    ("GET", "/mirror/<name>/websub/<key>"): "public",
    ("POST", "/mirror/<name>/ping"): "public",
    ("POST", "/mirror/<name>/websub/<key>"): "public",
    ("POST", "/mirror/ping"): "public",
    ("GET", "/mirror"): "login",
    ("GET", "/style.css"): "public",
    ("GET", "/cards/<int:post_id>-<digest>.png"): "shown",
    ("GET", "/posts/<slug>"): "shown",
    ("GET", "/<slug>"): "shown",
    ("GET", "/preview/<token>"): "link",
    ("POST", "/setup/<secret>"): "public",
    ("POST", "/webmention"): "public",
    # The word in the address is the right to it (tests/web/test_reader_test.py).
    **{
        (method, f"/reader-test{rest_of_path}"): "public"
        for method, rest_of_path in (
            ("GET", ""), ("POST", ""), ("GET", "/<word>/"), ("POST", "/<word>/"),
            ("GET", "/<word>/<path:path>"), ("POST", "/<word>/<path:path>"),
            ("GET", "/<word>/score"), ("GET", "/<word>/score.json"), ("GET", "/<word>/badge.svg"),
        )
    },
    ("GET", "/studio/mentions"): "login",
    ("POST", "/studio/mentions/<int:mention_id>/show"): "mention",
    ("POST", "/studio/mentions/<int:mention_id>/refuse"): "mention",
    ("POST", "/xmlrpc.php"): "public",
    ("POST", "/xmlrpc"): "public",  # who calls is said in the call (tests/parts/xml_rpc)
    **{
        ("POST", f"/indieauth/{name}"): "public"  # the code or the token itself is looked at
        for name in ("auth", "token", "revoke")
    },
    ("POST", "/studio/login"): "public",
    ("POST", "/studio/logout"): "public",
    ("POST", "/studio/first-steps/done"): "admin",
    ("GET", "/micropub"): "token",
    ("POST", "/micropub"): "token",
    ("GET", "/micropub/media"): "token",
    ("POST", "/micropub/media"): "token",
    **{
        (method, f"{where}{path}"): "token"
        for where in ("", "/api/greader.php")
        for method, names in (("GET", READER_GETS), ("POST", READER_POSTS))
        for path in ("/accounts/ClientLogin", *(f"/reader/api/0/{name}" for name in names))
    },
    ("GET", "/indieauth/auth"): "login",
    ("POST", "/indieauth/consent"): "login",
    ("POST", "/indieauth/introspect"): "token",
    ("GET", "/readers"): "login",
    ("GET", "/readers/advise"): "login",
    ("GET", "/readers/simulated"): "public",
    ("GET", "/readers/worth"): "login",
    ("POST", "/readers/erase"): "admin",
    ("GET", "/river"): "login",
    ("GET", "/river/feeds"): "login",
    ("POST", "/river/feeds"): "login",
    ("GET", "/river/feeds/<int:feed_id>"): "login",
    ("POST", "/river/feeds/<int:feed_id>"): "login",
    ("POST", "/river/feeds/<int:feed_id>/<action>"): "feed",
    ("POST", "/river/feeds/retrieve"): "login",
    ("POST", "/river/feeds/retry"): "login",
    ("POST", "/river/feeds/shown"): "login",
    ("POST", "/river/import"): "login",
    ("GET", "/river/opml.xml"): "login",
    ("POST", f"/river/items/{NUMBER % 'item_id'}/read"): "login",
    ("POST", f"/river/items/{NUMBER % 'item_id'}/star"): "login",
    ("POST", "/river/read"): "login",
    ("POST", "/river/read/undo"): "login",
    ("GET", "/studio/"): "login",
    ("POST", "/studio/"): "login",
    ("GET", "/studio/account"): "login",
    ("POST", "/studio/account/password"): "login",
    ("POST", "/studio/account/profile"): "login",
    ("POST", "/studio/account/sessions/<int:number>/end"): "own",
    ("POST", "/studio/account/sessions/end-others"): "login",
    ("POST", "/studio/account/passkeys"): "login",
    ("POST", "/studio/account/passkeys/options"): "login",
    ("POST", "/studio/account/passkeys/<int:number>/remove"): "own",
    ("POST", "/studio/account/passkeys/<int:number>/rename"): "own",
    ("POST", "/studio/login/passkey"): "public",
    ("POST", "/studio/login/passkey/options"): "public",
    ("GET", "/studio/account/tokens"): "login",
    ("POST", "/studio/account/tokens"): "login",
    ("POST", "/studio/account/tokens/<int:number>/revoke"): "own",
    ("POST", "/studio/autosave/<int:post_id>"): "post",
    ("POST", "/studio/autosave/new"): "login",
    ("GET", "/studio/unsaved"): "login",
    ("GET", "/studio/posts/<int:post_id>/unsaved"): "post",
    ("POST", "/studio/unsaved/<int:number>/use"): "own",
    ("POST", "/studio/unsaved/<int:number>/discard"): "own",
    ("GET", "/studio/feed"): "login",
    ("GET", "/studio/reached"): "login",
    ("GET", "/studio/look"): "admin",
    ("POST", "/studio/look"): "admin",
    ("GET", "/studio/look/preview"): "admin",
    ("POST", "/studio/posts/<int:post_id>/cards"): "post",
    ("GET", "/studio/navigation"): "admin",
    ("POST", "/studio/navigation"): "admin",
    ("GET", "/studio/tags"): "login",
    ("POST", "/studio/tags/<int:tag_id>"): "admin",
    ("POST", "/studio/tags/<int:tag_id>/merge"): "admin",
    ("POST", "/studio/tags/<int:tag_id>/remove"): "admin",
    ("GET", "/studio/media"): "login",
    ("GET", "/studio/media/<name>/small"): "login",
    ("POST", "/studio/media"): "login",
    ("POST", "/studio/media/<int:media_id>"): "medium",
    ("GET", "/studio/media/<int:media_id>/inputs"): "login",
    ("POST", "/studio/media/<int:media_id>/delete"): "medium",
    ("GET", "/studio/moving"): "admin",
    ("GET", "/studio/moving/jobs/<int:number>"): "admin",
    ("GET", "/studio/moving/jobs/<int:number>/file"): "admin",
    ("GET", "/studio/moving/jobs/<int:number>/report"): "admin",
    **{
        ("POST", f"/studio/moving/{name}"): "admin"
        for name in ("import", "export", "backup", "backups", "jobs/<int:number>/go")
    },
    ("GET", "/studio/people"): "admin",
    ("POST", "/studio/people"): "admin",
    ("GET", "/studio/people/<name>"): "person",
    ("POST", "/studio/people/<name>"): "admin",
    ("POST", "/studio/people/<name>/remove"): "admin",
    ("POST", "/studio/people/<name>/sessions/<int:number>/end"): "admin",
    ("POST", "/studio/people/<name>/tokens/<int:number>/revoke"): "admin",
    ("POST", "/studio/people/<name>/disable"): "admin",
    ("POST", "/studio/people/<name>/enable"): "admin",
    ("POST", "/studio/people/<name>/password"): "admin",
    ("POST", "/studio/people/<name>/role"): "admin",
    ("GET", "/studio/posts"): "login",
    ("GET", "/studio/posts/<int:post_id>"): "post",
    ("POST", "/studio/posts/<int:post_id>"): "post",
    ("POST", "/studio/posts/<int:post_id>/delete"): "post",
    ("POST", "/studio/posts/<int:post_id>/discard"): "post",
    ("POST", "/studio/posts/<int:post_id>/now"): "post",
    ("POST", "/studio/posts/<int:post_id>/preview-link"): "post",
    ("POST", "/studio/posts/<int:post_id>/restore"): "post",
    ("GET", "/studio/posts/<int:post_id>/reach"): "post",
    ("GET", "/studio/posts/<int:post_id>/revisions"): "post",
    ("GET", "/studio/posts/<int:post_id>/revisions/<int:version>"): "post",
    ("POST", "/studio/posts/<int:post_id>/revisions/<int:version>/restore"): "post",
    ("POST", "/studio/posts/<int:post_id>/undo"): "post",
    ("GET", "/studio/posts/new"): "login",
    ("POST", "/studio/posts/new"): "login",
    ("GET", "/studio/preview"): "login",
    ("POST", "/studio/preview"): "login",
    **{
        (method, f"/studio/settings{tab}"): "admin"
        for method in ("GET", "POST")
        for tab in ("", "/visits", "/technical")
    },
}  # fmt: skip
WORDS = {"source": "Changed by whoever may.", "scope": "create"}
HOSTS = itertools.count(1)


@dataclass
class House:
    """A site with three authors, a feed of the river, a login and a token of the owner's."""

    app: Flask
    site: Site
    clock: FakeClock
    people: dict[str, Author] = field(default_factory=dict)
    numbers: Iterator[int] = field(default_factory=itertools.count)
    kept: dict[tuple[str, str], Post] = field(default_factory=dict)
    browsers: dict[str, FlaskClient] = field(default_factory=dict)
    keys: dict[tuple[str, ...], str] = field(default_factory=dict)

    def post_in(self, state: str, kind: str = "post") -> Post:
        """A new post of the owner's in `state`; the deleted one was published."""
        now = self.clock()
        later = now + timedelta(days=1)
        with self.site.database.write() as db:
            title = f"A secret plan, {next(self.numbers)}"
            words = content("Words.", title=title, tags=[f"of-{state}"], kind=kind)
            post = posts.create(db, words, self.people["owner"].id, now)
            if state != "draft":
                posts.publish_or_schedule(db, post, later if state == "scheduled" else now, now)
            if state == "deleted":
                posts.delete(db, post, now)
            if state == "taken back":
                posts.unpublish(db, post, now)
        return post

    def kept_in(self, state: str, kind: str = "post") -> Post:
        """The post in `state` that no request of a test changes."""
        if (state, kind) not in self.kept:
            self.kept[state, kind] = self.post_in(state, kind)
        return self.kept[state, kind]

    def browser(self, role: str) -> FlaskClient:
        """The browser of somebody in `role`, from another machine."""
        if role in self.browsers:
            return self.browsers[role]
        client = self.browsers[role] = self.app.test_client()
        client.environ_base |= {
            "wsgi.url_scheme": "https",
            "REMOTE_ADDR": "203.0.113.9",
            "HTTP_ORIGIN": SITE_URL,
        }
        if role in self.people:
            with self.site.database.write() as db:
                token = authors.open_session(db, self.people[role], "", self.clock())
            with client.session_transaction(base_url=SITE_URL) as session:
                session["token"] = token
        return client

    def program(self, role: str, *scopes: str) -> tuple[FlaskClient, dict[str, str]]:
        """A program with a token of somebody in `role`."""
        if (role, *scopes) not in self.keys:
            with self.site.database.write() as db:
                token = tokens.create(db, self.people[role], scopes, self.clock())
            self.keys[role, *scopes] = token
        return self.browser("nobody"), {"Authorization": f"Bearer {self.keys[role, *scopes]}"}


@pytest.fixture
def house(app: Flask, site: Site, clock: FakeClock) -> House:
    """The form key has tests of its own; here it would only be in the way."""
    app.config["FORM_KEYS"] = False
    house = House(app, site, clock)
    house.people["admin"] = make_author(site, "admin")
    rebuild(site)
    house.people |= {name: make_author(site, name) for name in ("owner", "other", "guest")}
    return house


def met(answer: TestResponse) -> str:
    """What the asker met: the gate, or what is behind it."""
    if answer.status_code == 401 or (answer.location or "").startswith("/studio/login"):
        return LOGIN
    if answer.status_code == 403:
        return FORBIDDEN
    assert answer.status_code < 500, answer.text
    return HIDDEN if answer.status_code in (404, 410) else IN


def test_every_route_is_in_the_table(app: Flask) -> None:
    """A route that nobody has thought about is a failure; so is one that is gone."""
    routes = {
        (method, rule.rule)
        for rule in app.url_map.iter_rules()
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}
    }
    assert routes == set(TABLE)


def of_gate(*gates: str) -> list[tuple[str, str]]:
    return [route for route, gate in TABLE.items() if gate in gates]


def path_of(rule: str, values: dict[str, Any]) -> str:
    """The address of a route, with `values` in their places."""
    for name, value in values.items():
        for form in (f"<int:{name}>", NUMBER % name, f"<path:{name}>", f"<{name}>"):
            rule = rule.replace(form, str(value))
    assert "<" not in rule
    return rule


def send(client: FlaskClient, method: str, path: str) -> TestResponse:
    # An address that is refused unasked; each its own, or it would wait for its host's turn.
    data = WORDS | {"url": f"http://10.0.0.{next(HOSTS)}/"} if method == "POST" else None
    return client.open(path, base_url=SITE_URL, method=method, data=data, buffered=True)


@pytest.mark.parametrize("state", STATES)
def test_posts_are_their_authors_and_the_admins(house: House, state: str) -> None:
    """In whatever state: nobody logs in first, another author is refused, and nothing changes."""
    for method, rule in of_gate("post"):
        for role, expected in zip(ROLES, GATES["post"], strict=True):
            changes = expected == IN and method == "POST"
            post = house.post_in(state) if changes else house.kept_in(state)
            path = path_of(rule, {"post_id": post.id, "version": 1})
            answer = send(house.browser(role), method, path)
            assert met(answer) == expected, (method, rule, role)
            if not changes:
                assert expected == IN or "secret plan" not in answer.text
                with house.site.database.read() as db:
                    after = posts.get(db, post.id)
                assert (after.status, after.version) == (post.status, 1), (rule, role)
                assert after.preview_token == post.preview_token


@pytest.mark.parametrize("state", STATES)
def test_what_readers_see_depends_on_the_post_alone(house: House, state: str) -> None:
    """A page shows what is published, to everybody; a preview link what is not deleted."""
    for method, rule in of_gate("shown", "link"):
        expected = LINK if TABLE[method, rule] == "link" else SHOWN
        for role in ROLES:
            post = house.kept_in(state, "page" if rule == "/<slug>" else "post")
            path = path_of(
                rule,
                {"slug": post.slug, "token": post.preview_token, "post_id": post.id, "digest": "x"},
            )
            assert met(send(house.browser(role), method, path)) == expected[state], (rule, role)


@pytest.mark.parametrize(
    "gate", ["public", "login", "admin", "token", "machine", "own", "medium", "mention", "person"]
)
def test_everything_else_depends_on_the_role(house: House, gate: str) -> None:
    """Public pages, the studio, what is the admin's, and what is one person's alone."""
    for method, rule in of_gate(gate):
        for role, expected in zip(ROLES, GATES[gate], strict=True):
            values = ANYTHING | (_made(house, rule) if NEEDS_ROWS.search(rule) else {})
            values |= {"name": "owner"} if gate == "person" else {}
            answer = send(house.browser(role), method, path_of(rule, values))
            if ENDS_LOGINS.search(rule):
                house.browsers.clear()
            outcome = met(answer)
            if gate in ("public", "login", "admin") and outcome == HIDDEN:
                outcome = IN  # past the gate: there is no such month, feed, file ...
            if (method, rule) == ("POST", "/studio/login"):
                outcome = IN if answer.status_code == 403 else outcome  # a wrong password
            assert outcome == expected, (method, rule, role)


ENDS_LOGINS = re.compile("log|session|password")
NEEDS_ROWS = re.compile("media_id|mention_id|number")
ANYTHING: dict[str, Any] = {
    "name": "guest", "old": "x/y", "year": 2024, "month": 3, "secret": "x", "part": 1,
    "tag": "x", "feed_id": 1, "item_id": 1, "tag_id": 1, "key": "x", "word": "x", "path": "x",
}  # fmt: skip


def _made(house: House, rule: str) -> dict[str, Any]:
    """The owner's new login, token, passkey, medium, mention and text, as `rule` names them."""
    with house.site.database.write() as db:
        owner = db.get_one(Author, house.people["owner"].id)
        tokens.create(db, owner, ["create"], house.clock())
        authors.open_session(db, owner, "", house.clock())
        rows = db.query(LoginSession).filter_by(author_id=owner.id)
        logins = sorted(row.id for row in rows)
        key = Passkey(author_id=owner.id, credential_id=token_bytes(8), public_key=b"", label="x",
                      created_at=house.clock())  # fmt: skip
        file = Media(digest=token_hex(8), name="a", content_type="image/webp", extension="webp",
                     bytes=1, author_id=owner.id, created_at=house.clock())  # fmt: skip
        post = posts.create(db, content("Mentioned."), owner.id, house.clock())
        mention = Mention(post_id=post.id, source=f"https://m.example/{post.id}", target="x",
                          received_at=house.clock())  # fmt: skip
        text = autosave.keep(db, owner.id, 0, 0, autosave.Sent({}, token_hex(8)), house.clock())
        db.add_all((key, file, mention))
        db.flush()
        own = {"sessions": logins[-1], "passkeys": key.id, "unsaved": text.id}
        number = next(
            (address for part, address in own.items() if part in rule),
            tokens.listed(db, owner)[-1].id,
        )
        return {"media_id": file.id, "mention_id": mention.id, "number": number}


def test_feeds_are_everybodys_and_only_admins_remove_them(house: House) -> None:
    """Whoever writes here looks after the river; nothing that was gathered is lost by it."""
    ((method, rule),) = of_gate("feed")
    actions = ("retrieve", "pause", "resume", "accept-move", "undo-move", "remove")
    roles = list(zip(ROLES, GATES["login"], strict=True))
    for action, (role, usual) in itertools.product(actions, roles):
        with house.site.database.write() as db:
            feed = subscriptions.subscribe(
                db, f"https://{role}.example/{action}", house.clock(), house.clock()
            )
        path = path_of(rule, {"feed_id": feed.id, "action": action})
        expected = usual
        if action == "remove" and usual == IN and role != "admin":
            expected = "kept"
        answer = send(house.browser(role), method, path)
        with house.site.database.read() as db:
            there = any(row.id == feed.id for row in subscriptions.everyone(db))
        if expected == "kept":
            assert there, role
        else:
            assert met(answer) == expected, role
            assert there == (action != "remove" or expected != IN), role


ASKS: dict[str, tuple[set[str], Callable[[str], dict[str, Any]]]] = {
    "update": (
        {"update"},
        lambda url: {"action": "update", "url": url, "add": {"category": ["x"]}},
    ),
    "unpublish": (
        {"update"},
        lambda url: {"action": "update", "url": url, "replace": {"post-status": ["draft"]}},
    ),
    "delete": ({"delete"}, lambda url: {"action": "delete", "url": url}),
    "undelete": ({"delete"}, lambda url: {"action": "undelete", "url": url}),
}


@pytest.mark.parametrize("scope", tokens.SCOPES)
def test_programs_have_the_rights_of_their_authors(house: House, scope: str) -> None:
    """Action x author x state: 401 without the scope, whatever the post; another's draft is not
    there; 403 else."""
    for action in (*ASKS, "source"):
        needed = {"create", "update"} if action == "source" else ASKS[action][0]
        has_it = scope in needed
        for state in STATES if has_it else ("draft", "published"):
            _ask(house, action, scope, state, ROLES[1:] if has_it else ("other", "owner"), needed)


def _ask(
    house: House, action: str, scope: str, state: str, roles: Sequence[str], needed: set[str]
) -> None:
    for role in roles:
        own = role != "other"
        there = own or state == "published"
        if state == "deleted" and action != "undelete":
            there = False
        expected = 200 if own or action == "source" else 403
        expected = expected if there else 400
        expected = expected if scope in needed else 401
        changes = expected == 200 and action != "source"
        post = house.post_in(state) if changes else house.kept_in(state)
        url = SITE_URL + posts.path(post)
        client, headers = house.program(role, scope)
        if action == "source":
            query = {"q": "source", "url": url}
            answer = client.get("/micropub", query_string=query, headers=headers)
        else:
            answer = client.post("/micropub", json=ASKS[action][1](url), headers=headers)
        status = answer.status_code if answer.status_code >= 300 else 200
        assert status == expected, (action, role, state, answer.text)
        if expected >= 400:
            assert "secret plan" not in answer.text


def test_tags_of_drafts_are_their_authors(house: House) -> None:
    """`q=category` names what is published, and besides only what one may change."""
    for state in STATES:
        house.post_in(state)
    mine = ["of-draft", "of-published", "of-scheduled", "of-taken back"]
    for role in ROLES[1:]:
        client, headers = house.program(role, "create")
        named = client.get("/micropub?q=category", headers=headers).get_json()["categories"]
        assert named == (["of-published"] if role == "other" else mine), role
        client, headers = house.program(role, "media")
        assert client.get("/micropub?q=category", headers=headers).status_code == 401
