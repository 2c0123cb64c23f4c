"""IndieAuth from the program's side: it finds the site, asks, and writes with what it got."""

import base64
import hashlib
import http.server
import json
import threading
from collections.abc import Iterator
from dataclasses import replace
from urllib.parse import parse_qs, urlsplit

import pytest
from flask.testing import FlaskClient

from publisher.base.environment import Environment
from publisher.base.net import OutgoingError
from publisher.blog.writing import posts
from publisher.installation import Site
from tests.conftest import SITE_URL, FakeClock
from tests.factories import PASSWORD, make_author
from tests.web.blog.test_pages import Head
from tests.web.studio.browser import Browser

VERIFIER = "a-secret-of-the-program-that-nobody-else-knows.1"
CHALLENGE = base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).rstrip(b"=")
APP = "https://app.example/"


@pytest.fixture
def ada(client: FlaskClient, site: Site) -> Browser:
    """Ada's browser, logged in."""
    make_author(site)
    client.environ_base["HTTP_HOST"] = "blog.example"
    browser = Browser(client)
    browser.be_logged_in(site)
    return browser


@pytest.fixture(autouse=True)
def _nobody_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """The program's page is not there, except where a test serves one."""

    def unreachable(*_: object, **__: object) -> None:
        raise OutgoingError("no connection")

    monkeypatch.setattr("publisher.installation.request_public", unreachable)


def request_of(**changes: str) -> dict[str, str]:
    """What a program sends the browser with."""
    usual = {
        "response_type": "code", "client_id": APP, "redirect_uri": f"{APP}back?from=blog",
        "state": "s&1", "code_challenge": CHALLENGE.decode(), "code_challenge_method": "S256",
        "scope": "create update undelete",
    }  # fmt: skip
    return {**usual, **changes}


def agree(ada: Browser, *scopes: str, **changes: str) -> dict[str, str]:
    """Consent in the browser; returns what the program is answered."""
    wanted = request_of(**changes)
    page = ada.client.get("/indieauth/auth", query_string=wanted)
    assert page.status_code == 200, page.text
    ada.seen(page)
    answer = ada.post(
        "/indieauth/consent", agree="1", scope=list(scopes), challenge=wanted["code_challenge"],
        **{name: wanted[name] for name in ("client_id", "redirect_uri", "state")},
    )  # fmt: skip
    return answered(answer.location)


def answered(location: str | None) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(urlsplit(location or "").query).items()}


def exchange(client: FlaskClient, code: str, path: str = "token", **changes: str) -> dict[str, str]:
    """The program's own request, without a cookie and from nowhere."""
    form = {
        "grant_type": "authorization_code", "code": code, "client_id": APP,
        "redirect_uri": f"{APP}back?from=blog", "code_verifier": VERIFIER, **changes,
    }  # fmt: skip
    answer = client.application.test_client().post(
        f"/indieauth/{path}",
        data=form,
        base_url=SITE_URL,
        headers={"Origin": "https://app.example"},
    )
    answered: dict[str, str] = answer.get_json()
    return answered


def test_a_program_finds_asks_and_writes(
    ada: Browser, client: FlaskClient, site: Site, clock: FakeClock
) -> None:
    """From the address of the blog to a published post; the token is named and can be ended."""
    links = Head(client.get("/").text).links
    metadata = client.get(links["indieauth-metadata"][0]).get_json()
    assert metadata["authorization_endpoint"] == SITE_URL + links["authorization_endpoint"][0]
    assert metadata["token_endpoint"] == SITE_URL + links["token_endpoint"][0]
    assert metadata["issuer"] == f"{SITE_URL}/"
    page = client.get("/indieauth/auth", query_string=request_of())
    assert "app.example" in page.text
    assert "form-action 'self' https://app.example" in page.headers["Content-Security-Policy"]
    assert 'value="delete" checked' in page.text  # undelete is part of it
    answer = agree(ada, "create", "media")
    assert answer["state"] == "s&1"
    assert answer["iss"] == metadata["issuer"]
    assert answer["from"] == "blog"
    token = exchange(client, answer["code"])
    assert (token["me"], token["scope"], token["token_type"]) == (
        f"{SITE_URL}/", "create media", "Bearer",
    )  # fmt: skip
    bearer = {"Authorization": f"Bearer {token['access_token']}"}
    program = client.application.test_client()
    written = program.post(
        "/micropub", data={"h": "entry", "content": "From an app."}, headers=bearer,
        base_url=SITE_URL,
    )  # fmt: skip
    assert written.status_code == 201
    with site.database.read() as db:
        assert posts.get(db, 1).source == "From an app."
    assert APP in ada.get("/studio/account/tokens")
    form = {"token": token["access_token"]}
    there = program.post(
        "/indieauth/introspect", data=form, headers=bearer, base_url=SITE_URL
    ).get_json()
    assert (there["active"], there["scope"], there["client_id"]) == (True, "create media", APP)
    assert program.post("/indieauth/revoke", data=form, base_url=SITE_URL).status_code == 200
    refused = program.post("/micropub", data={"h": "entry", "content": "x"}, headers=bearer)
    assert refused.status_code == 401


