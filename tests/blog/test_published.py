"""What readers see is said in one place."""

import re
from pathlib import Path

from sqlalchemy import select

from publisher.blog import published
from publisher.blog.writing import posts
from publisher.blog.writing.content import Content
from publisher.installation import Site
from publisher.storage.tables import blog as tables
from publisher.storage.tables.blog import Post, listed
from tests.conftest import FakeClock
from tests.factories import make_post

PUBLISHER = Path(published.__file__).parents[1]


def test_the_query_and_the_question_agree(site: Site, clock: FakeClock) -> None:
    """A condition of a query and a question to a post say the same, in every state and kind."""
    make_post(site, "A post.")
    make_post(site, "A page.", kind="page")
    gone, waiting = make_post(site, "Gone."), make_post(site, "Later.", clock().replace(year=2030))
    with site.database.write() as db:
        posts.delete(db, posts.get(db, gone.id), clock())
        posts.create(db, Content("A draft."), None, clock())
    with site.database.read() as db:
        everything = db.scalars(select(Post)).all()
        for condition, question in (
            (published.public(), published.is_public),
            (published.public(by_status=False), published.is_public),
            (listed(), published.is_listed),
        ):
            ids = {post.id for post in db.scalars(select(Post).where(condition))}
            assert ids == {post.id for post in everything if question(post)}
    assert waiting.status == "scheduled"
    assert ids == {1}


def test_nobody_else_says_it() -> None:
    """No other query asks for the state itself; what an import finds is not here yet."""
    says = re.compile(r"Post\.status (==|!=) \"published\"|Post\.kind == \"post\", Post\.status")
    files = [path for path in PUBLISHER.rglob("*.py") if says.search(path.read_text("utf-8"))]
    assert files == [Path(tables.__file__)]
