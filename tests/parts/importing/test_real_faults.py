"""What real blogs and exports had that an import once refused, lost or published as rubbish."""

import re
import time
from datetime import UTC, datetime

import pytest

from publisher.parts.importing import images, planning
from publisher.parts.importing.formats import recognition
from publisher.parts.importing.imported import Batch
from publisher.parts.importing.planning import PreparedPost
from publisher.parts.importing.sites import unfenced
from publisher.parts.importing.sites.template_words import Words
from tests.conftest import MONDAY_MORNING
from tests.parts.importing.conftest import folder, one, read


def imported(
    files: dict[str, str | bytes], permalink: str = ""
) -> tuple[dict[str, PreparedPost], Batch]:
    """The posts of a folder by their titles."""
    batch = recognition.read(folder(files), None, UTC, permalink)
    return {post.content.title: post for post in planning.prepare(batch, MONDAY_MORNING)}, batch


def head(title: str, more: str = "") -> str:
    return f"---\ntitle: {title}\n{more}---\n"


def test_what_is_left_out_is_not_read() -> None:
    """Pages of another character set, templates whose head is no YAML, files of themes."""
    posts, batch = imported({
        "hugo.toml": 'baseURL = "https://old.example/"',
        "content/posts/one.md": head("One", "date: 2020-01-01\n") + "x",
        "static/museum/old.html": b"<html><body>\xe4</body></html>",
        "archetypes/default.md": "---\ntitle: {{ .Name }}\ndate: {{ .Date }}\n---\n",
    })  # fmt: skip
    assert list(posts) == ["One"]
    posts, _ = imported({
        "_config.yml": "permalink: :year/:title/",
        "scaffolds/post.md": "---\ntitle: {{ title }}\ndate: {{ date }}\n---\n",
        "source/_posts/first.md": head("First", "date: 2020-01-02 10:20:00\n") + "x",
    })  # fmt: skip
    assert posts["First"].old_paths == ["/2020/first/"]
    assert batch.left_out == []


def test_bad_dates_are_drafts_with_their_reasons() -> None:
    """All of them in one run; where the name has the date, it counts."""
    posts, _ = imported({
        "_posts/2016-02-01-p1.md": head("P1") + "x",
        "_posts/2016-02-30-bad.md": head("Bad") + "x",
        "_posts/2018-10-12-go.md": head("Go", "date: 2018-10-12 16:20:35 +0100 BST\n") + "x",
        "_posts/2018-10-13-eleventy.md": head("Eleventy", "date: git Last Modified\n") + "x",
        "_posts/2013-04-29-dot.md": head("Dot", "date: 2013-04-29 12.04 UTC\n") + "x",
    })  # fmt: skip
    states = {title: post.post.status for title, post in posts.items()}
    assert states == dict.fromkeys(posts, "published") | {"Bad": "draft"}
    assert "its date cannot be read" in posts["Bad"].post.needs[0]
    assert posts["Go"].post.published_at == datetime(2018, 10, 12, 15, 20, 35, tzinfo=UTC)
    assert posts["Dot"].post.published_at == datetime(2013, 4, 29, 12, 4, tzinfo=UTC)


def test_liquid_and_kramdown() -> None:
    """What is plain is replaced, what is not is listed, code stays as it is."""
    body = """Text ![p]({{ site.baseurl }}/p.jpg) {{ "/about" | relative_url }} {{ unknown }}

{% highlight ruby linenos %}
x = "{{ y }}"
{% endhighlight %}

Para
{: .lead}

* TOC
{:toc}

`{{ code }}` {% raw %}{{ raw }}{% endraw %}
"""
    posts, _ = imported({
        "_config.yml": "url: https://old.example\nbaseurl: /blog\n",
        "_posts/2014-03-09-day.md": head("Day") + body,
        "index.html": head("Home") + "{% for p in site.posts %}<li>{{ p.title }}</li>{% endfor %}",
        "about.md": head("About", "layout: page\n") + "About",
    })  # fmt: skip
    text = posts["Day"].content.source
    assert "![p](/blog/p.jpg) /blog/about {{ unknown }}" in text
    assert '```ruby\nx = "{{ y }}"\n```' in text
    assert "`{{ code }}` {{ raw }}" in text
    assert "{:" not in text
    assert "TOC" not in text
    assert posts["Day"].post.needs == ("it uses {{ ... }}",)
    assert posts["About"].content.kind == "page"
    assert "Home" not in posts


def test_shortcodes_of_hugo() -> None:
    """Pictures, films and links to other files; what is shown as text stays."""
    posts, _ = imported({
        "hugo.toml": 'baseURL = "https://old.example/"\n'
            '[permalinks]\nblog = "/:year/:month/:slug/"',
        "content/blog/two.md": head("Two", "date: 2023-05-01\nslug: second\n") + "x",
        "content/blog/one.md": head("One", "date: 2023-04-05\ncover: {image: d.jpg, alt: A}\n")
            + '{{< figure src="c.jpg" alt="x" caption="Cap" >}} [o]({{< ref "two.md" >}}) '
            "[m](two.md)\n\n{{< youtube dQw4w9WgXcQ >}}\n\n"
            "{{< own thing >}} {{</* shown */>}} {{ x }}",
    })  # fmt: skip
    post = posts["One"]
    assert '![x](c.jpg "Cap") [o](/2023/05/second/) [m](/2023/05/second/)' in post.content.source
    assert "\n\nhttps://www.youtube.com/watch?v=dQw4w9WgXcQ\n\n" in post.content.source
    assert "{{< own thing >}} {{< shown >}} {{ x }}" in post.content.source
    assert post.post.needs == ("the shortcode {{< own >}}",)
    assert (post.post.image, post.post.image_alt) == ("d.jpg", "A")


