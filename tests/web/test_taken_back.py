"""A published post that becomes a draft again: nowhere to be seen, and itself when it returns."""

import re
from datetime import timedelta

import pytest
from flask.testing import FlaskClient
from sqlalchemy import select

from publisher.blog.members import tokens
from publisher.blog.writing import posts
from publisher.installation import Site
from publisher.parts.webmention.tables import Mention
from publisher.publishing.rebuild import rebuild
from publisher.storage.tables.blog import Post, Update
from publisher.storage.tables.credentials import Author
from publisher.storage.tables.publishing import Delivery
from tests.conftest import SITE_URL, FakeClock
from tests.factories import delete_post, make_author, make_post
from tests.web.studio.browser import Browser

LISTS = (
    "/", "/rss.xml", "/atom.xml", "/feed.json", "/search?q=lighthouse", "/sitemap.xml",
    "/tags", "/tags/salt", "/tags/salt/rss.xml", "/archives", "/authors/ada",
)  # fmt: skip


@pytest.fixture
def post(site: Site, clock: FakeClock) -> Post:
    """A post that readers have had for an hour, and one before it."""
    ada = make_author(site)
    make_post(site, "Another.", author_id=ada.id)
    clock.forward(hours=1)
    made = make_post(
        site, "The lighthouse. [There](https://far.example/)", title="Lighthouse", tags=["Salt"],
        author_id=ada.id,
    )  # fmt: skip
    clock.forward(hours=1)
    rebuild(site)
    return made


def renew(client: FlaskClient, site: Site) -> None:
    """Build the feeds and have the application load them now, not at the next commit notice."""
    rebuild(site)
    client.application.extensions["front"].refresh()


def take_back(client: FlaskClient, site: Site, post: Post, as_if_never: bool = False) -> None:
    with site.database.write() as db:
        posts.unpublish(db, posts.get(db, post.id), site.clock(), as_if_never)
    renew(client, site)


def log_of(site: Site) -> list[tuple[object, ...]]:
    with site.database.read() as db:
        return [tuple(row) for row in db.execute(select(Update.at, Update.kind, Update.post_id))]


def stored(site: Site, post: Post) -> Post:
    with site.database.read() as db:
        return posts.get(db, post.id)


@pytest.mark.parts("webmention")
def test_it_is_nowhere_and_counts_as_no_update(
    client: FlaskClient, site: Site, post: Post, clock: FakeClock
) -> None:
    """Every list and every feed had it; none has it now, and its address says that it is gone."""
    for path in LISTS:
        assert re.search("lighthouse", client.get(path).text, re.IGNORECASE) or path in (
            "/tags", "/sitemap.xml",
        ), path  # fmt: skip
    assert "Salt" in client.get("/tags").text
    before, built = log_of(site), client.get("/rss.xml").text
    clock.forward(minutes=1)
    take_back(client, site, post)
    for path in LISTS:
        answer = client.get(path)
        shown = re.sub(r"<input[^>]*>|<title>.*</title>", "", answer.text)
        assert not re.search("posts/lighthouse|The lighthouse", shown), path
    assert "Salt" not in client.get("/tags").text
    assert client.get("/posts/lighthouse").status_code == 410
    assert log_of(site) == before
    stamp = r"<lastBuildDate>.*?</lastBuildDate>"
    assert re.findall(stamp, client.get("/rss.xml").text) != re.findall(stamp, built)
    with site.database.read() as db:  # the page that it linked to may look again
        assert db.scalar(select(Delivery.topic).where(Delivery.topic == "/posts/lighthouse"))


@pytest.mark.parts("webmention")
def test_it_returns_as_itself(client: FlaskClient, site: Site, post: Post) -> None:
    """The same guid, address and mentions; its former date may be given back, and is counted as a
    return, not a second time at that date."""
    with site.database.write() as db:
        seen = {"state": "shown", "title": "Seen from the sea", "received_at": site.clock()}
        db.add(Mention(post_id=post.id, source="https://m.example/", target="x", **seen))
    guid, date = post.guid, post.published_at
    take_back(client, site, post)
    assert client.get("/posts/lighthouse").status_code == 410
    assert date is not None
    before = log_of(site)
    with site.database.write() as db:
        posts.publish_or_schedule(db, posts.get(db, post.id), date, site.clock())
    renew(client, site)
    again = stored(site, post)
    assert (again.guid, again.published_at, again.former_date) == (guid, date, None)
    assert "Seen from the sea" in client.get("/posts/lighthouse").text
    assert guid in client.get("/rss.xml").text
    assert log_of(site)[len(before) :] == [(site.clock(), "restore", post.id)]


