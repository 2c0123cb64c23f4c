"""Posts by any address that was ever given out, as programs send it."""

import pytest

from publisher.blog import post_addresses
from publisher.blog.writing import posts
from publisher.installation import Site, remember
from tests.conftest import SITE_URL, FakeClock
from tests.factories import content, make_post


@pytest.fixture
def moved(site: Site, clock: FakeClock) -> Site:
    """Post 1 was at /posts/one and is at /posts/東京, page 2 at /about; draft 3 was given out
    before it got another address. The site was at http://old.example/blog."""
    make_post(site, "One.", slug="one")
    make_post(site, "About.", slug="about", kind="page")
    with site.database.write() as db:
        posts.save(db, 1, content("One.", slug="東京"), 1, None, clock())
        draft = posts.create(db, content("A draft.", slug="draft"), None, clock())
        post_addresses.given_out(db, draft)
        posts.save(db, 3, content("A draft.", slug="other"), 1, None, clock())
        remember(db, "former_site_urls", "http://old.example/blog")
    return site


FOUND = {
    "/posts/東京": 1, "/posts/%E6%9D%B1%E4%BA%AC": 1, "/posts/one": 1, "/about": 2,
    "/posts/one/": 1, "/posts/one?from=feed#end": 1, "/about/?x": 2,
    f"{SITE_URL}/posts/one": 1, "https://blog.example:443/posts/one": 1,
    "http://blog.example/posts/one": 1, "http://old.example/blog/posts/one": 1,
    "https://old.example/blog/about": 2, "/posts/draft": 3, "/posts/other": 3,
}  # fmt: skip
NOT_FOUND = (
    "https://blog.example:8443/posts/one", "ftp://blog.example/posts/one",
    "https://else.example/posts/one", "http://old.example/posts/one",
    "http://old.example/blogs/posts/one", "posts/one", "", "/posts/about", "/one",
    "/preview/unknown", "https://[blog.example/posts/one", "https://blog.example:x/posts/one",
)  # fmt: skip


def test_a_post_is_found_at_each_of_its_addresses(moved: Site) -> None:
    """Present and former, of this host and the one before; nothing at any other."""
    with moved.database.read() as db:
        found = {
            address: post and post.id
            for address in (*FOUND, *NOT_FOUND)
            for post in [post_addresses.post_at(db, SITE_URL, address)]
        }
    assert found == {**FOUND, **dict.fromkeys(NOT_FOUND)}


def test_a_site_has_one_port(site: Site) -> None:
    """On a default one, those of http and https are one."""
    make_post(site, "About.", slug="about", kind="page")
    for site_url, address, found in (
        ("https://blog.example:8443", "https://blog.example:8443/about", True),
        ("https://blog.example:8443", "http://blog.example:8443/about", True),
        ("https://blog.example:8443", "https://blog.example/about", False),
        ("https://blog.example:8443", "http://blog.example/about", False),
        ("http://blog.example:80", "http://blog.example/about", True),
        ("http://blog.example:80", "https://blog.example/about", False),
        ("https://blog.example:443", "https://blog.example/about", True),
        ("http://blog.example", "http://blog.example:80/about", True),
        ("http://blog.example", "http://blog.example:443/about", True),
        ("http://blog.example", "http://blog.example:81/about", False),
        ("https://blog.example/b/", "https://blog.example/b/about", True),
        ("https://blog.example/b/", "https://blog.example/about", False),
    ):
        with site.database.write() as db:
            remember(db, "site_url", site_url)
            assert (post_addresses.post_at(db, site_url, address) is not None) is found, address


def test_a_preview_link_is_an_address_until_the_post_is_deleted(
    moved: Site, clock: FakeClock
) -> None:
    """A program has it of a draft; with a slash at its end, too."""
    with moved.database.write() as db:
        draft = posts.get(db, 3)
        link = SITE_URL + post_addresses.preview_path(draft)
        for address in (link, f"{link}/"):
            assert post_addresses.post_at(db, SITE_URL, address) is draft
        posts.delete(db, draft, clock())
        assert post_addresses.post_at(db, SITE_URL, link) is None
