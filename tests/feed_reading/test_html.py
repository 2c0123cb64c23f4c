"""HTML of items: pictures that load late, frames, the direction of writing."""

import re
import time

import pytest

from publisher.feed_reading.feed_document import FeedItem
from publisher.feed_reading.feed_html import sanitised
from publisher.feed_reading.lazy_pictures import loading_at_once

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
