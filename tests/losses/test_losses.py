"""The fuzzer for loss finds nothing in the program, and finds each mend that is taken out of it."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.losses.__main__ import TABS, devices_of, started
from tests.losses.mends import MENDS
from tests.losses.served import Blog
from tests.losses.walk import LENGTH, drawn, play

STEPS, SEED = 1000, 11
DEVICES = 2


@pytest.fixture(scope="module")
def program() -> Iterator[tuple[Browser, Blog]]:
    """The program, served, and a browser."""
    with started() as (browser, blog):
        yield browser, blog


@pytest.mark.parametrize("episode", range(STEPS // LENGTH))
def test_nothing_is_lost(program: tuple[Browser, Blog], episode: int) -> None:
    """Random steps; `make losses SEED=11 EPISODE=<n> STEPS=40` plays one again."""
    devices = devices_of(episode)
    steps = drawn(f"{SEED}:{episode}", devices)
    assert play(*program, steps, f"e{episode}", devices, TABS) == ("", LENGTH)


@pytest.mark.parametrize("name", MENDS)
def test_recipe(program: tuple[Browser, Blog], name: str) -> None:
    """What loses a text without a mend loses none with it."""
    recipe = list(MENDS[name].recipe)
    assert play(*program, recipe, f"r{len(name)}x", DEVICES, TABS) == ("", len(recipe))


@pytest.mark.parametrize("name", MENDS)
def test_a_mend_that_is_taken_out_is_missed(name: str) -> None:
    """The program without one mend: the fuzzer says what is lost, or there twice."""
    with started(name) as (browser, blog):
        fault, _ = play(browser, blog, list(MENDS[name].recipe), "mend", DEVICES, TABS)
    assert fault.startswith(MENDS[name].fault), fault
