"""HTML of items: pictures that load late, frames, the direction of writing."""

import re
import time

import pytest

from publisher.feed_reading.feed_document import FeedItem
from publisher.feed_reading.feed_html import (
    clean_html,
    has_remote_media,
    sanitised,
    without_remote_media,
)
from publisher.feed_reading.lazy_pictures import attributes_of, loading_at_once

ADDRESS = "https://a.example/p.jpg"
SHOWN = f'<img src="{ADDRESS}"'
LAZY = [
    f'<img data-src="{ADDRESS}">',
    f'<img src="" data-src="{ADDRESS}">',
    f"<img class=lazy src='data:image/gif;base64,R0lG' data-lazy-src='{ADDRESS}'>",
    f'<img src="/img/blank.gif" data-original="{ADDRESS}" alt="2 > 1">',
    f'<img data-srcset="https://a.example/small.jpg 300w, {ADDRESS} 900w">',
    f"<noscript><img src='{ADDRESS}'></noscript>",
    f'<img data-src="{ADDRESS}"><noscript><img src="{ADDRESS}"></noscript>',
    f'<noscript><img src="{ADDRESS}"></noscript> <img data-src="{ADDRESS}">',
    f'<img src="data:image/gif;base64,R0lG"><noscript><img src="{ADDRESS}"></noscript>',
]


def html_of(markup: str) -> str:
    return sanitised(FeedItem("1", "https://a.example/1", "", markup), "https://a.example/f").html


@pytest.mark.parametrize("markup", LAZY)
def test_a_picture_that_loads_late_is_shown_once(markup: str) -> None:
    html = html_of(f"<p>a</p>{markup}<p>b</p>")
    assert html.count("<img") == 1
    assert SHOWN in html
    assert re.sub("<img[^>]*>| ", "", html) == "<p>a</p><p>b</p>"


def test_words_between_two_pictures_keep_both() -> None:
    """They are no copies of each other there: nothing between them is lost either."""
    html = html_of(f'<img data-src="{ADDRESS}"> two <noscript><img src="{ADDRESS}"></noscript>')
    assert (html.count(SHOWN), "two" in html) == (2, True)


def test_a_copy_at_the_end_of_a_long_text_is_left_out() -> None:
    """Only the end is looked at, and only the copy goes."""
    text = "<p>" + "words " * 1_000 + "</p>"
    html = html_of(f'{text}<img data-src="{ADDRESS}"><noscript><img src="{ADDRESS}"></noscript>')
    assert html.startswith(f"{text}<img")
    assert html.count("<img") == 1
    assert SHOWN in html


PICTURE = '<img src="a">'


@pytest.mark.parametrize("wide", [0, 1])
def test_copies_are_looked_for_in_two_thousand_characters(wide: int) -> None:
    """Up to there nothing but blanks may stand between a picture and its copy."""
    blanks = " " * (2_000 - len(PICTURE) + wide)
    noscript = f"<noscript>{PICTURE}</noscript>"
    kept = PICTURE * wide
    assert loading_at_once(PICTURE + blanks + noscript) == kept + blanks + PICTURE
    assert loading_at_once(noscript + blanks + PICTURE) == PICTURE + blanks + kept


@pytest.mark.parametrize(
    ("markup", "shown"),
    [
        # Beside a copy: of several pictures the next one is meant, and only the same one goes.
        ("<img src=a><img src=b><noscript><img src=b></noscript>", "<img src=a><img src=b>"),
        ("<noscript><img src=a></noscript><img src=a><img src=b>", "<img src=a><img src=b>"),
        ("<img src=a><noscript><img src=c></noscript>", "<img src=a><img src=c>"),
        ("<img alt=x><noscript><img src=c></noscript>", "<img src=c>"),
        ("<img src=s.gif><noscript><img src=c></noscript>", "<img src=c>"),
        ("<img src=a>x<noscript><img src=a></noscript>", "<img src=a>x<img src=a>"),
        ("<noscript><img src=a></noscript>x<img src=a>", "<img src=a>x<img src=a>"),
        ("<img src=a><noscript><a href=b>c</a></noscript>d", "<img src=a><a href=b>c</a>d"),
        # What shows nothing is left out; text that is in no closed element is not.
        ("a<noscript>b</noscript>c<noscript>d</noscript>e", "ace"),
        ("a<NOSCRIPT class=x>b</noscript >c<noscript>d", "acd"),
        ("a</noscript>b", "ab"),
        ("<noscript>a</noscript><img src=b>", "<img src=b>"),
        ("<noscript>a</noscript>b<noscript><img src=c></noscript><img src=c>", "b<img src=c>"),
        ("a<noscript>b</noscript><img src=c><noscript><img src=c></noscript>", "a<img src=c>"),
        ("a<noscript><video></noscript>b", "a<video>b"),
    ],
)
def test_what_stands_for_those_without_scripts(markup: str, shown: str) -> None:
    assert loading_at_once(markup) == shown


