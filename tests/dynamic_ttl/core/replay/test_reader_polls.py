"""A reader of a feed, poll by poll: what each response says, and which items it brings."""

import pytest

from publisher.dynamic_ttl.core.polling import parse
from publisher.dynamic_ttl.core.replay.announcements import ETAGS, Announced
from publisher.dynamic_ttl.core.replay.reader_polls import after_a_document, walk

START = 1_600_000_000
TTL_15 = Announced([START], [15], [], [])


@pytest.mark.parametrize("policy", ["ttl", "max-age"])
def test_a_first_document_makes_a_reader_wait_for_its_ttl(policy: str) -> None:
    """The headers of a feed without expiries of their own say the same as the element."""
    assert after_a_document(parse(policy), 240, START).wait_seconds == 14_400


def test_a_reader_that_comes_late_misses_what_fell_out_of_the_document() -> None:
    """Two items are shown; three came between two polls."""
    times = [START - 10, START + 60, START + 120, START + 180]
    first, second, third = walk(
        times, START + 2000, TTL_15, ETAGS["document"], parse("ttl"), START, window=2
    )
    assert (first.first, first.kept, first.last, first.answer.status) == (0, 0, 1, 200)
    assert (second.at, second.first, second.kept, second.last) == (START + 900, 1, 2, 4)
    assert (second.answer.new_items, second.answer.item_dates) == (2, (START + 120, START + 180))
    assert second.answer.last_modified_at == START + 180
    assert (third.answer.status, third.answer.new_items, third.answer.ttl_minutes) == (304, 0, None)


def test_a_reader_may_be_moved_to_another_wait() -> None:
    """Given the moment, the items out by then, and the policy's wait with its reasons."""
    asked = []

    def later(now: int, last: int, wait: int, reasons: list[str]) -> tuple[int, list[str]]:
        asked.append((now - START, last, wait, reasons[-1:]))
        return wait + 100, ["moved"]

    polls = walk([START + 60], START + 1900, TTL_15, ETAGS["document"], parse("ttl"), START, 2,
                 explain=True, moved=later)  # fmt: skip
    came = [(poll.at - START, poll.wait_seconds, poll.reasons) for poll in polls]
    assert came == [(0, 1000, ["moved"]), (1000, 1000, ["moved"])]
    assert asked == [(0, 0, 900, ["next poll in 15 min"]), (1000, 1, 900, ["next poll in 15 min"])]


def test_before_the_first_document_it_is_served_already() -> None:
    """By the element and by the headers: the first of what is announced, not the last."""
    said = Announced([START + 100, START + 200], [60, 15], [START + 100, START + 200],
                     [START + 400, START + 9000])  # fmt: skip
    (poll,) = walk([], START + 60, said, ETAGS["document"], parse("ttl"), START + 50, 20)
    assert (poll.ttl_minutes, poll.answer.max_age_seconds) == (60, 400 - 50 - 60)
    assert poll.answer.last_modified_at is None
