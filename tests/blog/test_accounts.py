"""Roles, shutting out, passwords and sessions."""

from datetime import timedelta

import pytest

from publisher.base.errors import Conflict, FieldErrors, Forbidden, NotFound
from publisher.blog.members import authors, tokens
from publisher.blog.writing import posts
from publisher.installation import Site
from tests.conftest import FakeClock
from tests.factories import PASSWORD, make_author, make_post


def test_somebody_stays_admin(site: Site, clock: FakeClock) -> None:
    """The last admin can neither step down nor be shut out; with a second one both work."""
    make_author(site, "ada")
    make_author(site, "ben")
    with site.database.write() as db:
        ada, ben = authors.named(db, "ada"), authors.named(db, "ben")
        with pytest.raises(FieldErrors, match="admin first"):
            authors.set_role(db, ada, "author")
        with pytest.raises(FieldErrors, match="admin first"):
            authors.disable(db, ada, clock())
        authors.set_role(db, ben, "admin")
        authors.set_role(db, ada, "author")
        with pytest.raises(FieldErrors, match="admin first"):
            authors.disable(db, ben, clock())


def test_shut_out_ends_everything(site: Site, clock: FakeClock) -> None:
    """Neither a session nor the password nor a token opens anything; letting in opens again."""
    make_author(site, "ada")
    make_author(site, "ben")
    with site.database.write() as db:
        ben = authors.named(db, "ben")
        session = authors.open_session(db, ben, "", clock())
        token = tokens.create(db, ben, ["create"], clock())
        authors.disable(db, ben, clock())
        assert authors.author_of(db, session, clock()) is None
        assert tokens.verify(db, token, site.clock()) is None
        with pytest.raises(Forbidden):
            authors.authenticate(db, "ben", PASSWORD)
        authors.enable(db, ben)
        assert authors.authenticate(db, "ben", PASSWORD) is ben
        assert authors.author_of(db, session, clock()) is None


def test_a_new_password_works_and_the_old_one_does_not(site: Site) -> None:
    """The made password opens, each is another one; an unusable one changes nothing."""
    make_author(site, "ada")
    with site.database.write() as db:
        ada = authors.named(db, "ada")
        first, second = authors.made_password(), authors.made_password()
        assert first != second
        for password in (first, second):
            authors.set_password(db, ada, authors.hashed(password))
        for unusable in ("short", "x" * 1001):
            with pytest.raises(FieldErrors) as refused:
                authors.set_password(db, ada, authors.hashed(unusable), "new_password")
            assert list(refused.value.fields) == ["new_password"]
        assert authors.authenticate(db, "ada", second) is ada
        for old in (PASSWORD, first):
            with pytest.raises(Forbidden):
                authors.authenticate(db, "ada", old)


def test_sessions_are_listed_and_ended(site: Site, clock: FakeClock) -> None:
    """One's own living sessions only; ending the others leaves the present one."""
    make_author(site, "ada")
    make_author(site, "ben")
    with site.database.write() as db:
        ada, ben = authors.named(db, "ada"), authors.named(db, "ben")
        authors.open_session(db, ada, "expired", clock() - timedelta(days=31))
        first_browser = authors.open_session(db, ada, "one", clock())
        authors.open_session(db, ada, "two", clock())
        authors.open_session(db, ben, "ben", clock())
        db.flush()
        assert [row.agent for row in authors.sessions_of(db, ada, clock())] == ["two", "one"]
        (bens,) = authors.sessions_of(db, ben, clock())
        with pytest.raises(NotFound):
            authors.end_session(db, ada, bens.id)
        authors.end_other_sessions(db, ada, first_browser)
        assert [row.agent for row in authors.sessions_of(db, ada, clock())] == ["one"]
        authors.end_session(db, ben, bens.id)
        assert authors.sessions_of(db, ben, clock()) == []


@pytest.mark.parametrize(
    ("name", "bio", "wrong"),
    [("", "", {"display_name"}), ("x" * 81, "", {"display_name"}), ("Ada", "x" * 5001, {"bio"}),
     (" \n ", "x" * 5001, {"display_name", "bio"})],
)  # fmt: skip
def test_a_profile_is_checked(site: Site, name: str, bio: str, wrong: set[str]) -> None:
    """Every problem is named at once."""
    make_author(site, "ada")
    with site.database.write() as db, pytest.raises(FieldErrors) as refused:
        authors.describe(db, authors.named(db, "ada"), name, bio)
    assert set(refused.value.fields) == wrong


