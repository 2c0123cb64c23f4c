"""The nginx configuration of docs/deploy.md, run by a real nginx in front of a real server."""

import http.client
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.serving import free_port, serving, wait_until

NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
DOCUMENT = Path(__file__).parent.parent.parent / "docs" / "deploy.md"

pytestmark = [
    pytest.mark.nginx,
    pytest.mark.skipif(NGINX is None, reason="nginx is not installed on this machine"),
]


def documented(port: int, backend: int) -> str:
    """The server block of the documentation with a test's ports, and without certificates."""
    found = re.search(r"```nginx\n(.*?)```", DOCUMENT.read_text("utf-8"), re.DOTALL)
    assert found is not None
    block = re.sub(r" *ssl_certificate.*\n", "", found[1])
    block = block.replace("listen 443 ssl", f"listen 127.0.0.1:{port}")
    return block.replace("127.0.0.1:8000", f"127.0.0.1:{backend}")


@contextmanager
def nginx(folder: Path, backend: int) -> Iterator[int]:
    """A real nginx with the documented configuration; gives its port."""
    port = free_port()
    for name in ("body", "proxy", "fastcgi", "uwsgi", "scgi"):
        (folder / name).mkdir()
    temporary = "".join(
        f"{name}_temp_path {folder}/{short};\n"
        for name, short in [("client_body", "body"), ("proxy", "proxy"), ("fastcgi", "fastcgi"),
                            ("uwsgi", "uwsgi"), ("scgi", "scgi")]
    )  # fmt: skip
    config = folder / "nginx.conf"
    config.write_text(
        f"daemon off;\nmaster_process off;\npid {folder}/pid;\nerror_log {folder}/error.log;\n"
        f"events {{}}\nhttp {{\naccess_log off;\n{temporary}{documented(port, backend)}}}\n"
    )
    process = subprocess.Popen([str(NGINX), "-p", str(folder), "-c", str(config)])
    try:
        wait_until(lambda: listening(port), 10, config)
        yield port
    finally:
        process.terminate()
        process.wait(10)


def listening(port: int) -> bool:
    try:
        ask(port, {})
    except OSError:
        return False
    return True


def ask(port: int, headers: dict[str, str], path: str = "/rss.xml") -> http.client.HTTPResponse:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request("GET", path, headers={"Host": "blog.example", **headers})
    answer = connection.getresponse()
    answer.body = answer.read()  # type: ignore[attr-defined]
    connection.close()
    return answer


def test_behind_the_documented_nginx(tmp_path: Path) -> None:
    """Validators, freshness and compression pass through; forwarded addresses are believed."""
    environment = {
        "PUBLISHER_SITE_URL": "https://blog.example",
        "PUBLISHER_TRUSTED_PROXIES": "127.0.0.1",
    }
    (tmp_path / "nginx").mkdir()
    with serving(tmp_path / "site", env=environment) as server:
        server.command("post", "add", "--title", "Through nginx", text="Hello.")
        with nginx(tmp_path / "nginx", server.port) as port:
            plain = ask(port, {})
            assert plain.status == 200
            assert plain.headers["Cache-Control"].startswith("public, max-age=")
            again = ask(port, {"If-None-Match": plain.headers["ETag"]})
            assert again.status == 304
            for name in ("ETag", "Cache-Control", "Vary"):
                assert again.headers[name] == plain.headers[name]
            packed = ask(port, {"Accept-Encoding": "gzip"})
            assert packed.headers["Content-Encoding"] == "gzip"
            assert packed.headers["ETag"] == plain.headers["ETag"]
            assert ask(port, {}, "/metrics").status == 403
            assert ask(port, {}, "/healthz").status == 200
