"""The ways to the blog: the subscribe page, robots.txt, the sitemap."""

import gzip
import re
from datetime import UTC, datetime, timedelta

import pytest
from flask.testing import FlaskClient

from publisher.base import safe_xml
from publisher.base.errors import InvalidInput
from publisher.blog import archive
from publisher.installation import Site
from publisher.installation.settings import store_setting
from publisher.storage.tables.blog import Post
from tests.conftest import SITE_URL, FakeClock
from tests.factories import delete_post, make_post, set_settings

GOLDEN = """\
<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
<url><loc>https://blog.example/</loc></url>
<url><loc>https://blog.example/archives</loc></url>
<url><loc>https://blog.example/subscribe</loc></url>
<url><loc>https://blog.example/posts/plain-1</loc><lastmod>2024-03-04T09:30:00Z</lastmod></url>
<url><loc>https://blog.example/posts/%E6%97%A5%E6%9C%AC</loc><lastmod>2024-03-04T09:30:00.000120Z</lastmod></url>
<url><loc>https://blog.example/about</loc><lastmod>2024-03-04T09:30:59.123456Z</lastmod></url>
<url><loc>https://blog.example/posts/a&amp;b's%20%3Cc%3E%0A100%_d~</loc><lastmod>2024-12-04T23:30:00Z</lastmod></url>
</urlset>
"""


def addresses(xml: bytes) -> list[str]:
    return [
        element.text or "" for element in safe_xml.tree(xml).iter() if element.tag.endswith("}loc")
    ]


def test_the_sitemap_has_what_readers_see(
    site: Site, client: FlaskClient, clock: FakeClock
) -> None:
    """Posts and pages, on the site's own address; nothing deleted, no draft."""
    make_post(site, "One.", slug="日本")
    make_post(site, "A page.", slug="about", kind="page")
    gone = make_post(site, "Gone.", slug="gone")
    delete_post(site, gone.id)
    locations = addresses(client.get("/sitemap.xml", headers={"Host": "evil.example"}).data)
    assert set(locations) == {
        f"{SITE_URL}/", f"{SITE_URL}/archives", f"{SITE_URL}/subscribe",
        f"{SITE_URL}/posts/%E6%97%A5%E6%9C%AC", f"{SITE_URL}/about",
    }  # fmt: skip


def test_each_byte_of_a_sitemap(site: Site, client: FlaskClient) -> None:
    """Fractions of a second only where there are some, addresses in ASCII, signs escaped for XML:
    what each address and date gave when it was made by `url` and `format_rfc3339`."""
    whole = datetime(2024, 3, 4, 9, 30, tzinfo=UTC)
    for slug, kind, changed_at in (
        ("plain-1", "post", whole),
        ("日本", "post", whole.replace(microsecond=120)),
        ("about", "page", whole.replace(microsecond=123456, second=59)),
        ("a&b's <c>\n100%_d~", "post", whole.replace(month=12, hour=23)),
    ):
        post = make_post(site, "One.", kind=kind)
        with site.database.write() as db:
            row = db.get_one(Post, post.id)
            row.slug, row.changed_at = slug, changed_at
    assert client.get("/sitemap.xml").text == GOLDEN


