"""Sites of Quarto, MkDocs, Quartz and Digital Garden: what real ones had, in small."""

import json
from collections.abc import Mapping
from datetime import UTC
from time import process_time

import pytest

from publisher.parts.importing.formats import recognition
from publisher.parts.importing.imported import ImportedPost
from tests.parts.importing.conftest import batch_of, folder

PLACE = "posts/2023-06-10_tea/index.qmd"
QUARTO = {
    "_quarto.yml": "project:\n  type: website\nwebsite:\n  site-url: https://old.example\n",
    "index.qmd": "---\ntitle: Home\nlisting: {contents: posts}\n---\n",
    "posts/_metadata.yml": "author:\n  - name: Ada Tea\n    url: https://ada.example\n",
}
HEAD = '---\ntitle: "Tea"\ndate: "2023-06-10"\ncategories: [R, "Hot water"]\n---\n'
MKDOCS = {
    "mkdocs.yml": "site_url: https://old.example/\nuse_directory_urls: false\n"
    "markdown_extensions:\n  - emoji:\n      index: !!python/name:material.twemoji\n"
    "plugins:\n  - search\n  - blog:\n      blog_dir: .\n      post_url_date_format: yyyy/MM\n",
    "docs/index.md": "# Blog\n",
    "docs/overrides/partials/comments.html": "{% if page.meta.comments %}Comments{% endif %}",
}
POST = "docs/posts/2023/2023-06-10-tea.md"


def one(files: Mapping[str, str]) -> ImportedPost:
    """The only post of a folder."""
    (post,) = batch_of(files).posts
    return post


def kept(markdown: str) -> str:
    """What Quarto keeps of a text whose code was run."""
    return json.dumps({"hash": "x", "result": {"markdown": HEAD + markdown, "supporting": []}})


def test_a_post_of_quarto() -> None:
    """Its address and guid are those of Quarto's feed; the folder's author is a table."""
    post = one({**QUARTO, PLACE: f"{HEAD}\nWater first.\n"})
    assert post.guid == post.address == "https://old.example/posts/2023-06-10_tea/"
    assert (post.title, post.by, post.status) == ("Tea", ("Ada Tea",), "published")
    assert post.tags == ("R", "Hot water")
    assert post.aliases == (f"{post.address}index.html",)


def test_what_the_code_of_quarto_made() -> None:
    """It is taken from `_freeze`, and where it is not there the report says so."""
    code = "```{r}\n#| echo: true\nheat(1)\n```\n\n```{r setup, include=FALSE}\nlibrary(tea)\n```\n"
    bare = one({**QUARTO, PLACE: f"{HEAD}\n{code}"})
    assert bare.source.strip() == "```r\nheat(1)\n```"
    assert bare.needs == ("what its code prints and draws is not in the source",)
    made = (
        "::: {.cell}\n\n```{.r .cell-code}\nheat(1)\n```\n\n"
        "::: {.cell-output .cell-output-stdout}\n```\n[1] 80\n```\n:::\n"
        "![](index_files/figure-html/heat-1.png){width=672}\n:::\n"
        "```{=html}\n<b>hot</b>\n```\n"
    )
    frozen = "_freeze/posts/2023-06-10_tea/index"
    post = one({
        **QUARTO,
        PLACE: f"{HEAD}\n{code}",
        f"{frozen}/execute-results/html.json": kept(made),
        f"{frozen}/figure-html/heat-1.png": "picture",
    })  # fmt: skip
    assert post.needs == ()
    assert [line for line in post.source.split("\n") if line] == [
        "```r", "heat(1)", "```", "```", "[1] 80", "```",
        f"![](../../{frozen}/figure-html/heat-1.png)", "<b>hot</b>",
    ]  # fmt: skip


