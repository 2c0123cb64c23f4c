"""The throttle on logging in: how many passwords are looked at, and who gets in all the same."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
from threading import Barrier

import pytest
from sqlalchemy import delete, func, select

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
    for second in range(0, 600, 5):
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


def test_each_counter_is_of_one_name_or_place(site: Site, clock: FakeClock) -> None:
    """Of the address, of the name, of both together; a whole network of IPv6 is one place."""
    kinds = ("name", "address", "known")
    visitors = [VISITOR, replace(VISITOR, name="bob"), replace(VISITOR, address="198.51.100.2"),
                replace(VISITOR, key="other")]  # fmt: skip
    own, name, place, key = [[v.purse(kind).subject for kind in kinds] for v in visitors]
    assert len({*own, *key}) == 6
    assert [a == b for a, b in zip(own, name, strict=True)] == [False, True, False]
    assert [a == b for a, b in zip(own, place, strict=True)] == [True, False, False]
    assert VISITOR.purse("nothing of these").slows
    six, same, other = (
        replace(VISITOR, address=address).purse("address").subject
        for address in ("2001:db8::1", "2001:db8::2", "2001:db9::1")
    )
    assert six == same != other
    with site.database.read() as db:
        by_name, by_address = throttle.purses(db, VISITOR, clock())
    assert (by_name.slows, by_address.slows) == (True, False)


def test_each_failure_makes_the_pause_longer(site: Site, clock: FakeClock) -> None:
    """For the name, until it is a minute; the failures of others do not count."""
    others = [throttle.Purse(subject, slows=True) for subject in ("a", "z")]

    def counted() -> int:
        return db.scalar(select(func.count()).select_from(LoginFailure)) or 0

    with site.database.write() as db:
        for failures, seconds in ((4, 0), (5, 10), (6, 20), (7, 40), (8, 60), (9, 60), (30, 60)):
            db.execute(delete(LoginFailure))
            for subject, count in (("a", 1), ("m", failures), ("z", 1)):
                db.add_all(LoginFailure(subject=subject, failed_at=clock()) for _ in range(count))
            purse = throttle.Purse("m", slows=True)
            assert [len(throttle.reserve(db, [other], clock())) for other in others] == [1, 1]
            if seconds:
                before = counted()
                with pytest.raises(TooMany, match=f"in {seconds} s") as refused:
                    throttle.reserve(db, [others[0], purse], clock.forward(milliseconds=400))
                assert refused.value.retry_after_seconds == seconds
                assert counted() == before
                clock.forward(seconds=seconds, milliseconds=-400)
            (number,) = throttle.reserve(db, [purse], clock())
            before = counted()
            throttle.release(db, [number])
            assert counted() == before - 1


def test_failures_are_forgotten_after_a_quarter_of_an_hour(site: Site, clock: FakeClock) -> None:
    """And those of a clock that was that far ahead at once."""
    with site.database.write() as db:
        for minutes in (-16, -15, -14, 0, 14, 15, 16):
            db.add(LoginFailure(subject="a", failed_at=clock() + timedelta(minutes=minutes)))
        throttle.reserve(db, [], clock())
        left = db.scalars(select(LoginFailure.failed_at).order_by(LoginFailure.id))
        assert [(moment - clock()).total_seconds() / 60 for moment in left] == [-14, 0, 14, 15]


def test_an_address_waits_for_its_oldest_failure(site: Site, clock: FakeClock) -> None:
    """In minutes, in the end in seconds; however many there were after it."""
    purse, began = throttle.Purse("a", slows=False), clock()
    with site.database.write() as db:
        for number in range(5):
            failed_at = began + timedelta(milliseconds=number)
            db.add(LoginFailure(subject="a", failed_at=failed_at))
        for passed, words in (
            (0, "in 15 min"), (60, "in 14 min"), (61, "in 14 min"), (780, "in 2 min"),
            (839, "in 2 min"), (840, "in 60 s"), (841, "in 59 s"), (899, "in 1 s"),
        ):  # fmt: skip
            with pytest.raises(TooMany, match=words):
                throttle.reserve(db, [purse], began + timedelta(seconds=passed))
        assert throttle.reserve(db, [purse], began + timedelta(seconds=900))


def test_an_address_is_known_to_one_author(
    site: Site, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For half a year after the last login; forgetting one person's forgets no other's."""
    monkeypatch.setattr(throttle, "KNOWN_ADDRESSES", 1)
    people = [make_author(site, name) for name in ("ada", "ben", "cleo")]
    visitors = [replace(VISITOR, name=person.name) for person in people]

    def known() -> list[bool]:
        with site.database.read() as db:
            return [len(throttle.purses(db, visitor, clock())) == 1 for visitor in visitors]

    with site.database.write() as db:
        for person, visitor in zip(people, visitors, strict=True):
            db.add(LoginFailure(subject=visitor.familiar.subject, failed_at=clock()))
            throttle.know(db, visitor, person, clock())
            throttle.know(db, visitor, person, clock())
        assert db.scalar(select(func.count()).select_from(LoginFailure)) == 0
    assert known() == [True] * 3
    clock.forward(days=180, seconds=-1)
    assert known() == [True] * 3
    with site.database.write() as db:
        throttle.know(db, visitors[1], people[1], clock())
    clock.forward(seconds=1)
    assert known() == [False, True, False]
    with site.database.write() as db:
        for person, visitor in zip(people, visitors, strict=True):
            throttle.know(db, visitor, person, clock())
        throttle.forget(db, people[1])
    assert known() == [True, False, True]
