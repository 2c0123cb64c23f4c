"""A bounded number of inputs with a fixed seed: no exception, no hang. `make fuzz` runs on."""

from itertools import islice

import pytest
from flask.testing import FlaskClient

from publisher.blog.members import tokens
from publisher.installation import Site
from tests.factories import make_author, make_post
from tests.fuzz import targets
from tests.fuzz.engine import Fell, run
from tests.fuzz.targets import FILES, Target

FILE_INPUTS, REQUEST_INPUTS = 150, 60
REQUESTS = (
    "micropub-json", "micropub-form", "micropub-parts", "micropub-query", "search-query",
    "search-words", "cookie", "conditional", "xml-rpc", "weblog-ping", "websub-question",
    "websub-news", "reader-api", "indieauth", "forwarded",
)  # fmt: skip


@pytest.mark.parametrize("name", FILES)
def test_files(name: str) -> None:
    """Documents, lists and texts are read or refused in our own words."""
    assert len(list(islice(run(name, FILES[name], 1), FILE_INPUTS))) == FILE_INPUTS


@pytest.fixture
def over_http(client: FlaskClient, site: Site) -> dict[str, Target]:
    """The targets behind a site with one author and one post."""
    author = make_author(site)
    make_post(site, "Hello there.", title="A", author_id=author.id)
    with site.database.write() as db:
        token = tokens.create(db, author, tokens.SCOPES, site.clock())
    return targets.requests(client, site, token)


def test_requests_are_named(over_http: dict[str, Target]) -> None:
    """The list above is all there are."""
    assert tuple(over_http) == REQUESTS


@pytest.mark.parametrize("name", REQUESTS)
def test_requests(name: str, over_http: dict[str, Target]) -> None:
    """Whatever a request says, the answer is below 500."""
    inputs = islice(run(name, over_http[name], 1), REQUEST_INPUTS)
    assert len(list(inputs)) == REQUEST_INPUTS


def test_what_falls_is_told() -> None:
    """The engine sees an exception: with its input, to be repeated."""
    with pytest.raises(Fell, match=r"broken, seed 1, input \d+: UnicodeDecodeError"):
        list(islice(run("broken", Target((b"abc",), lambda data: data.decode("ascii")), 1), 500))
