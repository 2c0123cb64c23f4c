"""Names that lead elsewhere at the second look, tried at every door of a served site.

The public internet is 127.0.0.5 here, where a stranger answers; 127.0.0.1 is the private network,
where nobody may be asked anything on the same port.
"""

import http.server
import re
import socket
import threading
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.cookiejar import CookieJar
from pathlib import Path
from typing import Any

import pytest

from publisher.base.environment import read_environment
from publisher.installation import open_site
from publisher.installation.settings import store_settings
from publisher.parts.mirror import mirrors
from publisher.parts.river.following import subscriptions
from tests.databases import settings_of
from tests.factories import PASSWORD, make_author, make_post
from tests.running_site import Server, serving, wait_until

pytestmark = pytest.mark.any_database

# In every process of the site: a name is public when it is asked for first, then private; names
# that end with `inside` are private at once. Nothing else of the machine's resolver is touched.
RESOLVER = """
import socket
from collections import Counter
from publisher.base import net

net.is_public = lambda address: address == "127.0.0.5"
asked, real = Counter(), socket.getaddrinfo

def hostile(host, *rest, **more):
    name = host.decode() if isinstance(host, bytes) else host
    if isinstance(name, str) and name.endswith(".example"):
        asked[name] += 1
        public = asked[name] % 2 and not name.endswith("inside.example")
        host = "127.0.0.5" if public else "127.0.0.1"
    return real(host, *rest, **more)

socket.getaddrinfo = hostile
"""
FEED = (
    '<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"><channel><title>a</title>'
    '<link>http://a.example/</link><description>d</description><atom:link rel="hub" href="{hub}"/>'
    '<item><guid>1</guid><title>b</title><description>&lt;img src="{picture}"&gt;</description>'
    "</item></channel></rss>"
)


class Stranger:
    """A web server at the public address: paths that end with `hop` lead into the private net."""

    def __init__(self) -> None:
        self.requested: list[str] = []
        self.port = 0

    def url(self, door: str, hop: bool = False) -> str:
        """An address of a host of its own."""
        return f"http://{door}.example:{self.port}/{door}{'/hop' if hop else ''}"


@contextmanager
def answering(stranger: Stranger) -> Iterator[list[str]]:
    """Both servers on one port; gives the list of whoever came to the private one."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            stranger.requested.append(self.path)
            hop = self.path.endswith("/hop")
            self.send_response(302 if hop else 200)
            self.send_header("Location", f"http://inside.example:{stranger.port}/secret")
            self.send_header("Content-Type", "text/html" if "ment" in self.path else "text/xml")
            self.send_header("Link", f'<{stranger.url("endpoint")}>; rel="webmention"')
            self.end_headers()
            hub, picture = stranger.url("mirrorhub", hop=True), stranger.url("picture", hop=True)
            self.wfile.write(FEED.format(hub=hub, picture=picture).encode())

        do_POST = do_GET  # noqa: N815 - the name that http.server looks for

        def log_message(self, *_args: object) -> None:
            pass

    inside: list[str] = []
    # The port is chosen where other tests choose theirs; nobody else uses the second address.
    private = socket.create_server(("127.0.0.1", 0))
    stranger.port = private.getsockname()[1]
    public = http.server.ThreadingHTTPServer(("127.0.0.5", stranger.port), Handler)

    def visit() -> None:
        while True:
            try:
                connection, _ = private.accept()
            except OSError:
                return
            inside.append(connection.recv(1000).decode("latin-1"))
            connection.close()

    threads = [threading.Thread(target=run) for run in (public.serve_forever, visit)]
    for thread in threads:
        thread.start()
    try:
        yield inside
    finally:
        public.shutdown()
        public.server_close()
        private.shutdown(socket.SHUT_RDWR)
        private.close()
        for thread in threads:
            thread.join()


class ComesBack(urllib.request.BaseHandler):
    """A busy database is answered with 503, and a promise that nothing was changed."""

    def http_error_503(self, request: urllib.request.Request, *_rest: object) -> Any:
        tries = getattr(request, "tries", 0) + 1
        if tries > 20:
            return None
        request.tries = tries  # type: ignore[attr-defined]
        return self.parent.open(request)


def logged_in(server: Server) -> urllib.request.OpenerDirector:
    """A browser with the author's login, that comes back when it is told to."""
    cookies = urllib.request.HTTPCookieProcessor(CookieJar())
    opener = urllib.request.build_opener(cookies, ComesBack)
    opener.addheaders = [("Origin", server.url)]
    page = opener.open(f"{server.url}/studio/login").read().decode()
    match = re.search(r'name="csrf_token" value="([^"]+)"', page)
    assert match is not None
    form = {"csrf_token": match[1], "name": "ada", "password": PASSWORD}
    opener.open(f"{server.url}/studio/login", urllib.parse.urlencode(form).encode())
    return opener


