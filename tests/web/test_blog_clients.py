"""Other people's programs for authors, driven against the served site: two for each protocol.

Micropub: `entries` and `micropub` (PyPI). XML-RPC: `python-wordpress-xmlrpc` (PyPI), and of npm
`wordpress` and `metaweblog-api`. They lie in one environment of their own, beside `entries`.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.running_site import Server, serving

ENTRIES = shutil.which("entries")
PLACE = Path(ENTRIES or "/none").resolve().parent.parent
pytestmark = [
    pytest.mark.any_database,
    pytest.mark.skipif(
        not (ENTRIES and shutil.which("node") and (PLACE / "node_modules").is_dir()),
        reason="the clients for authors are not installed (see .ci/run)",
    ),
]
ENTRIES_RUN = """
import json, os, cli, mf2py
url, token = os.environ["SITE"], os.environ["TOKEN"]
rels = mf2py.parse(url=url + "/")["rels"]
endpoint = rels["micropub"][0]
meta = {"name": "From entries", "category": ["tea", "cups"], "mp-slug": "from-entries"}
cli.micropub_create(endpoint, token, "Words of *entries*.", meta)
post = url + "/posts/from-entries"
before = cli.micropub_source(endpoint, token, post)
header = cli.build_header(before)
changed = {**meta, "name": "Changed", "mp-extra-head": "", "mp-extra-body": ""}
cli.micropub_update(endpoint, token, post, "Other words.", changed)
after = cli.micropub_source(endpoint, token, post)
print(json.dumps([before["properties"], header, after["properties"], sorted(rels)]))
"""
MICROPUB_RUN = """
import json, os, micropub
url, token = os.environ["SITE"], os.environ["TOKEN"]
client = micropub.Client(url + "/micropub", token)
client.create_post({"content": ["I agree."], "in-reply-to": ["https://there.example/1"],
                    "mp-slug": ["a-reply"]})
try:
    client.create_post({"content": ["x"], "visibility": ["private"]})
    refused = False
except micropub.PostNotCreated:
    refused = True
print(json.dumps([client.get_post(url + "/posts/a-reply").json(), refused]))
"""
WORDPRESS_RUN = """
import collections, collections.abc, json, os
collections.Iterable = collections.abc.Iterable  # it is of Python 3.9 and before
from wordpress_xmlrpc import Client, WordPressPage, WordPressPost
from wordpress_xmlrpc.exceptions import InvalidCredentialsError
from wordpress_xmlrpc.methods import media, options, posts, taxonomies, users
from wordpress_xmlrpc.compat import xmlrpc_client
url, token = os.environ["SITE"] + "/xmlrpc.php", os.environ["TOKEN"]
client = Client(url, "ada", token)
post = WordPressPost()
post.title, post.content, post.slug = "From WordPress", "<p>Its <b>words</b>.</p>", "from-wordpress"
post.terms_names, post.post_status = {"post_tag": ["tea"], "category": ["cups"]}, "publish"
post.id = client.call(posts.NewPost(post))
made = client.call(posts.GetPost(post.id))
made.content = "<p>Changed.</p>"
edited = client.call(posts.EditPost(post.id, made))
picture = {"name": "a.png", "type": "image/png",
           "bits": xmlrpc_client.Binary(open(os.environ["PICTURE"], "rb").read())}
file = client.call(media.UploadFile(picture))
page = WordPressPage()
page.title, page.content, page.post_status = "A page", "x", "draft"
page.id = client.call(posts.NewPost(page))
try:
    Client(url, "ada", "wrong").call(users.GetProfile())
    let_in = True
except InvalidCredentialsError:
    let_in = False