def test_jsx_and_blocks_between_colons() -> None:
    """Posts of Docusaurus: what a component showed stays, its name is listed."""
    posts, _ = imported({
        "docusaurus.config.js": 'module.exports = {url: "https://old.example", baseUrl: "/"};',
        "blog/2018-01-18-picture.md": head("Picture")
            + "<img src=\"/img/a.gif\" style={{float: 'left', paddingRight: 80}} />\n",
        "blog/2018-01-19-note.md": head("Note")
            + ":::note\nMind the gap.\n:::\n\n<!--truncate-->\n",
        "blog/2018-01-20-c.mdx": head("C")
            + "import Tabs from '@theme/Tabs';\n\nBefore.\n\n<Tabs><p>Inside</p></Tabs>\n\n"
            "{/* truncate */}\n\nAfter.",
    })  # fmt: skip
    assert '<img src="/img/a.gif"' in posts["Picture"].html
    assert "float" not in posts["Picture"].html
    assert posts["Note"].content.source.startswith("> **Note**\n> \n> Mind the gap.")
    assert "<!--more-->" in posts["Note"].content.source
    assert posts["C"].post.needs == ("the component <Tabs>",)
    assert "import" not in posts["C"].content.source
    assert "<p>Inside</p>" in posts["C"].content.source
    assert posts["C"].post.guid == "https://old.example/blog/2018/01/20/c"


def test_heads_without_a_fence() -> None:
    """Pelican's and Hexo's; a paragraph that only begins like one is a paragraph."""
    post = one(
        "Title: A title: a story\nDate: 2011-04-24 15:39\nTags: python, tech\n\nText.", name="a.md"
    )
    assert (post.title, post.source, post.tags) == ("A title: a story", "Text.", ("python", "tech"))
    hexo = one("title: Hexo\ndate: 2019-05-01 10:00:00\ntags:\n- a\n---\nBody", name="x.md")
    assert (hexo.title, hexo.source, hexo.tags, hexo.status) == (
        "Hexo",
        "Body",
        ("a",),
        "published",
    )
    plain = one("Note: this is text\nand it goes on", name="x.md")
    assert (plain.title, plain.source) == ("", "Note: this is text\nand it goes on")


def test_restructured_text() -> None:
    """With docutils it is HTML, without files and raw HTML."""
    pytest.importorskip("docutils")
    posts, _ = imported({
        "pelicanconf.py": "SITEURL = 'https://x.example/blog'\n",
        "content/first.rst": "First post\n##########\n\n:date: 2015-06-12\n:tags: a, b\n\n"
            "Words of `it <https://x.example/>`_.\n\n.. include:: /etc/passwd\n\n"
            ".. raw:: html\n\n   <script>x</script>\n\n.. gist:: 5\n",
    })  # fmt: skip
    post = posts["First post"]
    assert post.html.startswith('<p>Words of <a href="https://x.example/"')
    assert "root:" not in post.html
    assert "script" not in post.html
    assert post.content.tags == ("a", "b")
    assert "the directive gist" in post.post.needs


def test_a_pattern_that_the_person_gives() -> None:
    """With the address of the site the guids are those of its feed, too."""
    files: dict[str, str | bytes] = {
        "a.md": head("A", "date: 2020-01-02\n") + "x",
        "b.md": head("B", "date: 2020-02-03\nurl: /own/\n") + "x",
    }
    posts, _ = imported(files, "https://old.example/:year/:month/:title.html")
    assert posts["A"].old_paths == ["/2020/01/a.html"]
    assert posts["A"].post.guid == "https://old.example/2020/01/a.html"
    assert posts["B"].old_paths == ["/own/"]
    assert imported(files)[0]["A"].old_paths == []


@pytest.mark.parametrize(
    ("written", "title"),
    [
        (
            "Using &lt;video&gt; and vector&lt;int&gt; &amp; co",
            "Using <video> and vector<int> & co",
        ),
        ("Using &amp;lt;video&amp;gt;", "Using <video>"),
        ("I &lt;3 RSS", "I <3 RSS"),
        ("<![CDATA[if a<b then c>d]]>", "if a<b then c>d"),
        ('&lt;b&gt;Bold&lt;/b&gt; &lt;i class="x"&gt;words&lt;/i&gt;', "Bold words"),
    ],
)
def test_titles_of_feeds_are_text(written: str, title: str) -> None:
    """What stands in angle brackets is a word, unless it is an element around words."""
    item = f"<item><title>{written}</title><guid>1</guid><description>x</description></item>"
    (post,) = read(f'<rss version="2.0"><channel>{item}</channel></rss>').posts
    assert post.title == title


def test_references_in_titles_of_files() -> None:
    """Once, as the page showed them."""
    assert one(head("Let&#8217;s go &amp; see", "date: 2020-01-02\n") + "x", name="a.md").title == (
        "Let\u2019s go & see"
    )


