"""The nginx configurations of docs/deploy.md, run by a real nginx in front of a real server."""

import gzip
import http.client
import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

from tests.running_site import Server, free_port, serving, wait_until

NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
DOCUMENT = Path(__file__).parent.parent.parent / "docs" / "deploy.md"

pytestmark = [
    pytest.mark.any_database,
    pytest.mark.nginx,
    pytest.mark.skipif(NGINX is None, reason="nginx is not installed on this machine"),
]


def documented(folder: Path, port: int, backend: int, cached: bool) -> str:
    """The blocks of the documentation with a test's ports and files, and without certificates;
    `cached`: with the feed cache."""
    blocks = re.findall(r"```nginx\n(.*?)```", DOCUMENT.read_text("utf-8"), re.DOTALL)
    server, beside, inside = blocks
    block = re.sub(r" *ssl_certificate.*\n", "", server)
    block = block.replace("listen 443 ssl", f"listen 127.0.0.1:{port}")
    if cached:
        own = (folder / "cache").as_posix()
        block = beside.replace("/var/cache/nginx/publisher", own) + block
        inside = inside.replace("/var/log/nginx/publisher-feeds.json", f"{folder}/feeds.json")
        block = block.rstrip().removesuffix("}") + inside + "}\n"
    return block.replace("127.0.0.1:8000", f"127.0.0.1:{backend}")


@contextmanager
def nginx(folder: Path, backend: int, cached: bool = False) -> Iterator[int]:
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
    blocks = documented(folder, port, backend, cached)
    config.write_text(
        f"daemon off;\nmaster_process off;\npid {folder}/pid;\nerror_log {folder}/error.log;\n"
        f"events {{}}\nhttp {{\naccess_log off;\n{temporary}{blocks}}}\n"
    )
    process = subprocess.Popen([str(NGINX), "-p", str(folder), "-c", str(config)])
    try:
        wait_until(lambda: listening(port), 60, config)
        yield port
    finally:
        process.terminate()
        process.wait(60)


def listening(port: int) -> bool:
    try:
        ask(port, {})
    except OSError:
        return False
    return True


def ask(port: int, headers: dict[str, str], path: str = "/rss.xml") -> http.client.HTTPResponse:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", path, headers={"Host": "blog.example", **headers})
    answer = connection.getresponse()
    answer.body = answer.read()  # type: ignore[attr-defined]
    connection.close()
    return answer


def newer_items(server: Server) -> dict[str, str]:
    """A request for the newer items alone, once the server itself answers it so."""
    held = server.get("/rss.xml")[1]["etag"]
    server.command("post", "add", text="Newer.")
    headers = {"A-IM": "feed", "If-None-Match": held}
    wait_until(lambda: server.get("/rss.xml", headers)[0] == 226, 60)
    return headers


def test_behind_the_documented_nginx(tmp_path: Path) -> None:
    """Validators, freshness and compression pass through; forwarded addresses are believed."""
    environment = {
        "PUBLISHER_SITE_URL": "https://blog.example",
        "PUBLISHER_TRUSTED_PROXIES": "127.0.0.1",
    }
    (tmp_path / "nginx").mkdir()
    with serving(tmp_path / "site", env=environment) as server:
        server.command("post", "add", "--title", "Through nginx", text="Hello. " * 500)
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
            newer = ask(port, newer_items(server))
            assert (newer.status, newer.headers["IM"]) == (226, "feed")
            ask(port, {"User-Agent": "hidden/1.0", "X-Counted-By": "log"})
            told = partial(server.command, "readers", "--json")  # written within half a minute
            wait_until(lambda: "hidden" in told().stdout, 90, pause=8.0)
            assert ask(port, {}, "/metrics").status == 403
            assert ask(port, {}, "/healthz").status == 200


def test_polls_that_nginx_answers_are_counted_once(tmp_path: Path) -> None:
    """Through the documented feed cache: right answers, a new post within seconds, and from the
    log each poll once, with its own validators, while the site leaves the counting to it."""
    environment = {
        "PUBLISHER_SITE_URL": "https://blog.example",
        "PUBLISHER_TRUSTED_PROXIES": "127.0.0.1",
    }
    (tmp_path / "nginx").mkdir()
    with serving(tmp_path / "site", env=environment) as server:
        server.command("post", "add", "--title", "Through nginx", text="Hello. " * 500)
        with nginx(tmp_path / "nginx", server.port, cached=True) as port:
            log, one, two = tmp_path / "nginx" / "feeds.json", "one/1.0", "two/1.0"
            headers = [""]  # whether it listens

            def poll(agent: str, **more: str) -> http.client.HTTPResponse:
                headers.append(agent)
                named = {name.replace("_", "-"): value for name, value in more.items()}
                return ask(port, {"User-Agent": agent, **named})

            first, packed = poll(one), poll(two, Accept_Encoding="gzip")
            assert (first.status, packed.headers["Content-Encoding"]) == (200, "gzip")
            assert packed.headers["ETag"] == first.headers["ETag"]
            assert gzip.decompress(packed.body) == first.body  # type: ignore[attr-defined]
            for _ in range(6):
                again = poll(two, Accept_Encoding="gzip", If_None_Match=first.headers["ETag"])
                assert (again.status, again.body) == (304, b"")  # type: ignore[attr-defined]
            newer = newer_items(server)
            wait_until(lambda: poll(one).headers["ETag"] != first.headers["ETag"], 60)
            whole = ask(port, newer | {"User-Agent": one})
            headers.append(one)
            assert whole.status == 200  # what is kept here is for everybody

            def kind(**more: str) -> str:
                return poll(one, **more).headers["Content-Type"]

            # What a browser is shown is kept for nobody, however often it asks.
            wait_until(lambda: kind(Sec_Fetch_Dest="document").startswith("application/xml"), 60)
            assert kind().startswith("application/rss+xml")
            server.command("post", "add", "--title", "Fresh", text="News.")
            wait_until(lambda: b"Fresh" in poll(one).body, 60)  # type: ignore[attr-defined]
            wait_until(lambda: log.read_text("utf-8").count("\n") == len(headers), 60, log)
            printed = server.command("readers", "import", str(log)).stdout
            assert f"{len(headers)} polls counted" in printed
        report = json.loads(server.command("readers", "--json").stdout)
    readers = {reader["agent"]: reader for reader in report["readers"]}
    assert readers["two"]["requests"] == 7
    assert readers["two"]["conditional_share"] == round(6 / 7, 3)
    assert readers["one"]["requests"] == headers.count(one)
    sources = {part["source"]: part["requests"] for part in report["totals"]["sources"]}
    assert sources["nginx log"] == len(headers)
    assert "proxy" not in sources
