"""The plugin in a real WordPress (Debian's, on PHP's own server and MariaDB), for what the stub of
`test_wordpress.py` cannot say."""

import http.client
import json
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.other_feeds.test_wordpress import PLUGIN, advised
from tests.parts.river.origin import Origin, Reply
from tests.running_site import free_port, wait_until

ORIGINAL = Path("/usr/share/wordpress")
MARIADB = shutil.which("mariadbd") or shutil.which("mariadbd", path="/usr/sbin")

pytestmark = pytest.mark.skipif(
    shutil.which("php") is None or MARIADB is None or not ORIGINAL.exists(),
    reason="wordpress, mariadb-server-core or php-mysql is not installed",
)

CONFIG = """<?php
define('DB_NAME', 'tides'); define('DB_USER', 'a'); define('DB_PASSWORD', '');
define('DB_HOST', 'localhost:%(socket)s');
define('DB_CHARSET', 'utf8mb4'); define('DB_COLLATE', '');
define('WP_HOME', '%(url)s'); define('WP_SITEURL', '%(url)s');
define('WP_HTTP_BLOCK_EXTERNAL', true); define('DISABLE_WP_CRON', true);
define('WP_DEBUG', true); define('WP_DEBUG_DISPLAY', false); define('WP_DEBUG_LOG', '%(log)s');
define('DYNAMIC_TTL_SOURCE', '%(source)s');
$table_prefix = 'wp_';
define('ABSPATH', __DIR__ . '/');
require_once ABSPATH . 'wp-settings.php';
"""
INSTALL = """$server = new mysqli('localhost', 'a', '', '', 0, '%(socket)s');
$server->query('create database tides');
define('WP_INSTALLING', true); require 'wp-load.php'; require 'wp-admin/includes/upgrade.php';
function wp_new_blog_notification() {}
wp_install('Tides', 'a', 'a@a.example', true, '', 'password');"""


class Answer(NamedTuple):
    """Of WordPress; header names in small letters."""

    status: int
    headers: dict[str, str]
    text: str


class WordPress(NamedTuple):
    """A blog with one post: asks it by a query, and runs PHP in it."""

    ask: Callable[..., Answer]
    php: Callable[[str], str]


@pytest.fixture
def blog(tmp_path: Path) -> Iterator[WordPress]:
    """WordPress with the plugin not yet active. PHP may find no fault with the plugin."""
    mirror, port, log, debug = Origin(), free_port(), tmp_path / "log", tmp_path / "debug.log"
    mirror.routes["/ttl.json"] = lambda _: Reply(
        200, json.dumps(advised(unchanged_since=1)).encode()
    )
    names = {
        "socket": tmp_path / "db", "url": f"http://127.0.0.1:{port}", "log": debug,
        "source": f"{mirror.url}/ttl.json",
    }  # fmt: skip
    for file in ORIGINAL.glob("*.php"):
        shutil.copy(file, tmp_path)
    for name in ("wp-admin", "wp-includes"):
        (tmp_path / name).symlink_to(ORIGINAL / name)
    (tmp_path / "wp-content" / "plugins").mkdir(parents=True)
    shutil.copy(PLUGIN, tmp_path / "wp-content" / "plugins")
    (tmp_path / "wp-config.php").write_text(CONFIG % names)
    (tmp_path / "data").mkdir()

    def php(code: str) -> str:
        return subprocess.run(
            ["php", "-r", code], cwd=tmp_path, capture_output=True, text=True, check=True
        ).stdout

    def ask(query: str = "feed=rss2", method: str = "GET", tag: str = "") -> Answer:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        sent = {"If-None-Match": tag} if tag else {}
        connection.request(method, f"/?{query}", headers=sent)
        answer = connection.getresponse()
        headers = {name.lower(): value for name, value in answer.getheaders()}
        reply = Answer(answer.status, headers, answer.read().decode())
        connection.close()
        return reply

    def answers() -> bool:
        try:
            return ask().status == 200
        except OSError:
            return False

    with ExitStack() as stack, log.open("wb") as output:
        stack.callback(mirror.close)

        def start(*command: str) -> None:
            process = subprocess.Popen(command, cwd=tmp_path, stdout=output, stderr=output)
            stack.callback(process.wait, 60)
            stack.callback(process.terminate)

        start(
            str(MARIADB), "--no-defaults", "--user=root", "--skip-grant-tables",
            "--skip-networking", f"--datadir={tmp_path}/data", f"--socket={tmp_path}/db",
            "--innodb-log-file-size=8M", "--innodb-flush-log-at-trx-commit=0",
        )  # fmt: skip
        wait_until((tmp_path / "db").exists, 60, log)
        php(INSTALL % names)
        start("php", "-S", f"127.0.0.1:{port}")
        wait_until(answers, 60, log)
        yield WordPress(ask, lambda code: php(f"require 'wp-load.php'; {code}"))
    assert "dynamic-ttl" not in (debug.read_text() if debug.exists() else "")


def test_the_plugin_in_wordpress(blog: WordPress) -> None:
    """The feed changes by what the mirror says, and nothing else. The first answer and a post that
    is taken back move the validators. 304 also for tags that compressing servers mark. Comments
    and errors are left alone."""
    before = blog.ask()
    assert blog.ask(tag=before.headers["etag"]).status == 304
    time.sleep(1)  # WordPress counts in seconds
    blog.php("require 'wp-admin/includes/plugin.php'; activate_plugin('dynamic-ttl.php');")
    feed = blog.ask(tag=before.headers["etag"])
    assert feed.status == 200
    usual = before.text.replace("\thourly\t", "\tdaily\t", 1).replace("\t1\t", "\t3\t", 1)
    assert feed.text.replace("\t<ttl>480</ttl>\n", "", 1) == usual
    tag = feed.headers["etag"].strip('"')
    for shown in (f'"{tag}"', f'W/"{tag}"', f'"{tag}-gzip"'):
        again = blog.ask(tag=shown)
        assert again.status == 304
        assert again.headers["cache-control"].startswith("public, max-age=")
        assert again.headers["x-accel-expires"] == "60"
    assert blog.ask(method="HEAD").headers["etag"] == f'"{tag}"'
    for query in ("feed=comments-rss2", "feed=rss2&p=1", "feed=rss2&paged=9"):
        assert "x-accel-expires" not in blog.ask(query).headers
    time.sleep(1)
    blog.php("wp_trash_post(1);")
    gone = blog.ask(tag=f'"{tag}"')
    assert (gone.status, gone.text.count("<item>")) == (200, 0)
