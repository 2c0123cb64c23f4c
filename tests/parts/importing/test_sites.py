"""Folders of generators, read as the generator reads them; where it runs, see `test_generators`."""

from collections.abc import Mapping

import pytest

from publisher.installation import Site
from publisher.parts.importing import planning
from publisher.parts.importing.sites import permalinks
from tests.parts.importing.conftest import batch_of

HEAD = "---\ntitle: A title\ndate: 2020-03-04 05:06:07\n"


def addresses(files: Mapping[str, str]) -> list[str]:
    return [post.address for post in batch_of(files).posts]


def test_pelican_names_a_post_by_its_title_or_its_file() -> None:
    """By the title unless it is said otherwise."""
    text = {"content/a-file.md": "Title: A title\nDate: 2020-03-04\n\nx"}
    assert addresses({"pelicanconf.py": "", **text}) == ["/a-title.html"]
    by_file = {"pelicanconf.py": "SLUGIFY_SOURCE = 'basename'\n", **text}
    assert addresses(by_file) == ["/a-file.html"]


def test_hexo_leaves_the_date_out_of_a_name_if_the_site_writes_it_there() -> None:
    """Files are then called by date and title, also below a folder."""
    text = {"source/_posts/trips/2020-03-04-north.md": f"{HEAD}---\nx"}
    plain = {"_config.yml": "permalink: :year/:title/\n", **text}
    assert addresses(plain) == ["/2020/trips/2020-03-04-north/"]
    dated = {
        "_config.yml": "permalink: :year/:title/\nnew_post_name: :year-:month-:day-:title.md\n"
    }
    assert addresses({**dated, **text}) == ["/2020/trips/north/"]


def test_a_feed_that_the_site_wrote_itself_leads_here() -> None:
    """A template of a feed at the root of a Jekyll site, and no other file that ends in .xml."""
    files = {
        "_config.yml": "url: https://old.example\n",
        "_posts/2020-03-04-one.md": f"{HEAD}---\nx",
        "news.xml": '---\n---\n<rss version="2.0"></rss>',
        "sitemap.xml": "---\n---\n<urlset></urlset>",
    }
    feeds = batch_of(files).old_feeds
    assert [feed.rpartition("/")[2] for feed in feeds] == ["news.xml"]


def test_signs_of_hugo_are_plain_text_elsewhere() -> None:
    """A text about Hugo on another site keeps what it shows."""
    shown = "Write {{< youtube dQw4w9WgXcQ >}} there."
    (post,) = batch_of({"_posts/2020-03-04-one.md": f"{HEAD}---\n{shown}"}).posts
    assert post.source.strip() == shown


def test_what_eleventy_does_not_write_has_no_address() -> None:
    """It says so with an empty permalink or `false`; without one the path counts."""
    made = {
        "eleventy.config.js": "", "a.md": f"{HEAD}permalink: false\n---\nx",
        "c.md": f"{HEAD}---\nx", "b.md": f'{HEAD}permalink: ""\n---\nx',
        "d.md": f"{HEAD}permalink: /own/\n---\nx",
    }  # fmt: skip
    assert addresses(made) == ["", "", "/c/", "/own/"]


def test_one_line_is_a_head_for_pelican() -> None:
    """A date or a title alone."""
    (post,) = batch_of({"pelicanconf.py": "", "content/a.md": "Date: 2020-03-04\n\nWords."}).posts
    assert (post.published_at is not None, post.source.strip()) == (True, "Words.")


def test_folders_that_jekyll_does_not_show() -> None:
    """Those with an underscore, but for posts, drafts and collections that it writes; gems."""
    hidden = ("_notes/a.md", "_data/a.md", "vendor/a/a.md", "_site/a.md")
    shown = {name: f"{HEAD}---\n{name}" for name in (
        "_posts/2020-03-04-a.md", "_recipes/a.md", "docs/vendor/a.md", "_private/_posts/a.md",
        *hidden,
    )}  # fmt: skip
    config = "collections:\n  recipes: {output: true}\n  notes: {output: false}\n"
    posts = batch_of({"_config.yml": config, **shown}).posts
    assert sorted(post.source.strip() for post in posts) == [
        "_posts/2020-03-04-a.md", "_recipes/a.md", "docs/vendor/a.md",
    ]  # fmt: skip


