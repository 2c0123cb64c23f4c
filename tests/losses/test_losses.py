"""The fuzzer for loss finds nothing in the program, and finds each mend that is taken out of it."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.losses.__main__ import TABS, devices_of, served, started
from tests.losses.mends import MENDS
from tests.losses.served import Blog
from tests.losses.walk import LENGTH, drawn, play

STEPS, SEED = 600, 11
DEVICES = 2


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A browser for all episodes."""
    with started() as found:
        yield found


@pytest.fixture(scope="module")
def blog() -> Iterator[Blog]:
    """The program, served."""
    with served() as found:
        yield found


@pytest.mark.parametrize("episode", range(STEPS // LENGTH))
def test_nothing_is_lost(browser: Browser, blog: Blog, episode: int) -> None:
    """Random steps; `make losses SEED=11 EPISODE=<n> STEPS=40` plays one again."""
    devices = devices_of(episode)
    steps = drawn(f"{SEED}:{episode}", devices)
    assert play(browser, blog, steps, f"e{episode}", devices, TABS) == ("", LENGTH)


@pytest.mark.parametrize("name", MENDS)
def test_recipe(browser: Browser, blog: Blog, name: str) -> None:
    """What loses a text without a mend loses none with it."""
    recipe, prefix = list(MENDS[name].recipe), f"r{list(MENDS).index(name)}"
    assert play(browser, blog, recipe, prefix, DEVICES, TABS) == ("", len(recipe))


@pytest.mark.parametrize("name", MENDS)
def test_a_mend_that_is_taken_out_is_missed(browser: Browser, name: str) -> None:
    """The program without one mend: the fuzzer says what is lost, or there twice.

    On a busy machine a page may have been autosaved before the step that would lose its text; then
    nothing is lost, and the recipe is played again.
    """
    recipe = list(MENDS[name].recipe)
    with served(name) as blog:
        for number in range(4):
            fault, _ = play(browser, blog, recipe, f"mend{number}", DEVICES, TABS)
            if fault:
                break
    assert fault.startswith(MENDS[name].fault), fault