def test_a_post_of_material_for_mkdocs() -> None:
    """Its title is its first heading, of which its address is made; templates are no texts."""
    head = "---\ndate:\n  created: 2023-06-10\n  updated: 2023-06-11\nauthors: [ada]\n---\n\n"
    batch = batch_of({**MKDOCS, POST: f"{head}# Tea, with `milk` & more\n\nWater first.\n"})
    (post,) = batch.posts
    assert (post.title, post.source.strip()) == ("Tea, with milk & more", "Water first.")
    assert post.address == "https://old.example/2023/06/tea-with-milk--more.html"
    assert (post.guid, post.by, post.status) == (post.address, ("ada",), "published")
    assert f"{post.changed_at:%Y-%m-%d}" == "2023-06-11"
    assert "/feed_rss_created.xml" in batch.old_feeds


@pytest.mark.parametrize(
    ("plugins", "address"),
    [
        ("{search: null, blog: {blog_dir: notes, post_url_format: '{slug}'}}", "/notes/tea/"),
        ("[blog, [odd], {blog: 3}]", "/blog/2023/06/10/tea/"),
        ("[{blog: {post_url_max_categories: x, post_url_format: '{categories}/{file}'}}]",
         "/blog/hot-water/a/"),
    ],
)  # fmt: skip
def test_settings_of_mkdocs(plugins: str, address: str) -> None:
    """Plugins as a table or a list; what is odd in them breaks nothing."""
    place = f"docs/{address.split('/')[1]}/posts/a.md"
    text = "---\ndate: 2023-06-10\ncategories: [Hot water]\n---\n# Tea\n"
    assert one({"mkdocs.yml": f"plugins: {plugins}\n", place: text}).address == address


def test_notes_and_tabs_of_mkdocs() -> None:
    """What is indented below them is no code; their own sign in code stays."""
    body = (
        '!!! note "Read *this*"\n    One.\n\n    ```sh\n    tea --hot\n    ```\n\nTwo.\n\n'
        '=== "Pot"\n\n    Three.\n\n```md\n!!! note\n    stays\n```\n'
    )
    post = one({**MKDOCS, POST: f"---\ndate: 2023-06-10\ntitle: Tea\n---\n{body}"})
    assert [line for line in post.source.split("\n") if line.strip("> ")] == [
        "> **Read *this***", "> One.", "> ```sh", "> tea --hot", "> ```", "Two.",
        "**Pot**", "Three.", "```md", "!!! note", "    stays", "```",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("!!! note\n    ```\n    a\nUnindented rest.\nMore.",
         "> **Note**\n> ```\n> a\n> ```\nUnindented rest.\nMore."),
        ("!!! note\n    ```py\n    ```sh\n    ```\n    b\nc",
         "> **Note**\n> ```py\n> ```sh\n> ```\n> b\nc"),
        ('!!! note "See [docs](/x) [1]"\n    a', "> **See [docs](/x) [1]**\n> a"),
        ('??? "Click me"\n    a', "> **Click me**\n> a"),
        ('!!! question ""\n    a', "> a"),
        ("!!! tip inline end\n\ta\n\tb", "> **Tip**\n> a\n> b"),
        ("!!! wow, how hot", "!!! wow, how hot"),
    ],
)  # fmt: skip
def test_a_note_of_mkdocs_keeps_its_words(body: str, text: str) -> None:
    """A line less indented ends it, and the code in it, too."""
    post = one({**MKDOCS, POST: f"---\ndate: 2023-06-10\ntitle: Tea\n---\n{body}"})
    assert [line for line in post.source.split("\n") if line.strip("> ")] == text.split("\n")
    assert post.needs == ()


def test_what_mkdocs_would_fill_is_told() -> None:
    """A note in a list, and words of Jinja that are no code."""
    body = "- a\n\n    !!! note\n        b\n\n`{{ a }}` {{ x }} {% include 'a' %}"
    post = one({**MKDOCS, POST: f"---\ndate: 2023-06-10\ntitle: Tea\n---\n{body}"})
    assert (post.source, len(post.needs)) == (body, 2)