WXR = """<rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/"
 xmlns:wp="http://wordpress.org/export/1.2/" xmlns:dc="http://purl.org/dc/elements/1.1/">
<channel><link>https://old.example/blog</link>
<wp:base_blog_url>https://old.example/blog</wp:base_blog_url>
<item><title>One</title><dc:creator>Ada.Lovelace@x.org</dc:creator><link>https://old.example/blog/2021/05/one/</link>
<guid isPermaLink="false">https://old.example/?p=10</guid><content:encoded><![CDATA[{}]]></content:encoded>
<wp:post_id>10</wp:post_id><wp:post_date_gmt>2021-05-01 08:00:00</wp:post_date_gmt>
<wp:status>publish</wp:status>
<wp:post_type>post</wp:post_type>
<category domain="category" nicename="olive-oil-2">Olive Oil</category>
<wp:postmeta><wp:meta_key>_wp_old_slug</wp:meta_key><wp:meta_value>first</wp:meta_value></wp:postmeta>
<wp:postmeta><wp:meta_key>_wp_old_slug</wp:meta_key><wp:meta_value>second</wp:meta_value></wp:postmeta>
<wp:postmeta><wp:meta_key>footnotes</wp:meta_key>
<wp:meta_value><![CDATA[[{{"content":"The note","id":"n1"}}]]]></wp:meta_value></wp:postmeta></item>
<item><title>p</title><guid>p</guid><wp:post_id>21</wp:post_id><wp:post_parent>10</wp:post_parent>
<wp:post_type>attachment</wp:post_type><wp:attachment_url>https://old.example/p.jpg</wp:attachment_url></item>
</channel></rss>"""


def wordpress(text: str) -> tuple[PreparedPost, Batch]:
    batch = read(WXR.format(text))
    (post,) = planning.prepare(batch, MONDAY_MORNING)
    return post, batch


def test_words_of_wordpress() -> None:
    """The sign for more, notes, players, listings, the gallery of a post's own pictures."""
    post, batch = wordpress(
        "<!-- wp:paragraph --><p>Teaser.</p><!-- /wp:paragraph -->\n\n<!-- wp:more --><!--more-->"
        '<!-- /wp:more -->\n\nRest.<sup data-fn="n1"><a href="#n1" id="n1-link">1</a></sup>\n\n'
        "<!-- wp:footnotes /-->\n\n[gallery]\n\n[embed]https://x.example/v[/embed]\n\n"
        '[youtube https://www.youtube.com/watch?v=abc123]\n\n[audio mp3="https://old.example/a.mp3"][/audio]'
        '\n\n[code lang="php"]echo 1;[/code]\n\n[other]'
    )
    text = post.content.source
    assert post.content.source_format == "markdown"
    assert "Teaser.\n\n<!--more-->\n\nRest." in text
    assert '<li id="n1">The note' in text
    assert "![](https://old.example/p.jpg)" in text
    assert "https://www.youtube.com/watch?v=abc123" in text.split("\n")
    assert 'src="https://old.example/a.mp3"' in text
    assert "```php\necho 1;\n```" in text
    assert post.post.needs == ("the shortcode [other]",)
    assert post.old_paths == [
        "/blog/2021/05/one/", "/?p=10", "/blog/2021/05/first/", "/blog/2021/05/second/",
    ]  # fmt: skip
    assert batch.old_feeds[:2] == ["/blog/feed/", "/blog/feed/rss/"]
    assert batch.moved == {
        "/blog/category/olive-oil-2/": "/tags/olive-oil",
        "/blog/category/olive-oil-2/feed/": "/tags/olive-oil/rss.xml",
        "/blog/2021/05/": "/archives/2021/5",
        "/blog/2021/": "/archives",
        "/blog/author/ada-lovelacex-org/feed/": "/rss.xml",
    }
    assert batch.author_pages == {
        "/blog/author/ada-lovelacex-org/": ("Ada.Lovelace@x.org",),
    }


def test_pictures_that_load_late() -> None:
    """Their addresses stand elsewhere; one that has none at all is listed."""
    feed = """<rss version="2.0" xmlns:c="http://purl.org/rss/1.0/modules/content/"><channel><item>
<title>L</title><guid>1</guid><link>https://old.example/l</link><c:encoded><![CDATA[
<img src="data:image/gif;base64,R0" data-src="https://old.example/a.jpg"><noscript><img
src="https://old.example/a.jpg"></noscript><img data-src="/b.jpg"> <img alt="none">]]></c:encoded>
</item></channel></rss>"""
    (post,) = planning.prepare(read(feed), MONDAY_MORNING)
    assert post.html.count('src="https://old.example/a.jpg"') == 1
    assert 'src="https://old.example/b.jpg"' in post.html
    assert list(planning._of_post(post, None)) == ["a picture has no address"]


def test_old_lists_of_generators() -> None:
    """Lists of tags and categories with their feeds, as far as the generator has them."""
    _, batch = imported({
        "hugo.toml": 'baseURL = "https://old.example/sub/"',
        "content/posts/a.md": head("A", "date: 2020-01-02\ntags: [C++, Web Dev]\n") + "x",
        "content/posts/b.md": head("B", "date: 2020-01-02\ndraft: true\ntags: [hidden]\n") + "x",
    })  # fmt: skip
    assert batch.moved["/sub/tags/web-dev/"] == "/tags/web-dev"
    assert batch.moved["/sub/tags/c++/index.xml"] == "/tags/c-plus-plus/rss.xml"
    assert not [old for old in batch.moved if "hidden" in old]


