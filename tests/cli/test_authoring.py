"""`post add` and `token` as they are typed."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from sqlalchemy import select

from publisher.base.clock import utc_now
from publisher.base.environment import Environment
from publisher.base.errors import PublisherError
from publisher.blog.members import authors, tokens
from publisher.blog.writing import content, overview, posts
from publisher.cli import cli
from publisher.installation import Site, open_site
from publisher.storage.tables.blog import Post, Update
from tests.conftest import SITE_URL
from tests.databases import database_url
from tests.factories import PASSWORD


@pytest.fixture
def blog(tmp_path: Path) -> Iterator[Site]:
    """A site with an admin, on the real clock as the command line is."""
    folder = tmp_path / "instance"
    opened = open_site(Environment(folder, database_url(folder), SITE_URL, "a key"))
    with opened.database.write() as db:
        authors.add(db, "ada", authors.hashed(PASSWORD), None, utc_now())
    yield opened
    opened.database.close()


def run(blog: Site, *arguments: str, text: str | bytes = "") -> Result:
    return CliRunner().invoke(cli, arguments, env=blog.environment.variables(), input=text)


def stored(blog: Site) -> list[Post]:
    with blog.database.read() as db:
        return list(db.scalars(select(Post).order_by(Post.id)))


def test_standard_input_with_options(blog: Site) -> None:
    """Title, tags and author as typed; the address is all that is printed."""
    run_result = run(blog, "post", "add", "--title", "Hello you", "--tag", "a", text="*Hi*")
    assert run_result.output == f"{SITE_URL}/posts/hello-you\n"
    (post,) = stored(blog)
    assert (post.title, post.source, post.status, post.author_id) == (
        "Hello you",
        "*Hi*",
        "published",
        1,
    )


def test_front_matter_in_a_file(blog: Site, tmp_path: Path) -> None:
    """The file says what the options do not; a heading without front matter stays one."""
    file = tmp_path / "post.md"
    file.write_text("---\ntitle: From the file\ndate: 2020-01-02T03:04:05Z\nslug: f\n---\nText\n")
    assert run(blog, "post", "add", str(file)).output == f"{SITE_URL}/posts/f\n"
    assert run(blog, "post", "add", "--title", "Typed", str(file)).exit_code == 0
    run(blog, "post", "add", text="# A heading\n\nText")
    assert [post.title for post in stored(blog)] == ["From the file", "Typed", ""]
    assert stored(blog)[2].source == "# A heading\n\nText"
    with blog.database.read() as db:
        assert len({at for at in db.scalars(select(Update.at)) if at.year == 2020}) == 1


def test_dates_on_the_command_line(blog: Site) -> None:
    """In the future it waits, in the past it counts then."""
    run(blog, "post", "add", "--at", "2090-01-01T00:00:00Z", text="Later")
    run(blog, "post", "add", "--at", "2001-01-01T00:00:00Z", text="Early")
    assert [post.status for post in stored(blog)] == ["scheduled", "published"]
    with blog.database.read() as db:
        assert [at.year for at in db.scalars(select(Update.at))] == [2001]


def test_what_cannot_be_published(blog: Site) -> None:
    """One line, the right exit code, nothing published."""
    refused: list[tuple[list[str], str | bytes, int]] = [
        ([], "", 2),
        ([], "  \n", 2),
        ([], b"\x89PNG\r\n\x1a\n\x00\x00", 1),
        ([], b"caf\xe9", 1),
        (["--author", "nobody"], "Hi", 2),
        (["--title", "t" * 301], "Hi", 2),
        ([], "---\ntitle: [\n---\nHi", 1),
    ]
    for arguments, text, exit_code in refused:
        answer = run(blog, "post", "add", *arguments, text=text)
        assert isinstance(answer.exception, PublisherError), (arguments, text)
        assert answer.exception.exit_code == exit_code, (arguments, text)
        assert "\n" not in str(answer.exception), (arguments, text)
    assert stored(blog) == []


def test_tokens_from_beginning_to_end(blog: Site) -> None:
    """`add` prints the token alone, `list` never shows it, `revoke` ends it."""
    secret = run(blog, "token", "add", "ada", "--scope", "create").output.strip()
    with blog.database.read() as db:
        row = tokens.verify(db, secret, blog.clock())
        assert row is not None
        assert row.scope == "create"
    listed = run(blog, "token", "list").output
    assert listed.startswith("1\tada\tcreate\t")
    assert secret not in listed
    assert run(blog, "token", "revoke", "1").exit_code == 0
    with blog.database.read() as db:
        assert tokens.verify(db, secret, blog.clock()) is None


def test_a_post_is_listed_edited_and_deleted(blog: Site, tmp_path: Path) -> None:
    """By slug, path or whole address; what an edit does not name stays; deletion is an update."""
    run(blog, "post", "add", "--title", "Hello you", "--tag", "a", text="*Hi*")
    run(blog, "post", "add", "--at", "2090-01-01T00:00:00Z", text="Later")
    listed = json.loads(run(blog, "post", "list", "--json").output)
    assert [(row["state"], row["title"]) for row in listed] == [
        ("scheduled", "Later"),
        ("published", "Hello you"),
    ]
    assert listed[1]["address"] == f"{SITE_URL}/posts/hello-you"
    assert run(blog, "post", "list", "--state", "scheduled").output.count("\n") == 1
    assert run(blog, "post", "list", "--limit", "1").output.count("\n") == 1
    edited = run(blog, "post", "edit", "hello-you", text="---\nsummary: In short\n---\n*New*\n")
    assert edited.output == f"{SITE_URL}/posts/hello-you\n"
    post = stored(blog)[0]
    assert (post.title, post.source.strip(), post.summary) == ("Hello you", "*New*", "In short")
    assert run(blog, "post", "edit", "/posts/hello-you", "--minor", text="Smaller").exit_code == 0
    with blog.database.read() as db:
        assert len(list(db.scalars(select(Update.at)))) == 2
    assert run(blog, "post", "edit", "hello-you", text="").exception is not None
    assert stored(blog)[0].source == "Smaller"
    gone = run(blog, "post", "delete", f"{SITE_URL}/posts/hello-you")
    assert gone.output == f"deleted {SITE_URL}/posts/hello-you\n"
    assert stored(blog)[0].status == "deleted"


def test_the_list_of_posts_goes_on_past_a_page(blog: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """All of them, each once, however many pages the database is asked for."""
    monkeypatch.setattr(overview, "PAGE", 5)
    with blog.database.write() as db:
        for number in range(12):
            new = posts.create(db, content.Content(title=f"Post {number}"), 1, utc_now())
            posts.publish_or_schedule(db, new, utc_now(), utc_now())
    for limit, expected in (((), 12), (("--limit", "7"), 7), (("--limit", "10"), 10)):
        lines = run(blog, "post", "list", *limit).output.splitlines()
        assert (len(lines), len(set(lines))) == (expected, expected)


def test_authors_from_beginning_to_end(blog: Site) -> None:
    """Added with a line of standard input, promoted, removed; the list says so."""
    assert run(blog, "author", "add", "bob", text=f"{PASSWORD}\n").output == "bob (author)\n"
    assert run(blog, "author", "role", "bob", "admin").output == "bob (admin)\n"
    secret = run(blog, "token", "add", "bob").output.strip()
    assert run(blog, "author", "remove", "bob").exit_code == 0
    rows = json.loads(run(blog, "author", "list", "--json").output)
    assert [(row["name"], row["role"], row["state"]) for row in rows] == [
        ("ada", "admin", "active"),
        ("bob", "admin", "removed"),
    ]
    with blog.database.read() as db:
        assert tokens.verify(db, secret, blog.clock()) is None


def test_a_password_is_asked_for_twice_on_a_terminal(
    blog: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unseen, and again when the two differ; `--password-stdin` asks nothing."""
    monkeypatch.setattr("publisher.cli.parameters.on_terminal", lambda: True)
    typed = f"{PASSWORD}\nanother one\n{PASSWORD}\n{PASSWORD}\n"
    run_result = run(blog, "author", "add", "bob", text=typed)
    assert run_result.stdout == "bob (author)\n"
    assert run_result.stderr.count("Password") == 2
    assert PASSWORD not in run_result.output
    with blog.database.read() as db:
        assert authors.authenticate(db, "bob", PASSWORD).name == "bob"
    silent = run(blog, "author", "add", "eve", "--password-stdin", text=f"{PASSWORD}\n")
    assert (silent.stdout, silent.stderr) == ("eve (author)\n", "")


def test_a_post_is_taken_back(blog: Site) -> None:
    """By its slug; a second time is an error in a sentence; `--as-if-never` may follow."""
    run(blog, "post", "add", "--title", "Too early", text="Hm.")
    run_result = run(blog, "post", "unpublish", "too-early")
    assert run_result.output == f"a draft again: {SITE_URL}/posts/too-early\n"
    (post,) = stored(blog)
    assert (post.status, post.former_date is not None) == ("draft", True)
    again = run(blog, "post", "unpublish", "too-early")
    assert isinstance(again.exception, PublisherError)
    assert str(again.exception) == "this post is a draft already"
    assert run(blog, "post", "unpublish", "--as-if-never", "too-early").exit_code == 0
    (post,) = stored(blog)
    assert (post.status, post.former_date) == ("draft", None)