def test_markup_and_notes_below_have_no_indented_code() -> None:
    """Links in them lead to the texts that they name."""
    head = "---\ntitle: T\ndate: 2023-06-10\n---\n"
    files = {"_config.yml": "", "_posts/2023-06-09-b.md": f"{head}x"}
    for name, body in (("html", '<p>a</p>\n\n    <a href="2023-06-09-b.md">b</a>'),
                       ("md", "[^1]: a\n\n    [b](2023-06-09-b.md)")):  # fmt: skip
        posts = batch_of({**files, f"_posts/2023-06-10-a.{name}": head + body}).posts
        assert "2023-06-09-b" not in [*posts][1].source


def test_callouts_of_quarto() -> None:
    """Their kind and title stand anywhere between the braces."""
    body = (
        '::: {.callout-warning title="Never boil [it]"}\na\n:::\n\n'
        "::: {#imp .callout-important}\nb\n:::\n"
    )
    lines = one({**QUARTO, PLACE: HEAD + body}).source.split("\n")
    assert [line for line in lines if line.strip("> ")] == [
        "> **Never boil [it]**", "> a", "> **Important**", "> b",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("body", "text", "needs"),
    [
        ("{{< include _x.qmd >}}", "{{< include _x.qmd >}}", ("the shortcode {{< include >}}",)),
        ("{{< video https://youtu.be/x?t=1,2 >}}", "https://youtu.be/x?t=1,2", ()),
        ("{{{< video https://a.example >}}}", "{{{< video https://a.example >}}}", ()),
        ("{{< youtube abcdef >}}", "https://www.youtube.com/watch?v=abcdef", ()),
    ],
)
def test_shortcodes_of_quarto(body: str, text: str, needs: tuple[str, ...]) -> None:
    """A film becomes its link; what another file has is told."""
    post = one({**QUARTO, PLACE: HEAD + body})
    assert (post.source.strip(), post.needs) == (text, needs)


@pytest.mark.parametrize(
    ("body", "title", "text"),
    [
        ("# Tea\n\nHot.", "Tea", "Hot."),
        ("Tea\n===\n\nHot.", "Tea", "Hot."),
        ("# Tea and **black *milk*** {.big}\nHot.", "Tea and black milk", "Hot."),
        ("# [Tea](/tea) and *milk*\nHot.", "Tea and milk", "# [Tea](/tea) and *milk*\nHot."),
        ("# ![Tea](tea.jpg)\nHot.", "Tea", "# ![Tea](tea.jpg)\nHot."),
        ("# Tea {#top}\nHot.", "Tea", '# Tea<a id="top"></a>\nHot.'),
        ("# Sets like {1, 2}\nHot.", "Sets like {1, 2}", "Hot."),
        ("# All about C#\nHot.", "All about C#", "Hot."),
        ("# Tea ##\nHot.", "Tea", "Hot."),
        ("# 2 * 3 and int *p, `*args`\nHot.", "2 * 3 and int *p, *args", "Hot."),
        ("a | b\n=====\nHot.", "", "a | b\n=====\nHot."),
        ("- item\n=====\nHot.", "", "- item\n=====\nHot."),
        ("<!-- lint -->\n# Tea\nHot.", "Tea", "<!-- lint -->\nHot."),
        ("    # code\nHot.", "", "# code\nHot."),
        ("## Water\n\nHot.", "", "## Water\n\nHot."),
        ("Hot.\n\n# Tea", "", "Hot.\n\n# Tea"),
    ],
)
def test_a_text_without_a_title_has_its_first_heading(body: str, title: str, text: str) -> None:
    """Whether or not it has other fields."""
    post = one({"a.md": f"---\ndate: 2023-06-10\n---\n{body}", "b/c.txt": ""})
    assert (post.title, post.source.strip()) == (title, text)