@pytest.mark.parametrize(("files", "pages"), [
    ({"hugo.toml": "[taxonomies]\nauthor = 'authors'", "content/posts/a.md": "+"},
     ["/authors/ada-l./"]),
    ({"hugo.toml": "", "content/posts/a.md": "+"}, []),
    ({"pelicanconf.py": "AUTHOR = 'No'", "content/a.md": "+"}, ["/author/ada-l.html"]),
    ({"pelicanconf.py": "AUTHOR = 'Ada L.'", "content/a.md": "-"}, ["/author/ada-l.html"]),
    ({"pelicanconf.py": "AUTHOR_URL = 'by/{slug}/'", "content/a.md": "+"}, ["/by/ada-l/"]),
    ({"pelicanconf.py": "AUTHOR_SAVE_AS = ''", "content/a.md": "+"}, []),
    ({"eleventy.config.js": "", "posts/a.md": "+", "authors.njk":
      "---\npagination: {data: x}\npermalink: /by/{{ author | slugify }}/\n---\n"},
     ["/by/ada-l/", "/by/Ada L./"]),
    ({"astro.config.mjs": "", "src/content/posts/a.md": "+",
      "src/pages/authors/[slug]/[...page].astro": ""}, ["/authors/ada-l/", "/authors/Ada L./"]),
    ({"docusaurus.config.js": "", "blog/2020-01-02-a.md": "+", "blog/authors.yml":
      "Ada L.: {page: true}\nBo: {page: true}"}, ["/blog/authors/ada-l"]),
    ({"docusaurus.config.js": "", "blog/2020-01-02-a.md": "+", "blog/authors.yml":
      "Ada L.: {page: {permalink: /all-of-ada}}"}, ["/blog/authors/all-of-ada"]),
    ({"docusaurus.config.js": "", "blog/2020-01-02-a.md": "+", "blog/authors.yml":
      "Ada L.: {title: x}"}, []),
    ({"_config.yml": "a: b", "_posts/2020-01-02-a.md": "+",
      "authors/ada.md": head("Ada L.", "permalink: /authors/ada/\n"),
      "authors/bo.md": head("Bo", "permalink: /authors/bo/\n")}, ["/authors/ada/"]),
    ({"_config.yml": "a: b", "source/_posts/a.md": "+"}, []),
])  # fmt: skip
def test_old_pages_of_authors_by_generator(files: dict[str, str], pages: list[str]) -> None:
    """Where the site has them, of the authors of public posts; "+" is a post by Ada, "-" by
    nobody."""
    texts = {"+": head("A", "date: 2020-01-02\nauthors: [Ada L.]\n") + "x",
             "-": head("A", "date: 2020-01-02\n") + "x"}  # fmt: skip
    _, batch = imported({name: texts.get(text, text) for name, text in files.items()})
    assert batch.author_pages == dict.fromkeys(pages, ("Ada L.",))


def test_feeds_of_pelicans_lists() -> None:
    """An author has one in each form, a category one, a tag none but where the site says so."""
    text = "Title: A\nDate: 2020-01-02\nAuthor: Ada\nTags: tea\nCategory: hot\n\nx"
    _, batch = imported({"pelicanconf.py": "TAG_FEED_RSS = 'tag/{slug}.xml'", "content/a.md": text})
    assert {old: new for old, new in batch.moved.items() if old.endswith("xml")} == {
        "/feeds/hot.atom.xml": "/tags/hot/rss.xml",
        "/feeds/ada.atom.xml": "/rss.xml",
        "/feeds/ada.rss.xml": "/rss.xml",
        "/tag/tea.xml": "/tags/tea/rss.xml",
    }


def test_a_template_of_a_feed_is_no_archive() -> None:
    """A generator's `feed.json` is a template, or what it built: the texts are the blog."""
    for feed in ("---\n---\n{ {% for post in site.posts %} }", '{"version": "x", "items": []}'):
        posts, _ = imported({"_config.yml": "a: b", "feed.json": feed,
                             "_posts/2020-01-02-one.md": head("One") + "x"})  # fmt: skip
        assert list(posts) == ["One"]


def test_dated_texts_of_hugo_without_sections_are_posts() -> None:
    """On a site with sections, what is outside of them is a page, unless it says otherwise."""
    dated = head("One", "date: 2020-01-02\n") + "x"
    posts, _ = imported({"hugo.toml": "", "content/one.md": dated,
                         "content/two/index.md": dated.replace("One", "Two"),
                         "content/about.md": head("About") + "x"})  # fmt: skip
    assert {title: post.content.kind for title, post in posts.items()} == {
        "One": "post", "Two": "post", "About": "page",
    }  # fmt: skip
    posts, _ = imported({"hugo.toml": "", "content/one.md": dated,
                         "content/old.md": head("Old", "date: 2020-01-02\nlayout: post\n") + "x",
                         "content/posts/two.md": dated.replace("One", "Two")})  # fmt: skip
    assert {title: post.content.kind for title, post in posts.items()} == {
        "One": "page", "Old": "post", "Two": "post",
    }  # fmt: skip


def test_jekyll_as_it_reads() -> None:
    """Titles by the name, quoted dates in the site's zone, `post_url` with the folder above, pages
    of loops, pages of tags."""
    posts, batch = imported({
        "_config.yml": "timezone: America/New_York\npermalink: /:categories/:title/",
        "blog/_posts/2020-01-02-the-first-one.md": "---\ndate: '2020-01-02 20:00:00'\n---\nx",
        "blog/_posts/2020-01-03-second.md": head(
            "Second", "date: 2020-01-03 20:00:00\ntags: [Remote Desktop]\n"
        )
        + "[x]({% post_url blog/2020-01-02-the-first-one %})",
        "talks.md": head("Talks") + "All. {% for p in site.posts %} {{ p.url }} {% endfor %}",
        "tag/rdp.md": head("Remote", "tag: Remote Desktop\npermalink: /tag/rdp/\n"),
        "tag/none.md": head("None", "tag: of no post\npermalink: /tag/none/\n"),
    })  # fmt: skip
    first, second = posts["The First One"], posts["Second"]
    assert first.post.published_at == datetime(2020, 1, 3, 1, tzinfo=UTC)
    assert second.post.published_at == datetime(2020, 1, 3, 20, tzinfo=UTC)
    assert second.post.source == "[x](/blog/the-first-one/)"
    assert posts["Talks"].post.status == "draft"
    assert any("a template fills it" in need for need in posts["Talks"].post.needs)
    assert batch.moved == {"/tag/rdp/": "/tags/remote-desktop"}


