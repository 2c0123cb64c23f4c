"""A bounded number of inputs with a fixed seed: no exception, no hang. `make fuzz` runs on."""

from itertools import islice

import pytest
from flask.testing import FlaskClient

from publisher.blog.members import tokens
from publisher.blog.writing import posts
from publisher.installation import Site
from publisher.web.api import program_posts
from tests.factories import make_author, make_post
from tests.fuzz import targets
from tests.fuzz.engine import Fell, run
from tests.fuzz.targets import FILES, Target

FILE_INPUTS, REQUEST_INPUTS = 150, 60


@pytest.mark.parametrize("name", FILES)
def test_files(name: str) -> None:
    """Documents, lists and texts are read or refused in our own words."""
    assert len(list(islice(run(name, FILES[name], 1), FILE_INPUTS))) == FILE_INPUTS


def test_requests(client: FlaskClient, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever a request says, the answer is below 500; on one site with an author and a post that
    is public whenever another kind of request begins."""
    monkeypatch.setattr(program_posts, "WRITES_PER_MINUTE", 10**9)
    author = make_author(site)
    make_post(site, "Hello there.", title="A", author_id=author.id)
    with site.database.write() as db:
        token = tokens.create(db, author, tokens.SCOPES, site.clock())
    over_http = targets.requests(client, site, token)
    fell = list[Fell]()
    for name in sorted(over_http, key="xml-rpc".__eq__):  # it may leave a draft, which is last
        with site.database.write() as db:  # what one deleted, the next finds again
            posts.restore(db, posts.get(db, 1), site.clock())
        try:
            inputs = islice(run(name, over_http[name], 1), REQUEST_INPUTS)
            assert len(list(inputs)) == REQUEST_INPUTS
        except Fell as error:
            fell.append(error)
    assert not fell
    assert len(over_http) == 15


def test_what_falls_is_told() -> None:
    """The engine sees an exception: with its input, to be repeated."""
    with pytest.raises(Fell, match=r"broken, seed 1, input \d+: UnicodeDecodeError"):
        list(islice(run("broken", Target((b"abc",), lambda data: data.decode("ascii")), 1), 500))
