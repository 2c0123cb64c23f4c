"""What a site did not show everybody becomes a draft, whatever its generator calls that."""

from collections.abc import Mapping
from datetime import UTC

import pytest

from publisher.parts.importing.formats import recognition
from publisher.parts.importing.imported import ImportedPost
from tests.parts.importing.conftest import folder

HEAD = "title: Tea\ndate: 2023-06-10\n"
TEXT = f"---\n{HEAD}---\nHot.\n"
QUARTO = "project:\n  type: website\n"


def read(files: Mapping[str, str]) -> dict[str, ImportedPost]:
    """The posts of a folder by their files."""
    return {post.where: post for post in recognition.read(folder(files), None, UTC).posts}


@pytest.mark.parametrize(
    ("name", "settings", "shown", "hidden"),
    [
        ("quartz.config.ts", 'const c = { ignorePatterns: ["private", "**/wip/*", "/t/x*"] }',
         "content/a.md content/privately.md content/b/t/x.md",
         "content/private/a.md content/b/private/c/a.md content/b/wip/a.md content/t/x.md"),
        ("quartz.config.ts", "const c = { ignorePatterns: hidden }", "content/a.md",
         "content/private/a.md content/templates/a.md"),
        ("quartz.config.ts", "x = [Plugin.ExplicitPublish()]", "", "content/a.md"),
        ("quartz.config.ts", "x = [\n  // Plugin.ExplicitPublish()\n]", "content/a.md", ""),
        ("mkdocs.yml",
         "draft_docs: wip/\nexclude_docs: |\n  # not yet\n  private/\n  *.x.md\n  !b.x.md\n",
         "docs/a.md docs/b.x.md docs/b/a.md", "docs/private/a.md docs/a.x.md docs/b/wip/a.md"),
        ("_quarto.yml", f"{QUARTO}  render: ['!drafts/', '!b/*.md']\n",
         "posts/a.qmd", "drafts/a.qmd posts/drafts/a.qmd b/a.md"),
        ("_quarto.yml", f"{QUARTO}  render: [posts/, '*.md', '!x.qmd']\n",
         "posts/a/b.qmd c/a.md", "a.qmd other/posts/a.qmd posts/x.qmd"),
        ("_quarto.yml", f"{QUARTO}website:\n  drafts: posts/a.qmd\n", "posts/b.qmd", "posts/a.qmd"),
    ],
)  # fmt: skip
def test_lists_of_what_is_not_shown(name: str, settings: str, shown: str, hidden: str) -> None:
    """As each generator has them, with folders, signs for any name and exceptions."""
    places = (shown.split(), hidden.split())
    posts = read({name: settings, **{place: TEXT for few in places for place in few}})
    of_status = {status: [n for n, post in posts.items() if post.status == status]
                 for status in ("published", "draft")}  # fmt: skip
    assert of_status == {"published": sorted(places[0]), "draft": sorted(places[1])}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Public. %%call `her` ``about%% More.", "Public.  More."),
        ("One.\n\n%%\nTwo.\n\n```\nx\n```\n%%\n\nThree `%%` and `%%`.",
         "One.\n\n\n\nThree `%%` and `%%`."),
        ("```\n%%\n```\n100%% sure", "```\n%%\n```\n100%% sure"),
    ],
)  # fmt: skip
def test_comments_of_obsidian(text: str, shown: str) -> None:
    """They go, with code in them; signs in code stay, and so does one that closes nothing."""
    for files in ({"b/c.txt": ""}, {"quartz.config.ts": ""}):
        post = read({**files, "content/a.md": f"---\n{HEAD}---\n{text}"})["content/a.md"]
        assert post.source == shown
        post = read({**files, "content/a.md": "---\ndate: 2023-06-10\n---\n# Tea %%b%%"})[
            "content/a.md"
        ]
        assert post.title == "Tea"
    assert (
        read({"hugo.toml": "", "content/p/a.md": f"---\n{HEAD}---\na %%b%%"})[
            "content/p/a.md"
        ].source
        == "a %%b%%"
    )