def test_a_code_is_good_once_and_for_its_program(ada: Browser, client: FlaskClient) -> None:
    """Whatever does not fit uses the code up; so does the first exchange."""
    for wrong in (
        {"code_verifier": "another-secret-of-the-same-length-as-the-first.1"},
        {"code_verifier": ""},
        {"client_id": "https://other.example/"},
        {"redirect_uri": "https://app.example/elsewhere"},
        {"code": "guessed"},
    ):
        code = agree(ada, "create")["code"]
        assert exchange(client, **{"code": code, **wrong})["error"] == "invalid_grant", wrong
        again = exchange(client, code)
        assert ("access_token" in again) == (wrong == {"code": "guessed"}), wrong
        assert exchange(client, code)["error"] == "invalid_grant", wrong


def test_a_code_ends_after_ten_minutes(ada: Browser, client: FlaskClient, clock: FakeClock) -> None:
    """And with the author's right to write here."""
    code = agree(ada, "create")["code"]
    clock.forward(minutes=11)
    assert exchange(client, code)["error"] == "invalid_grant"


def test_a_code_ends_with_the_tokens(ada: Browser, client: FlaskClient) -> None:
    """Whoever had ten minutes at the author's browser gets no token after a new password."""
    code = agree(ada, "create")["code"]
    ada.get("/studio/account")
    words = {"old_password": PASSWORD, "new_password": "another horse battery", "end_tokens": "1"}
    assert ada.post("/studio/account/password", **words).status_code == 302
    assert exchange(client, code)["error"] == "invalid_grant"


def test_who_it_is_without_a_right_to_write(ada: Browser, client: FlaskClient) -> None:
    """A program that asks for nothing learns the address, and gets no token for it."""
    code = agree(ada, scope="profile")["code"]
    assert exchange(client, code)["error"] == "invalid_grant"
    code = agree(ada, scope="profile")["code"]
    assert exchange(client, code, "auth")["me"] == f"{SITE_URL}/"


def test_no_means_no(ada: Browser) -> None:
    """The program is told, and nothing is kept."""
    ada.get("/studio/account/tokens")
    form = {name: request_of()[name] for name in ("client_id", "redirect_uri", "state")}
    answer = ada.post("/indieauth/consent", scope="create", challenge=CHALLENGE.decode(), **form)
    assert answered(answer.location)["error"] == "access_denied"


STRANGERS = [
    {"client_id": ""},
    {"client_id": "app.example"},
    {"client_id": "ftp://app.example/"},
    {"client_id": "https://app.example"},
    {"client_id": "https://user@app.example/"},
    {"client_id": "https://app.example/a/../b"},
    {"client_id": "https://[::1/"},
    {"redirect_uri": ""},
    {"redirect_uri": "https://evil.example/back"},
    {"redirect_uri": "https://app.example.evil.example/"},
    {
        "client_id": r"https://evil.example\.app.example/",
        "redirect_uri": r"https://evil.example\.app.example/back",
    },
    {"redirect_uri": "https://app.example:444/"},
    {"redirect_uri": "javascript:alert(1)"},
    {"redirect_uri": "app://back"},
    {"redirect_uri": "https://app.example/\r\nSet-Cookie: x"},
]


