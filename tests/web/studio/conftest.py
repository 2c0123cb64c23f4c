"""Ada's browser, before and after she logs in."""

import pytest
from flask.testing import FlaskClient

from publisher.installation import Site
from tests.factories import make_author
from tests.web.studio.browser import Browser


@pytest.fixture
def browser(client: FlaskClient, site: Site) -> Browser:
    """Ada's browser, before she logs in; her author is admin."""
    make_author(site)
    client.environ_base["HTTP_HOST"] = "blog.example"
    return Browser(client)


@pytest.fixture
def ada(browser: Browser, site: Site) -> Browser:
    """Ada's browser, logged in."""
    browser.be_logged_in(site)
    return browser
