"""Passkeys with a device that is made of a key; those of a browser are in tests/browser."""

import base64
import hashlib
import json
from typing import Any

import pytest
from flask.testing import FlaskClient

from publisher.base.errors import Forbidden
from publisher.installation import Site
from publisher.parts.passkeys import keys
from publisher.parts.passkeys.tables import Passkey
from tests.conftest import FakeClock
from tests.factories import PASSWORD, make_author
from tests.web.studio.browser import Browser

cbor2 = pytest.importorskip("cbor2", reason="the extra `passkeys` is not installed")
ec = pytest.importorskip("cryptography.hazmat.primitives.asymmetric.ec")
hashes = pytest.importorskip("cryptography.hazmat.primitives.hashes")
PLACE = keys.Place("blog.example", "https://blog.example", "Blog")
KEY = ec.generate_private_key(ec.SECP256R1())


def encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def signed(challenge: bytes) -> dict[str, Any]:
    """What a device answers that counts nothing, as those that share their passkeys."""
    client_data = {"type": "webauthn.get", "challenge": encoded(challenge), "origin": PLACE.origin}
    client = json.dumps(client_data).encode()
    device = hashlib.sha256(PLACE.host.encode()).digest() + b"\x05" + bytes(4)
    signature = KEY.sign(device + hashlib.sha256(client).digest(), ec.ECDSA(hashes.SHA256()))
    response = {"clientDataJSON": client, "authenticatorData": device, "signature": signature}
    name = encoded(b"laptop")
    answer = {key: encoded(value) for key, value in response.items()}
    return {"id": name, "rawId": name, "type": "public-key", "response": answer}


def public_key() -> bytes:
    point = KEY.public_key().public_numbers()
    x, y = (number.to_bytes(32, "big") for number in (point.x, point.y))
    key: bytes = cbor2.dumps({1: 2, 3: -7, -1: 1, -2: x, -3: y})
    return key


def made(challenge: str) -> str:
    """What a device answers that is to make a passkey."""
    client = json.dumps({"type": "webauthn.create", "challenge": challenge, "origin": PLACE.origin})
    device = hashlib.sha256(PLACE.host.encode()).digest() + b"\x45" + bytes(20) + b"\0\6laptop"
    made = cbor2.dumps({"fmt": "none", "attStmt": {}, "authData": device + public_key()})
    response = {
        "clientDataJSON": encoded(client.encode()),
        "attestationObject": encoded(made),
    }
    name = encoded(b"laptop")
    return json.dumps({"id": name, "rawId": name, "type": "public-key", "response": response})


def test_a_passkey_needs_the_password(client: FlaskClient, site: Site) -> None:
    """At another's open browser: the challenge of a login, which anybody is given, makes none."""
    make_author(site)
    client.environ_base["HTTP_HOST"] = "blog.example"
    browser = Browser(client)
    browser.log_in()
    for path, words, status in (
        ("/studio/login/passkey/options", {}, 400),
        ("/studio/account/passkeys/options", {"old_password": PASSWORD}, 200),
    ):
        options = browser.post(path, **words).get_json()
        answer = made(options["challenge"])
        sent = browser.post("/studio/account/passkeys", credential=answer, label="Mine")
        assert sent.status_code == status


def test_what_was_sent_once_opens_nothing_again(site: Site, clock: FakeClock) -> None:
    """A cookie with its challenge can be kept, and a login sent a second time."""
    author = make_author(site)
    asked_at = clock()
    clock.forward(seconds=5)
    with site.database.write() as db:
        db.add(Passkey(author_id=author.id, credential_id=b"laptop", public_key=public_key(),
                       sign_count=0, label="Laptop", created_at=asked_at))  # fmt: skip
        db.flush()
        answer = signed(b"first")
        assert keys.log_in(db, PLACE, b"first", answer, asked_at, clock()).id == author.id
        with pytest.raises(Forbidden, match="used meanwhile"):
            keys.log_in(db, PLACE, b"first", answer, asked_at, clock())
        asked_at = clock()
        with pytest.raises(Forbidden, match="not known"):
            keys.log_in(db, PLACE, b"second", answer, asked_at, clock())
        answer = signed(b"second")
        assert keys.log_in(db, PLACE, b"second", answer, asked_at, clock()).id == author.id
