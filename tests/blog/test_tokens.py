"""API tokens: what they allow, and what is kept of them."""

import threading
from contextlib import suppress

import pytest
from sqlalchemy import select

from publisher.base.errors import InvalidInput, NotFound, TooMany
from publisher.blog import authors, tokens
from publisher.installation import Site
from publisher.storage.tables.blog import ApiToken, Author
from tests.conftest import FakeClock
from tests.factories import make_author


def make_token(site: Site, author: Author, *scopes: str) -> str:
    with site.database.write() as db:
        return tokens.create(db, author, scopes or tokens.SCOPES, site.clock())


def test_a_token_acts_for_its_author_within_its_scope(site: Site) -> None:
    """The token finds its author and its scopes, and no other."""
    secret = make_token(site, make_author(site), "media", "create")
    with site.database.read() as db:
        row = tokens.verify(db, secret)
    assert row is not None
    assert (row.author.name, row.scope) == ("ada", "create media")
    assert tokens.allows(row, "create")
    assert not tokens.allows(row, "delete")


def test_only_the_hash_is_kept(site: Site) -> None:
    """Who reads the database cannot use what stands in it."""
    secret = make_token(site, make_author(site))
    with site.database.read() as db:
        (kept,) = db.scalars(select(ApiToken.token_hash)).all()
        assert kept != secret
        assert tokens.verify(db, kept) is None


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
        assert tokens.verify(db, first) is None
        assert tokens.verify(db, second) is not None
        assert tokens.listed(db, bob) == []


def test_a_disabled_author_has_no_tokens(site: Site, clock: FakeClock) -> None:
    """A token ends with its author's account."""
    secret = make_token(site, make_author(site))
    with site.database.write() as db:
        db.get_one(Author, 1).disabled_at = clock()
    with site.database.read() as db:
        assert tokens.verify(db, secret) is None


@pytest.mark.parametrize("scopes", [(), ("create", "everything")])
def test_unknown_scopes_are_refused(site: Site, scopes: tuple[str, ...]) -> None:
    """A token without a scope, or with one that does not exist, is not made."""
    author = make_author(site)
    with pytest.raises(InvalidInput), site.database.write() as db:
        tokens.create(db, author, scopes, site.clock())


def test_many_tries_at_once_test_no_more_than_the_limit(site: Site) -> None:
    """A try is counted before the password is looked at: twenty at once are five."""
    began = threading.Barrier(20)
    admitted: list[list[int]] = []

    def attempt() -> None:
        began.wait()
        with suppress(TooMany), site.database.write() as db:
            admitted.append(authors.reserve(db, ["somebody"], site.clock()))

    threads = [threading.Thread(target=attempt) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(admitted) == authors.MAX_FAILURES
    with site.database.write() as db:
        authors.release(db, admitted[0])
        assert authors.reserve(db, ["somebody"], site.clock())


def test_all_tokens_of_an_author_end_together(site: Site) -> None:
    """And nobody else's."""
    ada, bob = make_author(site, "ada"), make_author(site, "bob")
    with site.database.write() as db:
        mine = [tokens.create(db, ada, ["create"], site.clock()) for _ in range(2)]
        other = tokens.create(db, bob, ["create"], site.clock())
        assert tokens.revoke_all(db, ada) == 2
        assert [tokens.verify(db, token) for token in mine] == [None, None]
        assert tokens.verify(db, other) is not None