@pytest.mark.parametrize(
    "field",
    [
        "draft: true", "private: true", "unlisted: true", "hidden: yes", "isDraft: true",
        "visibility: private", "status: Unlisted", "password: tea", "published: false",
        "publish: false", "public: false", "listed: false", "dg-publish: false", "render: false",
        "eleventyExcludeFromCollections: true",
    ],
)  # fmt: skip
def test_fields_that_keep_a_text_from_readers(field: str) -> None:
    """Whatever the generator; the opposite keeps nothing."""
    assert read({"a.md": f"---\n{HEAD}{field}\n---\nHot.", "b/c.txt": ""})["a.md"].status == "draft"
    open_ = "private: false\nhidden: no\npassword: ''\npublish: true\nvisibility: public\n"
    assert read({"a.md": f"---\n{HEAD}{open_}---\n", "b/c.txt": ""})["a.md"].status == "published"


@pytest.mark.parametrize(
    ("settings", "shown", "hidden"),
    [
        ({"b/c.txt": ""}, "b/a.md", "Drafts/a.md private/b/a.md"),
        ({"_config.yml": "exclude: [far]\ndefaults: [{scope: {path: _posts/x}, "
         "values: {published: false}}]"}, "_posts/2023-06-10-a.md",
         "far/_posts/2023-06-10-a.md _posts/x/2023-06-10-a.md"),
        ({"hugo.toml": "ignoreFiles = ['content/far/.*', '(']",
          "content/x/_index.md": "---\ncascade: [{build: {list: never}}]\n---"},
         "content/b/a.md", "content/far/a.md content/x/b/a.md"),
        ({"zola.toml": "base_url = 'https://old.example'\nignored_content = ['far/*']",
          "content/x/_index.md": "+++\ndraft = true\n+++", "content/x/b/_index.md": ""},
         "content/b/a.md", "content/far/a.md content/x/b/a.md"),
        ({"_config.yml": "exclude: ['_posts/far/*']\nignore: _posts/x"},
         "source/_posts/a.md", "source/_posts/far/a.md source/_posts/x/a.md"),
        ({"pelicanconf.py": "ARTICLE_EXCLUDES = ['far']\nIGNORE_FILES = ['x*']"},
         "content/a.md", "content/far/a.md content/b/x.md"),
        ({"pelicanconf.py": "DEFAULT_METADATA = {'status': 'draft'}"}, "", "content/a.md"),
        ({"eleventy.config.js": "c.ignores.add('./far/**')", "x/x.json": '{"draft": true}',
          "y/y.11tydata.js": "export default { permalink: false }",
          "z/z.json": '{"eleventyExcludeFromCollections": true}'},
         "b/a.md", "far/a.md x/b/a.md y/a.md z/a.md"),
        ({"docusaurus.config.js": "x = { blog: { exclude: ['far/**'] } }"},
         "blog/a.md", "blog/far/a.md blog/_a.md blog/_x/a.md"),
    ],
)  # fmt: skip
def test_what_settings_and_folders_keep_from_readers(
    settings: dict[str, str], shown: str, hidden: str
) -> None:
    """By lists of files, and by fields that all texts of a folder have."""
    posts = read(settings | dict.fromkeys([*shown.split(), *hidden.split()], TEXT))
    assert {name for name, post in posts.items() if post.status == "published"} == {*shown.split()}
    assert {name for name, post in posts.items() if post.status == "draft"} == {*hidden.split()}


def test_a_text_says_more_than_its_folder() -> None:
    """As Hugo and Pelican have it."""
    own = f"---\n{HEAD}draft: false\nstatus: published\n---\n"
    cascade = {"hugo.toml": "", "content/x/_index.md": "---\ncascade: {draft: true}\n---"}
    default = {"pelicanconf.py": "DEFAULT_METADATA = {'status': 'draft'}"}
    for files in (cascade, default):
        assert read({**files, "content/x/a.md": own})["content/x/a.md"].status == "published"
