"""The traces of real readers, and the table of docs/for-readers.md that is made from them."""

import pytest

from bench.real_clients import CLIENTS, END, PAGE, START, TRACES, table, traces
from publisher.reader_test.scorecard import BAD, GOOD, score

CARDS = {name: score(trace) for name, trace in traces().items()}


def test_the_page_has_the_table() -> None:
    """As `python -m bench.real_clients table` makes it from the traces of today."""
    made = PAGE.read_text("utf-8").partition(START)[2].partition(END)[0]
    assert made == "\n".join(table()) + "\n"


@pytest.mark.parametrize("name", sorted(CARDS))
def test_a_recorded_week(name: str) -> None:
    """A whole week of a program that can be recorded again; small; its version is known."""
    card = CARDS[name]
    assert name in CLIENTS
    assert card.ran == 168 * 3600
    assert card.requests >= 20
    assert card.score is not None
    assert any(letter.isdecimal() for letter in card.program)
    assert (TRACES / f"{name}.json.gz").stat().st_size < 10_000


def test_what_is_known_of_newsboat() -> None:
    """It keeps its validators byte for byte, and hears neither hints nor 410."""
    states = {verdict.what.id: verdict.state for verdict in CARDS["newsboat"].verdicts}
    assert states["etag"] == states["last-modified"] == states["encoding"] == GOOD
    assert states["max-age-304"] == states["ttl"] == states["gone"] == BAD
