"""The archive by month and the search, over HTTP."""

from datetime import UTC, datetime, timedelta

import pytest
from flask import Flask
from flask.testing import FlaskClient

from publisher.blog import archive
from publisher.blog.writing import posts
from publisher.installation import Site
from publisher.installation.settings import load_settings
from publisher.storage import full_text
from publisher.web.blog import lists
from tests.conftest import FakeClock
from tests.factories import content, make_post, set_settings


def test_months_are_the_authors(site: Site, client: FlaskClient) -> None:
    """Half an hour before the UTC month ends it is the next month in Berlin."""
    set_settings(site, {"timezone": "Europe/Berlin"})
    make_post(site, "Late.", datetime(2024, 1, 31, 23, 30, tzinfo=UTC))
    make_post(site, "Early.", datetime(2024, 1, 31, 22, 30, tzinfo=UTC))
    assert "Late." in client.get("/archives/2024/02").text
    page = client.get("/archives/2024/1").text
    assert "Early." in page
    assert "Late." not in page
    index = client.get("/archives").text
    assert index.index("/archives/2024/02") < index.index("/archives/2024/01")


def test_counts_add_up(site: Site, clock: FakeClock) -> None:
    """Each published post is in exactly one month; pages and drafts are in none, and months of
    silence are left out."""
    for days in (*range(0, 400, 20), 3000):
        make_post(site, f"Note {days}.", clock() - timedelta(days=days))
    make_post(site, "A page.", kind="page")
    with site.database.read() as db:
        months = archive.months(db, load_settings(db).zone)
        assert sum(month.posts for month in months) == 21
        assert months == sorted(months, key=lambda month: month.start, reverse=True)
        assert all(month.posts for month in months)
        assert all(len(archive.lines(db, month)) == month.posts for month in months)


@pytest.mark.parametrize(
    "address",
    ["/archives/2024/13", "/archives/2024/0", "/archives/0/1", "/archives/99999/1",
     "/archives/2023/01", "/archives/2024/03?before=x"],
)  # fmt: skip
def test_no_such_month(site: Site, client: FlaskClient, address: str) -> None:
    """Months without posts, and months of no calendar, are not found."""
    make_post(site)
    assert client.get(address).status_code == 404


def test_search_marks_what_it_found(site: Site, client: FlaskClient) -> None:
    """Matches are marked, and what a post says about HTML stays text."""
    text = "Write `<script>alert(1)</script>` and the *kettle* boils."
    make_post(site, text, title="Of <script>")  # PostgreSQL leaves tags out of an excerpt
    make_post(site, text)
    make_post(site, "Nothing of the kind.")
    page = client.get("/search?q=kettl").text
    assert "<mark>kettle</mark>" in page
    assert "&lt;script&gt;" in page
    assert "<script>alert" not in page
    assert "Nothing of the kind" not in page


@pytest.mark.parametrize(
    "query", ['"', "*", "AND OR NOT", "a" * 5000, "(", "x'; DROP TABLE posts", "\x00", "-"]
)
def test_any_query_is_answered(site: Site, client: FlaskClient, query: str) -> None:
    """The search's own language cannot be reached, and nothing breaks it."""
    make_post(site)
    assert client.get("/search", query_string={"q": query, "page": "7"}).status_code == 200


def test_the_query_cannot_leave_its_place(client: FlaskClient) -> None:
    """What was asked for stands in the page as text."""
    page = client.get("/search", query_string={"q": '"><script>alert(1)</script>'}).text
    assert "<script>alert" not in page


def test_more_matches_than_one_page(site: Site, client: FlaskClient) -> None:
    """Each match is shown once, on the first or the second page."""
    for number in range(25):
        make_post(site, f"Kettle number {number}.")
    first, second = (client.get(f"/search?q=kettle&page={n}").text for n in (1, 2))
    assert first.count("<li class") == 20
    assert second.count("<li class") == 5
    assert "More matches" in first
    assert "More matches" not in second


def test_what_very_many_say_is_not_weighed(
    site: Site, client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The newest come first then, each with its excerpt; and two letters begin no word."""
    for number in range(4):
        make_post(site, "waves " * (4 - number), slug=f"sea-{number}")
    weighed = client.get("/search?q=wav").text
    assert weighed.index("/posts/sea-0") < weighed.index("/posts/sea-3")
    monkeypatch.setattr(full_text, "COMMON", 3)
    newest = client.get("/search?q=wav").text
    assert newest.index("/posts/sea-3") < newest.index("/posts/sea-0")
    assert "<mark>waves</mark>" in newest
    assert "/posts/sea-0" not in client.get("/search?q=wa").text


def test_all_tags(site: Site, client: FlaskClient, clock: FakeClock) -> None:
    """Those of published posts, with their number; a draft's and a deleted post's are nobody's."""
    assert "No post has a tag yet." in client.get("/tags").text
    make_post(site, "One.", tags=("Tea", "Über <b>"))
    gone = make_post(site, "Two.", tags=("Tea", "Gone"))
    make_post(site, "Three.", tags=("Tea",))
    with site.database.write() as db:
        posts.create(db, content("A draft.", tags=("Secret",)), None, clock())
        posts.delete(db, posts.get(db, gone.id), clock())
    page = client.get("/tags").text
    assert (
        '<a href="/tags/tea" dir="auto">Tea</a> <span class="quiet small numbers">2</span>' in page
    )
    assert "Über &lt;b&gt;" in page
    assert "Secret" not in page
    assert "Gone" not in page
    assert client.get("/tags/tea").status_code == 200
    for path in ("/archives", "/tags/tea"):
        assert 'href="/tags"' in client.get(path).text


def test_a_whole_blog_on_one_page(
    site: Site, app: Flask, client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each title stands under its month; a blog with more posts has a page for each month."""
    for day in (1, 9, 40):
        make_post(site, "Text.", datetime(2024, 3, 3, 9, tzinfo=UTC) - timedelta(days=day),
                  title=f"Day {day}")  # fmt: skip
    make_post(site, "Only words.", datetime(2024, 1, 5, 9, tzinfo=UTC))
    page = client.get("/archives").text
    order = [page.index(text) for text in ("March", ">Day 1<", "February", ">Day 9<", "January",
                                            ">Day 40<", ">Only words.<")]  # fmt: skip
    assert order == sorted(order)
    monkeypatch.setattr(lists, "ON_ONE_PAGE", 3)
    app.extensions["front"].forget_pages()
    page = client.get("/archives").text
    assert ">Day 1<" not in page
    assert 'href="/archives/2024/01"' in page
