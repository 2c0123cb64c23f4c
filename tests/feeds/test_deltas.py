"""The newer items alone (RFC 3229): what is known of a document's items, and what goes out."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import ModuleType

import feedparser
import pytest

from publisher.feeds import atom, jsonfeed, rss
from publisher.feeds.channel import Channel, content_hash
from publisher.feeds.conditional import Served
from publisher.feeds.deltas import History, deltas, followed, wanted
from publisher.feeds.feed_answer import FeedAnswer, gzipped
from tests.feeds.samples import channel, everything, item

FORMS = [rss, atom, jsonfeed]
NOW = datetime(2024, 3, 4, 9, 30, 5, tzinfo=UTC)


def titles(body: bytes) -> list[str]:
    """The titles of a document's items."""
    if body.startswith(b"{"):
        return [entry.get("title", "") for entry in json.loads(body)["items"]]
    result = feedparser.parse(body)
    assert not result.bozo, result.get("bozo_exception")
    return [entry.title for entry in result.entries]


def life(form: ModuleType, *channels: Channel) -> tuple[History, bytes]:
    """The history after these documents, and the last one."""
    history, body = None, b""
    for made in channels:
        body = form.render(made)
        history = followed(history, content_hash(made), form.CONTENT_TYPE, body)
    assert history is not None
    return history, body


def posts(*numbers: int, **changes: str) -> Channel:
    """A feed of ten old posts, besides those; the old ones fill it so that a delta is short."""
    return channel(*(item(n, **changes) for n in numbers), *(item(n) for n in range(50, 60)))


@pytest.mark.parametrize("form", FORMS)
def test_each_content_lacks_what_came_after(form: ModuleType) -> None:
    """Its holders get the newer posts and no other; holders of the newest content get none."""
    contents = [posts(), posts(1), posts(2, 1)]
    result = deltas(*_history_of(form, *contents))
    by_content = [titles(result[content_hash(made)[:8]].body) for made in contents]
    assert by_content == [["Post 2", "Post 1"], ["Post 2"], []]


@pytest.mark.parametrize("form", FORMS)
def test_an_edited_post_is_new_and_a_deleted_one_is_not(form: ModuleType) -> None:
    """What a reader holds in other words is sent again."""
    before = posts(2, 1)
    after = channel(item(2, html="<p>Corrected.</p>"), *posts().items)
    result = deltas(*_history_of(form, before, after))
    assert titles(result[content_hash(before)[:8]].body) == ["Post 2"]


@pytest.mark.parametrize("form", FORMS)
def test_there_and_back(form: ModuleType) -> None:
    """Who holds a content that came twice lacks nothing of it."""
    result = deltas(*_history_of(form, posts(1), posts(2, 1), posts(1)))
    assert titles(result[content_hash(posts(1))[:8]].body) == []


@pytest.mark.parametrize("form", FORMS)
def test_no_claim_to_be_complete(form: ModuleType) -> None:
    """RFC 5005's `complete` would tell readers that all the others are gone."""
    whole = channel(*posts(1).items, complete=True)
    history, body = life(form, channel(*posts().items, complete=True), whole)
    for delta in deltas(history, form.CONTENT_TYPE, body).values():
        assert b"complete" not in delta.body


@pytest.mark.parametrize("form", FORMS)
def test_everything_stays_readable(form: ModuleType) -> None:
    """A podcast with all fields, CDATA and foreign words: the item that is left is as it was."""
    full = everything()
    before = channel(*full.items[1:])
    history, body = life(form, before, full)
    result = deltas(history, form.CONTENT_TYPE, body)
    if delta := result.get(content_hash(before)[:8]):  # else it is not short enough
        assert titles(delta.body) == titles(body)[:1]


def test_the_same_words_in_other_bytes() -> None:
    """After a release that writes items otherwise nothing is known of what readers hold."""
    history, body = life(rss, posts(1))
    changed = body.replace(b"<title>Post 1<", b"<title> Post 1<")
    digest = content_hash(posts(1))
    again = followed(history, digest, rss.CONTENT_TYPE, changed)
    assert again["contents"].keys() == {digest[:8]}
    assert again["contents"] != history["contents"]
    assert followed(again, digest, rss.CONTENT_TYPE, changed) == again