@pytest.mark.parametrize(
    ("name", "title"),
    [("My trip to Rome.md", "My trip to Rome"), ("2023-06-10 Zum Tee.md", "Zum Tee"),
     ("茶.md", "茶"), ("my-trip.md", ""), ("note1.md", "")],
)  # fmt: skip
def test_a_note_is_called_like_its_file_where_that_has_words(name: str, title: str) -> None:
    """As in Obsidian and other programs for notes; a name of an address is no title."""
    assert one({name: "---\ndate: 2023-06-10\n---\nHot.", "b/c.txt": ""}).title == title


def test_a_heading_below_what_a_text_imports() -> None:
    post = one({"a.mdx": "---\ndate: 2023-06-10\n---\nimport A from './a'\n\n# Tea\n\nHot."})
    assert (post.title, post.source.strip()) == ("Tea", "Hot.")


def test_a_heading_that_repeats_the_title() -> None:
    """The page shows it once; another heading stays, and so does one with a link."""
    head = "---\ndate: 2023-06-10\ntitle: Tea\n---\n"
    assert one({"a.md": f"{head}# Tea\n\nHot."}).source.strip() == "Hot."
    for kept in ("# Milk\n\nHot.", "# [Tea](https://tea.example/where)\n\nHot."):
        assert one({"a.md": head + kept}).source.strip() == kept


def test_links_of_a_vault() -> None:
    """A text is called like its file; pictures may lie anywhere; code in brackets is no link."""
    files = {
        "quartz.config.ts": 'const c = { configuration: { baseUrl: "old.example/notes" } }',
        "content/Concepts/Black tea.md": "---\ndate: 2023-06-09\n---\nDark.",
        "content/assets/pot.png": "picture",
        "content/Tea.md": "---\ndate: 2023-06-10\n---\n"
        "See [[Black tea|the dark one]], [[Green tea]], [[#Milk]] `[[a]]`.\n\n![[pot.png|300]]\n",
    }
    post = {post.where: post for post in batch_of(files).posts}["content/Tea.md"]
    assert (post.title, post.address) == ("Tea", "https://old.example/notes/Tea")
    assert post.source == (
        "See [the dark one](/notes/Concepts/Black-tea), Green tea, Milk `[[a]]`.\n\n"
        "![](<assets/pot.png>)\n"
    )
    assert post.needs == ("a link leads nowhere here: [[Green tea]]",)
    body = "if [[ -f a ]] then [[1]] and df[[tea]]"
    plain = one({"a.md": f"---\ndate: 2023-06-10\n---\n{body}", "tea.md/x.txt": ""})
    assert plain.source == body


def test_what_a_vault_embeds() -> None:
    """The picture beside the text comes first; one that is not there keeps its words."""
    head = "---\ndate: 2023-06-10\n---\n"
    body = (
        "![[in/gone.png]] ![[p.png]] ![[B]] [[B#Part two]]\n\n    if [[ -f x ]]; a[[1]]\n\n"
        "- one\n\n    [[B]]\n    - [[B|b]]\n"
    )
    files = {"quartz.config.ts": "", "content/a/p.png": "", "content/b/p.png": "",
             "content/c/A.md": f"{head}x", "content/b/A.md": head + body,
             "content/B.md": f"{head}x"}  # fmt: skip
    post = {post.where: post for post in batch_of(files).posts}["content/b/A.md"]
    assert post.source == (
        "![[in/gone.png]] ![](<p.png>) [B](/B) [B > Part two](/B#part-two)\n\n"
        "    if [[ -f x ]]; a[[1]]\n\n- one\n\n    [B](/B)\n    - [b](/B)\n"
    )
    assert post.needs == (
        "the picture is not in the source: ![[in/gone.png]]",
        "the text of another file is shown as a link: ![[B]]",
    )
    garden = one({".eleventy.js": "", "a.md": f"{head}![[gone.png]]"})
    assert (garden.source, len(garden.needs)) == ("![[gone.png]]", 1)