def test_nobody_takes_a_name_that_was_another_s(site: Site) -> None:
    """Other sites know a person by the address with that name, and links lead from there."""
    make_author(site, "ada")
    make_author(site, "ben")
    with site.database.write() as db:
        ada, ben = authors.named(db, "ada"), authors.named(db, "ben")
        authors.describe(db, ada, "Ada", "", "countess")
        with pytest.raises(FieldErrors, match="once called ada"):
            authors.describe(db, ben, "Ben", "", "ada")
        authors.describe(db, ada, "Ada", "", "ada")


def test_the_first_person_is_the_admin(site: Site, clock: FakeClock) -> None:
    """Whatever was asked for; the next ones are authors, unless it was said. A login name is kept
    in lower case; each problem of a new account is named."""
    good = authors.hashed(PASSWORD)
    with site.database.write() as db:
        assert authors.oldest_admin(db) is None
        first = authors.add(db, " Mara  LIND ", good, "author", clock(), "Mara Lind")
        assert (first.name, first.display_name, first.role) == ("mara-lind", "Mara Lind", "admin")
        assert authors.add(db, "ben", good, None, clock()).role == "author"
        assert authors.add(db, "cleo", good, "admin", clock()).role == "admin"
        assert authors.oldest_admin(db) is first
        assert [author.name for author in authors.everyone(db)] == ["mara-lind", "ben", "cleo"]
        with pytest.raises(Conflict, match="called ben"):
            authors.add(db, "Ben", good, None, clock())
        with pytest.raises(FieldErrors) as refused:
            authors.add(db, "../x", authors.hashed("short"), None, clock(), "x" * 81)
        assert set(refused.value.fields) == {"name", "password", "display_name"}
        with pytest.raises(NotFound, match="nobody"):
            authors.named(db, "nobody")
        with pytest.raises(FieldErrors, match="must be one of"):
            authors.set_role(db, first, "owner")


@pytest.mark.parametrize(
    ("name", "usable"),
    [("a", True), ("a.b-c_9", True), ("x" * 40, True), ("x" * 41, False), ("-a", False),
     ("é", False), ("", False), ("a b", False)],
)  # fmt: skip
def test_a_login_name(name: str, usable: bool) -> None:
    """It is part of addresses, and typed."""
    assert (authors.name_problem(name) == "") is usable


def test_who_leaves_has_an_heir(site: Site, clock: FakeClock) -> None:
    """Posts and former names go to somebody who can log in; the last admin stays."""
    ada, ben = make_author(site, "ada"), make_author(site, "ben")
    post = make_post(site, author_id=ben.id)
    with site.database.write() as db:
        ada, ben = authors.named(db, "ada"), authors.named(db, "ben")
        for who, heir, words in ((ada, ben, "admin first"), (ben, ben, "somebody else")):
            with pytest.raises(FieldErrors, match=words) as refused:
                authors.remove(db, who, heir)
            assert list(refused.value.fields) == ["heir"]
        with pytest.raises(FieldErrors) as taken:
            authors.describe(db, ben, "Ben", "", "ADA")
        assert list(taken.value.fields) == ["login"]
        authors.describe(db, ben, "Ben", "", "benno")
        assert authors.formerly(db, "ben") is ben
        authors.remove(db, ben, ada)
        assert authors.formerly(db, "ben") is authors.formerly(db, "benno") is ada
        assert posts.get(db, post.id).author_id == ada.id
        for name in ("ada", "nobody"):
            with pytest.raises(NotFound):
                authors.formerly(db, name)


def test_a_session_ends_with_its_time_or_when_it_is_closed(site: Site, clock: FakeClock) -> None:
    """Thirty days after the login."""
    make_author(site, "ada")
    with site.database.write() as db:
        ada = authors.named(db, "ada")
        token, other = (authors.open_session(db, ada, "x" * 300, clock()) for _ in range(2))
        clock.forward(days=30, seconds=-1)
        assert authors.author_of(db, token, clock()) is ada
        assert authors.author_of(db, f"{token}x", clock()) is None
        authors.close_session(db, token)
        assert authors.author_of(db, token, clock()) is None
        assert authors.author_of(db, other, clock()) is ada
        assert authors.author_of(db, other, clock.forward(seconds=1)) is None
        authors.confirm(db, ada, PASSWORD, "old_password")