def test_lists_of_tags_by_plugins_and_templates() -> None:
    """jekyll-archives, and a page of Eleventy for each tag."""
    text = head("One", "date: 2020-01-02\ntags: [Web Dev]\n") + "x"
    _, batch = imported({"_config.yml": "jekyll-archives: {enabled: all}",
                         "_posts/2020-01-02-one.md": text})  # fmt: skip
    assert batch.moved["/tag/web-dev/"] == "/tags/web-dev"
    page = "---\npagination: {data: collections}\npermalink: /topics/{{ tag | slugify }}/\n---\n"
    _, batch = imported({"eleventy.config.js": "", "tags.njk": page, "posts/one.md": text})
    assert batch.moved["/topics/web-dev/"] == "/tags/web-dev"


ASTRO = """import { glob } from "astro/loaders";
const posts = defineCollection({
  loader: glob({ pattern: "*.md", base: "./notes" }),
  schema: z.object({ title: z.string(), changed: z.date(),
    added: z.union([z.string(), z.date()]),
  }),
});
const made = defineCollection({
  loader: glob({ base: `./${FOLDER}`, generateId: ({ entry }) => entry.substring(3) }),
});
export const FOLDER = "src/made";
export const collections = { posts, "log": made };
"""


@pytest.mark.parametrize(("route", "shown", "address"), [
    ("post/[slug]", "post.data.slug", "/post/own/"),
    ("post/[...id]/index", "post.id", "/post/own/"),
    ("[year]/[month]/[slug]", "word(post)", "/2020/02/own/"),
    ("post/[slug]", "post.id.replace('x', '')", ""),
])  # fmt: skip
def test_astro_where_its_settings_say(route: str, shown: str, address: str) -> None:
    """Collections outside of `src/content`, fields of dates by the schema, routes of any words; a
    name that a program computes is not guessed."""
    parameter = route.rpartition("[")[2].rpartition("]")[0].strip(".")
    page = f'getCollection("posts"); params: {{ {parameter}: {shown} }}'
    posts, batch = imported({
        "astro.config.mjs": "// site: 'https://wrong.example'\nsite: env.X || 'https://a.example'",
        "src/content.config.ts": ASTRO,
        f"src/pages/{route}.astro": page,
        "src/pages/log/[slug].astro": 'getCollection("log")',
        "src/pages/tag/[tag].astro": 'getCollection("posts")',
        "notes/first.md": head("First", "slug: own\nadded: 2020-02-03\ntags: [Web Dev]\n") + "x",
        "notes/_hidden.md": head("Hidden") + "x",
        "src/made/2020-log.md": head("Log", "date: 2020-02-03\n") + "x",
    })  # fmt: skip
    first = posts["First"].post
    assert first.published_at == datetime(2020, 2, 3, tzinfo=UTC)
    assert first.address == (f"https://a.example{address}" if address else "")
    assert posts["Log"].post.address == ""
    assert batch.moved["/tag/web-dev/"] == "/tags/web-dev"
    assert "Hidden" not in posts


def test_docusaurus_by_its_settings() -> None:
    """The folder and the route of the blog, and an address that another module has."""
    posts, batch = imported({
        "docusaurus.config.ts": "import { me } from './src/site'\nurl: me.url, baseUrl: '/b/',\n"
        "presets: [['classic', { docs: { routeBasePath: 'wrong' }, blog: { path: './texts',\n"
        "  routeBasePath: '/', feedOptions: { type: 'all' } } }]]",
        "src/site.ts": "export const me = { url: 'https://a.example' }",
        "texts/2020-02-03-first.md": head("First", "tags: [Web Dev]\n") + "x",
        "docs/no.md": head("No") + "x",
    })  # fmt: skip
    assert posts["First"].post.guid == "https://a.example/b/2020/02/03/first"
    assert batch.old_feeds == ["/b/rss.xml", "/b/atom.xml"]
    assert batch.moved == {"/b/tags/web-dev": "/tags/web-dev", "/b/tags/Web Dev": "/tags/web-dev"}
    assert list(posts) == ["First"]


def test_pelican_as_it_reads() -> None:
    """Settings for publishing alone; `|filename|` before a picture; directives in capitals."""
    posts, _ = imported({
        "publishconf.py": "ARTICLE_URL = '{date:%Y}/{slug}/'\nSITEURL = 'https://a.example'",
        "content/one.md": "Title: One\nDate: 2020-01-02\n\n![x](|filename|/images/a.png)",
        "content/two.rst": "Two\n###\n:date: 2020-01-02\n\n.. Note:: x\n\n.. odd:: y\n",
    })  # fmt: skip
    assert posts["One"].post.address == "https://a.example/2020/one/"
    assert posts["One"].post.source == "![x](/images/a.png)"
    assert [need for need in posts["Two"].post.needs if "directive" in need] == [
        "the directive odd"
    ]


