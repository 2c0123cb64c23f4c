"""Small sites and exports, written by hand: what their owner would notice after the import."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import PurePosixPath
from typing import Any

import pytest

from publisher.base.errors import InvalidData
from publisher.installation import Site
from publisher.parts.importing import planning
from publisher.parts.importing.formats import recognition
from publisher.parts.importing.planning import PreparedPost
from publisher.parts.importing.sites import permalinks
from tests.conftest import MONDAY_MORNING
from tests.factories import make_author
from tests.parts.importing.conftest import Importer, batch_of, document, folder

HEAD = "---\ntitle: A title\ndate: 2020-03-04 05:06:07\n"
POST = "_posts/2020-03-04-tea.md"


def prepared(files: Mapping[str, str]) -> dict[str, PreparedPost]:
    """The posts of a folder by their files."""
    return {post.post.where: post for post in planning.prepare(batch_of(files), MONDAY_MORNING)}


def address(files: Mapping[str, str], where: str) -> str:
    """Where a file of the folder was to be seen."""
    return {post.where: post.address for post in batch_of(files).posts}[where]


def text(files: Mapping[str, str], body: str, where: str = POST) -> str:
    """What becomes of a post's text."""
    (post,) = batch_of({**files, where: f"{HEAD}---\n{body}"}).posts
    return post.source.strip()


# -- Jekyll


@pytest.mark.parametrize(
    ("permalink", "paths"),
    [
        ("/:title/", ["/tea/"]),
        ("/:title", ["/tea", "/tea.html"]),
        ("/:title.html", ["/tea.html"]),
    ],
)
def test_an_address_without_an_ending_was_a_file_too(permalink: str, paths: list[str]) -> None:
    """Servers show the file under either name; a folder and a file have one address."""
    files = {"_config.yml": f"permalink: {permalink}\n", POST: f"{HEAD}---\nx"}
    assert prepared(files)[POST].old_paths == paths


def test_defaults_of_a_folder_or_a_kind() -> None:
    """The last that fits counts, and a text's own address before all."""
    rules = [
        {"scope": {"path": ""}, "values": {"permalink": "/all/:title/"}},
        {"scope": {"path": "trips"}, "values": {"permalink": "/far/:title/"}},
        {"scope": {"path": "", "type": "pages"}, "values": {"permalink": "/p/:basename/"}},
        {"scope": {"path": "", "type": "posts"}, "values": {"layout": "post"}},
    ]
    places = (POST, "trips/_posts/2020-03-04-north.md", "about.md")
    files = {"_config.yml": json.dumps({"defaults": rules})} | dict.fromkeys(
        places, f"{HEAD}---\nx"
    )
    files["_posts/2020-03-05-own.md"] = f"{HEAD}permalink: /own/\n---\nx"
    assert {post.where: post.address for post in batch_of(files).posts} == {
        POST: "/all/tea/", places[1]: "/far/north/", "about.md": "/p/about/",
        "_posts/2020-03-05-own.md": "/own/",
    }  # fmt: skip


def test_every_word_for_a_date_is_written_as_jekyll_writes_it() -> None:
    """Years, months, days and weeks in their long and short forms, and the seconds since 1970."""
    date = datetime(2024, 1, 3, 4, 5, 6, tzinfo=UTC)
    words = {
        "year": "2024", "short_year": "24", "month": "01", "i_month": "1", "day": "03",
        "i_day": "3", "hour": "04", "minute": "05", "second": "06", "y_day": "003",
        "yearday": "3", "short_month": "Jan", "long_month": "January", "monthname": "January",
        "short_day": "Wed", "long_day": "Wednesday", "weekdayname": "Wednesday", "weekday": "3",
        "w_year": "2024", "week": "01", "w_day": "3", "timestamp": "1704254706",
    }  # fmt: skip
    made = {word: permalinks.filled(f":{word}", {}, date) for word in words}
    assert made == {word: f"/{value}" for word, value in words.items()}


def test_what_liquid_puts_before_and_behind_a_word() -> None:
    """Also an address that is put together in this way."""
    files = {"_config.yml": "baseurl: /blog\n"}
    assert text(files, '{{ "tea" | prepend: "green " }}') == "green tea"
    assert text(files, '{{ "tea" | append: " pot" }}') == "tea pot"
    assert text(files, "[a]({{ '/a.pdf' | prepend: site.baseurl }})") == "[a](/blog/a.pdf)"
    kept = '{{ "tea" | truncate: "3" }}'
    assert text(files, kept) == kept


def test_words_between_two_codes_are_no_code() -> None:
    """The end of one is not the beginning of the next."""
    body = "```\n{{ page.title }}\n```\n\n{{ page.title }}\n\n```\n{{ page.title }}\n```"
    assert text({"_config.yml": ""}, body) == (
        "```\n{{ page.title }}\n```\n\nA title\n\n```\n{{ page.title }}\n```"
    )


