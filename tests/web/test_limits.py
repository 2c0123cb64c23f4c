"""What a stranger may have us read before anybody knows who it is."""

import time

import pytest
from flask import Flask
from flask.testing import FlaskClient

from publisher.base.system import confined
from publisher.blog.members import tokens
from publisher.blog.post_files.media import MAX_BYTES
from publisher.http_server.http_head import MOST_HEAD_BYTES
from publisher.installation import Site
from publisher.web.api import xml_rpc_values as values
from publisher.web.request_checks import FORM_BYTES, MOST_FIELDS, TEXT_BYTES, body_limit
from tests.factories import make_author

FORM = "application/x-www-form-urlencoded"
CALL = "<methodCall><methodName>system.listMethods</methodName><params>{}</params></methodCall>"


@pytest.mark.parts("micropub", "mirror", "river", "xml_rpc")
def test_a_form_has_a_bounded_number_of_fields(client: FlaskClient, site: Site) -> None:
    """Forty megabytes of `a&` would become gigabytes, read for anybody who can reach the site."""
    make_author(site)
    for body in (b"a&" * MOST_FIELDS, b"a=" + b"b" * FORM_BYTES):
        for path in ("/indieauth/token", "/studio/login", "/studio/posts/new"):
            answer = client.post(path, data=body, content_type=FORM)
            assert answer.status_code == 413