def test_authors_that_are_tables() -> None:
    """As Quarto and some themes of Hugo write them."""
    head = "---\ntitle: Tea\ndate: 2023-06-10\nauthors:\n  - {name: Ada, url: /ada}\n  - Bo\n---\n"
    assert one({"a.md": f"{head}Hot."}).by == ("Ada", "Bo")


def test_a_note_of_the_digital_garden() -> None:
    """The plugin of Obsidian writes the note's own fields below one, and links as it has them."""
    head = {
        "dg-publish": True,
        "permalink": "/Black tea/",
        "dg-note-properties": {"slug": "tea", "author": "Ada", "created": "2025-05-26"},
    }
    files = {
        ".eleventy.js": 'module.exports = () => ({ dir: { input: "src/site" } })',
        "eleventy.config.js": 'export default { dir: { input: "src/site" } }',
        "src/site/notes/Black tea.md": f"---\n{json.dumps(head)}\n---\n"
        "[[notes/Black tea\\|Itself]] and [[notes/Not here\\|what is not here]], [[1]].",
    }
    post = one(files)
    assert (post.title, post.slug, post.by) == ("Black tea", "tea", ("Ada",))
    assert (post.status, f"{post.published_at:%Y-%m-%d}") == ("published", "2025-05-26")
    assert post.source == "[Itself](/Black%20tea/) and what is not here, [[1]]."


def test_a_link_to_a_post_beside() -> None:
    """It starts from the old address; files and pictures start from the text."""
    head = "---\ntitle: T\ndate: 2020-03-04\n---\n"
    body = "[a](../tea) [b](../../05/milk/#x) [c](../pot.pdf) ![d](../pot.png)"
    post = one(
        {"_config.yml": "permalink: /:year/:month/:title/", "source/_posts/now.md": head + body}
    )
    assert post.source == "[a](/2020/03/tea) [b](/2020/05/milk/#x) [c](../pot.pdf) ![d](../pot.png)"


def test_attributes_behind_a_picture_or_a_link() -> None:
    """Sizes go, the description, the caption and the id stay; a caption may have a link."""
    body = (
        '![A caption](c.png){#fig-c fig-alt="What {they} hear" width=50%}\n\n'
        "    ![](d.png){width=50%}\n\n![A](d.png){#fig-d width=50%}\n\n"
        "![](a.png){width=50% fig-alt='A [hot] cup'}\n\n![By [Bo](/bo)](b.png){width=9}\n\n"
        "[x](/x){target=_blank} [y](/y){.z}"
    )
    post = one({**QUARTO, PLACE: f"{HEAD[:-4]}image: t.jpg\nimage-alt: Leaves\n---\n{body}"})
    assert post.source == (
        '<a id="fig-c"></a>\n\n![What {they} hear](c.png "A caption")\n\n'
        '    ![](d.png){width=50%}\n\n![A](d.png)<a id="fig-d"></a>\n\n'
        "![A hot cup](a.png)\n\n![By [Bo](/bo)](b.png)\n\n[x](/x) [y](/y)"
    )
    assert (post.image, post.image_alt) == ("t.jpg", "Leaves")


def test_what_other_files_would_add_is_told() -> None:
    """Works that are cited, and files that are included."""
    cites = one({**QUARTO, PLACE: f"{HEAD}As in [@tea1888]."})
    assert cites.needs == ("the list of the works that it cites is not made",)
    body = '---\ndate: 2023-06-10\ntitle: Tea\n---\n```sh\n--8<-- "tea.sh"\n```\n'
    assert one({**MKDOCS, POST: body}).needs == ("another file is included with --8<--",)