# -- Hugo


@pytest.mark.parametrize(
    ("shortcode", "shown"),
    [
        ("gist ada 7896402", "https://gist.github.com/ada/7896402"),
        ("gist ada/7896402 tea.py", "https://gist.github.com/ada/7896402"),
        ("gist 7896402", "https://gist.github.com/7896402"),
        ('youtube w7Ft2ymGmfc "A film"', "https://www.youtube.com/watch?v=w7Ft2ymGmfc"),
        ("vimeo 146022717 wide", "https://vimeo.com/146022717"),
        ("instagram BWNjjyYFxVx hidecaption", "https://www.instagram.com/p/BWNjjyYFxVx/"),
        ('tweet user="ada" id="877500564405444608"',
         "https://twitter.com/ada/status/877500564405444608"),
    ],
)  # fmt: skip
def test_what_is_shown_from_elsewhere_becomes_its_address(shortcode: str, shown: str) -> None:
    """Whose it is belongs to a gist; what else a shortcode is told does not."""
    files = {"hugo.toml": 'baseURL = "https://old.example/"'}
    assert text(files, f"{{{{< {shortcode} >}}}}", "content/posts/tea.md") == shown


def test_former_addresses_of_hugo() -> None:
    """From the root of the site with a slash, else beside the post; of a bundle beside its
    folder."""
    aliases = "aliases: [/old/, 2019/tea, 'https://older.example/tea']\n---\nx"
    files = {
        "hugo.toml": 'baseURL = "https://old.example/blog/"',
        "content/posts/tea.md": HEAD + aliases,
        "content/posts/pot/index.md": HEAD + aliases,
    }
    wanted = ("/blog/old/", "/blog/posts/2019/tea", "https://older.example/tea")
    assert [post.aliases for post in batch_of(files).posts] == [wanted, wanted]


# -- Eleventy


@pytest.mark.parametrize(
    ("permalink", "path"),
    [
        ("/{{ title | slugify }}/", "/a-title/"),
        ("{{ page.fileSlug }}.html", "/tea.html"),
        ("{{ page.filePathStem }}/index.html", "/posts/tea/"),
        ("/{{ page.date | date: '%Y/%m' }}/{{ page.fileSlug }}/", "/2020/03/tea/"),
        ("/{{ page.date | readable }}/", ""),
        ("/{{ title | shout }}/", ""),
        ("/{{ unknown }}/", ""),
        ("/{% if a %}b{% endif %}/", ""),
    ],
)
def test_patterns_of_eleventy(permalink: str, path: str) -> None:
    """Given for a folder; what only the site's own program knows is not guessed."""
    where = "posts/2020-03-04-tea.md"
    files = {
        "eleventy.config.js": "", where: f"{HEAD}---\nx",
        "posts/posts.json": json.dumps({"permalink": permalink}),
    }  # fmt: skip
    assert address(files, where) == path


# -- Astro


def test_a_collection_inside_the_folder_of_another_one() -> None:
    """A text belongs to the innermost."""
    files = {
        "astro.config.mjs": "",
        "src/content.config.ts": 'const notes = defineCollection({ loader: glob({ base: "./n" }) })'
        '\nconst trips = defineCollection({ loader: glob({ base: "./n/trips" }) })'
        "\nexport const collections = { notes, trips }",
        "src/pages/notes/[slug].astro": 'getCollection("notes")',
        "src/pages/by-train/[slug].astro": 'getCollection("trips")',
        "n/tea.md": f"{HEAD}---\nx",
        "n/trips/north.md": f"{HEAD}---\nx",
    }
    assert address(files, "n/tea.md") == "/notes/tea/"
    assert address(files, "n/trips/north.md") == "/by-train/north/"


def test_addresses_of_docusaurus() -> None:
    """A text's own below the blog, else its date and name; the documentation is not imported."""
    files = {
        "docusaurus.config.js": "",
        "blog/own.md": f"{HEAD}slug: /own/\n---\nx",
        "blog/2020-03-04-tea.md": f"{HEAD}---\nx",
        "blog/2020-03-05-pot/index.md": f"{HEAD}---\nx",
        "docs/guide.md": f"{HEAD}---\nx",
    }
    assert sorted(post.address for post in batch_of(files).posts) == [
        "/blog/2020/03/04/tea", "/blog/2020/03/05/pot", "/blog/own",
    ]  # fmt: skip
    batch = recognition.read(folder(files), None, UTC, "/:year/:slug/")
    assert {"/2020/own/", "/2020/tea/"} <= {post.address for post in batch.posts}


# -- Hexo and Pelican