@pytest.mark.parametrize(
    ("attributes", "address"),
    [
        ("data-src='a' data-echo='b'", "a"),
        ("data-src='' data-echo='b' data-url='c'", "c"),
        ("data-lazy='a' data-srcset='b'", "a"),
        ("src='about:blank' data-src='a'", "a"),
        ("src='/x/pixel.png?1' data-src='a'", "a"),
        ("data-src='a&amp;b&quot;c&lt;'", "a&amp;b%22c%3C"),
        ("srcset='a'", "a"),
        ("srcset='a 300w, b'", "a"),
        ("srcset='a, b 1x, c 2x'", "c"),
        ("srcset='a 300w,https://b 301w,/c 200w'", "https://b"),
        ("srcset=', a 2x, , b 2x, '", "a"),
        ("srcset='a,b 1w, c 0w'", "a,b"),
        ("srcset='a 999999w, b 9999999w'", "a"),
        ("srcset='a 99999w, b 100000w'", "b"),
        ("data-srcset=' ' data-lazy-srcset='a'", "a"),
    ],
)
@pytest.mark.parametrize("kind", ["img", "iframe"])
def test_the_address_that_a_script_would_give(attributes: str, address: str, kind: str) -> None:
    """The first of the usual attributes, else the largest of several pictures."""
    tag = f"<{kind.upper()} {attributes}>"
    assert loading_at_once(tag) == f'<{kind} src="{address}" {attributes}>'


@pytest.mark.parametrize("late", ["data:image/png;base64,x", "{{ address }}", "", "&#32;"])
def test_what_no_script_would_load(late: str) -> None:
    tag = f"<img data-src='{late}' alt='a'>"
    assert loading_at_once(tag) == tag


def test_attributes_of_a_tag() -> None:
    """Of two with one name the first counts, as for browsers; those without a value are none."""
    tag = """<a b='1' B="2" c=3 d e=" &amp; " data-f:g='4'>"""
    assert attributes_of(tag) == {"b": "1", "c": "3", "e": "&", "data-f:g": "4"}


def test_a_noscript_that_is_not_closed_hides_nothing() -> None:
    assert html_of("<noscript>The rest of the item") == "The rest of the item"


def test_pictures_with_an_address_stay_as_they_are() -> None:
    markup = '<img src="a.jpg" data-src="b.jpg"><img src="c.gif"><img alt="none">'
    assert loading_at_once(markup) == markup
    assert html_of("<noscript>Turn scripts on</noscript>words") == "words"


def test_an_item_of_one_frame_has_a_link() -> None:
    """Frames are removed, as they load other sites; the one of a video stays reachable."""
    player = '<iframe src="//video.example/embed/1" title="A talk"></iframe>'
    assert 'href="https://video.example/embed/1"' in html_of(player)
    assert ">A talk</a>" in html_of(player)
    assert "video.example" not in html_of(f"words{player}")
    full = player.replace(" title", " allowfullscreen title")
    assert html_of(f"<p>words</p>{full}").count("video.example") == 1


@pytest.mark.parametrize("address", ["javascript:alert(1)", "data:text/html,", "&#106;avascript:x"])
def test_a_frame_of_a_script_has_no_link(address: str) -> None:
    assert "href" not in html_of(f'<iframe src="{address}" allowfullscreen></iframe>')


def test_the_direction_and_the_language_survive() -> None:
    html = html_of('<p dir="rtl" lang="ar">a</p><p dir="up&quot;">b</p>')
    assert html == '<p dir="rtl" lang="ar">a</p><p>b</p>'


