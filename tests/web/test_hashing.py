"""Hashing a password takes a third of a second: nobody waits for the write lock meanwhile, and what
was checked before a transaction is still so in it."""

import hashlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from click.testing import CliRunner
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy.orm import Session

from publisher.blog.members import authors, passwords
from publisher.cli import cli
from publisher.installation import Site, setup_path
from publisher.operations import start
from publisher.parts.importing.writer import _add_author
from publisher.storage.database import Database
from tests.factories import PASSWORD, make_author

NEW = "a new long password"


class Writes:
    """How many write transactions are open, and how many were at each slow step."""

    def __init__(self) -> None:
        self.open, self.seen = 0, list[int]()

    def look(self) -> None:
        self.seen.append(self.open)

    def seen_since(self) -> list[int]:
        seen, self.seen = self.seen, []
        return seen


@pytest.fixture
def writes(monkeypatch: pytest.MonkeyPatch) -> Writes:
    """Counts the write transactions, and looks at each scrypt."""
    writes, writing, scrypt = Writes(), Database._writing, hashlib.scrypt

    @contextmanager
    def counted(self: Database, **kind: bool) -> Iterator[Session]:
        with writing(self, **kind) as session:
            writes.open += 1
            try:
                yield session
            finally:
                writes.open -= 1

    def looked(*parts: Any, **options: Any) -> bytes:
        writes.look()
        return scrypt(*parts, **options)

    monkeypatch.setattr(Database, "_writing", counted)
    monkeypatch.setattr(hashlib, "scrypt", looked)
    return writes


@pytest.fixture
def ada(app: Flask, site: Site) -> FlaskClient:
    """A browser of the admin; ben is there, too."""
    app.config["FORM_KEYS"] = False
    make_author(site, "ada")
    make_author(site, "ben")
    client = app.test_client()
    assert log_in(client).status_code == 302
    return client


def log_in(client: FlaskClient, name: str = "ada") -> Any:
    return client.post("/studio/login", data={"name": name, "password": PASSWORD})


@pytest.mark.parts("passkeys")
def test_nobody_waits_for_a_password(ada: FlaskClient, site: Site, writes: Writes) -> None:
    """Each way to set or confirm one, in the studio and on the command line."""
    passkey = ada.post("/studio/account/passkeys/options", data={"old_password": PASSWORD})
    assert passkey.status_code < 500
    assert writes.seen_since() == [0]
    form = {"old_password": PASSWORD, "new_password": NEW}
    assert ada.post("/studio/account/password", data=form).status_code == 302
    assert writes.seen_since() == [0, 0]
    assert ada.post("/studio/people", data={"name": "cleo"}).status_code == 200
    assert ada.post("/studio/people/ben/password").status_code == 200
    assert writes.seen_since() == [0, 0]
    variables = site.environment.variables()
    for command in (["add", "dan"], ["password", "dan"]):
        done = CliRunner().invoke(
            cli, ["author", *command, "--password-stdin"], env=variables, input=NEW
        )
        assert done.exit_code == 0, done.output
    assert writes.seen_since() == [0, 0]


def test_setting_up(client: FlaskClient, app: Flask, site: Site, writes: Writes) -> None:
    """The link's owner causes one hash; a stranger with a wrong link none."""
    app.config["FORM_KEYS"] = False
    link = setup_path(site) or ""
    form = {"name": "ada", "password": PASSWORD}
    assert client.post("/setup/guessed", data=form).status_code == 409
    assert writes.seen_since() == []
    assert client.post(link, data=form).status_code == 302
    assert writes.seen_since() == [0]


def test_an_imported_author_needs_no_hash(site: Site, writes: Writes) -> None:
    """No password opens, at the price of any other login."""
    row = {"name": "eve", "display_name": "Eve", "bio": "", "role": "author", "disabled_at": None,
           "created_at": "2024-01-01T00:00:00Z"}  # fmt: skip
    with site.database.write() as db:
        _add_author(db, row)
        assert writes.seen_since() == []
        eve = authors.named(db, "eve")
        for password in ("", "nobody", eve.password_hash):
            assert not passwords.matches(eve.password_hash, password, "")


def test_who_logs_in_while_the_password_is_reset_is_out(
    ada: FlaskClient, app: Flask, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the former password, right when it was checked, no session outlives the reset."""
    thief, renewed = app.test_client(), passwords.renewed

    def meanwhile(*parts: str) -> str:
        assert ada.post("/studio/people/ben/password").status_code == 200
        return renewed(*parts)

    monkeypatch.setattr(passwords, "renewed", meanwhile)
    answer = log_in(thief, "ben")
    assert answer.status_code == 403
    assert "changed just now" in answer.text
    assert thief.get("/studio/account").status_code == 302


def test_a_reset_is_not_undone_by_a_change_on_its_way(
    ada: FlaskClient, app: Flask, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who has a stolen session and the former password sets no other one over the admin's."""
    thief, hashed = app.test_client(), authors.hashed
    log_in(thief, "ben")

    def meanwhile(password: str) -> passwords.Hash:
        if password == NEW:
            with site.database.write() as db:
                authors.set_password(db, authors.named(db, "ben"), hashed("that of the admin"))
        return hashed(password)

    monkeypatch.setattr(authors, "hashed", meanwhile)
    form = {"old_password": PASSWORD, "new_password": NEW}
    assert thief.post("/studio/account/password", data=form).status_code == 403
    with site.database.read() as db:
        assert authors.authenticate(db, "ben", "that of the admin").name == "ben"


def test_serve_tells_of_old_passwords_after_writing(
    site: Site, writes: Writes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A terminal that is stopped holds up no writer."""

    class Terminal:
        def write(self, words: str) -> None:
            messages.append(words)
            writes.look()

    messages: list[str] = []
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setattr(authors, "password_trouble", lambda _: "some are old")
    start._warn_of_passwords(site)
    assert "publisher: some are old" in messages
    assert set(writes.seen) == {0}