def test_as_if_it_had_never_been(client: FlaskClient, site: Site, post: Post) -> None:
    """404, at its former address too; also afterwards, for one that was taken back before."""
    with site.database.write() as db:
        value = posts.content(db, posts.get(db, post.id))
        moved = value.__class__(**{**vars(value), "slug": "beacon"})
        posts.save(db, post.id, moved, post.version, None, site.clock())
    assert client.get("/posts/lighthouse").status_code == 301
    take_back(client, site, post)
    assert [client.get(f"/posts/{slug}").status_code for slug in ("lighthouse", "beacon")] == [
        410, 410,
    ]  # fmt: skip
    take_back(client, site, post, as_if_never=True)
    assert [client.get(f"/posts/{slug}").status_code for slug in ("lighthouse", "beacon")] == [
        404, 404,
    ]  # fmt: skip


def test_a_draft_again_that_is_scheduled_or_deleted_is_still_gone(
    client: FlaskClient, site: Site, post: Post
) -> None:
    """410 until it is out again."""
    take_back(client, site, post)
    later = site.clock() + timedelta(hours=3)
    with site.database.write() as db:
        posts.publish_or_schedule(db, posts.get(db, post.id), later, site.clock())
    assert client.get("/posts/lighthouse").status_code == 410
    delete_post(site, post.id)
    assert client.get("/posts/lighthouse").status_code == 410
    with site.database.write() as db:
        posts.restore(db, posts.get(db, post.id), site.clock())
    assert stored(site, post).status == "draft"


def test_a_deleted_post_can_come_back_as_a_draft(
    client: FlaskClient, site: Site, post: Post
) -> None:
    """Nothing is published by it, and nothing counted."""
    delete_post(site, post.id)
    before = log_of(site)
    with site.database.write() as db:
        posts.restore(db, posts.get(db, post.id), site.clock(), as_draft=True)
    assert stored(site, post).status == "draft"
    assert client.get("/posts/lighthouse").status_code == 410
    assert log_of(site) == before


def test_in_the_studio_the_text_is_kept(client: FlaskClient, site: Site, post: Post) -> None:
    """The button saves what was typed as the draft's text, which readers never see; the text of
    another tab, sent afterwards, is not lost and not published."""
    client.environ_base["HTTP_HOST"] = "blog.example"
    ada = Browser(client)
    ada.log_in()
    assert "Back to draft" in ada.get(f"/studio/posts/{post.id}")
    typed = {"title": "Lighthouse", "base_version": "1"}
    before = log_of(site)
    ada.post(f"/studio/posts/{post.id}", source="Not like this.", place="back", **typed)
    again = stored(site, post)
    assert (again.status, again.source, again.version) == ("draft", "Not like this.", 2)
    assert "It is a draft again" in ada.get(f"/studio/posts/{post.id}")
    assert log_of(site) == before
    stale = ada.post(f"/studio/posts/{post.id}", source="Of another tab.", place="keep", **typed)
    assert (stale.status_code, "Of another tab." in stale.text) == (409, True)
    assert stored(site, post).status == "draft"


@pytest.mark.parts("micropub", "xml_rpc")
def test_programs_take_back(client: FlaskClient, site: Site, post: Post) -> None:
    """Micropub's `post-status`, with a new text in the same request."""
    with site.database.write() as db:
        token = tokens.create(db, db.get_one(Author, post.author_id), ["update"], site.clock())
    before = log_of(site)
    answers = {
        "action": "update", "url": f"{SITE_URL}/posts/lighthouse",
        "replace": {"post-status": ["draft"], "content": ["Later."]},
    }  # fmt: skip
    answer = client.post("/micropub", json=answers, headers={"Authorization": f"Bearer {token}"})
    assert answer.status_code == 204
    again = stored(site, post)
    assert (again.status, again.source) == ("draft", "Later.")
    assert log_of(site) == before
    answers["replace"] = {"post-status": ["published"]}
    client.post("/micropub", json=answers, headers={"Authorization": f"Bearer {token}"})
    assert client.get("/posts/lighthouse").status_code == 200