print(json.dumps({
    "content": client.call(posts.GetPost(post.id)).content, "edited": edited, "link": made.link,
    "terms": sorted(term.name for term in made.terms),
    "listed": [one.title for one in client.call(posts.GetPosts({"number": 5}))],
    "pages": [one.title for one in client.call(posts.GetPosts({"post_type": "page"}))],
    "states": client.call(posts.GetPostStatusList()),
    "media": [one.title for one in client.call(media.GetMediaLibrary({}))],
    "item": client.call(media.GetMediaItem(file["id"])).link,
    "taxonomies": [one.name for one in client.call(taxonomies.GetTaxonomies())],
    "tags": sorted(one.name for one in client.call(taxonomies.GetTerms("post_tag"))),
    "options": [one.value for one in client.call(options.GetOptions(["blog_title"]))],
    "who": client.call(users.GetProfile()).username,
    "authors": [one.user_login for one in client.call(users.GetAuthors())],
    "blogs": [one.name for one in client.call(users.GetUsersBlogs())],
    "deleted": client.call(posts.DeletePost(page.id)), "let_in": let_in,
}))
"""
NODE_WORDPRESS_RUN = """
const client = require("wordpress").createClient(
  {url: process.env.SITE, username: "ada", password: process.env.TOKEN});
const ask = (name, ...given) => new Promise((done, fail) =>
  client[name](...given, (error, value) => error ? fail(error) : done(value)));
(async () => {
  const methods = await ask("listMethods");
  const id = await ask("newPost", {title: "From Node", content: "Some words.", status: "publish",
                                   termNames: {post_tag: ["tea"]}});
  const before = await ask("getPost", id);
  await ask("editPost", id, {content: "Other words."});
  const after = await ask("getPost", id, ["content", "terms"]);
  const terms = await ask("getTerms", "post_tag");
  const listed = await ask("getPosts", {status: "publish", number: 3});
  await ask("deletePost", id);
  console.log(JSON.stringify({methods, before, after, terms, listed}));
})().catch(error => { console.error(error); process.exit(1); });
"""
METAWEBLOG_RUN = """
const MetaWeblog = require("metaweblog-api");
const api = new MetaWeblog(process.env.SITE + "/xmlrpc"), me = ["ada", process.env.TOKEN];
(async () => {
  const blogs = await api.getUsersBlogs("key", ...me);
  const markdown = blogs.find(one => one.blogName.includes("Markdown")).blogid;
  const post = {title: "From MetaWeblog", description: "Some *words*.", categories: ["tea"],
                dateCreated: new Date("2020-01-02T03:04:05Z")};
  const id = await api.newPost(markdown, ...me, post, true);
  const before = await api.getPost(id, ...me);
  await api.editPost(id, ...me, {...before, description: "Other *words*."}, true);
  const after = await api.getPost(id, ...me);
  const bits = require("fs").readFileSync(process.env.PICTURE);
  const file = await api.newMediaObject(markdown, ...me, {name: "a.png", type: "image/png", bits});
  const recent = await api.getRecentPosts(markdown, ...me, 10);
  const categories = await api.getCategories(markdown, ...me);
  let refused = false;
  try { await api.getPost(id, "ada", "wrong"); } catch (error) { refused = true; }
  console.log(JSON.stringify({before, after, file, recent, categories, refused,
                              gone: await api.deletePost("key", id, ...me, true)}));
})().catch(error => { console.error(error); process.exit(1); });
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A served blog with the author ada; nothing that a client sends may end in a traceback."""
    with serving(tmp_path_factory.mktemp("clients") / "instance") as running:
        running.command("author", "add", "ada", "--password-stdin", text="a long password\n")
        running.command("settings", "site_url", running.url)
        yield running
        assert "Traceback" not in running.output()


@pytest.fixture
def run(server: Server) -> Any:
    """Run a program of a client with a token of ada's; returns what it prints, as JSON."""
    token = server.command("token", "add", "ada").stdout.split()[-1]

    def ran(program: str, text: str) -> Any:
        picture = Path(__file__).parent.parent.parent / "publisher/web/static/touch-icon.png"
        environment = {
            "PATH": os.environ["PATH"], "NODE_PATH": str(PLACE / "node_modules"),
            "SITE": server.url, "TOKEN": token, "BROWSER": "true",
            "PICTURE": str(picture),
        }  # fmt: skip
        words = [str(PLACE / "bin/python"), "-c"] if program == "python" else ["node", "-e"]
        done = subprocess.run(
            [*words, text], env=environment, capture_output=True, text=True, check=False, timeout=60
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout.splitlines()[-1])

    return ran