def test_a_form_in_which_each_byte_is_spelled_out_is_short(client: FlaskClient, site: Site) -> None:
    """`%ff` is dear to read, and the studio reads what strangers send, to offer a text again: that
    is sent as multipart."""
    make_author(site)
    for path in ("/studio/login", "/studio/posts/new", "/studio/"):
        sent = b"source=" + b"%ff" * (TEXT_BYTES // 3 - 10)
        assert client.post(path, data=sent, content_type=FORM).status_code == 413
    make = {"source": "一" * 100_000}
    multipart = client.post("/studio/", data=make, content_type="multipart/form-data")
    assert make["source"] in multipart.text


@pytest.mark.parametrize("parts", [1, 500])
def test_what_stands_before_the_parts_of_a_form_is_short(
    client: FlaskClient, site: Site, parts: int
) -> None:
    """Eight megabytes of options took four seconds, a whole import's a minute."""
    make_author(site)
    options = b'a="b"; ' * (FORM_BYTES // 7 // parts)
    part = b'--x\r\nContent-Disposition: form-data; name="n"; ' + options + b"\r\n\r\nv\r\n"
    for path in ("/studio/login", "/studio/media"):
        kind = "multipart/form-data; boundary=x"
        answer = client.post(path, data=part * parts + b"--x--\r\n", content_type=kind)
        assert answer.status_code == 413


def test_the_texts_of_a_form_are_limited_together(client: FlaskClient, site: Site) -> None:
    """A picture may be large, of which only the file is kept on disk."""
    make_author(site)
    part = b'--x\r\nContent-Disposition: form-data; name="n"\r\n\r\n' + b"v" * (TEXT_BYTES // 2)
    for parts, status in ((1, 401), (3, 413)):
        sent = b"\r\n".join([part] * parts) + b"\r\n--x--"
        kind = "multipart/form-data; boundary=x"
        answer = client.post("/studio/media", data=sent, content_type=kind)
        assert answer.status_code == status


@pytest.mark.parts("micropub", "mirror", "river", "xml_rpc")
@pytest.mark.parametrize("path", ["/studio/login", "/river/import", "/setup/x"])
def test_a_stranger_s_odd_form_is_refused_in_words(
    client: FlaskClient, site: Site, path: str
) -> None:
    """A part without a name; and a post's text sent to where no posts are written."""
    make_author(site)
    head = b"--x\r\nContent-Disposition: form-data"
    sent = b'%s\r\n\r\nv\r\n%s; name="source"\r\n\r\nv\r\n--x--' % (head, head)
    answer = client.post(path, data=sent, content_type="multipart/form-data; boundary=x")
    assert answer.status_code == 401


@pytest.mark.parts("micropub", "mirror", "river", "xml_rpc")
@pytest.mark.parametrize("kind", ["", "; charset=utf-8"])
def test_micropub_takes_a_long_form_with_its_token(
    client: FlaskClient, site: Site, kind: str
) -> None:
    """A post of a hundred thousand Chinese characters, as a browser's form spells them."""
    ada = make_author(site)
    with site.database.write() as db:
        token = tokens.create(db, ada, tokens.SCOPES, site.clock())
    body = b"h=entry&content=" + b"%E4%B8%80" * 100_000
    headers = {"Authorization": f"Bearer {token}", "Content-Type": FORM + kind}
    answer = client.post("/micropub", data=body, headers=headers)
    assert answer.status_code == 201


@pytest.mark.parametrize("blank", [" ", "\t", " \t"])
def test_blanks_in_a_cookie_cost_nothing(app: Flask, site: Site, blank: str) -> None:
    """The longest head a stranger can send: it held the whole process for ten seconds."""
    filling = blank * (MOST_HEAD_BYTES // len(blank))
    make_author(site)
    client = app.test_client(use_cookies=False)
    begun = time.thread_time()
    for cookie in (f'a={filling}"', f'a{filling}=b{filling}"', f"{filling}a"):
        client.get("/studio/login", headers={"Cookie": cookie})
    assert time.thread_time() - begun < 5.0  # it is less than one, and was twenty


def test_a_cookie_of_any_bytes(app: Flask, site: Site) -> None:
    """What is not UTF-8 is no reason for a 500."""
    make_author(site)
    client = app.test_client(use_cookies=False)
    sent = {"Cookie": "a=\xd3\xf5; session=\xff"}
    assert client.get("/studio/login", headers=sent).status_code == 200


@pytest.mark.parts("micropub", "mirror", "river", "xml_rpc")
@pytest.mark.parametrize("kind", [FORM, "multipart/form-data; boundary=x"])
def test_a_large_body_needs_its_token_in_the_header(client: FlaskClient, kind: str) -> None:
    """Micropub takes tokens in the form, too; one that is large is not read to look for it."""
    for headers in ({}, {"Authorization": "Bearer wrong"}):
        body = b"access_token=x&content=" + b"b" * FORM_BYTES
        answer = client.post("/micropub", data=body, content_type=kind, headers=headers)
        assert answer.status_code == 401


@pytest.mark.parts("micropub", "mirror", "river", "xml_rpc")
def test_a_call_of_many_tags_is_not_parsed(
    client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Megabytes of elements, from anybody: refused before they are a tree."""
    monkeypatch.setattr(values, "_call", None)
    monkeypatch.setattr(confined, "read", None)
    for path in ("/xmlrpc", "/mirror/ping"):
        answer = client.post(path, data=b"<methodCall>" + b"<a/>" * (values.MAX_TAGS + 1))
        assert b"values" in answer.data
    assert body_limit("/mirror/ping") == FORM_BYTES


@pytest.mark.parts("micropub", "mirror", "river", "xml_rpc")
def test_a_long_call_is_read_in_a_confined_process(
    client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Line breaks in one value are cheap to send and dear to read: not in this process."""
    lengths = []

    def read(task: object, *arguments: object) -> object:
        lengths.append(task)
        return "system.listMethods", []

    monkeypatch.setattr(confined, "read", read)
    for text, times in (("x", 0), ("\n" * values.SHORT_BYTES, 1)):
        body = CALL.format(f"<param><value>{text}</value></param>")
        assert b"system.listMethods" in client.post("/xmlrpc", data=body).data
        assert len(lengths) == times


def test_a_login_may_carry_what_a_post_may_be() -> None:
    """The text of a form that was sent after the login had ended; without it, this is no door more
    for strangers, as the studio reads what they send to find out."""
    assert body_limit("/studio/login") == body_limit("/studio/") == TEXT_BYTES
    assert body_limit("/setup/x") < FORM_BYTES


def test_a_file_of_the_largest_size_can_be_added_without_scripts() -> None:
    """The form of the editor says up to 32 MB: a larger limit than that of its words."""
    for path in ("/studio/posts/new", "/studio/posts/1"):
        assert body_limit(path) >= MAX_BYTES + TEXT_BYTES


@pytest.mark.parts("micropub", "mirror", "river", "xml_rpc")
@pytest.mark.parametrize(
    "path",
    [
        "/micropub", "/micropub/media", "/indieauth/metadata", "/indieauth/auth",
        "/indieauth/token", "/indieauth/revoke", "/indieauth/introspect", "/rss.xml", "/atom.xml",
        "/feed.json", "/archive/2024/3/rss.xml", "/xmlrpc",
    ],
)  # fmt: skip
def test_scripts_of_other_sites_may_call_programs_addresses(client: FlaskClient, path: str) -> None:
    """CORS: open to any origin, also with a token and also where refused; never with a cookie."""
    origin = {"Origin": "https://app.example"}
    wanted = "GET" if path.endswith((".xml", ".json", "metadata")) else "POST"
    preflight = client.options(path, headers=origin)
    assert preflight.status_code in (200, 204)
    assert "Authorization" in preflight.headers["Access-Control-Allow-Headers"]
    assert wanted in preflight.headers["Access-Control-Allow-Methods"]
    for answer in (preflight, client.open(path, method=wanted, headers=origin)):
        assert answer.headers["Access-Control-Allow-Origin"] == "*"
        assert "Access-Control-Allow-Credentials" not in answer.headers


@pytest.mark.parametrize(
    "path", ["/", "/studio/", "/studio/login", "/settings/", "/river/", "/indieauth/consent"]
)
def test_pages_with_a_login_are_closed_to_other_sites(client: FlaskClient, path: str) -> None:
    """CORS: a page that depends on the cookie names no other origin, whatever is asked."""
    for answer in (client.get(path), client.options(path)):
        assert not [name for name, _ in answer.headers if name.startswith("Access-Control")]
