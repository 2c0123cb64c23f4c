"""Atom, entry by entry."""

from datetime import UTC, datetime

import pytest

from publisher.base.media_files import Attachment
from tests.parts.importing.conftest import one, read

XHTML = "http://www.w3.org/1999/xhtml"


def feed(entry: str) -> str:
    """A feed with one entry."""
    return (
        '<feed xmlns="http://www.w3.org/2005/Atom"><title>T</title><author><name>Eve</name>'
        f'</author><link href="https://old.example/"/><entry>{entry}</entry></feed>'
    )


def test_a_full_entry() -> None:
    """Every element has its place; the id is kept and is no address."""
    post = one(
        feed(
            """<id>urn:uuid:1</id><title type="html">A &lt;i&gt;b&lt;/i&gt;</title>
            <link href="/posts/a-b"/>
            <link rel="enclosure" href="/a.mp3" type="audio/mpeg" length="9"/>
            <published>2020-01-02T03:04:05+01:00</published><updated>2020-02-02T03:04:05Z</updated>
            <author><name>Ada</name></author><category term="x" label="Ex"/><category term="y"/>
            <summary>Short</summary><content type="html">&lt;p&gt;Text&lt;/p&gt;</content>"""
        )
    )
    assert (post.guid, post.guid_is_permalink, post.title) == ("urn:uuid:1", False, "A b")
    assert (post.address, post.slug) == ("https://old.example/posts/a-b", "a-b")
    assert post.published_at == datetime(2020, 1, 2, 2, 4, 5, tzinfo=UTC)
    assert post.changed_at == datetime(2020, 2, 2, 3, 4, 5, tzinfo=UTC)
    assert (post.by, post.tags) == (("Ada",), ("Ex", "y"))
    assert (post.source, post.summary) == ("<p>Text</p>", "Short")
    assert post.enclosure == Attachment("https://old.example/a.mp3", "audio/mpeg", 9)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("<content>a &lt; b</content>", "a &lt; b"),
        ('<content type="text">one\n\ntwo\nthree</content>', "<p>one</p>\n<p>two<br>\nthree</p>"),
        (
            f'<content type="xhtml"><div xmlns="{XHTML}">Hi <b>x</b>!</div></content>',
            "Hi <b>x</b>!",
        ),
        ("<summary>Only this</summary>", "Only this"),
    ],
)
def test_text_constructs(content: str, expected: str) -> None:
    """Text is escaped, XHTML is unwrapped; a summary without content is the text."""
    assert one(feed(f"<id>1</id>{content}")).source == expected


def test_what_the_feed_says_for_all() -> None:
    """Author and date fall back to the feed's author and the entry's last change."""
    post = one(feed("<id>1</id><content>x</content><updated>2020-02-02T00:00:00Z</updated>"))
    assert post.by == ("Eve",)
    assert post.published_at == datetime(2020, 2, 2, tzinfo=UTC)


def test_a_link_that_is_no_address() -> None:
    """It is left out; it refused the whole file."""
    entry = '<id>1</id><title>a</title><link href="http://["/><content>words</content>'
    assert one(feed(entry)).title == "a"


PUBLISHING = ("http://www.w3.org/2007/app", "http://purl.org/atom/app#")


@pytest.mark.parametrize("app", PUBLISHING)
def test_a_draft_stays_a_draft(app: str) -> None:
    """RFC 5023: what was not public does not become so."""
    control = f'<a:control xmlns:a="{app}"><a:draft>yes</a:draft></a:control>'
    post = one(feed(f'<id>1</id><link href="/x"/><title>T</title>{control}'))
    assert (post.status, post.address) == ("draft", "")
    assert one(feed(f"<id>1</id>{control.replace('yes', 'no')}")).status == "published"


BLOGGER = """<feed xmlns="http://www.w3.org/2005/Atom"
 xmlns:blogger="http://schemas.google.com/blogger/2018"><title>T</title>{}</feed>"""


def test_a_backup_of_blogger() -> None:
    """Posts and pages with their states and addresses; the rest is counted, not published."""
    entries = "".join(
        f"<entry><id>{number}</id><blogger:type>{kind}</blogger:type><blogger:status>{status}"
        f"</blogger:status><title>T</title><published>2020-01-02T03:04:05Z</published>"
        f"<blogger:filename>/2020/01/t{number}.html</blogger:filename></entry>"
        for number, (kind, status) in enumerate(
            [
                ("POST", "LIVE"),
                ("POST", "DRAFT"),
                ("PAGE", "LIVE"),
                ("COMMENT", "LIVE"),
                ("POST", "SOFT_TRASHED"),
            ]
        )
    )
    batch = read(BLOGGER.format(entries))
    states = [(post.kind, post.status, post.slug, *post.aliases) for post in batch.posts]
    assert states == [
        ("post", "published", "t0", "/2020/01/t0.html"),
        ("post", "draft", "t1"),
        ("page", "published", "t2", "/2020/01/t2.html"),
    ]
    assert batch.notes == {
        "comment is not a post and is left out": 1, "post in the trash is left out": 1,
    }  # fmt: skip


def test_an_older_backup_of_blogger() -> None:
    """It says by a category what an entry is."""
    kind = '<category scheme="http://schemas.google.com/g/2005#kind" term="http://x/kind#{}"/>'
    kinds = ("post", "template", "settings", "comment")
    entries = "".join(
        f"<entry><id>{name}</id>{kind.format(name)}<category term='tea'/></entry>" for name in kinds
    )
    batch = read(f'<feed xmlns="http://www.w3.org/2005/Atom"><title>T</title>{entries}</feed>')
    assert [(post.guid, post.tags) for post in batch.posts] == [("post", ("tea",))]
    assert sum(batch.notes.values()) == 3
