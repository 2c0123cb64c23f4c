"""Which thread answers polls: one goes on, others rest, and none rests when it is needed."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from publisher.delivery import lane as module
from publisher.delivery.lane import Lane

BODY = [b"a feed"]


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A rest that ends by itself only after the test has failed."""
    monkeypatch.setattr(module, "REST_SECONDS", 20.0)
    monkeypatch.setattr(module, "BUSY_SECONDS", 20.0)


@pytest.fixture
def other() -> Iterator[ThreadPoolExecutor]:
    """A second thread."""
    with ThreadPoolExecutor(1) as pool:
        yield pool


def poll(lane: Lane) -> tuple[bytes, bool]:
    """What a server does with a poll's body: all of it, and whether it then had to close it."""
    body = lane.answered(BODY)
    sent, rests = b"".join(body), body is not BODY
    if rests:
        body.close()  # type: ignore[attr-defined]
    return sent, rests


def rests(lane: Lane, threads: int) -> bool:
    """Whether so many threads come to rest soon."""
    for _ in range(500):
        with lane._change:
            if len(lane._change._waiters) == threads:  # type: ignore[attr-defined]
                return True
        threading.Event().wait(0.01)
    return False


def test_one_thread_is_not_disturbed() -> None:
    """A server with a single thread never rests, whatever it does in between."""
    lane = Lane()
    for _ in range(3):
        assert poll(lane) == (b"a feed", False)
        lane.leave()


def test_a_second_one_answers_and_rests_until_the_first_leaves(other: ThreadPoolExecutor) -> None:
    """Its reader has the whole answer; it goes on when the first thread has a page to make."""
    lane = Lane()
    poll(lane)
    second = other.submit(poll, lane)
    assert rests(lane, 1)
    assert not second.done()
    lane.leave()
    assert second.result(5) == (b"a feed", True)
    assert other.submit(poll, lane).result(5) == (b"a feed", False)


def test_nobody_rests_when_nobody_answers(other: ThreadPoolExecutor) -> None:
    """The first one left between the second one's answer and its rest: there is no rest."""
    lane = Lane()
    poll(lane)
    body = other.submit(lane.answered, BODY).result(5)
    lane.leave()
    other.submit(body.close).result(5)  # type: ignore[attr-defined]


def test_who_takes_a_page_while_nobody_answers_wakes_the_next(other: ThreadPoolExecutor) -> None:
    """The one that was woken gets a page as well: then another one has to go on."""
    lane = Lane()
    poll(lane)
    with ThreadPoolExecutor(1) as third:
        waiting = [pool.submit(poll, lane) for pool in (other, third)]
        assert rests(lane, 2)
        lane.leave()
        lane.leave()
        assert [found.result(5)[1] for found in waiting] == [True, True]


def test_one_that_has_not_answered_lately_is_not_relied_on(
    other: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thread that the server has ended, or that waits for work, does not make others rest."""
    monkeypatch.setattr(module, "BUSY_SECONDS", 0.0)
    lane = Lane()
    poll(lane)
    assert other.submit(poll, lane).result(5) == (b"a feed", False)


def test_a_rest_ends_by_itself(other: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever became of the first thread."""
    monkeypatch.setattr(module, "REST_SECONDS", 0.01)
    lane = Lane()
    poll(lane)
    assert other.submit(poll, lane).result(5) == (b"a feed", True)
