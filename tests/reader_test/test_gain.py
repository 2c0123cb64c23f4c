"""What a change would gain: the table covers every reader, and a change is in its figures."""

from itertools import product

import pytest

from publisher.reader_test.scorecard import (
    FLOORS,
    INTERVALS,
    NO,
    ON_200,
    ON_304,
    Hearing,
    Scorecard,
    fragment,
    gains,
    histories,
    lines,
    score,
)
from tests.reader_test.invented import hourly, perfect, week

ALL = [
    Hearing(*values)
    for values in product(INTERVALS, FLOORS, (NO, ON_200, ON_304), (NO, ON_200, ON_304))
]


def test_every_reader_is_in_the_table() -> None:
    """As it is, with each change and with all."""
    for now in ALL:
        rows = gains(now)
        assert rows[0].change == "as it is", now.key
        figures = [min(row.polls_per_day, row.delay_mean_minutes) for row in rows]
        assert min(figures) > 0, now.key
        assert len({row.change for row in rows}) == len(rows), now.key


def test_the_table_is_of_many_histories_and_says_what_is_known() -> None:
    """A fixed interval has an efficiency of 1 and half of itself as the wait; hearing is better."""
    assert histories() >= 100
    for interval in INTERVALS[:4]:
        row = gains(Hearing(interval, 15, NO, NO))[0]
        assert row.polls_per_day == pytest.approx(1440 / interval, rel=0.02)
        assert row.delay_mean_minutes == pytest.approx(interval / 2, rel=0.15)
        assert row.efficiency == pytest.approx(1, abs=0.1)
    deaf, hears = Hearing(60, 15, NO, NO), Hearing(60, 15, ON_304, ON_304)
    assert gains(hears)[0].efficiency < 0.7 * gains(deaf)[0].efficiency


def rows_of(card: Scorecard) -> dict[str, float]:
    """Changes and their polls a day."""
    return {row.change: row.polls_per_day for row in card.gains}


def test_what_was_seen_decides() -> None:
    """An hourly reader is found in its row; a perfect one has nothing to change."""
    card = score(week(hourly))
    assert rows_of(card)["as it is"] == pytest.approx(24, rel=0.02)
    assert len(card.gains) >= 4
    assert "What its users would wait" in "\n".join(lines(card))
    assert "<table" in fragment(card)
    assert [row.change for row in score(week(perfect)).gains] == ["as it is"]
    assert score(week(hourly, hours=1)).gains == ()
