"""Tags in the studio: counted, renamed, merged, removed; what led to them still does."""

import re

import pytest

from publisher.blog.slug_words import tag_slug
from publisher.installation import Site
from publisher.publishing.rebuild import rebuild
from tests.factories import make_author, make_post
from tests.web.studio.browser import Browser, the_post


def row(page: str, name: str) -> tuple[int, list[int]]:
    """A tag's number, and its two counts."""
    rows = re.findall(r"<tr>.*?</tr>", page, re.DOTALL)
    row = next(text for text in rows if f'value="{name}"' in text)
    number = re.search(r'action="/studio/tags/(\d+)"', row)
    assert number
    counts = re.findall(r'class="number"[^>]*>(?:<a[^>]*>)?(\d+)', row)
    return int(number[1]), [int(count) for count in counts]


def titles(browser: Browser, slug: str) -> list[str]:
    return re.findall(r'class="u-url" href="[^"]*">([^<]+)</a></h2>', browser.get(f"/tags/{slug}"))


@pytest.mark.parametrize(
    ("name", "slug"),
    [("C", "c"), ("C++", "c-plus-plus"), ("c#", "c-sharp"), (".NET", "dot-net"),
     ("#Travel", "travel"), ("Rock & Roll", "rock-roll"), ("F# music", "f-sharp-music"),
     ("a+b", "a-plus-b"), ("+1", "1"), ("東京", "東京"), ("++", "")],
)  # fmt: skip
def test_signs_that_count(name: str, slug: str) -> None:
    """Languages with signs in their names have addresses of their own; other signs are dropped."""
    assert tag_slug(name) == slug
    assert tag_slug(slug) == slug


def test_rename_and_merge(ada: Browser, site: Site) -> None:
    """Posts keep together what was put together; old addresses and feeds lead on, through both."""
    make_post(site, "x", title="One", tags=["walks", "c++"])
    make_post(site, "x", title="Two", tags=["walking"])
    make_post(site, "x", title="Both", tags=["walks", "Walking", "c"])
    rebuild(site)
    page = ada.get("/studio/tags")
    walks, counts = row(page, "walks")
    assert counts == [2, 2]
    assert row(page, "c++")[0] != row(page, "c")[0]
    assert titles(ada, "c-plus-plus") == ["One"]
    assert titles(ada, "c") == ["Both"]

    assert ada.post(f"/studio/tags/{walks}", name="Strolls, long").status_code == 302
    assert titles(ada, "strolls-long") == ["Both", "One"]
    assert ada.client.get("/tags/walks").location == "/tags/strolls-long"
    assert ada.client.get("/tags/walks/rss.xml").location == "/tags/strolls-long/rss.xml"
    assert "<category>Strolls long</category>" in ada.client.get("/rss.xml").text

    walking, _ = row(ada.get("/studio/tags"), "walking")
    answer = ada.post(f"/studio/tags/{walks}", name="WALKING")
    assert "There is already a tag <strong>walking</strong>, on 2 posts." in answer.text
    assert titles(ada, "strolls-long") == ["Both", "One"]
    ada.post(f"/studio/tags/{walks}/merge", into=str(walking))
    assert titles(ada, "walking") == ["Both", "Two", "One"]
    for old in ("walks", "strolls-long"):
        answer = ada.client.get(f"/tags/{old}")
        assert (answer.status_code, answer.location) == (301, "/tags/walking")
    assert row(ada.get("/studio/tags"), "walking")[1] == [3, 3]
    assert the_post(site).version == 1

    make_post(site, "x", title="Anew", tags=["walks"])  # the name is free again
    assert titles(ada, "walks") == ["Anew"]

    ada.post(f"/studio/tags/{walking}/remove")
    assert ada.client.get("/tags/walking").status_code == 404
    assert ada.client.get("/tags/strolls-long").status_code == 404


def test_bad_names_and_rights(ada: Browser, site: Site) -> None:
    """A name without a letter is refused beside its field; authors see tags and change none."""
    make_post(site, "x", tags=["walks"])
    number, _ = row(ada.get("/studio/tags"), "walks")
    for name in ("", "++", "x" * 61):
        answer = ada.post(f"/studio/tags/{number}", name=name)
        assert answer.status_code == 422
        assert "letters or digits" in answer.text.lower()
    for into in ("", "99", "x", "9" * 30):
        assert ada.post(f"/studio/tags/{number}/merge", into=into).status_code == 404
    assert ada.post("/studio/tags/99", name="x").status_code == 404
    make_author(site, "bob")
    ada.post("/studio/logout")
    ada.log_in("bob")
    assert "walks" in ada.get("/studio/tags")
    assert "Rename" not in ada.get("/studio/tags")
    assert ada.post(f"/studio/tags/{number}", name="x").status_code == 403


def test_the_editor_knows_the_tags(ada: Browser, site: Site) -> None:
    """Those that somebody may see are offered."""
    make_post(site, "x", tags=["walks", "c++"])
    assert '<option value="c++"><option value="walks">' in ada.get("/studio/posts/new")