@pytest.mark.parametrize(
    ("files", "address"),
    [
        ({"hugo.toml": "baseURL='https://old.example/'", "mkdocs.yml": "", "content/p/a.md": ""},
         "https://old.example/p/a/"),
        ({"hugo.toml": "", "_quarto.yml": "project:\n  type: hugo\n", "content/p/a.md": ""},
         "/p/a/"),
        ({"_config.yml": "permalink: /:title/", "mkdocs.yml": "", "_posts/2023-06-10-a.md": ""},
         "/a/"),
        ({"_quarto.yml": "project:\n  type: book\n", "posts/a.md": ""}, ""),
        ({"_quarto.yml": QUARTO["_quarto.yml"], "d/d.json": "{}", "posts/a.md": ""},
         "https://old.example/posts/a.html"),
    ],
)  # fmt: skip
def test_a_site_that_has_a_file_of_another_generator(files: dict[str, str], address: str) -> None:
    """MkDocs is often there for a site's documentation, Quarto for some of its texts."""
    place = [*files][-1]
    assert one({**files, place: f"{HEAD}Hot."}).address == address


def test_odd_files_and_settings_stop_no_import() -> None:
    """A file that is nested too deeply, plugins that are a number."""
    frozen = "_freeze/posts/2023-06-10_tea/index/execute-results/html.json"
    assert one({**QUARTO, PLACE: f"{HEAD}Hot.", frozen: "[" * 100_000}).source == "Hot."
    assert one({"mkdocs.yml": "plugins: 3", "docs/a.md": f"{HEAD}Hot."}).title == "Tea"


def test_fences_of_quarto_are_found_in_one_pass() -> None:
    """Also those that are not closed; what is in a longer one is only shown."""
    body = (
        "````md\n```{r}\n1\n```\n````\n~~~{.r}\n2\n~~~\n```{=html}\n<b>3</b>\n```\n```{python}\n4\n"
    )
    post = one({**QUARTO, PLACE: f"{HEAD}{body}"})
    assert post.source == body.replace("{.r}", "r").replace("{python}", "python").replace(
        "```{=html}\n<b>3</b>\n```\n", "<b>3</b>\n"
    )
    assert post.needs == ()
    started = process_time()
    one({**QUARTO, PLACE: HEAD + "".join(f"{' ' * n}```{{r}}\nx\n" for n in range(1, 400))})
    assert process_time() - started < 1


@pytest.mark.parametrize(
    ("files", "address"),
    [
        ({"_quarto.yml": QUARTO["_quarto.yml"], "posts/h-index.qmd": ""},
         "https://old.example/posts/h-index.html"),
        ({"quartz.config.ts": "", "content/h-index.md": ""}, "/h-index"),
        ({"quartz.config.ts": "", "content/h/index.md": ""}, "/h/"),
        ({"mkdocs.yml": "", "docs/h-index.md": ""}, "/h-index/"),
        ({"_config.yml": "", "source/_posts/a.md": "x", "source/h-index.md": ""}, "/h-index.html"),
        ({"_config.yml": "", "source/_posts/a.md": "x", "source/h/index.md": ""}, "/h/"),
    ],
)  # fmt: skip
def test_a_name_that_ends_in_index(files: dict[str, str], address: str) -> None:
    """Only the whole name `index` means its folder."""
    place = [*files][-1]
    posts = {post.where: post for post in batch_of({**files, place: f"{HEAD}Hot."}).posts}
    assert posts[place].address == address


def test_settings_that_were_not_read() -> None:
    """Posts of MkDocs beside the blog's page; dates of Quartz, and a pattern that is given."""
    blog = "plugins: [{blog: {blog_dir: ., post_dir: '{blog}'}}]"
    assert one({"mkdocs.yml": blog, "docs/a.md": f"{HEAD}Hot."}).address == "/2023/06/10/tea/"
    files = {"quartz.config.ts": "", "content/a.md": "---\ncreated: 2023-06-10\n---\nHot."}
    given = recognition.read(folder(files), None, UTC, "https://old.example/:year/:title")
    (post,) = given.posts
    assert (post.address, post.status) == ("https://old.example/2023/a", "published")
