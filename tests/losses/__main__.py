"""`make losses`: episodes of random steps until STEPS are taken; 1 when something was lost.

A fault is printed with its seed and with the shortest list of steps that still shows it.
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from tests.browser.conftest import CHROMIUM, QUIET
from tests.losses.served import Blog
from tests.losses.walk import LENGTH, SHARED, Step, drawn, play
from tests.serving import serving


def shortest(
    browser: Browser, blog: Blog, steps: list[Step], kind: str, size: tuple[int, int], seconds: int
) -> list[Step]:
    """Leave out what the fault does not need, as long as there is time."""
    end, part = time.monotonic() + seconds, max(1, len(steps) // 2)
    while time.monotonic() < end:
        for start in range(0, len(steps), part):
            fewer = steps[:start] + steps[start + part :]
            fault, taken = play(browser, blog, fewer, f"s{time.monotonic_ns()}", *size)
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


def main() -> int:
    """Run as the command line says."""
    parser = argparse.ArgumentParser(prog="tests.losses")
    parser.add_argument("--steps", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--episode", type=int, default=0, help="begin with this one")
    parser.add_argument("--devices", type=int, default=2)
    parser.add_argument("--tabs", type=int, default=3)
    parser.add_argument("--single", action="store_true", help="no held key and no lost answer")
    parser.add_argument("--go-on", action="store_true", help="do not stop at the first fault")
    parser.add_argument("--shrink", type=int, default=60, help="seconds to shorten a fault's steps")
    asked = parser.parse_args()
    without = SHARED if asked.single else frozenset()
    faults, begun = 0, time.monotonic()
    with (
        tempfile.TemporaryDirectory() as folder,
        serving(Path(folder) / "instance") as server,
        sync_playwright() as playwright,
    ):
        blog = Blog(server)
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        for episode in range(asked.episode, asked.episode + -(-asked.steps // LENGTH)):
            steps = drawn(f"{asked.seed}:{episode}", asked.devices, without)
            size = (asked.devices, asked.tabs)
            fault, taken = play(browser, blog, steps, f"e{episode}", *size)
            if fault:
                faults += 1
                total = (episode - asked.episode) * LENGTH + taken
                found = f"seed {asked.seed} episode {episode}, step {taken} ({total} in all)"
                print(f"{found}: {fault}", flush=True)
                for step in shortest(
                    browser, blog, steps[:taken], fault.split(":")[0], size, asked.shrink
                ):
                    print("   ", *step, flush=True)
                if not asked.go_on:
                    break
        browser.close()
    print(f"{asked.steps} steps asked for, {faults} faults, {time.monotonic() - begun:.0f} s")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