def test_nobody_is_sent_to_a_strangers_address(ada: Browser) -> None:
    """An address that is not the program's own is refused here, before and after consent."""
    ada.get("/studio/account/tokens")
    wrong = []
    for changes in STRANGERS:
        page = ada.client.get("/indieauth/auth", query_string=request_of(**changes))
        form = {name: request_of(**changes)[name] for name in ("client_id", "redirect_uri")}
        answer = ada.post("/indieauth/consent", agree="1", challenge=CHALLENGE.decode(), **form)
        if (page.status_code, answer.status_code) != (400, 400):
            wrong.append((changes, page.status_code, answer.status_code))
    assert not wrong
    good = {name: request_of()[name] for name in ("client_id", "redirect_uri", "state")}
    answer = ada.post("/indieauth/consent", agree="1", challenge=CHALLENGE.decode(), **good)
    assert answered(answer.location)["state"] == "s&1"  # the page's key was not what was refused


def test_other_mistakes_are_told_to_the_program(ada: Browser) -> None:
    """With its state, and nothing agreed to."""
    for changes in (
        {"response_type": "token"},
        {"code_challenge": ""},
        {"code_challenge": "short"},
        {"code_challenge_method": "plain"},
    ):
        page = ada.client.get("/indieauth/auth", query_string=request_of(**changes))
        assert page.status_code == 303, changes
        assert answered(page.location)["error"] == "invalid_request"
        assert answered(page.location)["state"] == "s&1"


@pytest.fixture
def program(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, tuple[str, str]]]:
    """A program's own pages on loopback: path -> type and text; `address` is where they are."""
    monkeypatch.undo()
    pages: dict[str, tuple[str, str]] = {}

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            kind, text = pages[self.path]
            leads = kind == "redirect"
            self.send_response(302 if leads else 200)
            self.send_header(*(("Location", text) if leads else ("Content-Type", kind)))
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name
            pass

    server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    pages["address"] = ("", f"http://127.0.0.1:{server.server_port}")
    yield pages
    server.shutdown()
    server.server_close()


class TestWithPages:
    """Programs whose page can be read: loopback is allowed here, as for an intranet."""

    @pytest.fixture
    def environment(self, environment: Environment) -> Environment:
        return replace(environment, allow_private=True)

    def test_a_page_names_the_program_and_its_addresses(
        self, program: dict[str, tuple[str, str]], ada: Browser
    ) -> None:
        """HTML and JSON say where an answer may go, such as into a program on the phone."""
        own = program["address"][1]
        program["/html"] = (
            "text/html",
            '<title>Pen &amp; Ink</title><link rel=redirect_uri href="pen://back">' + "<" * 9000,
        )
        program["/app"] = (
            "text/html",
            """<title>Start</title><p class="p-name">Not it</p><div class="a h-app"><br>
            <img class="u-logo" src=l.png><a class="u-url p-name" href="/">My <b>App</b></a>, more
            </div><a class="p-name">Nor this</a><link rel=redirect_uri href="my://app">""",
        )
        program["/none"] = (
            "text/html",
            """<title>Start</title><div class="h-app"><i></i></div><b class=p-name>Nor it</b>
            <link rel=redirect_uri href="my://app">""",
        )
        about = {"client_id": f"{own}/json", "client_name": "Quill", "redirect_uris": ["q://b"]}
        program["/json"] = ("application/json", json.dumps(about))
        program["/other"] = ("application/json", json.dumps(about))
        for path, name, place in (
            ("html", "Pen &amp; Ink", "pen://back"),
            ("app", "Let My App in?", "my://app"),
            ("none", "Let Start in?", "my://app"),
            ("json", "Quill", "q://b"),
        ):
            wanted = request_of(client_id=f"{own}/{path}", redirect_uri=place)
            page = ada.client.get("/indieauth/auth", query_string=wanted)
            assert page.status_code == 200
            assert name in page.text
            scheme = place.partition(":")[0]
            assert page.headers["Content-Security-Policy"].endswith(f"'self' {scheme}:")
        wanted = request_of(client_id=f"{own}/other", redirect_uri="q://b")
        assert ada.client.get("/indieauth/auth", query_string=wanted).status_code == 400
        # An open redirect of the program's host: it is no word of that host where an answer may go.
        for host, status in ((own, 200), (own.replace("127.0.0.1", "localhost"), 400)):
            program["/moved"] = ("redirect", f"{host}/html")
            wanted = request_of(client_id=f"{own}/moved", redirect_uri="pen://back")
            page = ada.client.get("/indieauth/auth", query_string=wanted)
            assert page.status_code == status
