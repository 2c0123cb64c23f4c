"""The snippets of docs/mirror.md for the server before a blog, run by real servers."""

import http.client
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.parts.river.origin import Origin, Reply
from tests.running_site import free_port, wait_until

PAGE = (Path(__file__).parents[3] / "docs" / "mirror.md").read_text("utf-8")
NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
CADDY = shutil.which("caddy")
APACHE = shutil.which("apache2") or shutil.which("apache2", path="/usr/sbin")
MIRROR = "https://here.example/mirror/blog.xml"
OURS = "Publisher-River/1 (+https://here.example/)"


@pytest.fixture
def blog() -> Iterator[Origin]:
    """The blog behind the server, and in its place for the test the mirror as well."""
    origin = Origin()
    for path, body in (("/index.php", b"blog"), ("/feed/", b"blog"), ("/mirror/blog.xml", b"ours")):
        origin.serve(path, Reply(200, body, {"Content-Type": "text/plain"}))
    yield origin
    origin.close()


def snippets(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


def ask(port: int, agent: str, path: str = "/feed/") -> tuple[int, str, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", path, headers={"User-Agent": agent, "Host": "blog.example"})
    answer = connection.getresponse()
    received = answer.status, answer.headers.get("Location", ""), answer.read()
    connection.close()
    return received


@contextmanager
def running(command: list[str], port: int, log: Path) -> Iterator[int]:
    """A server until the end of the block; gives its port."""

    def listens() -> bool:
        try:
            return bool(ask(port, "x", "/other")[0])
        except OSError:
            return False

    with log.open("wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output)
    try:
        wait_until(listens, 60, log)
        yield port
    finally:
        process.terminate()
        process.wait(60)


def nginx(folder: Path, blog: Origin, snippet: str) -> tuple[list[str], int]:
    port = free_port()
    parts = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    temporary = "".join(f"{part}_temp_path {folder}/{part};\n" for part in parts)
    config = folder / "nginx.conf"
    config.write_text(
        f"daemon off;\nmaster_process off;\npid {folder}/pid;\nerror_log {folder}/error.log;\n"
        f"events {{}}\nhttp {{\naccess_log off;\n{temporary}server {{\nlisten 127.0.0.1:{port};\n"
        f"location / {{ proxy_pass {blog.url}; }}\n{snippet}}}\n}}\n"
    )
    return [str(NGINX), "-p", str(folder), "-e", f"{folder}/error.log", "-c", str(config)], port


def apache_config(folder: Path, port: int, root: Path, *more: str) -> str:
    """Apache for the files of `root`, which may have a `.htaccess`; `more` modules."""
    modules = "".join(
        f"LoadModule {name}_module /usr/lib/apache2/modules/mod_{name}.so\n"
        for name in ("mpm_event", "authz_core", "mime", "dir", *more)
    )
    return (
        f"ServerName localhost\nListen 127.0.0.1:{port}\nErrorLog {folder}/e\n{modules}"
        f"PidFile {folder}/pid\nDefaultRuntimeDir {folder}\nTypesConfig /dev/null\n"
        f"DocumentRoot {root}\n<Directory {root}>\nAllowOverride FileInfo\n</Directory>\n"
    )


def check_redirect(port: int) -> None:
    """Readers are sent away for the time being, the mirror reaches the blog."""
    assert ask(port, "NetNewsWire/6")[:2] == (302, MIRROR)
    assert ask(port, OURS) == (200, "", b"blog")


@pytest.mark.nginx
@pytest.mark.skipif(NGINX is None, reason="nginx is not installed")
def test_nginx_redirects(tmp_path: Path, blog: Origin) -> None:
    """The first snippet; without it everybody reads the blog again."""
    with running(*nginx(tmp_path, blog, snippets("nginx")[0]), tmp_path / "log") as port:
        check_redirect(port)
    with running(*nginx(tmp_path, blog, ""), tmp_path / "log") as port:
        assert ask(port, "NetNewsWire/6") == (200, "", b"blog")


@pytest.mark.nginx
@pytest.mark.skipif(NGINX is None, reason="nginx is not installed")
def test_nginx_passes_on(tmp_path: Path, blog: Origin) -> None:
    """The second snippet: the same address for everybody, with the mirror's answer."""
    snippet = snippets("nginx")[1]
    assert MIRROR in snippet
    snippet = snippet.replace("https://here.example", blog.url)
    with running(*nginx(tmp_path, blog, snippet), tmp_path / "log") as port:
        assert ask(port, "NetNewsWire/6") == (200, "", b"ours")
        assert ask(port, OURS) == (200, "", b"blog")


@pytest.mark.skipif(CADDY is None, reason="caddy is not installed")
def test_caddy_redirects(tmp_path: Path, blog: Origin) -> None:
    """Its snippet, in a site that leads to the blog."""
    (snippet,) = snippets("caddy")
    port, config = free_port(), tmp_path / "Caddyfile"
    config.write_text(
        f"{{\nadmin off\nauto_https off\nstorage file_system {tmp_path}\n}}\n"
        f"http://blog.example:{port} {{\nbind 127.0.0.1\n{snippet}reverse_proxy {blog.url}\n}}\n"
    )
    command = [str(CADDY), "run", "--config", str(config), "--adapter", "caddyfile"]
    with running(command, port, tmp_path / "log") as running_port:
        check_redirect(running_port)


@pytest.mark.skipif(APACHE is None, reason="apache2 is not installed")
def test_apache_redirects(tmp_path: Path) -> None:
    """Its snippet, in the `.htaccess` of a blog made of files."""
    (snippet,) = snippets("apache")
    blog = tmp_path / "blog"
    (blog / "feed").mkdir(parents=True)
    (blog / "feed" / "index.html").write_text("blog")
    (blog / ".htaccess").write_text(snippet)
    port, config = free_port(), tmp_path / "apache.conf"
    config.write_text(apache_config(tmp_path, port, blog, "rewrite"))
    command = [str(APACHE), "-X", "-f", str(config)]
    with running(command, port, tmp_path / "log") as running_port:
        check_redirect(running_port)
