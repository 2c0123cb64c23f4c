"""`make losses`: episodes of random steps until STEPS are taken; 1 when something was lost.

A fault is printed with its seed and with the shortest list of steps that still shows it.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from tests.browser.conftest import CHROMIUM, QUIET
from tests.losses.served import Blog
from tests.losses.walk import LENGTH, Step, drawn, play
from tests.running_site import serving

TABS = 3


@contextmanager
def served() -> Iterator[Blog]:
    """A served blog."""
    with tempfile.TemporaryDirectory() as folder, serving(Path(folder) / "instance") as server:
        blog = Blog(server)
        try:
            yield blog
        finally:
            blog.close()


@contextmanager
def started() -> Iterator[Browser]:
    """A browser."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        try:
            yield browser
        finally:
            browser.close()


def devices_of(episode: int) -> int:
    """Two and three devices by turns."""
    return 2 + episode % 2


def shortest(
    browser: Browser, blog: Blog, steps: list[Step], kind: str, devices: int, seconds: int
) -> list[Step]:
    """Leave out what the fault does not need, as long as there is time."""
    end, part = time.monotonic() + seconds, max(1, len(steps) // 2)
    while time.monotonic() < end:
        for start in range(0, len(steps), part):
            fewer = steps[:start] + steps[start + part :]
            fault, taken = play(browser, blog, fewer, f"s{time.monotonic_ns()}", devices, TABS)
            if fault.startswith(kind):
                steps = fewer[:taken]
                break
            if time.monotonic() > end:
                break
        else:
            if part == 1:
                break
            part //= 2
    return steps


def report(browser: Browser, blog: Blog, seed: int, episode: int, shrink: int) -> str:
    """What an episode has lost, with the shortest recipe; "" for nothing."""
    devices = devices_of(episode)
    steps = drawn(f"{seed}:{episode}", devices)
    fault, taken = play(browser, blog, steps, f"e{seed}x{episode}", devices, TABS)
    if not fault:
        return ""
    recipe = shortest(browser, blog, steps[:taken], fault.split(":")[0], devices, shrink)
    lines = [f"seed {seed} episode {episode} of {devices} devices, step {taken}: {fault}"]
    lines += [f"    {device} {action} {choice}" for device, action, choice in recipe]
    return "\n".join([*lines, f"    make losses SEED={seed} EPISODE={episode} STEPS={LENGTH}"])


def main() -> int:
    """Run as the command line says."""
    parser = argparse.ArgumentParser(prog="tests.losses")
    parser.add_argument("--steps", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--episode", type=int, default=0, help="begin with this one")
    parser.add_argument("--go-on", action="store_true", help="do not stop at the first fault")
    parser.add_argument("--shrink", type=int, default=60, help="seconds to shorten a fault's steps")
    parser.add_argument("--trace", action="store_true", help="print what one episode shows")
    arguments = parser.parse_args()
    faults, begun, taken = 0, time.monotonic(), 0
    with started() as browser, served() as blog:
        if arguments.trace:
            steps = drawn(f"{arguments.seed}:{arguments.episode}", devices_of(arguments.episode))
            devices = devices_of(arguments.episode)
            print(play(browser, blog, steps, "t", devices, TABS, print)[0])
            return 0
        for episode in range(arguments.episode, arguments.episode + -(-arguments.steps // LENGTH)):
            fault = report(browser, blog, arguments.seed, episode, arguments.shrink)
            taken += LENGTH
            if fault:
                faults += 1
                print(fault, flush=True)
                if not arguments.go_on:
                    break
    print(f"{taken} steps, {faults} faults, {time.monotonic() - begun:.0f} s")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
