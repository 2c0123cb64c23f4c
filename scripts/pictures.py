"""Updates docs/pictures/*.png: screenshots of the demo blog, by the Chromium of this machine.

Usage: python scripts/pictures.py [FOLDER]   (default docs/pictures)
"""

import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Literal

from PIL import Image
from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).parent.parent
WIDTH, HEIGHT = 1120, 760
# Behind the login: file name -> address, height in pixels.
PAGES = {
    "studio": ("/studio/", HEIGHT),
    "readers": ("/readers", 900),
    "look": ("/studio/look", 1000),
    "editor": ("/studio/posts/new", HEIGHT),
}
# What readers see: file name -> look, address, width, height, colour scheme.
ARTICLE = "/posts/the-ferry-at-six"
FACES: dict[str, tuple[str, str, int, int, Literal["light", "dark"]]] = {
    "book": ("book", "/", 1280, 900, "light"),
    "book-post": ("book", "/posts/the-tiles-in-our-stairwell", 1280, 900, "light"),
    "book-phone": ("book", ARTICLE, 390, 844, "dark"),
    "book-archive": ("book", "/archives", 1280, 900, "light"),
    "plain": ("plain", "/", 1280, 900, "light"),
    "photo": ("photo", "/", 1280, 900, "light"),
    "photo-post": ("photo", ARTICLE, 1280, 900, "dark"),
    "notes": ("notes", "/", 1280, 900, "light"),
    "notes-phone": ("notes", "/", 390, 844, "dark"),
    "feed": ("book", "/rss.xml", 1280, 900, "light"),
}


def main(target: Path) -> None:
    """Make a demo blog in a temporary folder, serve it, and take screenshots of its pages."""
    names = ("chromium", "chromium-browser", "chromium-headless-shell")
    chromium = next(filter(None, map(shutil.which, names)), None)
    if chromium is None:
        sys.exit("pictures: no chromium on this machine")
    with tempfile.TemporaryDirectory() as folder, socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
        probe.close()
        url = f"http://127.0.0.1:{port}"
        environment = os.environ | {"PUBLISHER_INSTANCE": folder, "PUBLISHER_SITE_URL": url}
        publisher = [sys.executable, "-m", "publisher"]
        output = subprocess.run(
            [*publisher, "demo"], env=environment, check=True, capture_output=True, text=True
        ).stdout
        name, password = re.findall(r"log in as (\w+) with the password (\S+)", output)[0]
        with subprocess.Popen(
            [*publisher, "serve", "--port", str(port)], env=environment
        ) as server:
            try:
                wait_for(("127.0.0.1", port))
                with sync_playwright() as playwright:
                    browser = playwright.chromium.launch(
                        executable_path=chromium, args=["--no-sandbox", "--disable-gpu"]
                    )
                    page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
                    log_in(page, url, name, password)
                    for file, (address, height) in PAGES.items():
                        page.set_viewport_size({"width": WIDTH, "height": height})
                        page.goto(url + address)
                        page.wait_for_load_state("networkidle")
                        page.screenshot(path=target / f"{file}.png")
                    for file, (look, address, width, height, scheme) in FACES.items():
                        setting = [*publisher, "settings", "look", look]
                        subprocess.run(setting, env=environment, check=True, capture_output=True)
                        reader = browser.new_page(
                            viewport={"width": width, "height": height}, color_scheme=scheme
                        )
                        reader.goto(url + address)
                        reader.wait_for_load_state("networkidle")
                        reader.screenshot(path=target / f"{file}.png")
                        reader.close()
                    browser.close()
                for picture in target.glob("*.png"):
                    Image.open(picture).quantize(128).save(picture, optimize=True)
            finally:
                server.terminate()


def log_in(page: Page, url: str, name: str, password: str) -> None:
    """Log in to the studio as this author."""
    page.goto(f"{url}/studio/login")
    page.fill("[name=name]", name)
    page.fill("[name=password]", password)
    page.press("[name=password]", "Enter")
    page.wait_for_url(f"{url}/studio/")


def wait_for(address: tuple[str, int], seconds: float = 120.0) -> None:
    """Wait until something listens at the address."""
    end = time.monotonic() + seconds
    while True:
        try:
            socket.create_connection(address, timeout=5).close()
            return
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.2)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "pictures")