def test_a_history_of_version_1_0_goes_on() -> None:
    """What it stored of a document means the same today: nothing of it is new."""
    body = b'{"items": [{"id": "1", "title": "One"}]}'
    stored = {"contents": {"01234567": 1}, "items": {"3d3f22c9ae40a0ce": 1}}
    assert followed(None, "0123456789", jsonfeed.CONTENT_TYPE, body) == stored
    turned = b'{"items": [{"title": "One", "id": "1"}]}'
    assert followed(None, "0123456789", jsonfeed.CONTENT_TYPE, turned) == stored


def test_an_item_is_the_same_whatever_the_document_declares() -> None:
    """A namespace that the item does not use is nothing new to its readers."""
    plain, more = foreign("a"), foreign("a").replace(b"<rss>", b'<rss xmlns:x="urn:x">')
    made, changed = (followed(None, "01234567", rss.CONTENT_TYPE, body) for body in (plain, more))
    assert made == changed


def test_a_short_json_feed_looks_like_the_whole_one() -> None:
    """Its lines are those of the document, but for the commas between items."""
    history, form, body = _history_of(jsonfeed, posts(), posts(1, title="Привет"))
    (delta,) = {d.body for d in deltas(history, form, body).values() if titles(d.body)}
    assert {x.rstrip(b",") for x in delta.split(b"\n")} < {
        x.rstrip(b",") for x in body.split(b"\n")
    }


def test_history_is_bounded() -> None:
    """Only so many contents are known, the newest ones."""
    history, _ = life(rss, *(posts(number) for number in range(34)))
    contents = [content_hash(posts(number))[:8] for number in range(34)]
    assert history["contents"] == {contents[number]: number + 1 for number in range(2, 34)}


@pytest.mark.parametrize(("longer", "offered"), [(0, True), (-1, False)])
def test_a_delta_is_offered_up_to_half_of_the_document(longer: int, offered: bool) -> None:
    delta = json.dumps({"items": [{"id": "new"}]}, indent=1) + "\n"
    start, end = '{"items": [{"id": "new"}, {"id": "', '"}]}'
    old = "x" * (2 * len(delta) + longer - len(start) - len(end))
    body = f"{start}{old}{end}".encode()
    before = f'{{"items": [{{"id": "{old}{end}'.encode()
    history = followed(None, "aaaaaaaa", jsonfeed.CONTENT_TYPE, before)
    history = followed(history, "bbbbbbbb", jsonfeed.CONTENT_TYPE, body)
    found = deltas(history, jsonfeed.CONTENT_TYPE, body)
    assert ("aaaaaaaa" in found) == offered
    assert found["bbbbbbbb"].body == b'{\n "items": []\n}\n'


@pytest.mark.parametrize("body", [b"", b"<rss", b"{}", b"[1]", b"<html/>", b"\xff", b"<rss/>"])
@pytest.mark.parametrize("kind", [rss.CONTENT_TYPE, jsonfeed.CONTENT_TYPE])
def test_what_cannot_be_taken_apart(kind: str, body: bytes) -> None:
    """A mirror's document may be anything: then there are no deltas."""
    assert deltas(followed(None, "0123456789", kind, body), kind, body) == {}


def foreign(*texts: str, head: str = "") -> bytes:
    """A mirror's feed of a stranger: an item for each text, in a CDATA section."""
    items = (f"<item><description><![CDATA[{text}]]></description></item>" for text in texts)
    return f"{head}<rss><channel>{''.join(items)}</channel></rss>".encode()


def test_what_is_left_of_a_strangers_document_is_as_it_was() -> None:
    """CDATA sections stay, and an entity is not replaced: not by a file of ours either."""
    secret = Path(__file__).as_uri()
    head = f'<!DOCTYPE rss [<!ENTITY name "Ada"><!ENTITY file SYSTEM "{secret}">]>'
    old = [f"<b>{number}</b>" * 9 for number in range(9)]
    history, body = None, b""
    for texts in (old, ["<i>new</i>", *old]):
        body = foreign(*texts, head=head).replace(b"<channel>", b"<channel>&name;&file;")
        history = followed(history, f"{len(texts):08}", rss.CONTENT_TYPE, body)
    delta = deltas(history, rss.CONTENT_TYPE, body)[f"{len(old):08}"].body
    assert b"<channel>&name;&file;<item><description><![CDATA[<i>new</i>]]></description>" in delta
    assert old[0].encode() not in delta


