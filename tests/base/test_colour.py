"""Colours: what is made readable can be read, on whatever paper."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from publisher.base.errors import InvalidInput
from publisher.blog.post_files.cards import contrast, mix, readable
from publisher.installation.settings import colour

COLOURS = st.integers(0, 0xFFFFFF).map(lambda number: f"#{number:06x}")


def test_known_ratios() -> None:
    """WCAG's own figures."""
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)
    assert mix("#000000", "#ffffff", 0.25) == "#bfbfbf"


@given(COLOURS, st.sampled_from(["#ffffff", "#fdf9f1", "#111719", "#09090c"]))
def test_readable_on_every_paper(colour: str, paper: str) -> None:
    """Any colour becomes one that can be read; one that can be read already stays."""
    result = readable(colour, paper)
    assert contrast(result, paper) >= 4.5
    if contrast(colour, paper) >= 4.5:
        assert result == colour


@pytest.mark.parametrize("text", ["red", "#12", "#12345", "#gggggg", "url(x)", "#123456;}"])
def test_refused(text: str) -> None:
    """What is no colour is refused with an example of one."""
    with pytest.raises(InvalidInput, match="#1a6b8c"):
        colour(text)
    assert colour("#ABC") == "#aabbcc"
