"""Roles, shutting out, passwords and sessions."""

from datetime import timedelta

import pytest
from sqlalchemy import func, select

from publisher.base.errors import Conflict, FieldErrors, Forbidden, NotFound
from publisher.blog.members import authors, passwords, tokens
from publisher.blog.writing import autosave, posts
from publisher.installation import Site
from publisher.storage.tables.blog import Meta, Revision, UnsavedText
from publisher.storage.tables.credentials import LoginSession
from tests.conftest import FakeClock
from tests.factories import PASSWORD, content, make_author, make_post


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


@pytest.fixture
def three(site: Site) -> Site:
    """Ada and Cleo are admins, Ben between them is not; each has a session, a post and a former
    login name."""
    for name in ("ada", "ben", "cleo"):
        make_author(site, name, role="admin" if name == "cleo" else None)
        with site.database.write() as db:
            author = authors.named(db, name)
            authors.open_session(db, author, f"{name}'s browser", site.clock())
            authors.describe(db, author, name.title(), "", f"{name}-2")
            post = posts.create(db, content(f"By {name}."), author.id, site.clock())
            sent = autosave.Sent({"source": name}, "tab")
            autosave.keep(db, author.id, post.id, 1, sent, site.clock())
    return site


def test_what_one_person_does_is_done_to_nobody_else(three: Site, clock: FakeClock) -> None:
    """Neither those who came before nor after."""
    with three.database.write() as db:
        ada, ben, cleo = everybody = authors.everyone(db)

        def browsers() -> list[str]:
            return [row.agent for who in everybody for row in authors.sessions_of(db, who, clock())]

        assert [authors.formerly(db, name) for name in ("ada", "ben", "cleo")] == [ada, ben, cleo]
        assert authors.oldest_admin(db) is ada
        second = authors.open_session(db, ben, "second", clock())
        authors.end_other_sessions(db, ben, second)
        assert browsers() == ["ada's browser", "second", "cleo's browser"]
        for other in (ada, cleo):
            (row,) = authors.sessions_of(db, other, clock())
            with pytest.raises(NotFound):
                authors.end_session(db, ben, row.id)
        with pytest.raises(NotFound):
            authors.end_session(db, ben, 99)
        authors.set_password(db, ben, authors.hashed("another password"))
        assert browsers() == ["ada's browser", "cleo's browser"]
        for name, password in (("ada-2", PASSWORD), ("ben-2", "another password")):
            assert authors.authenticate(db, f" {name.upper()} ", password).name == name
        authors.open_session(db, ben, "third", clock())
        authors.disable(db, ben, clock())
        assert browsers() == ["ada's browser", "cleo's browser"]
        authors.enable(db, ben)
        authors.remove(db, ben, cleo)
        assert [authors.formerly(db, name) for name in ("ada", "ben", "cleo", "ben-2")] == [
            ada, cleo, cleo, cleo,
        ]  # fmt: skip
        owners = [posts.get(db, number).author_id for number in (1, 2, 3)]
        assert owners == [ada.id, cleo.id, cleo.id]
        for table, of in ((Revision, [1, 3, 3]), (UnsavedText, [1, 3, 3])):
            assert db.scalars(select(table.author_id).order_by(table.id)).all() == of


def test_a_session_ends_to_the_second(three: Site, clock: FakeClock) -> None:
    """It is listed and works until then; the next login forgets it."""
    with three.database.write() as db:
        ben = authors.named(db, "ben-2")
        late = authors.open_session(db, ben, "y" * 201, clock() + timedelta(seconds=1))
        clock.forward(days=30)
        assert [row.agent for row in authors.sessions_of(db, ben, clock())] == ["y" * 200]
        assert authors.author_of(db, late, clock()) is ben
        authors.open_session(db, ben, "new", clock())
        rows = db.scalars(select(LoginSession.agent).order_by(LoginSession.id)).all()
        assert rows == ["y" * 200, "new"]


def test_what_a_profile_may_have(three: Site) -> None:
    """Up to the last character; a name that is one's own now or was once, and nobody else's."""
    with three.database.write() as db:
        ben = authors.named(db, "ben-2")
        before = (ben.display_name, ben.bio)
        for name, bio, login, wrong in (
            ("x" * 80, "y" * 5000, None, ""), ("x" * 80, "y" * 5001, None, "bio"),
            ("x", "", "ada-2", "login"), ("x" * 81, "", "ben-3", "display_name"),
            ("x", "", "cleo", "login"), ("x", "", "../", "login"), ("x", "", "Ben 2", ""),
            (" \n", "", None, "display_name"), ("x", "", "ben", ""),
        ):  # fmt: skip
            try:
                authors.describe(db, ben, name, bio, login)
                refused = []
            except FieldErrors as error:
                refused = list(error.fields)
            assert refused == ([wrong] if wrong else [])
            before = before if wrong else (name, bio)
            assert (ben.display_name, ben.bio) == before
            assert authors.formerly(db, "ben") is ben
            kept = db.scalar(select(func.count()).where(Meta.name.startswith(authors.FORMER)))
            assert kept == (4 if login == "ben" else 3)


@pytest.mark.parametrize(
    ("length", "usable"), [(9, False), (10, True), (1000, True), (1001, False)]
)
def test_the_length_of_a_password(length: int, usable: bool) -> None:
    assert bool(authors.hashed("x" * length)) is usable


def test_only_who_can_log_in_counts_as_an_admin(three: Site, clock: FakeClock) -> None:
    """The last one stays; who is no admin, or shut out already, may go."""
    with three.database.write() as db:
        ada, ben, cleo = authors.everyone(db)
        authors.set_role(db, cleo, "admin")
        authors.disable(db, cleo, clock())
        with pytest.raises(FieldErrors, match="admin first"):
            authors.set_role(db, ada, "author")
        with pytest.raises(FieldErrors, match="admin first"):
            authors.disable(db, ada, clock())
        with pytest.raises(FieldErrors, match="admin first"):
            authors.remove(db, ada, ben)
        authors.set_role(db, cleo, "author")
        authors.set_role(db, ben, "author")
        with pytest.raises(FieldErrors, match="somebody else"):
            authors.remove(db, ben, cleo)
        authors.remove(db, cleo, ben)
        assert [author.name for author in authors.everyone(db)] == ["ada-2", "ben-2"]


def test_a_password_that_was_checked_earlier_is_still_the_same(
    three: Site, clock: FakeClock
) -> None:
    """Not after it was changed, nor for who was shut out or removed since."""
    with three.database.read() as db:
        _, ben, _ = checked = authors.everyone(db)
    with three.database.write() as db:
        assert [authors.still_same(db, who).id for who in checked] == [1, 2, 3]
        row = authors.named(db, "ben-2")
        row.disabled_at = clock()
        with pytest.raises(Forbidden, match="try again"):
            authors.still_same(db, ben)
        row.disabled_at = None
        for other in ("!", "~"):  # before and after any hash
            row.password_hash = passwords.Hash(other)
            with pytest.raises(Forbidden, match="try again"):
                authors.still_same(db, ben)
        authors.remove(db, row, authors.named(db, "ada-2"))
        with pytest.raises(Forbidden, match="try again"):
            authors.still_same(db, ben)