def test_links_beside_a_post_and_pictures_of_either_scheme() -> None:
    """A link to the page of a text beside, the sign of Pelican before a picture in HTML, a picture
    whose address leaves the scheme open."""
    posts, _ = imported({
        "_config.yml": "permalink: :title.html\nurl: https://a.example",
        "source/_posts/one.md": head("One", "date: 2020-01-02\n")
        + "[x](./two.html#a) [y](no.html)",
        "source/_posts/two.md": head("Two", "date: 2020-01-02\n") + "![p](//b.example/p.png)",
    })  # fmt: skip
    assert posts["One"].post.source == "[x](/two.html#a) [y](no.html)"
    assert images.wanted(posts["Two"].post) == {"https://b.example/p.png"}
    posts, _ = imported(
        {
            "pelicanconf.py": "",
            "content/a.md": 'Title: A\nDate: 2020-01-02\n\n<img src="{static}/p.png">',
        }
    )
    assert posts["A"].post.source == '<img src="/p.png">'


def test_eleventy_whose_folder_a_program_names() -> None:
    """The folder with `_data` is the site, and its address may be in YAML."""
    posts, _ = imported({
        "eleventy.config.js": "export default () => ({ dir: { input: dirs.src } })",
        "src/_data/site.yml": "url: https://a.example",
        "src/posts/one.md": head("One", "date: 2020-01-02\n") + "x",
    })  # fmt: skip
    assert posts["One"].post.address == "https://a.example/posts/one/"