def test_only_the_address_that_was_looked_at_is_asked(tmp_path: Path) -> None:
    """Each request and each redirect: the stranger is asked, the private network never is."""
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "sitecustomize.py").write_text(RESOLVER)
    instance, stranger = tmp_path / "instance", Stranger()
    instance.mkdir()
    with answering(stranger) as inside:
        site = open_site(read_environment(settings_of(instance)))
        author = make_author(site)
        with site.database.write() as db:
            store_settings(db, {
                "webmention_receive": "on",
                "hubs": f"{stranger.url('hub')} {stranger.url('hub2', hop=True)}",
                "cloud": stranger.url("cloud"),
            })  # fmt: skip
            for hop in (False, True):
                feed, origin = (stranger.url(f"{door}{hop:d}", hop) for door in ("river", "mirror"))
                subscriptions.subscribe(db, feed, site.clock(), site.clock())
                mirrors.add(db, origin, f"m{hop:d}", "UTC", site.clock())
        links = f"[a]({stranger.url('ment')}) [b]({stranger.url('ment2', hop=True)})"
        cards = f"{stranger.url('card0')}\n\n{stranger.url('card1', hop=True)}"
        make_post(site, f"{links}\n\n{cards}", title="A", author_id=author.id)
        site.database.close()
        path = f"{tmp_path / 'code'}:{Path(__file__).parents[2]}"
        with serving(instance, env={"PYTHONPATH": path}) as server:
            browser = logged_in(server)
            for hop in (False, True):
                source = stranger.url(f"incoming{hop:d}", hop)
                form = {"source": source, "target": f"{server.url}/posts/a"}
                browser.open(f"{server.url}/webmention", urllib.parse.urlencode(form).encode())
                asking = {"url": stranger.url(f"advise{hop:d}", hop)}
                with suppress(urllib.request.HTTPError):
                    browser.open(f"{server.url}/readers/advise?{urllib.parse.urlencode(asking)}")
                client = stranger.url(f"client{hop:d}", hop)
                asking = {"client_id": client, "redirect_uri": client, "code_challenge": "a" * 43}
                browser.open(f"{server.url}/indieauth/auth?{urllib.parse.urlencode(asking)}")
            server.command("import", "--images", stranger.url("imported"))
            server.command("import", stranger.url("imported2", hop=True))
            doors = {
                "/river0", "/river1/hop", "/mirror0", "/mirror1/hop", "/hub", "/hub2/hop", "/ping",
                "/ment", "/endpoint", "/ment2/hop", "/incoming0", "/incoming1/hop", "/advise0",
                "/advise1/hop", "/client0", "/client1/hop", "/imported", "/imported2/hop",
                "/card0", "/card1/hop",
                "/picture/hop", "/mirrorhub/hop",
            }  # fmt: skip
            wait_until(lambda: doors <= set(stranger.requested), 60, stranger.requested)
        assert inside == []