@pytest.mark.parametrize(
    ("header", "agent", "expected"),
    [
        ("feed", "newsboat/2.21.0", True),
        ("gzip, feed", "x", True),
        ("FEED ;q=0.5", "x", True),
        ("feed;q=0", "x", False),
        ("feed;q=0.0", "x", False),
        ("vcdiff", "x", False),
        ("feeds", "x", False),
        ("", "x", False),
        ("feed", "rss2email/3.14 (https://pypi.org)", False),
        ("feed", "feedparser/6.0.10 +https://github.com/kurtmckee/feedparser/", False),
    ],
)
def test_who_asks(header: str, agent: str, expected: bool) -> None:
    """`feed` must be named; programs on feedparser ask unawares."""
    assert wanted({"HTTP_A_IM": header, "HTTP_USER_AGENT": agent}) is expected


def test_the_answer() -> None:
    """226 with the base, the new tag and private freshness; whole for everybody else."""
    old, new = posts(), posts(1)
    history, body = life(rss, old, new)
    tag = f'W/"{content_hash(new)[:8]}.ab"'
    held = f'W/"{content_hash(old)[:8]}.cd"'
    document = Served(
        body, gzipped(body), rss.CONTENT_TYPE, tag, NOW - timedelta(minutes=1), 900,
        links=("<https://hub.example>; rel=hub", "<https://blog.example>; rel=self"),
        history=history,
    )  # fmt: skip
    polls = {"HTTP_A_IM": "feed", "HTTP_IF_NONE_MATCH": held, "HTTP_ACCEPT_ENCODING": "gzip"}
    assert _get(document, **polls).code == 200  # not made yet
    document = document.packed()
    answer = _get(document, **polls)
    headers = dict(answer.headers)
    assert (answer.code, answer.status) == (226, "226 IM Used")
    assert headers["IM"] == "feed"
    assert (headers["ETag"], headers["Delta-Base"]) == (tag, held)
    assert headers["Cache-Control"] == "private, max-age=900"
    assert headers["CDN-Cache-Control"] == "no-store"
    assert headers["Vary"] == "Accept-Encoding, A-IM, If-None-Match"
    assert headers["Content-Encoding"] == "gzip"
    assert len([name for name, _ in answer.headers if name == "Link"]) == 2
    assert int(headers["Content-Length"]) == answer.sent_bytes == len(b"".join(answer.body))
    assert titles(b"".join(_get(document, **(polls | {"HTTP_ACCEPT_ENCODING": ""})).body)) == [
        "Post 1"
    ]
    for changed in (
        {"HTTP_IF_NONE_MATCH": held},
        {"HTTP_A_IM": "feed"},
        {**polls, "HTTP_IF_NONE_MATCH": '"invented.0"'},
        {**polls, "REQUEST_METHOD": "HEAD"},
    ):
        assert _get(document, **changed).code == 200
    assert _get(document, HTTP_A_IM="feed", HTTP_IF_NONE_MATCH=tag).code == 304


def test_the_base_is_the_last_of_the_contents_that_a_reader_holds() -> None:
    """A reader may name several; the answer says which one its items are added to (RFC 3229)."""
    first, second, new = posts(), posts(1), posts(2, 1)
    history, body = life(rss, first, second, new)
    older, newer, tag = (f'W/"{content_hash(made)[:8]}.a"' for made in (first, second, new))
    document = Served(
        body, gzipped(body), rss.CONTENT_TYPE, tag, NOW - timedelta(minutes=1), 900, history=history
    ).packed()
    answer = _get(document, HTTP_A_IM="feed", HTTP_IF_NONE_MATCH=f"{older}, {newer}")
    assert dict(answer.headers)["Delta-Base"] == newer
    assert titles(b"".join(answer.body)) == ["Post 2"]


def _get(document: Served, **environ: str) -> FeedAnswer:
    return document.respond({"REQUEST_METHOD": "GET", **environ}, NOW)


def _history_of(form: ModuleType, *channels: Channel) -> tuple[History, str, bytes]:
    history, body = life(form, *channels)
    return history, form.CONTENT_TYPE, body
