"""The fuzzer for loss finds nothing in the program."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.losses.__main__ import TABS, devices_of, served, started
from tests.losses.served import Blog
from tests.losses.walk import LENGTH, drawn, play

STEPS, SEED = 600, 11


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A browser for all episodes."""
    with started() as browser:
        yield browser


@pytest.fixture(scope="module")
def blog() -> Iterator[Blog]:
    """The program, served."""
    with served() as server:
        yield server


@pytest.mark.parametrize("episode", range(STEPS // LENGTH))
def test_nothing_is_lost(browser: Browser, blog: Blog, episode: int) -> None:
    """Random steps; `make losses SEED=11 EPISODE=<n> STEPS=40` plays one again."""
    devices = devices_of(episode)
    steps = drawn(f"{SEED}:{episode}", devices)
    assert play(browser, blog, steps, f"e{episode}", devices, TABS) == ("", LENGTH)