def test_entries(run: Any, server: Server) -> None:
    """Finds the endpoint on the home page; a post is made, read for editing, and changed."""
    before, header, after, rels = run("python", ENTRIES_RUN)
    assert {"micropub", "authorization_endpoint", "token_endpoint"} <= set(rels)
    assert before["content"] == ["Words of *entries*."]
    assert before["category"] == ["cups", "tea"]
    assert "mp-slug: from-entries" in header
    assert (after["name"], after["content"]) == (["Changed"], ["Other words."])
    assert b"Other words." in server.get("/posts/from-entries")[2]
    assert b"Other words." in server.get("/rss.xml")[2]


def test_micropub(run: Any, server: Server) -> None:
    """A reply is kept as one; a post that would be public though it should not be is refused."""
    entry, refused = run("python", MICROPUB_RUN)
    assert entry["properties"]["in-reply-to"] == ["https://there.example/1"]
    assert entry["properties"]["content"] == ["I agree."]
    assert refused
    assert b'class="u-in-reply-to"' in server.get("/posts/a-reply")[2]


def test_python_wordpress_xmlrpc(run: Any, server: Server) -> None:
    """Every call that it has and we name, with its own classes for what is answered."""
    results = run("python", WORDPRESS_RUN)
    assert results["content"] == "<p>Changed.</p>"
    assert results["link"] == f"{server.url}/posts/from-wordpress"
    assert results["terms"] == ["cups", "tea"]
    assert "From WordPress" in results["listed"]
    assert results["pages"] == ["A page"]
    assert "draft" in results["states"]
    assert results["media"] == ["a.png"]
    assert results["item"].startswith(f"{server.url}/media/")
    assert results["taxonomies"] == ["category", "post_tag"]
    assert {"cups", "tea"} <= set(results["tags"])
    assert results["options"] == results["blogs"][:1]
    assert (results["who"], results["authors"]) == ("ada", ["ada"])
    assert (results["edited"], results["deleted"], results["let_in"]) == (True, True, False)
    assert b"<p>Changed.</p>" in server.get("/posts/from-wordpress")[2]


def test_wordpress_of_npm(run: Any, server: Server) -> None:
    """It only knows WordPress's own address, and names the fields that it wants."""
    results = run("node", NODE_WORDPRESS_RUN)
    assert {"wp.getPosts", "system.multicall"} <= set(results["methods"])
    assert (results["before"]["title"], results["before"]["status"]) == ("From Node", "publish")
    assert results["after"]["content"] == "Other words."
    assert [term["name"] for term in results["after"]["terms"]] == ["tea"]
    assert "tea" in [term["name"] for term in results["terms"]]
    assert "From Node" in [post["title"] for post in results["listed"]]
    assert server.get("/posts/from-node")[0] == 410


def test_metaweblog_api(run: Any, server: Server) -> None:
    """Markdown stays Markdown, a date in the past is kept, and a whole struct can be sent back."""
    results = run("node", METAWEBLOG_RUN)
    assert results["before"]["description"] == "Some *words*."
    assert results["before"]["date_created_gmt"].startswith("2020-01-02T03:04:05")
    assert results["after"]["description"] == "Other *words*."
    assert results["after"]["dateCreated"] == results["before"]["dateCreated"]
    assert results["file"]["url"].startswith(f"{server.url}/media/")
    assert "From MetaWeblog" in [post["title"] for post in results["recent"]]
    assert "tea" in [category["title"] for category in results["categories"]]
    assert results["refused"]
    assert results["gone"]
