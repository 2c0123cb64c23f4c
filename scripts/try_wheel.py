"""Serves a blog from a wheel alone: `python scripts/try_wheel.py [FOLDER]` (dist).

The newest `publisher_blog-*.whl` in the folder is installed, with what it needs, in an environment
and an instance of its own; its first page and its feed must answer.
"""

import socket
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

SECONDS = 60  # until the server has to answer


def main(folder: Path) -> int:
    """0 if both answer, else 1."""
    wheel = max(folder.glob("publisher_blog-*.whl"), key=lambda path: path.stat().st_mtime)
    with tempfile.TemporaryDirectory() as bare:
        venv.create(bare, with_pip=True)
        programs = Path(bare, "bin")
        install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", str(wheel)]
        subprocess.run([programs / "python", *install], check=True)
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        serve = subprocess.Popen(
            [programs / "publisher", "serve", "--port", str(port)],
            cwd=bare,
            env={"PATH": "/usr/bin:/bin", "PUBLISHER_INSTANCE": str(Path(bare, "instance"))},
        )
        try:
            for path in ("/", "/rss.xml"):
                print(f"{wheel.name}: {path}: {answer(f'http://127.0.0.1:{port}{path}', serve)}")
        finally:
            serve.terminate()
            serve.wait(30)
    return 0


def answer(url: str, server: subprocess.Popen[bytes]) -> str:
    """The status and the type of an answer, as soon as the server gives one."""
    end = time.monotonic() + SECONDS
    while True:
        try:
            with urlopen(url, timeout=10) as got:  # noqa: S310  # nosec B310: our own address
                return f"{got.status} {got.headers['Content-Type']}"
        except URLError as error:
            if server.poll() is not None or time.monotonic() > end:
                raise SystemExit(f"{url}: {error}") from error
            time.sleep(0.2)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1] if sys.argv[1:] else "dist")))
