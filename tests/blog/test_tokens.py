"""API tokens: what they allow, and what is kept of them."""

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select

from publisher.base.errors import FieldErrors, InvalidInput, NotFound
from publisher.blog import post_addresses
from publisher.blog.members import authors, tokens
from publisher.blog.writing import posts
from publisher.installation import Site
from publisher.storage.tables.blog import Meta
from publisher.storage.tables.credentials import ApiToken, Author
from tests.conftest import FakeClock
from tests.factories import make_author, make_post


def make_token(site: Site, author: Author, *scopes: str) -> str:
    with site.database.write() as db:
        return tokens.create(db, author, scopes or tokens.SCOPES, site.clock())


def test_a_token_acts_for_its_author_within_its_scope(site: Site) -> None:
    """The token finds its author and its scopes, and no other."""
    secret = make_token(site, make_author(site), "media", "create")
    with site.database.read() as db:
        row = tokens.verify(db, secret, site.clock())
    assert row is not None
    assert (row.author.name, row.scope) == ("ada", "create media")
    assert tokens.allows(row, "create")
    assert not tokens.allows(row, "delete")


def test_what_nobody_can_guess_is_long(site: Site, clock: FakeClock) -> None:
    """32 bytes of chance for tokens and sessions, 24 for previews, 12 for a password that is
    changed soon."""
    ada = make_author(site)
    post = make_post(site)
    with site.database.write() as db:
        made = [tokens.create(db, ada, ["create"], clock())]
        made += [authors.open_session(db, ada, "", clock())]
        previewed = posts.get(db, post.id)
        first = previewed.preview_token
        post_addresses.revoke_preview(previewed)
        made += [first, previewed.preview_token, authors.made_password()]
    assert [len(secret) for secret in made] == [43, 43, 32, 32, 16]
    assert len(set(made)) == 5


def test_only_the_hash_is_kept(site: Site) -> None:
    """Who reads the database cannot use what stands in it."""
    secret = make_token(site, make_author(site))
    with site.database.read() as db:
        (token_hash,) = db.scalars(select(ApiToken.token_hash)).all()
        assert token_hash != secret
        assert tokens.verify(db, token_hash, site.clock()) is None


def test_a_revoked_token_is_worthless_at_once(site: Site) -> None:
    """Revoking one token leaves the others; another author cannot revoke mine."""
    ada, bob = make_author(site), make_author(site, "bob")
    first, second = make_token(site, ada), make_token(site, ada)
    with site.database.write() as db:
        number = tokens.listed(db, ada)[0].id
        with pytest.raises(NotFound):
            tokens.revoke(db, number, bob)
        tokens.revoke(db, number, ada)
    with site.database.read() as db:
        assert tokens.verify(db, first, site.clock()) is None
        assert tokens.verify(db, second, site.clock()) is not None
        assert tokens.listed(db, bob) == []


def test_a_disabled_author_has_no_tokens(site: Site, clock: FakeClock) -> None:
    """A token ends with its author's account."""
    secret = make_token(site, make_author(site))
    with site.database.write() as db:
        db.get_one(Author, 1).disabled_at = clock()
    with site.database.read() as db:
        assert tokens.verify(db, secret, site.clock()) is None


@pytest.mark.parametrize("scopes", [(), ("create", "everything")])
def test_unknown_scopes_are_refused(site: Site, scopes: tuple[str, ...]) -> None:
    """A token without a scope, or with one that does not exist, is not made."""
    author = make_author(site)
    with pytest.raises(InvalidInput), site.database.write() as db:
        tokens.create(db, author, scopes, site.clock())


def test_a_token_ends_by_itself_and_tells_its_last_use(site: Site, clock: FakeClock) -> None:
    """On its end date it is worth nothing; the last use is kept to the hour."""
    author = make_author(site)
    with site.database.write() as db:
        until = clock() + timedelta(days=2)
        secret = tokens.create(db, author, ["create"], clock(), " my\nphone ", until)
        (row,) = tokens.listed(db, author)
        assert (row.label, row.used_at, row.expires_at) == ("my phone", None, until)
        assert tokens.use_is_news(row, clock())
        tokens.note_use(db, row, clock())
        db.refresh(row)
        assert row.used_at == clock()
        assert not tokens.use_is_news(row, clock.forward(minutes=59))
        assert tokens.use_is_news(row, clock.forward(minutes=1))
        clock.moment = until - timedelta(seconds=1)
        assert tokens.verify(db, secret, clock())
        assert tokens.verify(db, secret, until) is None
        with pytest.raises(FieldErrors, match="81 characters"):
            tokens.create(db, author, ["create"], clock(), "x" * 81)
        with pytest.raises(InvalidInput):
            tokens.create(db, author, ["create"], clock(), "", clock())


def test_all_tokens_of_an_author_end_together(site: Site) -> None:
    """And nobody else's."""
    ada, bob = make_author(site, "ada"), make_author(site, "bob")
    with site.database.write() as db:
        mine = [tokens.create(db, ada, ["create"], site.clock()) for _ in range(2)]
        bobs = tokens.create(db, bob, ["create"], site.clock())
        assert tokens.revoke_all(db, ada) == 2
        assert [tokens.verify(db, token, site.clock()) for token in mine] == [None, None]
        assert tokens.verify(db, bobs, site.clock()) is not None


