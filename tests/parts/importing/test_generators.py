"""Sites that their generators build: after the import every address that a post had leads to it,
and every guid of the old feed is the post's."""

import os
import re
import shutil
import subprocess
from datetime import UTC
from html import unescape
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from publisher.parts.importing import planning
from publisher.parts.importing.formats import recognition
from publisher.parts.importing.imported import Batch
from publisher.parts.importing.planning import PreparedPost
from publisher.parts.importing.sources import Folder, Located, opened
from tests.conftest import MONDAY_MORNING

SITE = "https://old.example"
_PLACES = ("pelican/bin", "eleventy/node_modules/.bin", "astro/node_modules/.bin")
# .ci/run installs there what no distribution has.
PATH = ":".join([os.environ["PATH"], *(f"/tmp/{place}" for place in _PLACES)])  # noqa: S108

pytestmark = pytest.mark.xdist_group("generators")  # each needs a processor for some seconds


def need(program: str) -> str:
    """The path of a program; without it the test is skipped."""
    place = shutil.which(program, path=PATH)
    if place is None:
        pytest.skip(f"{program} is not installed")
    return place


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def build(root: Path, *command: str) -> None:
    settings = {**os.environ, "PATH": PATH, "ASTRO_TELEMETRY_DISABLED": "1", "LC_ALL": "C.UTF-8"}
    done = subprocess.run(
        command, cwd=root, env=settings, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def imported(root: Path, built: str) -> tuple[dict[str, PreparedPost], Batch]:
    """The published posts and pages of a site by their titles; what was built is not there."""
    shutil.rmtree(root / built)
    with opened(Located(root.name, root)) as folder:
        assert isinstance(folder, Folder)
        batch = recognition.read(folder, None, UTC)
        public = [
            prepared
            for prepared in planning.prepare(batch, MONDAY_MORNING)
            if prepared.post.status == "published"
        ]
    assert batch.left_out == []
    return {
        prepared.post.title: prepared for prepared in public if prepared.post.status == "published"
    }, batch


def pages(built: Path, words: str = "These are the words of ") -> dict[str, str]:
    """The title that stands in each page that was built, by its path on the site."""
    titles = {}
    for path in built.rglob("*.html"):
        if title := re.search(rf"{words}([^.<]+)\.", path.read_text("utf-8")):
            place = "/" + path.relative_to(built).as_posix()
            titles[re.sub(r"(^|/)index\.html$", r"\1", place)] = unescape(title[1])
    return titles


def guids(feed: Path, entry: str, guid: str) -> dict[str, str]:
    """The guid of each item of a feed, by its title."""
    items = re.findall(rf"<{entry}\b.*?</{entry}>", feed.read_text("utf-8"), re.DOTALL)
    return {_inside(item, "title"): _inside(item, guid) for item in items}


def _inside(item: str, tag: str) -> str:
    link = re.search(r'<link href="([^"]*)" rel="alternate"', item) if tag == "link" else None
    inside = rf"<{tag}\b[^>]*>(?:<!\[CDATA\[)?(.*?)(?:\]\]>)?</{tag}>"
    match = link or re.search(inside, item, re.DOTALL)
    assert match
    return unescape(match[1])


def text(title: str, head: str = "", words: str = "") -> str:
    return f"---\ntitle: {title!r}\n{head}---\nThese are the words of {title}.\n\n{words}\n"


def compare(
    posts: dict[str, PreparedPost], shown: dict[str, str], ids: dict[str, str], base: str = ""
) -> None:
    """Every page that was built is an old address of its post, every guid is its guid."""
    assert len(shown) >= 4
    for path, title in shown.items():
        assert f"{base}{path}".rstrip("/") in {p.rstrip("/") for p in posts[title].old_paths}, title
    assert len(ids) >= 3
    assert {title: posts[title].post.guid for title in ids} == ids


JEKYLL = "title: Old\nurl: https://old.example\nbaseurl: /blog\nplugins: [jekyll-feed]\n"


@pytest.mark.parametrize(
    "settings",
    [
        "timezone: America/New_York", "permalink: pretty", "permalink: /:year/:i_month/:slug",
        "permalink: ordinal", "permalink: /:categories/:short_year-:month/:title.html",
        "defaults:\n- {scope: {path: '', type: posts}, values: {permalink: '/p/:title/'}}",
    ],
    ids=["date", "pretty", "slug", "ordinal", "own", "defaults"],
)  # fmt: skip
def test_jekyll(tmp_path: Path, settings: str) -> None:
    """Categories, folders, own addresses, dates of all forms; pages; links between posts."""
    need("jekyll")
    link = (
        "[on]({% post_url 2014-03-10-next %}) [b]({{ site.baseurl }}/x) {{ '/y' | relative_url }}"
    )
    write(tmp_path, {
        "_config.yml": JEKYLL + settings,
        "_posts/2014-03-09-first-day.markdown":
            text("First", "date: 2014-03-09 23:30:00\ncategories: Jekyll Update\n", link),
        "_posts/2014-3-10-next.md": text("Next", "category: One Two\n"),
        "news/_posts/2015-01-01-off.md":
            text("Offset", "date: 2015-01-01 23:30:00 -0800\nslug: Other Name\n"),
        "_posts/2016-01-01-Grüße & more.md": text("Own", "permalink: /own/:year/:slug/\n"),
        "_posts/2016-01-02-Grüße & more.md": text("Letters", "tags: [Ä b]\n"),
        "_drafts/later.md": text("Later"),
        "about.md": text("About", "layout: page\n"),
        "deep/place.md": text("Deep"),
    })  # fmt: skip
    build(tmp_path, "jekyll", "build", "--quiet")
    feed = tmp_path / "_site/feed.xml"
    ids, links = guids(feed, "entry", "id"), guids(feed, "entry", "link")
    shown = {unquote(urlsplit(link).path): title for title, link in links.items()}
    shown |= {
        f"/blog{path}": title
        for path, title in pages(tmp_path / "_site").items()
        if title in ("About", "Deep")
    }
    posts, batch = imported(tmp_path, "_site")
    compare(posts, shown, ids)
    assert batch.old_feeds == ["/blog/feed.xml"]
    address = urlsplit(links["Next"]).path
    assert f"[on]({address}) [b](/blog/x) /blog/y" in posts["First"].content.source


HUGO = 'baseURL = "https://old.example/sub/"\ntitle = "Old"\n'


@pytest.mark.parametrize(
    "settings",
    ["", '[permalinks]\n  blog = "/:year/:month/:slug/"\n',
     '[permalinks]\n  posts = "/:section/:filename/"\n',
     '[permalinks]\n  blog = "/:year/:title/"\n', "uglyURLs = true\n"],
    ids=["paths", "slug", "filename", "title", "ugly"],
)  # fmt: skip
def test_hugo(tmp_path: Path, settings: str) -> None:
    """Sections, bundles, slugs, own addresses, aliases; links by `relref`."""
    need("hugo")
    write(tmp_path, {
        "config.toml": HUGO + settings,
        "layouts/_default/single.html": "{{ .Content }}",
        "layouts/_default/list.html": "",
        "content/posts/Hello World & more.md":
            text("Hello, World: C++ & Über", "date: 2020-01-02T23:30:00\n",
                 '[on]({{< relref "Second One.md" >}})'),
        "content/posts/bundle/index.md":
            text("Bundle", "date: 2020-01-03\naliases: [/old/b/, beside]\n"),
        "content/blog/Second One.md": text("Second: One, two", "date: 2020-02-03\n"),
        "content/blog/deep/2020-02-04-third.md": text("Third", "date: 2020-02-04\nslug: My Slug\n"),
        "content/posts/u.md": text("Own", "date: 2020-02-05\nurl: /own/u.html\n"),
        "content/posts/later.md": text("Draft", "date: 2020-02-05\ndraft: true\n"),
        "content/about.md": text("About"),
    })  # fmt: skip
    build(tmp_path, "hugo", "--quiet")
    shown, ids = pages(tmp_path / "public"), guids(tmp_path / "public/index.xml", "item", "guid")
    html = next((tmp_path / "public/posts").glob("hello*/index.html"), None) or next(
        (tmp_path / "public/posts").glob("hello*.html")
    )
    link = re.findall(r'href="([^"]+)"', html.read_text())[0]
    posts, batch = imported(tmp_path, "public")
    compare(posts, shown, ids, "/sub")
    assert {"/sub/old/b/", "/sub/posts/beside"} <= set(posts["Bundle"].old_paths)
    assert batch.old_feeds[:3] == ["/sub/index.xml", "/sub/blog/index.xml", "/sub/posts/index.xml"]
    assert f"[on]({link})" in posts["Hello, World: C++ & Über"].content.source


@pytest.mark.parametrize(
    "settings",
    ["",
     "ARTICLE_URL = '{date:%Y}/{category}/{slug}/'\nARTICLE_SAVE_AS = ARTICLE_URL + 'index.html'\n",
     "SLUGIFY_SOURCE = 'basename'\n"],
    ids=["slugs", "pattern", "basename"],
)  # fmt: skip
def test_pelican(tmp_path: Path, settings: str) -> None:
    """Heads without a fence, folders as categories, pages, links between files."""
    pelican = need("pelican")
    write(tmp_path, {
        "pelicanconf.py": "SITEURL = 'https://old.example/b'\nTIMEZONE = 'Europe/Berlin'\n"
            "PATH = 'content'\nFEED_ALL_ATOM = 'feeds/all.atom.xml'\n"
            f"FEED_ALL_RSS = 'feeds/all.rss.xml'\nAUTHOR = 'A'\nTHEME = 'simple'\n{settings}",
        "content/first.md": "Title: My title: a story é C++ & c\nDate: 2011-04-24 15:39\n"
            "Category: Long Articles\nTags: python, tech\n\nThese are the words of My title: "
            "a story é C++ & c.\n\n[on]({filename}/news/2012-01-02-second.md)\n",
        "content/news/2012-01-02-second.md":
            "Title: Second\nSlug: seco\n\nThese are the words of Second.\n",
        "content/late.md":
            "Title: Late\nDate: 2012-12-31 23:30\n\nThese are the words of Late.\n",
        "content/pages/about.md": "title: Über uns\n\nThese are the words of Über uns.\n",
    })  # fmt: skip
    build(tmp_path, pelican, "content", "-s", "pelicanconf.py", "-o", "output", "-q")
    lists = ("/tag/", "/category/", "/author/", "/index", "/archives")
    shown = {
        p: t for p, t in pages(tmp_path / "output").items() if not p.startswith(lists) and p != "/"
    }
    ids = guids(tmp_path / "output/feeds/all.rss.xml", "item", "guid")
    posts, batch = imported(tmp_path, "output")
    compare(posts, shown, ids, "/b")
    assert posts["Über uns"].content.kind == "page"
    second = next(path for path, title in shown.items() if title == "Second")
    assert f"[on](/b{second})" in posts["My title: a story é C++ & c"].content.source
    assert batch.old_feeds == ["/b/feeds/all.atom.xml", "/b/feeds/all.rss.xml"]


def test_eleventy(tmp_path: Path) -> None:
    """Addresses by path, by a folder's data, by a text's own `permalink`."""
    eleventy = need("eleventy")
    plugin = Path(eleventy).parent.parent / "@11ty/eleventy-plugin-rss/.eleventy.js"
    write(tmp_path, {
        "eleventy.config.js": f'import {{ feedPlugin }} from "{plugin}";\n'
            "export default function (c) { c.addPlugin(feedPlugin, {type: 'rss', "
            "outputPath: '/feed/feed.xml', collection: {name: 'posts', limit: 0}, metadata: "
            "{title: 'Old', language: 'en', base: 'https://old.example/', author: {name: 'A'}}});"
            "}",
        "package.json": '{"type": "module"}',
        "posts/posts.json": '{"tags":["posts"],"permalink":"/blog/{{ page.fileSlug }}/index.html"}',
        "posts/2022-02-02-one.md": text("One", "date: 2022-02-02\n"),
        "posts/two.md": text("Two", "date: 2022-02-03\npermalink: '/own/{{ title | slug }}/'\n",
                             "{{ title }} at {{ page.url }}"),
        "Three.md": text("Three", "date: 2022-02-03\ntags: posts\n"),
        "notes/deep/index.md": text("Four", "date: 2022-02-04\ntags: posts\n"),
        "notes/2022-02-04-Five Words.md": text("Five", "date: 2022-02-04\ntags: posts\n"),
        "secret.md": text("Secret", "date: 2022-02-04\npermalink: false\n"),
    })  # fmt: skip
    build(tmp_path, eleventy, "--quiet")
    shown = pages(tmp_path / "_site")
    ids = guids(tmp_path / "_site/feed/feed.xml", "item", "guid")
    posts, batch = imported(tmp_path, "_site")
    compare(posts, shown, ids)
    assert batch.old_feeds == ["/feed/feed.xml"]
    assert "Two at /own/two/" in posts["Two"].content.source


ROUTE = """---
import { getCollection, render } from 'astro:content';
export async function getStaticPaths() {
  const posts = await getCollection('blog');
  return posts.map((post) => ({ params: { slug: post.id }, props: post }));
}
const { Content } = await render(Astro.props);
---
<Content />
"""
COLLECTION = """import { defineCollection } from 'astro:content';
import { glob } from 'astro/loaders';
const loader = glob({ base: './src/content/blog', pattern: '**/*.md' });
export const collections = { blog: defineCollection({ loader }) };
"""
FEED = """import rss from '@astrojs/rss';
import { getCollection } from 'astro:content';
export async function GET(context) {
  const posts = await getCollection('blog');
  return rss({ title: 'Old', description: 'x', site: context.site, items: posts.map((post) => (
    { ...post.data, pubDate: new Date(post.data.pubDate), link: `/b/blog/${post.id}/` })) });
}
"""


def test_astro(tmp_path: Path) -> None:
    """Collections by the route that shows them, pages by their path."""
    astro = need("astro")
    (tmp_path / "node_modules").symlink_to(Path(astro).parent.parent)
    write(tmp_path, {
        "astro.config.mjs": "import { defineConfig } from 'astro/config';\n"
            "export default defineConfig({ site: 'https://old.example', base: '/b' });\n",
        "package.json": '{"type": "module", "name": "x"}',
        "src/content.config.ts": COLLECTION,
        "src/pages/blog/[...slug].astro": ROUTE,
        "src/pages/rss.xml.js": FEED,
        "src/content/blog/First Post & More.md": text("First", 'pubDate: "Jul 08 2022"\n'),
        "src/content/blog/second.md": text("Second", "pubDate: 2022-07-09\nslug: own-slug\n"),
        "src/content/blog/deep/Über.md": text("Third", "pubDate: 2022-07-10\n"),
        "src/content/blog/deep/index.md": text("Fourth", "pubDate: 2022-07-11\n"),
        "src/pages/notes/Page One.md": text("Page"),
    })  # fmt: skip
    build(tmp_path, astro, "build")
    shown, ids = pages(tmp_path / "dist"), guids(tmp_path / "dist/rss.xml", "item", "guid")
    (tmp_path / "node_modules").unlink()
    posts, batch = imported(tmp_path, "dist")
    compare(posts, shown, ids, "/b")
    assert batch.old_feeds == ["/b/rss.xml"]
    assert posts["First"].post.guid_is_permalink
    assert {urlsplit(post.post.guid).netloc for post in posts.values()} == {"old.example"}
