"""A login and the browser's fixtures, for the pages of parts."""

import pytest
from flask import Flask
from flask.testing import FlaskClient

from publisher.installation import Site
from tests.browser.conftest import browse, chromium, live, log_in, port
from tests.factories import make_author
from tests.web.studio.browser import Browser

__all__ = ["browse", "chromium", "live", "log_in", "port"]


@pytest.fixture
def author(app: Flask, client: FlaskClient, site: Site) -> FlaskClient:
    """A browser that is logged in as an admin."""
    app.config["FORM_KEYS"] = False
    make_author(site)
    Browser(client).be_logged_in(site)
    return client