@pytest.mark.parametrize("word", [
    "{{", "{{<", "{{< a ", '{{< a "', "{%", "{% raw %}", "{{ a |", "`\n", "``` ", "<!--", "{:",
    "* x\n{: ", "[x](", "<A ", "<a b={", "import x\n", ":::note\n", "{/*", "[x]: ", "{static}",
    "{{ a(`", '{{ a("', "{{ a('", "{% a(", "{% end %}", "{%@ a ", "{{< /a ", "[x]{#a", "x {#a ",
    "# x{.a", "![](a){.a ", "$$", "$$ x\n", "    ", "> [!", "![x](a) *", "export const a = {\n",
    "export async x", "::: {",
])  # fmt: skip
def test_words_that_never_end_are_read_once(word: str) -> None:
    """Each beginning was searched for its end up to the end of the text."""
    words = Words("", "", {}, lambda _: "", liquid=True, kramdown=True, jsx=True, calls=True)
    begun = time.thread_time()
    assert words.plain("x\n" + word * (100_000 // len(word)))
    assert time.thread_time() - begun < 1.5  # it is a tenth


def test_the_first_word_of_a_note_is_its_kind() -> None:
    """Or the name of a picture, as in themes of Hugo: what follows that is no kind."""
    plain = Words("", "", {}, lambda _: "").plain
    assert "> **Warning**" in plain("{{< alert warning >}}x{{< /alert >}}")
    assert "> **Note**" in plain("{{< alert fire warning >}}x{{< /alert >}}")


def test_a_site_of_zola() -> None:
    """Its addresses, tags below `taxonomies`, links between files and calls; what is no plain call
    is listed."""
    posts, batch = imported({
        "config.toml": 'base_url = "https://old.example"\nfeed_filename = "feed.xml"\n'
        'taxonomies = [{ name = "tags", feed = true }]\n',
        "templates/index.html": "{{ x }}",
        "content/_index.md": "+++\n+++\n",
        "content/about.md": "+++\ntitle = 'About'\n+++\nMe",
        "content/2019/Tiny Search/index.md": "+++\ntitle = 'Tiny'\ndate = 2019-10-17\n"
        "[taxonomies]\ntags = ['full text']\n[extra]\nimage = 'https://old.example/p.png'\n+++\n"
        '{{ figure(\n  src="big.jpg",\n  caption="A **big** [one](https://b.example/)"\n) }}\n'
        '{{ video(url="https://www.youtube.com/watch?v=B5xYBrxVSiE") }}\n{{ stars(n=5) }}\n'
        "{% info(title='Mind') %}\nIt *is*.\n{% end %}\n`{{ code(x=1) }}`\n",
        "content/2020/2020-01-02-next.md": "+++\ntitle = 'Next'\ndate = 2020-01-02\n+++\n"
        "[before](@/2019/Tiny%20Search/index.md), [about](@/about.md#me)",
    })  # fmt: skip
    assert {title: post.post.address for title, post in posts.items()} == {
        "About": "https://old.example/about/",
        "Tiny": "https://old.example/2019/tiny-search/",
        "Next": "https://old.example/2020/next/",
    }
    assert (posts["About"].content.kind, posts["Tiny"].content.kind) == ("page", "post")
    tiny = posts["Tiny"]
    assert tiny.content.tags == ("full text",)
    assert tiny.content.image == "https://old.example/p.png"
    assert tiny.post.guid == "https://old.example/2019/tiny-search/"
    assert 'alt="A big one"' in tiny.html
    assert '<figcaption>\n<p>A <strong>big</strong> <a href="https://b.example/">one' in tiny.html
    assert 'href="https://www.youtube.com/watch?v=B5xYBrxVSiE"' in tiny.html
    assert "<blockquote>\n<p><strong>Mind</strong></p>\n<p>It <em>is</em>.</p>" in tiny.html
    assert "<code>{{ code(x=1) }}</code>" in tiny.html
    assert tiny.post.needs == ("the shortcode {{ stars() }}",)
    assert 'href="/about/#me"' in posts["Next"].html.replace("https://old.example", "")
    assert batch.old_feeds == ["/feed.xml"]
    assert batch.moved == {"/tags/full-text/": "/tags/full-text",
                           "/tags/full-text/feed.xml": "/tags/full-text/rss.xml"}  # fmt: skip


def test_names_of_files_in_zola() -> None:
    """Only a language of the site's, and a date at the beginning, are no part of the name."""
    files = (
        "release-1.2", "2020-01-02-v1.10-out", "week-of-2020-01-02-x", "one.fr", "one.en",
        "two/index.fr", "2020-01-02-three/index",
    )  # fmt: skip
    posts, _ = imported({
        "zola.toml": 'base_url = "https://old.example"\n[languages.en]\n[languages.fr]\n',
        **{f"content/blog/{name}.md": f"+++\ntitle = '{name}'\ndate = 2020-01-02\n+++\nx"
           for name in files},
    })  # fmt: skip
    addresses = [posts[name].post.address.removeprefix("https://old.example") for name in files]
    assert addresses == [
        "/blog/release-1-2/", "/blog/v1-10-out/", "/blog/week-of-2020-01-02-x/", "/fr/blog/one/",
        "/blog/one-en/", "/fr/blog/two/", "/blog/three/",
    ]  # fmt: skip


def test_a_date_inside_a_name_stays() -> None:
    """Hugo's `:filename` takes the date from the beginning alone, of a bundle, too."""
    posts, _ = imported({
        "hugo.toml": 'baseURL = "https://old.example/"\n[frontmatter]\ndate = [":filename"]\n',
        "content/posts/week-of-2020-01-02-x/index.md": head("One", "date: 2020-01-02\n") + "x",
        "content/posts/2020-01-02-y/index.md": head("Two", "date: 2020-01-02\n") + "x",
    })  # fmt: skip
    assert posts["One"].post.address == "https://old.example/posts/week-of-2020-01-02-x/"
    assert posts["Two"].post.address == "https://old.example/posts/y/"


def test_a_theme_of_zola_gives_no_address_and_no_state() -> None:
    """What stands below `extra` may have any name."""
    posts, _ = imported({
        "zola.toml": 'base_url = "https://old.example"\n',
        "content/blog/one.md": "+++\ntitle = 'One'\n[extra]\npath = 'img/x.png'\n"
        "layout = 'page'\ndraft = true\ndate = 2020-01-02\nslug = 'x'\n"
        "image = 'https://old.example/p.png'\n+++\nx",
        "content/blog/two.md": "+++\ntitle = 'Two'\ndate = 2020-01-02\n[extra]\ndraft = true\n"
        "status = 'x'\n+++\nx",
    })  # fmt: skip
    first = posts["One"]
    assert first.post.needs == ("it has no date",)
    assert (first.content.kind, first.content.slug) == ("post", "one")
    assert first.content.image == "https://old.example/p.png"
    two = posts["Two"].post
    assert (two.status, two.address) == ("published", "https://old.example/blog/two/")


def test_ids_notes_and_callouts() -> None:
    """What generators write beside Markdown becomes Markdown or HTML, and what cannot is listed."""
    body = """## Install `node` {#node}

See [there](#node), or [these words]{#here .wide}.

> [!NOTE]
> Mind this.

{{< notice tip >}}
A tip with

```
{{< notice >}} {#x} [!NOTE]
```
{{< /notice >}}

::: {.callout-warning}
Hot.
:::

::: demo [vanilla]
shown
:::

{{< video src="film.mp4" >}}
{{< gallery >}}
![a](https://b.example/a.jpg)
{{< /gallery >}}
{{< chart >}}
"""
    text = head("A", "date: 2020-01-01\n") + body
    posts, _ = imported({"hugo.toml": "", "content/posts/a.md": text})
    post, html = posts["A"], posts["A"].html
    anchor = re.search(r'<h2[^>]*>Install <code>node</code>\s*<a id="(\S+node)"></a></h2>', html)
    assert anchor
    assert f'<a href="#{anchor[1]}">there</a>' in html
    assert re.search(r'these words<a id="\S+here"></a>\.', html)
    assert "<blockquote>\n<p><strong>Note</strong></p>\n<p>Mind this.</p>" in html
    assert "<blockquote>\n<p><strong>Tip</strong></p>\n<p>A tip with</p>\n<pre" in html
    assert "{#x} [!NOTE]" in html
    assert "<p><strong>Warning</strong></p>\n<p>Hot.</p>" in html
    assert "<p>shown</p>" in html
    assert '<video controls="" src="film.mp4">' in html
    assert "gallery" not in html
    assert post.post.needs == ("the shortcode {{< chart >}}", "the block demo")


@pytest.mark.parametrize("text", [
    r"\sqrt{.5}", r"\frac{a}{#1}", "ending in {.5}", r"\sqrt[3]{#1}", r"\hat{.x}", "a {#1}",
    "$$\n\\hat {.x}\n$$", "$$a$$ b\n\n$$\n\\hat {.x}\n\\bar {#y}\n$$",
    "x\n\n    code {#id}\n\tcode {.a}", "x\n\n    [a]{#b} `code` {#id}", "```\ncode {#id}\n```",
])  # fmt: skip
def test_formulas_and_code_have_no_attributes(text: str) -> None:
    """The end of a line of TeX was taken for an id or a class."""
    assert Words("", "", {}, lambda _: "", kramdown=True).plain(text) == text


def test_attributes_at_the_end_of_a_line() -> None:
    """Behind a blank, a heading, a picture or code, and in either spelling."""
    plain = Words("", "", {}, lambda _: "").plain
    assert plain("a {#b .c} \n## A{#d}\n## `e`{#f} ##") == (
        'a<a id="b"></a>\n## A<a id="d"></a>\n## `e`<a id="f"></a>'
    )
    assert plain("![](a.png){.wide}\n[x]{#über}: $$ {: .e}") == (
        '![](a.png)\nx<a id="über"></a>: $$'
    )


def test_code_at_the_end_of_a_paragraph_stays() -> None:
    """It was taken for text where a paragraph follows at once."""
    words = Words("", "", {"page.title": "A"}, lambda _: "", liquid=True, calls=True)
    assert words.plain("`{{ page.title }}`\n\nx `{{ a() }}`\n\n") == (
        "`{{ page.title }}`\n\nx `{{ a() }}`\n\n"
    )
    assert not words.used
    assert words.plain("`a\n\n{{ page.title }}`") == "`a\n\nA`"


def test_a_call_with_code_in_its_argument_is_listed() -> None:
    """What is shown as it stands is in the report."""
    words = Words("", "", {}, lambda _: "", calls=True)
    text = '{{ figure(src="a.png", caption="A `b` c") }}'
    assert words.plain(text) == text
    assert list(words.used) == ["{{ figure() }}"]


def test_an_end_without_its_beginning_is_no_block() -> None:
    """Programs other than Zola end their blocks alike."""
    words = Words("", "", {}, lambda _: "", calls=True)
    assert words.plain("{%@ Note do %}\nx\n{% end %}") == "{%@ Note do %}\nx\n{% end %}"
    assert list(words.used) == ["{% Note %}"]


def test_heads_of_nikola() -> None:
    """Lines of comments in reStructuredText, in Markdown and in HTML; what is tagged as a draft is
    one."""
    pytest.importorskip("docutils")
    lines = ".. title: {}\n.. slug: {}\n.. date: 2015-09-04 12:40:00 UTC-03:00\n.. tags: a, {}\n"
    posts, _ = imported({
        "posts/one.rst": lines.format("One: it", "first", "b") + ".. category:\n\nText *one*.\n",
        "posts/two.md": f"<!--\n{lines.format('Two', 'second', 'draft')}-->\n\nText *two*.\n",
        "posts/three.html": f"<!-- \n{lines.format('Three', 'third', 'c')}-->\n<p>Text</p>\n",
    })  # fmt: skip
    assert {title: post.post.status for title, post in posts.items()} == {
        "One: it": "published", "Two": "draft", "Three": "published",
    }  # fmt: skip
    one = posts["One: it"]
    assert (one.content.slug, one.content.tags) == ("first", ("a", "b"))
    assert one.post.published_at == datetime(2015, 9, 4, 15, 40, tzinfo=UTC)
    assert "<p>Text <em>one</em>.</p>" in one.html
    assert ".. " not in "".join(post.html for post in posts.values())


def test_heads_of_nikola_with_other_lines() -> None:
    """A comment of HTML is read to its end; a directive below a head is none of its lines; the tag
    of a draft is no tag of the post."""
    posts, _ = imported({
        "posts/one.md": "<!--\n.. title: One\n\n.. Author: A\n.. date: 2015-09-04\n"
        ".. tags: olive oil, draft\n-->\n\nText *one*.\n",
        "posts/two.md": ".. title: Two\n.. date: 2015-09-04\n.. tags: olive oil\n"
        ".. contents::\n\nText.\n",
    })  # fmt: skip
    one, two = posts["One"], posts["Two"]
    assert one.post.published_at == datetime(2015, 9, 4, tzinfo=UTC)
    assert (one.post.source, one.post.status) == ("Text *one*.\n", "draft")
    assert one.content.tags == two.content.tags == ("olive oil",)
    assert (two.post.source, two.post.status) == (".. contents::\n\nText.\n", "published")


@pytest.mark.parametrize(
    "text", ["<!--", "<!---->", "<!--" + " " * 100, ".. a:", ".. title: b\n", ".. ", "\n"]
)
def test_heads_that_never_end_are_read_once(text: str) -> None:
    """Neither a comment nor a line of it is looked for twice."""
    begun = time.thread_time()
    unfenced.split_comments(text * (400_000 // len(text)))
    assert time.thread_time() - begun < 2.0  # it is a tenth


def test_metadata_that_a_text_exports() -> None:
    """Next.js has no front matter in MDX; a program's lines are no text."""
    posts, _ = imported({
        "app/n/work/page.MDX": "import { A } from '@/a.tsx';\n\n"
        "export const metadata = {\n  title: 'Work',\n  date: '2020-01-02',\n"
        "  alternates: {\n    canonical: '/n/work',\n  },\n};\n\n"
        "export function Small({ all }) {\n  return (\n    <small>{all}</small>\n  );\n}\n\n"
        "# Heading\n\nText {1 + 1}.\n",
    })  # fmt: skip
    post = posts["Work"].post
    assert (post.status, post.published_at) == ("published", datetime(2020, 1, 2, tzinfo=UTC))
    assert " ".join(post.source.split()) == "# Heading Text {1 + 1}."


def test_the_imports_of_a_text_without_braces_are_no_words() -> None:
    words = Words("", "", {}, lambda _: "", jsx=True)
    assert words.plain('import B from "./b"\n\nText <B/>').strip() == "Text"
