"""Folders of Markdown: Jekyll, Hugo, plain notes."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from publisher.exchange import front_matter
from publisher.parts.importing.formats import recognition
from tests.parts.importing.conftest import folder, one


def test_hugo_with_yaml() -> None:
    """Dates with offset, tags and categories, aliases, drafts."""
    post = one(
        """---
title: "Tea: a love story"
date: 2020-01-02T03:04:05+02:00
lastmod: 2020-02-02
tags: [tea, Tea time]
categories: [Food]
aliases: [/old/tea/, /older]
description: Short
author: Ada
---

Text
""",
        name="content/posts/tea.md",
    )
    assert (post.title, post.slug, post.source) == ("Tea: a love story", "tea", "Text\n")
    assert post.published_at == datetime(2020, 1, 2, 1, 4, 5, tzinfo=UTC)
    assert (post.tags, post.by) == (("tea", "Tea time", "Food"), ("Ada",))
    assert (post.aliases, post.summary) == (("/old/tea/", "/older"), "Short")
    assert (post.source_format, post.status) == ("markdown", "published")


def test_hugo_with_toml() -> None:
    """TOML has dates of its own; they mean the same."""
    post = one(
        '+++\ntitle = "T"\ndate = 2020-01-02T03:04:05Z\ntags = ["a"]\n+++\nText', name="t.md"
    )
    assert post.published_at == datetime(2020, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert (post.title, post.tags, post.source) == ("T", ("a",), "Text")


def test_hugo_shows_from_when_until_when() -> None:
    """A post whose day has not come is not public now; one that was to go is told of."""
    head = "---\ntitle: T\ndate: 2020-01-02\n{}\n---\nText"
    later = one(head.format("publishDate: 2099-01-01"), name="a.md")
    assert later.published_at == datetime(2099, 1, 1, tzinfo=UTC)
    assert one(head.format("publishDate: 2019-01-01"), name="a.md").published_at == datetime(
        2020, 1, 2, tzinfo=UTC
    )
    gone = one(head.format("expiryDate: 2021-01-01"), name="a.md")
    assert gone.needs == ("it was to be shown until 2021-01-01",)


def test_json_on_one_line() -> None:
    """Hugo reads it however it is broken into lines."""
    post = one('{"title": "J", "date": "2020-01-02"}\n\nText', name="a.md")
    assert (post.title, post.source) == ("J", "Text")


def test_a_pattern_is_filled_in() -> None:
    """Jekyll fills in `:title`."""
    post = one("---\ntitle: T\npermalink: /:year/:title/\n---\nx", name="_posts/2020-01-02-tea.md")
    assert (post.slug, post.address) == ("tea", "/2020/tea/")


def test_jekyll() -> None:
    """The file's name carries date and slug, `_drafts` holds drafts, tags stand between spaces."""
    batch = recognition.read(
        folder(
            {
                "blog/_posts/2020-01-02-hello-world.md": "---\nlayout: post\ntags: a b\n---\nHi",
                "blog/_drafts/later.md": "---\ntitle: Later\ndate: 2020-01-01\n---\nHm",
                "blog/about.md": "---\nlayout: page\ntitle: About\npermalink: /me/\n---\nMe",
                "blog/README.md": "# Not a post",
                "blog/_site/index.html": "<html></html>",
            }
        ),
        None,
        ZoneInfo("America/New_York"),
    )
    posts = {post.slug: post for post in batch.posts}
    assert posts.keys() == {"hello-world", "later", "me"}
    assert posts["hello-world"].published_at == datetime(2020, 1, 2, 5, tzinfo=UTC)
    assert posts["hello-world"].tags == ("a", "b")
    assert posts["hello-world"].guid == "urn:file:_posts/2020-01-02-hello-world.md"
    assert posts["later"].status == "draft"
    assert (posts["me"].kind, posts["me"].address) == ("page", "/me/")
    assert sum(batch.notes.values()) == 2


def test_a_whole_site_of_hugo() -> None:
    """As `hugo new site` makes it: its model of a post is no YAML, and a theme has posts too."""
    files = {
        "site/content/posts/tea.md": "---\ntitle: Tea\ndate: 2020-01-02\n---\nTea",
        "site/content/themes/sea.md": "---\ntitle: Sea\ndate: 2020-01-02\n---\nSea",
        "site/archetypes/default.md": '---\ntitle: "{{ replace .Name "-" " " }}"\n---\n',
        "site/themes/ananke/exampleSite/content/a.md": "---\ntitle: A\ndate: 2020-01-02\n---\nA",
        "site/hugo.toml": "title = 'x'",
    }
    assert {post.title for post in recognition.read(folder(files), None, UTC).posts} == {
        "Tea",
        "Sea",
    }


def test_a_date_by_another_name() -> None:
    """Astro says `pubDate`."""
    post = one('---\ntitle: T\npubDate: "Jul 08 2022"\n---\nText', name="t.md")
    assert (post.status, post.published_at) == ("published", datetime(2022, 7, 8, tzinfo=UTC))