def test_a_head_that_is_no_yaml_has_its_title_all_the_same() -> None:
    """A colon in the title, and a line below that looks like the end of a head."""
    body = "title: Tea: a story\ndate: 2020-03-04\n\nGreen\n---\nBlack"
    (post,) = batch_of({"pelicanconf.py": "", "content/tea.md": body}).posts
    assert (post.title, post.source) == ("Tea: a story", "Green\n---\nBlack")


def test_addresses_of_pelican() -> None:
    """A text's own, with or without its slash; none for a title that only Pelican can spell; the
    pattern that the person gives is for posts, not for pages."""
    files = {
        "pelicanconf.py": "PATH = 'texts'",
        "texts/own.md": "Title: Own\nDate: 2020-03-04\nUrl: own.html\n\nx",
        "texts/green.md": "Title: \u8336\nDate: 2020-03-04\n\nx",
        "texts/tea.md": "Title: Tea\nDate: 2020-03-04\n\nx",
        "texts/pages/pot.md": "Title: Pot\nDate: 2020-03-04\n\nx",
    }
    usual = {"own": "/own.html", "green": "", "tea": "/tea.html", "pot": "/pages/pot.html"}
    for pattern, wanted in (("", usual), ("/:year/:slug/", usual | {"tea": "/2020/tea/"})):
        batch = recognition.read(folder(files), None, UTC, pattern)
        found = {post.where: post.address for post in batch.posts}
        assert {PurePosixPath(where).stem: found[where] for where in found} == wanted


# -- our own export


def exported(medium: Mapping[str, Any] | None = None, format_: object = 1) -> dict[str, str]:
    """An export in a folder of its own, with one post and at most one picture."""
    manifest = {"format": format_, "media": [medium] if medium else []}
    return {
        "blog/publisher.json": json.dumps(manifest),
        "blog/posts/tea.md": f"{HEAD}---\nWords.",
        "other/posts/no.md": f"{HEAD}---\nNot of the export.",
    }


def test_an_export_of_ours_in_a_folder_of_its_own() -> None:
    """Its posts alone; an export of a later form is refused."""
    assert [post.source for post in batch_of(exported()).posts] == ["Words."]
    for other in (0, 2, None):
        with pytest.raises(InvalidData, match="not an export that this version knows"):
            batch_of(exported(format_=other))


def test_sizes_of_pictures_are_numbers() -> None:
    """From nothing on; a number that no picture has is refused with its file."""
    medium = {
        "digest": "a" * 64, "extension": "png", "created_at": "2020-03-04T05:06:07Z",
        "widths": [480], "bytes": 5, "width": 640, "height": 0,
    }  # fmt: skip
    site = batch_of(exported(medium)).site
    assert site is not None
    assert [(row["bytes"], row["widths"], row["height"]) for row in site.media] == [(5, [480], 0)]
    for wrong in (-1, 2**31, 2**40, "5", None):
        with pytest.raises(InvalidData, match=r"publisher.json: a number from 0 on is needed"):
            batch_of(exported(medium | {"bytes": wrong}))


# -- the report


def test_a_post_of_wordpress_is_named_by_the_beginning_of_its_title() -> None:
    """Forty letters; without a title its number alone."""
    items = "".join(
        f"<item><title>{title}</title><wp:post_type>post</wp:post_type>"
        "<wp:status>publish</wp:status></item>"
        for title in ("x" * 50, "")
    )
    export = (
        '<rss version="2.0" xmlns:wp="http://wordpress.org/export/1.2/"><channel>'
        f"<wp:wxr_version>1.2</wp:wxr_version>{items}</channel></rss>"
    )
    posts = recognition.read(document(export), None, UTC).posts
    assert [post.where for post in posts] == [f"item 1 ({'x' * 40})", "item 2"]


@pytest.mark.parametrize(
    ("heir", "fate"), [("ada", "given to the one you chose"), ("", "without an author")]
)
def test_the_report_says_whose_the_posts_of_strangers_are(
    site: Site, importer: Importer, heir: str, fate: str
) -> None:
    """Of the author that was chosen, or nobody's."""
    make_author(site, "ada")
    batch = batch_of({POST: f"{HEAD}author: Zoe\n---\nx"})
    plan = importer(batch, heir)
    assert f"1 post by 'Zoe', who is not an author here: {fate}" in planning.sentences(plan, batch)


def test_what_is_to_be_done_leads_to_the_post_in_the_studio(site: Site, importer: Importer) -> None:
    """As soon as it is stored."""
    batch = batch_of({POST: f"{HEAD}---\n![](gone.jpg)"})
    importer(batch)
    posts = list(planning.prepare(batch, site.clock()))
    with site.database.read() as db:
        before, after = (
            [*planning.manual_steps(db, lambda: posts, {}, stored)] for stored in (False, True)
        )
    assert [step[3] for step in before] == [""]
    assert [step[3] for step in after] == ["/studio/posts/1"]