@pytest.mark.parametrize(
    "piece",
    ["<img ", '<img "', '<img a="', "<noscript>", "<noscript><img src=a>", "<img " + "a=b " * 1_000,
     "</noscript><img data-src='a'>", '<img srcset="' + "a 1w, " * 1_000, "<iframe src="],
)  # fmt: skip
def test_hostile_markup_takes_linear_time(piece: str) -> None:
    begun = time.process_time()
    loading_at_once(piece * (200_000 // len(piece)))
    assert time.process_time() - begun < 5.0


LINKED = ' rel="nofollow noopener noreferrer"'


@pytest.mark.parametrize(
    ("markup", "clean"),
    [
        ("<img src=b width='1' height=' 0 '>", '<img src="https://a.example/d/b">'),
        ("<img src=b width=2 height=10 alt=1>",
         '<img src="https://a.example/d/b" width="2" height="10" alt="1">'),
        ("<video src=b width=1 controls>",
         '<video src="https://a.example/d/b" width="1" controls=""></video>'),
        ("<picture><source src=b type=1></picture>",
         '<picture><source src="https://a.example/d/b" type="1"></picture>'),
        ("<a href=' b '>x</a>", f'<a href="https://a.example/d/b"{LINKED}>x</a>'),
        ("<a href='MAILTO:a@b'>x</a>", f'<a href="MAILTO:a@b"{LINKED}>x</a>'),
        ("<a href='ftp://x'>x</a>", f"<a{LINKED}>x</a>"),
        ("<a href='http://['>x</a>", f"<a{LINKED}>x</a>"),
        ("<blockquote cite=b>x</blockquote>",
         '<blockquote cite="https://a.example/d/b">x</blockquote>'),
        ("<p dir=RTL title=t class=c style=s>x</p>", '<p dir="RTL" title="t">x</p>'),
        ("<p dir=auto>x</p><p dir=up>y</p>", '<p dir="auto">x</p><p>y</p>'),
        ("<script>a</script><style>b</style><iframe>c</iframe>d", "d"),
        ("<form><input>a</form><map><area href=x></map>", "a"),
    ],
)  # fmt: skip
def test_clean_html(markup: str, clean: str) -> None:
    """Links are absolute, none is a script; pictures of one pixel, which count, have no size."""
    assert clean_html(markup, "https://a.example/d/e") == clean


@pytest.mark.parametrize(
    ("markup", "still"),
    [
        ('<img src="a" alt="b">', '<img alt="b">'),
        ('<audio src="a" controls=""></audio>', '<audio controls=""></audio>'),
        ('<video src="a" width="2"></video>', '<video width="2"></video>'),
        ('<p><source src="a" type="b"></p>', '<p><source type="b"></p>'),
        (f'<a href="a"{LINKED}>img </a>', None),
    ],
)
def test_media_of_other_sites_are_left_out_until_they_are_wanted(
    markup: str, still: str | None
) -> None:
    assert without_remote_media(markup) == (still or markup)
    assert has_remote_media(markup) == (still is not None)


@pytest.mark.parametrize(
    ("base", "url", "address"),
    [
        ("https://base.example/", "https://item.example/", "https://base.example/x"),
        ("", "https://item.example/", "https://item.example/x"),
        ("", "", "https://feed.example/x"),
    ],
)
def test_what_links_in_a_text_start_from(base: str, url: str, address: str) -> None:
    item = FeedItem("1", url, "", "<img src=x>", base=base)
    read = sanitised(item, "https://feed.example/f")
    assert (read.html, read.base, read.markup) == (f'<img src="{address}">', "", "")


FRAME = "<iframe src='https://v.example/1?a=1&amp;b=2'></iframe>"
TO_FRAME = f'<p><a href="https://v.example/1?a=1&amp;b=2"{LINKED}>v.example</a></p>'


@pytest.mark.parametrize(
    ("markup", "html"),
    [
        (FRAME, TO_FRAME),
        (FRAME.replace("></", " allowFullScreen></"), TO_FRAME),
        (f"<p>a</p>{FRAME.replace('></', ' allowfullscreen></')}", f"<p>a</p>{TO_FRAME}"),
        (FRAME.replace("></", " title='T &lt;'></"), TO_FRAME.replace(">v.example", ">T &lt;")),
        ("<embed src='/1'>", f'<p><a href="https://a.example/1"{LINKED}>/1</a></p>'),
        (f"<picture></picture>{FRAME}", f"<picture></picture>{TO_FRAME}"),
        (f"<img src='/1'>{FRAME}", '<img src="https://a.example/1">'),
        (f"<audio></audio>{FRAME}", "<audio></audio>"),
        (f"<video></video>{FRAME}", "<video></video>"),
        ("<iframe></iframe>", ""),
        ("a<iframe allowfullscreen></iframe>", "a"),
    ],
)
def test_frames(markup: str, html: str) -> None:
    """A link where there is nothing else, and for a video."""
    assert html_of(markup) == html


@pytest.mark.parametrize(("longer", "shown"), [(0, True), (1, False)])
def test_a_text_that_grows_or_is_too_long_is_left_out(longer: int, shown: bool) -> None:
    """Ten times what was sent and 10,000 characters is the most, and a million in all."""
    base = f"https://a.example/{'b' * (10_078 + longer)}/"
    grown = sanitised(FeedItem("1", "", "", "<img src=a>", base=base), "").html
    assert len(f'<img src="{base}a">') == 10 * len("<img src=a>") + 10_000 + longer
    assert (grown == f'<img src="{base}a">') == shown
    long = sanitised(FeedItem("1", "", "", "x" * (1_000_000 + longer)), "").html
    assert (len(long) == 1_000_000) == shown