def test_a_draft_by_another_name_is_not_published() -> None:
    """Pelican and others say `status`."""
    for status in ("draft", "hidden", "Private", "published"):
        post = one(f"---\ntitle: T\ndate: 2020-01-02\nstatus: {status}\n---\nText", name="t.md")
        assert post.status == ("published" if status == "published" else "draft")


def test_plain_notes() -> None:
    """Without front matter the first heading is the title; without a date it is a draft."""
    post = one("# My note\n\nText", name="note.md")
    assert (post.title, post.source, post.status) == ("My note", "Text", "draft")


def test_words_stay_words() -> None:
    """YAML does not get to turn a title into a number, a date or a truth."""
    fields, _ = front_matter.split_front_matter(
        "---\ntitle: 1.10\nslug: no\ndate: 2020-01-02\nx: ~\n---\n"
    )
    assert fields == {"title": "1.10", "slug": "no", "date": "2020-01-02", "x": None}


@pytest.mark.parametrize(
    "text",
    [
        "---\ntitle: [a\n---\nText",
        "---\n- a\n---\nText",
        "+++\ntitle = \n+++\nText",
        "---\ndate: 2020-99-99\n---\nText",
        "---\ntitle: !!python/object/apply:os.system [id]\n---\nText",
        "---\n" + "a: " + "[" * 5000 + "\n---\nText",
        b"---\ntitle: caf\xe9\n---\nText",
    ],
)
def test_a_broken_file_is_a_draft_with_its_reason(text: str | bytes) -> None:
    """Whatever is wrong with a file stops no other, and its words are there."""
    data = text.encode() if isinstance(text, str) else text
    good = "---\ntitle: Good\ndate: 2020-01-02\n---\nx"
    bad, fine = recognition.read(folder({"a.md": data, "b.md": good}), None, UTC).posts
    assert (bad.status, fine.status, fine.needs) == ("draft", "published", ())
    assert "became a draft" in bad.needs[0]
    assert "Text" in bad.source or "[[[[" in bad.source


def test_windows_files() -> None:
    """A byte order mark and line ends of Windows, or of an old Mac, change nothing."""
    for end in ("\r\n", "\r"):
        post = one(f"\ufeff---{end}title: T{end}---{end}Text{end}", name="t.md")
        assert (post.title, post.source) == ("T", "Text\n")


@pytest.mark.parametrize(
    ("body", "picture"),
    [
        ("![A cup](cup.jpg)", ""),
        ('<img src="./cup.jpg">', ""),
        ("![A cup](<cup.jpg>)", ""),
        ("![A cup](teacup.jpg)", "cup.jpg"),
        ("![A cup](/cup.jpg)", ""),
        ("cup.jpg", "cup.jpg"),
        ("[Large](cup.jpg)", "cup.jpg"),
        ("`![A cup](cup.jpg)`\n\n```css\nurl('cup.jpg')\n```", "cup.jpg"),
        ("![x](../2019/cup.jpg) ![x](https://other.example/old/cup.jpg)", "cup.jpg"),
        ("![Milk](milk.jpg) ![A cup](cup.jpg)", "cup.jpg"),
    ],
)
def test_a_picture_that_the_text_shows_is_not_shown_twice(body: str, picture: str) -> None:
    """Blogs of Quarto have it in both places; a card takes the text's first picture."""
    head = "---\ntitle: T\ndate: 2020-03-04\nimage: cup.jpg\n---\n"
    (post,) = recognition.read(folder({"a/b.md": head + body, "c.txt": ""}), None, UTC).posts
    assert post.image == picture
    assert not one(head.replace("cup", "my cup") + "![x](my%20cup.jpg)", name="t.md").image
    page = one(f"{head}<p><img src='cup.jpg'></p>", name="t.html")
    assert (page.source_format, page.image) == ("html", "")
    assert one(f"{head}<p>Tea</p>", name="t.html").image == "cup.jpg"


@pytest.mark.parametrize(
    ("head", "picture", "alt"),
    [
        ("image: a.jpg\nimage_alt: A boat", "a.jpg", "A boat"),
        ("cover:\n  image: a.jpg\n  alt: A boat", "a.jpg", "A boat"),
        ("images: [a.jpg]", "a.jpg", ""),
        ("images: [a.jpg, b.jpg]", "a.jpg", ""),
        ("images:\n- url: a.jpg\n  alt: A boat\n- url: b.jpg", "a.jpg", "A boat"),
        ("images: []", "", ""),
        ("image: false\nthumbnail: https://a.example/b", "https://a.example/b", ""),
        ("image: A boat\nheader: {teaser: a.jpg}\nheaderalt: At sea", "a.jpg", "At sea"),
    ],
)
def test_the_picture_of_a_post_by_the_names_that_themes_give_it(
    head: str, picture: str, alt: str
) -> None:
    post = one(f"---\ntitle: T\ndate: 2020-01-02\n{head}\n---\nText", name="t.md")
    assert (post.image, post.image_alt) == (picture, alt)
