"""Stored passwords: what is stored, and what becomes of those from version 1.0."""

import contextlib
import hashlib
from collections import Counter
from pathlib import Path
from unittest.mock import patch

import pytest
from argon2 import PasswordHasher
from click.testing import CliRunner

from publisher.base.errors import FieldErrors, Forbidden
from publisher.blog.members import authors, passwords
from publisher.cli import cli
from publisher.installation import Site
from publisher.operations.doctor import examine_processes
from tests.factories import PASSWORD, make_author

WRONG = "name or password is wrong"


def old_hash(password: str = PASSWORD) -> str:
    """A hash as version 1.0 stored it, but cheap."""
    return PasswordHasher(time_cost=1, memory_cost=8, parallelism=1).hash(password)


@pytest.fixture
def upgraded(site: Site) -> Site:
    """A site on which ada's password is from version 1.0, and ben's and the late cleo's are not."""
    for name in ("ada", "ben", "cleo"):
        make_author(site, name)
    with site.database.write() as db:
        authors.named(db, "ada").password_hash = old_hash()
        authors.disable(db, authors.named(db, "cleo"), site.clock())
    return site


def refusal(site: Site, name: str, password: str) -> str:
    """What the login says."""
    with site.database.read() as db, pytest.raises(Forbidden) as refused:
        authors.authenticate(db, name, password)
    return str(refused.value)


def test_the_work_is_a_row_of_the_table_and_the_salt_is_new() -> None:
    """What is shipped is not the tests' cheap work."""
    assert 'METHOD = "scrypt:32768:8:3"' in Path(passwords.__file__).read_text("utf-8")
    first, second = passwords.make(PASSWORD), passwords.make(PASSWORD)
    assert first != second
    method, salt, digest = first.split("$")
    n, r, p = map(int, method.split(":")[1:])
    assert digest == hashlib.scrypt(PASSWORD.encode(), salt=salt.encode(), n=n, r=r, p=p).hex()


def test_a_login_replaces_a_hash_of_another_kind() -> None:
    """Of other work, too; one of today's kind stays."""
    today = passwords.make(PASSWORD)
    assert passwords.renewed(today, PASSWORD) == today
    for before in (old_hash(), today.replace(":", "::", 1), ""):
        assert passwords.matches(passwords.renewed(before, PASSWORD), PASSWORD, "")


def test_an_old_hash_is_checked(upgraded: Site) -> None:
    """With the right password only; those of others are checked as before."""
    with upgraded.database.read() as db:
        assert authors.authenticate(db, "ada", PASSWORD).name == "ada"
        assert authors.authenticate(db, "ben", PASSWORD).name == "ben"
    for name in ("ada", "ben", "cleo", "nobody"):
        assert refusal(upgraded, name, "wrong wrong") == WRONG
    # Somebody else's old hash serves as the dummy, and opens nothing.
    with upgraded.database.write() as db:
        authors.named(db, "ada").password_hash = old_hash("the password of ada")
    for name in ("ben", "cleo", "nobody"):
        assert refusal(upgraded, name, "the password of ada") == WRONG


@pytest.mark.parametrize("broken", ["$argon2id$", "$argon2id$v=19$m=8,t=1,p=1$c2FsdA$!", "$argon2"])
def test_a_damaged_old_hash_opens_nothing(upgraded: Site, broken: str) -> None:
    """It is a wrong password, not an error."""
    with upgraded.database.write() as db:
        authors.named(db, "ada").password_hash = broken
    assert refusal(upgraded, "ada", PASSWORD) == WRONG
    assert refusal(upgraded, "nobody", PASSWORD) == WRONG


@pytest.mark.parametrize("name", ["ada", "ben", "cleo", "nobody"])
@pytest.mark.parametrize("there", [True, False])
def test_each_try_does_the_same_work(upgraded: Site, name: str, there: bool) -> None:
    """An attacker with a stop-watch: unknown, old, new and shut out cost one check of each kind."""
    done: Counter[object] = Counter()

    def scrypt(password: bytes, **options: int) -> bytes:
        done["scrypt", options["n"], options["r"], options["p"]] += 1
        return bytes(64)

    def verify(_self: PasswordHasher, stored: str, password: str) -> bool:
        assert stored.startswith("$argon2id$")
        done["argon2"] += 1
        return False

    with (
        patch("hashlib.scrypt", scrypt),
        patch.object(PasswordHasher, "verify", verify),
        patch.object(passwords, "installed", lambda: there),
        upgraded.database.read() as db,
        contextlib.suppress(Forbidden),
    ):
        authors.authenticate(db, name, "wrong wrong")
    kinds = [("scrypt", *map(int, passwords.METHOD.split(":")[1:])), *(["argon2"] if there else [])]
    assert done == Counter(kinds)


def test_without_the_package_what_to_do_is_said(
    upgraded: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same for every name, to whoever runs the server too; not once nobody needs it."""
    monkeypatch.setattr(passwords, "installed", lambda: False)
    refusals = {refusal(upgraded, name, "wrong wrong") for name in ("ada", "ben", "cleo", "nobody")}
    refusals.add(refusal(upgraded, "ada", PASSWORD))
    (words_said,) = refusals
    for words in ("publisher author password NAME", "python -m pip install argon2-cffi", WRONG):
        assert words in words_said
    with upgraded.database.read() as db:
        assert authors.authenticate(db, "ben", PASSWORD).name == "ben"

    findings = {finding.what: finding for finding in examine_processes(upgraded)}
    assert not findings["passwords"].good
    assert "pip install argon2-cffi" in findings["passwords"].detail
    variables = upgraded.environment.variables()
    listed = CliRunner().invoke(cli, ["author", "list"], env=variables)
    assert "pip install argon2-cffi" in listed.stderr
    assert listed.stdout.count("\n") == 3
    done = CliRunner().invoke(
        cli, ["author", "password", "ada", "--password-stdin"], env=variables, input="another one!"
    )
    assert done.exit_code == 0, done.output
    with upgraded.database.read() as db:
        assert authors.authenticate(db, "ada", "another one!").name == "ada"
        assert authors.password_trouble(db) == ""
    assert refusal(upgraded, "nobody", "wrong wrong") == WRONG
    findings = {finding.what: finding for finding in examine_processes(upgraded)}
    assert findings["passwords"].good


def test_who_is_still_logged_in_is_told_why_the_old_password_is_refused(
    upgraded: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With her own hash only: ben's wrong password is wrong."""
    monkeypatch.setattr(passwords, "installed", lambda: False)
    with upgraded.database.read() as db:
        for name, words in (("ada", "pip install argon2-cffi"), ("ben", "not your current")):
            with pytest.raises(FieldErrors, match=words):
                authors.confirm(db, authors.named(db, name), "wrong wrong", "old_password")


def test_a_hash_is_not_put_over_a_newer_password(upgraded: Site) -> None:
    """The password was changed elsewhere between check and store: that one stays."""
    with upgraded.database.read() as db:
        before = authors.authenticate(db, "ada", PASSWORD)
    with upgraded.database.write() as db:
        newer = authors.hashed("a newer password")
        authors.set_password(db, authors.named(db, "ada"), newer)
    with upgraded.database.write() as db, pytest.raises(Forbidden, match="try again"):
        authors.still_same(db, before)
    assert refusal(upgraded, "ada", PASSWORD) == WRONG
    with upgraded.database.read() as db:
        assert authors.authenticate(db, "ada", "a newer password").name == "ada"