def test_code_ends_with_its_own_fence() -> None:
    """Longer or equal, of the same sign, alone on its line; what looks like a tag inside stays."""
    code = "~~~~\n{{ a }}\n~~~\n~~~~ x\n````\n{{ b }}\n~~~~~\n"
    (post,) = batch_of({
        "_config.yml": "a: A\nb: B\n",
        "_posts/2020-03-04-a.md": f"{HEAD}---\n{code}{{{{ site.a }}}}",
    }).posts  # fmt: skip
    assert post.source.strip() == f"{code}A"


def test_a_folder_of_a_program_has_no_posts_however_deep_it_lies() -> None:
    """What was installed beside the texts, and templates."""
    places = ("a.md", "blog/node_modules/kit/b.md", "blog/layouts/c.md", "blog/d.md")
    posts = batch_of({place: f"{HEAD}---\n{place}" for place in places}).posts
    assert sorted(post.source.strip() for post in posts) == ["a.md", "blog/d.md"]


def test_pages_of_hexo_are_texts_beside_its_posts() -> None:
    """Each at the file that Hexo makes of it; a file called index at its folder."""
    files = {
        "_config.yml": "", "source/_posts/a.md": f"{HEAD}---\nx",
        "source/about.md": f"{HEAD}---\nx", "source/tea/index.md": f"{HEAD}---\nx",
    }  # fmt: skip
    assert sorted((post.kind, post.address) for post in batch_of(files).posts) == [
        ("page", "/about.html"), ("page", "/tea/"), ("post", "/2020/03/04/a/"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("pictures", "told"),
    [
        (None, ["a picture is not here, as pictures were not copied (--images): a.jpg"]),
        ({}, ["a picture could not be copied: a.jpg (it is not in the source)"]),
        ({"a.jpg": "SVG is not accepted"},
         ["a picture could not be copied: a.jpg (SVG is not accepted)"]),
        ({"a.jpg": "", "https://old.example/b.jpg": "it answered 404"},
         [("a picture could not be copied and is shown from its old address: "
          "https://old.example/b.jpg (it answered 404)")]),
        ({"a.jpg": "", "https://old.example/b.jpg": ""}, []),
    ],
    ids=["not copied", "not there", "refused", "not on the web", "all"],
)  # fmt: skip
def test_a_picture_that_is_not_here_is_told(
    site: Site, pictures: dict[str, str] | None, told: list[str]
) -> None:
    """With the reason, to whoever imports."""
    batch = batch_of({"a.md": f"{HEAD}---\n![](a.jpg) ![](https://old.example/b.jpg)"})
    prepared = list(planning.prepare(batch, site.clock()))
    with site.database.read() as db:
        steps = list(planning.manual_steps(db, lambda: prepared, pictures, stored=False))
    assert [(title, what, where) for _, title, what, where in steps] == [
        ("A title", what, "") for what in told
    ]


def test_a_template_is_no_page_and_a_page_with_a_condition_is_one() -> None:
    """What has no words but in its loops lists other posts."""
    files = {
        "_config.yml": "",
        "list.md": f"{HEAD}---\n{{% for p in site.posts %}}\n# {{{{ p.title }}}} by me\n"
        "{% endfor %}\n",
        "about.md": f"{HEAD}---\n{{% for p in site.posts %}}x{{% endfor %}}\n\nWords.",
        "now.md": f"{HEAD}---\n{{% include now.html %}}",
    }
    assert sorted(post.where for post in batch_of(files).posts) == ["about.md", "now.md"]


def test_a_pattern_takes_some_of_the_folders() -> None:
    """As Hugo counts them: from one to before another, or to the end."""
    words = {"sections": "a/b/c", "title": "t"}
    patterns = ("/:sections[1:2]/:title/", "/:sections[1:]/:title")
    assert [permalinks.filled(pattern, words, None) for pattern in patterns] == ["/b/t/", "/b/c/t"]
    assert permalinks.filled("/:unknown/:title/", words, None) == ""
