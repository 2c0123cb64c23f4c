"""What is read in strangers' pages: endpoints by every rule of the recommendation, and mentions."""

import pytest

from publisher.base.net import Reply
from publisher.parts.webmention.documents import MentionText, mention_in
from publisher.parts.webmention.mentions import endpoint_of

PAGE = "https://there.example/notes/page"
TARGET = "https://blog.example/posts/one"


def endpoint_in_reply(html: str = "", link: str = "", url: str = PAGE) -> str | None:
    return endpoint_of(Reply(url, 200, {"link": link, "content-type": "text/html"}, html.encode()))


@pytest.mark.parametrize(
    ("link", "endpoint"),
    [
        ("</mention>; rel=webmention", "https://there.example/mention"),
        ("<https://other.example/m>; rel=webmention", "https://other.example/m"),
        ('</mention>; rel="webmention"', "https://there.example/mention"),
        ('</mention>; rel="other webmention more"', "https://there.example/mention"),
        ('</mention>; REL="WebMention"', "https://there.example/mention"),
        ("</x>; rel=other, </mention>; rel=webmention", "https://there.example/mention"),
        ('</x>; rel="a"; title="b, c", <m>; rel=webmention', "https://there.example/notes/m"),
        ("</mention?a=1&b=2>; rel=webmention", "https://there.example/mention?a=1&b=2"),
        ("<>; rel=webmention", PAGE),
        ('</mention>; rel="not-webmention"', None),
        ('</mention>; rel=""', None),
        ('</mention>; rel="x"; title="rel=webmention"', None),
    ],
)
def test_an_endpoint_in_the_header(link: str, endpoint: str | None) -> None:
    """Any case, quoted or not, among others, relative to the page; by its whole name alone."""
    assert endpoint_in_reply(link=link) == endpoint


@pytest.mark.parametrize(
    ("html", "endpoint"),
    [
        ('<link rel="webmention" href="/m">', "https://there.example/m"),
        ('<link rel=webmention href="https://other.example/m">', "https://other.example/m"),
        ('<p><a rel="webmention" href="m">here</a>', "https://there.example/notes/m"),
        ('<link rel="other webmention" href="/m">', "https://there.example/m"),
        ('<LINK REL="WEBMENTION" HREF="/m">', "https://there.example/m"),
        ('<link rel="webmention" href="">', PAGE),
        ('<link rel="webmention" href="/m?a=1&amp;b=2">', "https://there.example/m?a=1&b=2"),
        ('<a rel="webmention" href="/a">a</a><link rel="webmention" href="/b">',
         "https://there.example/a"),
        ('<link rel="webmention" href="/b"><a rel="webmention" href="/a">a</a>',
         "https://there.example/b"),
        ('<link rel="webmention"><a rel="webmention" href="/a">a</a>', "https://there.example/a"),
        ('<link rel="not-webmention" href="/m">', None),
        ('<!-- <link rel="webmention" href="/m"> -->', None),
        ('<code>&lt;link rel="webmention" href="/m"&gt;</code>', None),
        ('<script>"<link rel=webmention href=/m>"</script>', None),
        ('<template><link rel="webmention" href="/m"></template>', None),
        ('<link rel="webmention" href="javascript:alert(1)">', None),
        ('<link rel="webmention" href="ftp://there.example/m">', None),
        ('<link rel="webmention" href="http://u:p@there.example/">', None),
        ("", None),
        ("\x00\xff<<<", None),
    ],
)  # fmt: skip
def test_an_endpoint_in_the_page(html: str, endpoint: str | None) -> None:
    """The first link or anchor that has an address, outside comments, listings and scripts."""
    assert endpoint_in_reply(html) == endpoint


def test_the_header_comes_before_the_page() -> None:
    """And both are seen from where redirects ended."""
    page = '<link rel="webmention" href="/in-page">'
    assert (
        endpoint_in_reply(page, "</in-header>; rel=webmention") == "https://there.example/in-header"
    )
    assert endpoint_in_reply(page, url="https://moved.example/x") == "https://moved.example/in-page"


def mention_of(html: str, kind: str = "text/html") -> MentionText | None:
    return mention_in(html.encode(), kind, "https://there.example/note", TARGET)


@pytest.mark.parametrize(
    ("html", "kind", "links"),
    [
        (f'<a href="{TARGET}">x</a>', "text/html", True),
        (f'<img src="{TARGET}">', "text/html", True),
        (f'<a href="{TARGET}">x</a>', "application/xhtml+xml", True),
        (f'<a href="{TARGET}/more">x</a>', "text/html", False),
        (f'<a href="{TARGET}?x">x</a>', "text/html", False),
        (f"<p>{TARGET}</p>", "text/html", False),
        (f'<!-- <a href="{TARGET}">x</a> -->', "text/html", False),
        (f'<script>"<a href={TARGET}>"</script>', "text/html", False),
        (f"See {TARGET} for more", "text/plain", True),
        (f"See {TARGET}-not for more", "text/plain", False),
        ('{"a": ["' + TARGET + '"]}', "application/json", True),
        ('{"a": "see ' + TARGET + '"}', "application/json", False),
        ("[" * 100_000, "application/json", False),
        ("{", "application/json", False),
        (TARGET, "image/png", False),
        ("", "text/html", False),
    ],
)
def test_a_mention_names_the_very_address(html: str, kind: str, links: bool) -> None:
    """In HTML as a link, in JSON as a value, in text as a word."""
    assert (mention_of(html, kind) is not None) == links


ENTRY = """<title>Page</title><article class="h-entry"><h1 class="p-name">Why <i>ttl</i></h1>
<a class="p-author h-card" href="/">Eve <b>Example</b></a>
<div class="e-content">I read <a class="{cls}" href="{target}">this</a> &lt;b&gt;.</div>
</article>"""


@pytest.mark.parametrize(
    ("cls", "said"),
    [("u-in-reply-to", "reply"), ("u-like-of", "like"), ("u-repost-of", "share"), ("", "mention")],
)
def test_what_a_page_says(cls: str, said: str) -> None:
    """Kind, author, title and words, as plain text."""
    assert mention_of(ENTRY.format(cls=cls, target=TARGET)) == MentionText(
        said, "Eve Example", "Why ttl", "I read this <b>."
    )


def test_a_citation_around_the_link_says_how() -> None:
    """`u-in-reply-to h-cite` around the link is a reply too."""
    html = (
        f'<div class="h-entry"><p class="u-in-reply-to h-cite"><a href="{TARGET}">x</a></p></div>'
    )
    assert mention_of(html) == MentionText("reply")


def test_long_and_odd_texts_are_bounded() -> None:
    """Control characters go, and what is long ends at a word."""
    html = f'<title>\x07{"long " * 100}</title><a href="{TARGET}">x</a>'
    mention = mention_of(html)
    assert mention is not None
    assert len(mention.title) <= 202
    assert mention.title.endswith("long …")


def test_letters_are_read_without_a_word_about_their_encoding() -> None:
    """UTF-8 that says nothing of itself, cut in the middle of a character."""
    html = f'<title>Grüße</title><a href="{TARGET}">x</a>ü'.encode()[:-1]
    assert mention_in(html, "text/html", PAGE, TARGET) == MentionText(title="Grüße")
