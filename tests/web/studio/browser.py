"""A person's browser without scripts, for the studio's tests."""

import re

from flask import session
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from publisher.blog.members import authors
from publisher.blog.writing import posts
from publisher.installation import Site
from publisher.storage.tables.blog import Post
from publisher.web.request_checks import form_key
from publisher.web.studio.account_pages.login import remember
from tests.conftest import SITE_URL
from tests.factories import PASSWORD


class Browser:
    """A person's browser: sends a page's hidden fields along with what is typed."""

    def __init__(self, client: FlaskClient) -> None:
        self.client = client
        self.csrf = ""

    def get(self, path: str) -> str:
        """The page at `path`; it must be there."""
        answer = self.client.get(path)
        assert answer.status_code == 200, answer.text
        return self.seen(answer)

    def post(self, path: str, accept: str = "text/html", **fields: object) -> TestResponse:
        """Send a form."""
        answer = self.client.post(
            path,
            data={"csrf_token": self.csrf, **fields},
            headers={"Referer": SITE_URL + "/", "Origin": SITE_URL, "Accept": accept},
            content_type="multipart/form-data",
        )
        self.seen(answer)
        answer.request.environ["wsgi.input"].close()
        return answer

    def seen(self, answer: TestResponse) -> str:
        """The answer's text; its form key is used from now on."""
        if match := re.search(r'name="csrf_token" value="([^"]+)"', answer.text):
            self.csrf = match[1]
        return answer.text

    def log_in(self, name: str = "ada", password: str = PASSWORD) -> TestResponse:
        """Log in through the form."""
        self.get("/studio/login")
        answer = self.post("/studio/login", name=name, password=password)
        if answer.status_code == 302:
            self.get("/studio/")
        return answer

    def be_logged_in(self, site: Site, name: str = "ada") -> None:
        """Have the session that a login gives, without its three pages, which the login's own tests
        ask for."""
        with site.database.write() as db:
            person = authors.named(db, name)
            token = authors.open_session(db, person, "", site.clock())
        with (
            self.client.application.test_request_context(),
            self.client.session_transaction() as stored,
        ):
            remember(token)
            self.csrf = form_key()
            stored.update(session)


def the_post(site: Site, post_id: int = 1) -> Post:
    with site.database.read() as db:
        return posts.get(db, post_id)


def number(answer: TestResponse) -> int:
    """The post that an answer leads to."""
    match = re.search(r"/studio/posts/(\d+)", answer.location or "")
    assert match, answer.text
    return int(match[1])
