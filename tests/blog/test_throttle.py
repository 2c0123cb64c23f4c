"""The throttle on logging in: how many passwords are looked at, and who gets in all the same."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
from threading import Barrier

import pytest
from sqlalchemy import func, select

from publisher.base.errors import TooMany
from publisher.blog.members import authors, throttle
from publisher.installation import Site
from publisher.storage.tables.credentials import LoginAddress, LoginFailure
from tests.conftest import FakeClock
from tests.factories import make_author

VISITOR = throttle.Visitor("key", "ada", "198.51.100.1")


def attempt(site: Site, visitor: throttle.Visitor) -> list[int]:
    """A try that fails, unless the throttle refuses it."""
    with site.database.write() as db:
        now = site.clock()
        return throttle.reserve(db, throttle.purses(db, visitor, now), now)


def test_many_tries_at_once_test_no_more_than_the_limit(site: Site) -> None:
    """A try is counted before the password is looked at: twenty at once are five."""
    began = Barrier(20)

    def log_in(_: int) -> list[int]:
        began.wait()
        with suppress(TooMany):
            return attempt(site, VISITOR)
        return []

    with ThreadPoolExecutor(20) as pool:
        admitted = [counted for counted in pool.map(log_in, range(20)) if counted]
    assert len(admitted) == throttle.FREE_TRIES
    with site.database.write() as db:
        throttle.release(db, admitted[0])
    assert attempt(site, VISITOR)


def test_a_name_is_slowed_down_and_never_locked(site: Site, clock: FakeClock) -> None:
    """Tries from everywhere: five at once, then 10, 20, 40, 60, 60 ... seconds between them."""
    admitted, began = [], clock()
    for second in range(0, 1_800, 5):
        clock.moment = began + timedelta(seconds=second)
        stranger = replace(VISITOR, address=f"198.51.{second % 250}.{second // 250}")
        for _ in range(6 if second == 0 else 1):
            with suppress(TooMany):
                attempt(site, stranger)
                admitted.append(second)
    assert admitted[:5] == [0] * 5
    assert admitted[5:10] == [10, 30, 70, 130, 190]
    pauses = {later - before for before, later in pairwise(admitted[10:])}
    assert pauses == {60}


def test_known_addresses_are_bounded_and_forgotten(site: Site, clock: FakeClock) -> None:
    """Twenty an author, half a year; with a new password everybody is a stranger again."""
    ada = make_author(site)
    with site.database.write() as db:
        places = [replace(VISITOR, address=f"198.51.100.{n}") for n in range(30)]
        for place in places:
            clock.forward(seconds=1)
            throttle.know(db, place, ada, clock())
        assert db.scalar(select(func.count()).select_from(LoginAddress)) == 20
        assert throttle.purses(db, places[-1], clock()) == [places[-1].familiar]
        assert len(throttle.purses(db, places[0], clock())) == 2
        assert len(throttle.purses(db, places[-1], clock() + throttle.KNOWN_FOR)) == 2
        authors.set_password(db, db.merge(ada), authors.hashed("a new long password"))
        assert len(throttle.purses(db, places[-1], clock())) == 2


def test_a_clock_that_was_put_back_locks_nobody_out(site: Site, clock: FakeClock) -> None:
    """Failures of tomorrow are forgotten."""
    clock.forward(days=1)
    for _ in range(5):
        attempt(site, VISITOR)
    clock.forward(days=-1)
    attempt(site, VISITOR)
    with site.database.read() as db:
        assert db.scalar(select(func.count()).select_from(LoginFailure)) == 2


def test_who_has_to_wait_is_told_how_long(site: Site, clock: FakeClock) -> None:
    """In seconds for a name; in minutes for an address, until its oldest failure is forgotten."""
    for name in ("ada", "ben", "cleo", "dora", "emil"):
        attempt(site, replace(VISITOR, name=name))
    for seconds, words in ((60, "in 14 min"), (839 - 60, "in 2 min"), (20, "in 41 s")):
        clock.forward(seconds=seconds)
        with pytest.raises(TooMany, match=words):
            attempt(site, replace(VISITOR, name="fred"))
    clock.forward(seconds=41)
    assert attempt(site, replace(VISITOR, name="fred"))
    for number in range(5):
        attempt(site, replace(VISITOR, name="gina", address=f"203.0.113.{number}"))
    with pytest.raises(TooMany, match="in 10 s"):
        attempt(site, replace(VISITOR, name="gina", address="203.0.113.9"))