def test_a_twin_goes_and_nothing_else(site: Site, clock: FakeClock) -> None:
    """One request makes one token, however often and late it comes; nobody can end another's."""
    ada, bob = make_author(site), make_author(site, "bob")

    def made(author: Author, name: str, scope: str = "create") -> str:
        token = make_token(site, author, scope)
        with site.database.write() as db:
            tokens.drop_twin(db, token, name)
        return token

    def works(*made: str) -> list[bool]:
        with site.database.read() as db:
            return [tokens.verify(db, token, clock()) is not None for token in made]

    first, bobs = made(ada, "a-name"), made(bob, "a-name")
    clock.forward(hours=1)
    second = made(ada, "a-name")
    assert works(first, second, bobs) == [False, True, True]
    # Back has brought the form, and something else is asked for.
    another = made(ada, "a-name", "media")
    assert works(second, another) == [True, True]
    with site.database.write() as db:
        used = tokens.verify(db, another, clock())
        assert used is not None
        tokens.note_use(db, used, clock())
    assert works(another, made(ada, "a-name", "media"), made(ada, ""), made(ada, "")) == [True] * 4
    with site.database.read() as db:
        stored = db.scalars(select(Meta.value)).all()
    assert not any(second in value or "a-name" in value for value in stored)


def test_nothing_is_kept_about_the_tokens_of_who_is_removed(site: Site) -> None:
    """Nor is what was kept about others touched."""
    ada, bob = make_author(site), make_author(site, "bob")
    for person in (ada, bob):
        token = make_token(site, person, "create")
        with site.database.write() as db:
            tokens.drop_twin(db, token, "a-name")
    with site.database.write() as db:
        authors.remove(db, authors.named(db, "bob"), authors.named(db, "ada"))
        rows = select(Meta.name).where(Meta.name.startswith(authors.MADE_LAST))
        assert db.scalars(rows).all() == [f"{authors.MADE_LAST}{ada.id}"]


def test_each_token_is_of_one_author(site: Site, clock: FakeClock) -> None:
    """What is done to it is done to none that was made before or after it."""
    people = [make_author(site, name) for name in ("ada", "ben", "cleo")]
    secrets = [make_token(site, person, "media") for person in people for _ in range(2)]

    def numbers(author: Author | None = None) -> list[int]:
        with site.database.read() as db:
            return [row.id for row in tokens.listed(db, author)]

    assert [numbers(person) for person in (*people, None)] == [
        [1, 2],
        [3, 4],
        [5, 6],
        [*range(1, 7)],
    ]
    with site.database.write() as db:
        found = [tokens.verify(db, secret, clock()) for secret in secrets]
        assert [row and row.id for row in found] == [*range(1, 7)]
        (third,) = [row for row in found if row and row.id == 3]
        tokens.note_use(db, third, clock())
        db.expire_all()
        used = [row.id for row in tokens.listed(db) if row.used_at is not None]
        assert used == [3]
        for number in (1, 5, 99):
            with pytest.raises(NotFound):
                tokens.revoke(db, number, people[1])
        tokens.revoke(db, 3)
    assert numbers() == [1, 2, 4, 5, 6]
    with site.database.write() as db:
        assert tokens.revoke_all(db, people[1]) == 1
    assert numbers() == [1, 2, 5, 6]


def test_a_twin_is_the_same_in_everything(site: Site, clock: FakeClock) -> None:
    """Label, scope and the name of the request."""
    ada = make_author(site)
    request: dict[str, Any] = {"label": "a", "scopes": ["delete"], "attempt": "name"}
    others: list[dict[str, Any]] = [
        {}, {"label": "b"}, {"label": "Z"}, {"scopes": ["media"]}, {"scopes": ["create", "media"]},
        {"attempt": "other"}, {"attempt": "another"}, {"attempt": ""},
    ]  # fmt: skip
    for changed in others:
        with site.database.write() as db:
            tokens.revoke_all(db, ada)
            for values in (request, request | changed):
                token = tokens.create(db, ada, values["scopes"], clock(), values["label"])
                tokens.drop_twin(db, token, values["attempt"])
            assert len(tokens.listed(db)) == (2 if changed else 1), changed
            assert tokens.verify(db, token, clock())


def test_the_limits_of_a_token(site: Site, clock: FakeClock) -> None:
    """A label of 80 characters, an end a second from now; a use is news after an hour."""
    ada = make_author(site)
    with site.database.write() as db:
        end = clock() + timedelta(seconds=1)
        token = tokens.create(db, ada, ["create"], clock(), "x" * 80, end)
        row = tokens.verify(db, token, clock())
        assert row is not None
        assert tokens.verify(db, token, end) is None
        for seconds, news in ((3599, False), (3600, True), (3601, True)):
            row.used_at = clock() - timedelta(seconds=seconds)
            assert tokens.use_is_news(row, clock()) is news
    with pytest.raises(InvalidInput, match=f"'{'y' * 40}'"):
        tokens.checked_scopes(["y" * 41])
    assert tokens.checked_scopes(["media", "create", "media"]) == ["create", "media"]
    for name in ("ape", "zoo"):
        with pytest.raises(InvalidInput, match="'ape'"):
            tokens.checked_scopes(["zoo", "ape", name, "create"])