def test_a_large_site_has_several_files(
    site: Site, client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Above the limit the sitemap lists files, and together they hold each post once."""
    monkeypatch.setattr(archive, "SITEMAP_PART", 10)
    monkeypatch.setattr(archive, "SITEMAP_STEP", 3)
    for number in range(25):
        make_post(site, f"Note {number}.", slug=f"note-{number}")
    files = addresses(client.get("/sitemap.xml").data)
    assert files == [f"{SITE_URL}/sitemap-{n}.xml" for n in (1, 2, 3)]
    locations = [
        address
        for name in files
        for address in addresses(client.get(name.removeprefix(SITE_URL)).data)
        if "/posts/" in address
    ]
    assert sorted(locations) == sorted(f"{SITE_URL}/posts/note-{n}" for n in range(25))
    assert client.get("/sitemap-4.xml").status_code == 404
    assert client.get("/sitemap-0.xml").status_code == 404


def test_a_sitemap_is_made_once_for_each_state_of_the_site(
    site: Site, client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However often it is asked for, packed or not, or by its tag; a new post is in the next."""
    make_post(site, "One.", slug="one")
    plain = client.get("/sitemap.xml")
    with monkeypatch.context() as patch:
        patch.setattr(archive, "sitemap_entries", None)  # whoever made it again would fail
        packed = client.get("/sitemap.xml", headers={"Accept-Encoding": "gzip"})
        assert gzip.decompress(packed.data) == plain.data
        again = client.get("/sitemap.xml", headers={"If-None-Match": plain.headers["ETag"]})
        assert again.status_code == 304
    make_post(site, "Two.", slug="two")
    assert f"{SITE_URL}/posts/two" in addresses(client.get("/sitemap.xml").data)


def test_an_empty_site_has_a_sitemap(client: FlaskClient) -> None:
    """The home page is there before the first post."""
    assert addresses(client.get("/sitemap.xml").data)[0] == f"{SITE_URL}/"


def test_robots_may_read_what_readers_read(client: FlaskClient) -> None:
    """The rooms behind the login are named, the posts are free, the sitemap is on our address."""
    text = client.get("/robots.txt", headers={"Host": "evil.example"}).text
    assert "Disallow: /studio/" in text
    assert "Disallow: /posts" not in text
    assert f"Sitemap: {SITE_URL}/sitemap.xml" in text


@pytest.fixture
def days(site: Site, clock: FakeClock) -> None:
    """Two weeks of a post each morning."""
    for day in range(14, -1, -1):
        make_post(site, f"Day {day}.", at=clock() - timedelta(days=day))


@pytest.mark.usefixtures("days")
def test_subscribe_says_tomorrow(client: FlaskClient, clock: FakeClock) -> None:
    """An app that looks shortly before midnight is told to look the next day."""
    clock.forward(hours=14, minutes=27)
    words = r"looks now, at 23:57, is told to wait until 0\d:\d\d tomorrow\."
    assert re.search(words, client.get("/subscribe").text)


@pytest.mark.usefixtures("days")
def test_the_hours_are_shown_where_the_author_says(site: Site, client: FlaskClient) -> None:
    """On Subscribe unless the author says more or less: the strip, with its words for those who do
    not see it, and the table; never when the next post is scheduled."""
    make_post(site, at=site.clock() + timedelta(hours=3))
    for choice, shown in (
        ("", {"/subscribe"}), ("subscribe+about", {"/subscribe", "/about"}), ("off", set()),
    ):  # fmt: skip
        if choice:
            set_settings(site, {"show_hours": choice})
        for path in ("/subscribe", "/about"):
            page = client.get(path).text
            assert ("when an app that listens will look" in page) == (path in shown)
            assert "tick" not in page
            if path in shown:
                assert page.count("<rect") >= 24 + 1  # the bars, and the tones of the key
                assert page.count('<th scope="row">') >= 24
    assert f"{SITE_URL}/rss.xml" in client.get("/subscribe").text


def test_a_new_blog_shows_no_hours(site: Site, client: FlaskClient) -> None:
    """Before five posts there is nothing to show."""
    make_post(site)
    assert "When this blog publishes" not in client.get("/subscribe").text


def test_a_newsletter_is_linked(site: Site, client: FlaskClient) -> None:
    """Its form elsewhere, on Subscribe and below posts; an address without https:// is completed,
    one that is not encrypted refused."""
    make_post(site, "One.", slug="one")
    assert "by e-mail" not in client.get("/subscribe").text
    with site.database.write() as db:
        assert store_setting(db, "newsletter_url", "letters.example/ada").newsletter_url == (
            "https://letters.example/ada"
        )
    for path in ("/subscribe", "/posts/one"):
        assert 'href="https://letters.example/ada"' in client.get(path).text
    with site.database.write() as db:
        for wrong in ("http://letters.example/", "javascript:alert(1)", "https://", "/form", "x y"):
            with pytest.raises(InvalidInput):
                store_setting(db, "newsletter_url", wrong)
