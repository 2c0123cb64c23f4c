"""Conditional HTTP: rules H1 to H5, H7 and H9, without a server."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from publisher.base.dates import format_rfc822
from publisher.dynamic_ttl.core.ttl.headers import Expiries
from publisher.feeds.conditional import Freshness, Served
from publisher.feeds.feed_answer import FeedAnswer, Moved

NOW = datetime(2024, 3, 4, 9, 30, 5, 250_000, tzinfo=UTC)
MODIFIED = datetime(2024, 3, 4, 9, 30, tzinfo=UTC)
TAG = 'W/"0123456789abcdef"'
SECOND = timedelta(seconds=1)


def served(**changes: Any) -> Served:
    """A small document; every argument can be changed."""
    values: dict[str, Any] = {
        "body": b"<rss/>",
        "body_gzip": b"zipped",
        "content_type": "application/rss+xml; charset=utf-8",
        "etag": TAG,
        "last_modified": MODIFIED,
        "max_age_seconds": 900,
    }
    return Served(**{**values, **changes})


def ask(
    document: Served | Moved, now: datetime = NOW, method: str = "GET", **headers: str
) -> FeedAnswer:
    """The answer to a request with these headers (`if_none_match="..."`)."""
    environ = {f"HTTP_{name.upper()}": value for name, value in headers.items()}
    return document.respond({"REQUEST_METHOD": method, **environ}, now)


HELD = [
    TAG,
    '"0123456789abcdef"',  # compared weakly
    f'"other", {TAG}',
    f'"other",{TAG} , W/"third"',
    "*",
    " * ",
    'W/"0123456789abcdef-gzip"',
    '"0123456789abcdef--gzip"',
    'W/"0123456789abcdef;gzip"',
]
NOT_HELD = [
    '"other"',
    'W/"0123456789abcdefg"',
    'W/"0123456789abcdef-gzip-gzip"',
    '"x-gzip"',
    "0123456789abcdef",  # not an entity tag
    "",
    '"',
]


@pytest.mark.parametrize("header", [*HELD, *NOT_HELD])
def test_if_none_match(header: str) -> None:
    """H1, H3: weak comparison, lists, the star, and suffixes that front servers add."""
    assert ask(served(), if_none_match=header).code == (304 if header in HELD else 200)


@pytest.mark.parametrize("tag", ['"other"', TAG])
def test_if_none_match_decides_alone(tag: str) -> None:
    """H1: with If-None-Match the date is not looked at, whatever it says."""
    for date in (MODIFIED + SECOND, MODIFIED - SECOND):
        answer = ask(served(), if_none_match=tag, if_modified_since=format_rfc822(date))
        assert answer.code == (304 if tag == TAG else 200)


SINCE = [
    "Mon, 04 Mar 2024 09:30:00 GMT",
    "Mon, 04 Mar 2024 09:30:01 GMT",
    "Monday, 04-Mar-24 09:30:00 GMT",  # RFC 850
    "Mon Mar  4 09:30:00 2024",  # asctime
    "Mon, 04 Mar 2024 10:30:00 +0100",
]
NOT_SINCE = [
    "Mon, 04 Mar 2024 09:29:59 GMT",
    "yesterday",
    "",
    "0",
    "Mon, 99 Mar 2024 09:30:00 GMT",
    "Mon, 04 Mar 2024 09:30:00 +99999999999999",
    "Fri, 31 Dec 9999 23:59:59 -2359",
]


@pytest.mark.parametrize("header", [*SINCE, *NOT_SINCE])
def test_if_modified_since(header: str) -> None:
    """H1: equal or later is a 304; a date that is none is as if it were absent."""
    assert ask(served(), if_modified_since=header).code == (304 if header in SINCE else 200)


@pytest.mark.parametrize(
    ("headers", "code"),
    [
        ({"if_match": "*"}, 200),
        ({"if_match": TAG}, 412),  # weak tags never match strongly
        ({"if_match": '"other"'}, 412),
        ({"if_unmodified_since": format_rfc822(MODIFIED)}, 200),
        ({"if_unmodified_since": format_rfc822(MODIFIED + SECOND)}, 200),
        ({"if_unmodified_since": format_rfc822(MODIFIED - SECOND)}, 412),
        ({"if_unmodified_since": "yesterday"}, 200),
        ({"if_unmodified_since": format_rfc822(MODIFIED - SECOND), "if_match": "*"}, 200),
        ({"if_match": TAG, "if_none_match": TAG}, 412),
    ],
)
def test_preconditions_of_who_would_change_it(headers: dict[str, str], code: int) -> None:
    """RFC 9110, 13.2.2: If-Match comes first, and If-Unmodified-Since counts without it only."""
    assert ask(served(), **headers).code == code  # type: ignore[arg-type]


def test_not_modified_repeats_what_caches_need() -> None:
    """H2: no body; ETag, Cache-Control, Vary, Date and Expires as in the 200."""
    full, short = ask(served()), ask(served(), if_none_match=TAG)
    assert (short.body, short.sent_bytes) == ([], 0)
    for name in ("ETag", "Cache-Control", "Vary", "Date", "Expires", "Last-Modified"):
        assert dict(short.headers)[name] == dict(full.headers)[name]
    assert "Content-Type" not in dict(short.headers)
    assert "Content-Length" not in dict(short.headers)


def test_gzip_has_the_same_tag() -> None:
    """H3: compressed or not, the document has one weak tag and varies with the wish for gzip."""
    plain, zipped = ask(served()), ask(served(), accept_encoding="gzip")
    assert (plain.body, zipped.body) == ([b"<rss/>"], [b"zipped"])
    assert "Content-Encoding" not in dict(plain.headers)
    assert dict(zipped.headers)["Content-Encoding"] == "gzip"
    assert dict(zipped.headers)["Content-Length"] == "6"
    for answer in (plain, zipped):
        assert dict(answer.headers)["ETag"] == TAG
        assert dict(answer.headers)["Vary"] == "Accept-Encoding"


def test_better_codings_are_made_later() -> None:
    """H3: br and zstd hold the same document under the same tag; until they are made, gzip."""
    brotli = pytest.importorskip("brotli")
    document = served(body=b"<rss>" + b"text " * 100 + b"</rss>")
    wish = "gzip, br"
    assert dict(ask(document, accept_encoding=wish).headers)["Content-Encoding"] == "gzip"
    answer = ask(document.packed(), accept_encoding=wish)
    headers = dict(answer.headers)
    assert (headers["Content-Encoding"], headers["ETag"]) == ("br", TAG)
    assert headers["Vary"] == "Accept-Encoding"
    assert int(headers["Content-Length"]) == answer.sent_bytes
    assert brotli.decompress(b"".join(answer.body)) == b"".join(ask(document).body)
    assert ask(document.packed(), accept_encoding="gzip").body == [b"zipped"]


def test_head_is_get_without_a_body() -> None:
    """H4: the same status and headers, 304 included."""
    assert ask(served(), method="HEAD").headers == ask(served()).headers
    assert ask(served(), method="HEAD").body == []
    assert ask(served(), method="HEAD", if_none_match=TAG).code == 304


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "get", "PROPFIND", ""])
def test_other_methods(method: str) -> None:
    """H4: 405 that names what is allowed."""
    for document in (served(), Moved("https://blog.example/rss.xml")):
        answer = ask(document, method=method)
        assert (answer.code, dict(answer.headers)["Allow"]) == (405, "GET, HEAD")


@pytest.mark.parametrize("document", [served(), Moved("https://blog.example/rss.xml")])
def test_other_sites_scripts_may_read_a_feed(document: Served | Moved) -> None:
    """CORS: every answer is open to any origin, and OPTIONS says what may be sent with a request;
    never with credentials."""
    preflight = ask(document, method="OPTIONS")
    assert (preflight.code, preflight.body) == (204, [])
    allowed = dict(preflight.headers)
    assert allowed["Access-Control-Allow-Methods"] == "GET, HEAD"
    assert "*" in allowed["Access-Control-Allow-Headers"]
    for answer in (preflight, ask(document), ask(document, if_none_match=TAG)):
        headers = dict(answer.headers)
        assert headers["Access-Control-Allow-Origin"] == "*"
        assert "Access-Control-Allow-Credentials" not in headers


def test_last_modified_is_never_later_than_date() -> None:
    """H5: a clock that went back does not make a date in the future: none is given until then."""
    document, before = served(), MODIFIED - timedelta(minutes=5)
    assert "Last-Modified" not in dict(ask(document, before).headers)
    assert dict(ask(document, MODIFIED).headers)["Last-Modified"] == format_rfc822(MODIFIED)


def test_two_builds_in_one_second() -> None:
    """H5: who names a second with two builds may hold the older one, and gets a 200.

    Without a Last-Modified: libcurl drops the body of a 200 that is no newer than its own copy.
    """
    document, date = served(second_shared=True), format_rfc822(MODIFIED)
    answer = ask(document, if_modified_since=date)
    assert answer.code == 200
    assert "Last-Modified" not in dict(answer.headers)
    assert ask(document, if_modified_since=format_rfc822(MODIFIED + SECOND)).code == 304
    assert ask(document, if_modified_since=format_rfc822(MODIFIED - SECOND)).code == 200
    assert ask(document, if_none_match=TAG, if_modified_since=date).code == 304


def test_freshness_agrees_everywhere() -> None:
    """H7: max-age is the ttl where nothing else is known, Expires says the same; shared caches ask
    every minute, and readers are not told of that."""
    for answer in (ask(served()), ask(served(), if_none_match=TAG)):
        headers = dict(answer.headers)
        assert headers["Cache-Control"] == "public, max-age=900"
        assert headers["CDN-Cache-Control"] == "max-age=60"
        assert headers["Date"] == "Mon, 04 Mar 2024 09:30:05 GMT"
        assert headers["Expires"] == "Mon, 04 Mar 2024 09:45:05 GMT"


HOUR = int(NOW.timestamp()) // 3600 * 3600
EXACT = Freshness(Expiries(HOUR, tuple(HOUR + 3600 * (3 + slot) for slot in range(12))), True)


def test_the_headers_say_the_minute_of_the_fetch() -> None:
    """max-age counts down to the instant of the five minutes of the fetch, a minute less, on 200
    and 304 alike; Expires is the same."""
    document = served(freshness=EXACT)
    for seconds in (0, 1, 299, 300, 3599, 4000):
        now = datetime.fromtimestamp(HOUR + seconds, UTC)
        until = HOUR + 3600 * (3 + min(seconds // 300, 11))
        tag = dict(ask(document, now).headers)["ETag"]
        for answer in (ask(document, now), ask(document, now, if_none_match=tag)):
            headers = dict(answer.headers)
            assert headers["Cache-Control"] == f"public, max-age={until - HOUR - seconds - 60}"
            assert headers["Expires"] == format_rfc822(datetime.fromtimestamp(until - 60, UTC))
        assert answer.code == 304


def test_news_is_good_for_an_hour_at_most() -> None:
    """Who holds other content is told an hour at most: after a post the next may come soon. Who
    holds this content under an older tag, or asks for the first time, is told the whole."""
    document = served(etag='W/"content1.bytes1"', freshness=EXACT)
    now = datetime.fromtimestamp(HOUR, UTC)

    def cache_control(**headers: str) -> str:
        answer = ask(document, now, **headers)
        assert answer.code == 200
        return dict(answer.headers)["Cache-Control"].partition("max-age=")[2]

    assert cache_control(if_none_match='W/"content0.bytes0"') == "3600"
    assert cache_control(if_none_match='W/"content1.bytes0"') == str(3 * 3600 - 60)
    assert cache_control() == cache_control(accept_encoding="gzip") == str(3 * 3600 - 60)


def test_a_tag_is_renewed_in_long_silences() -> None:
    """While the headers say two hours or more the tag changes every four hours, and not else."""
    late = HOUR // 14400 * 14400 + 14400 - 600
    long = Freshness(Expiries(late, (late + 50_000,) * 12), True)
    before, after = (datetime.fromtimestamp(late + more, UTC) for more in (0, 1200))
    document = served(freshness=long)
    first = dict(ask(document, before).headers)["ETag"]
    assert first.startswith(TAG[:-1] + ";")
    assert ask(document, before, if_none_match=first).code == 304
    assert ask(document, after, if_none_match=first).code == 200
    assert ask(document, before, if_none_match=TAG).code == 200
    short = served(freshness=Freshness(Expiries(late, (late + 7000,) * 12), True))
    assert dict(ask(short, before).headers)["ETag"] == TAG
    plain = served(freshness=Freshness(long.expiries))
    assert dict(ask(plain, before).headers)["ETag"] == TAG


def test_the_date_follows_the_clock() -> None:
    """Prepared answers are renewed when the second is over, in either direction."""
    document = served()
    for moment in (NOW, NOW + SECOND, NOW + 61 * SECOND, NOW):
        assert dict(ask(document, moment).headers)["Date"] == format_rfc822(moment)


def test_a_second_prepares_its_answers_once() -> None:
    """From its beginning to its end; then the next one does."""
    document = served()
    begins = document.second(MODIFIED)
    assert document.second(MODIFIED + SECOND * 0.999) is begins
    assert document.second(MODIFIED + SECOND) is not begins


def test_what_was_packed_once_is_taken_over() -> None:
    """By an equal document only, and neither by what is packed already nor from what is not."""
    packed, plain = served().packed(), served()
    assert plain.packed_as(packed).is_packed
    assert plain.packed_as(None) is plain
    assert plain.packed_as(served()) is plain
    assert packed.packed_as(served().packed()) is packed
    first, second = (served(history={"contents": {"a": 1}, "items": {}}) for _ in range(2))
    assert first.packed_as(second.packed()).is_packed
    another = served(history={"contents": {"a": 1}, "items": {}})
    for changed in (served(body=b"<rss></rss>"), another):
        assert changed.packed_as(packed) is changed


def test_a_strangers_document_runs_nothing() -> None:
    """Browsers are told to keep it from doing anything; our own need no such words."""
    headers = dict(ask(served(untrusted=True)).headers)
    assert "sandbox" in headers["Content-Security-Policy"]
    assert "Content-Security-Policy" not in dict(ask(served()).headers)


def test_links_are_sent_with_both_answers() -> None:
    """What a hub needs is in the headers of a 304 as well."""
    document = served(links=('<https://hub.example/>; rel="hub"', "<x>; rel=self"))
    for answer in (ask(document), ask(document, if_none_match=TAG), ask(document, method="HEAD")):
        assert [value for name, value in answer.headers if name == "Link"] == [
            '<https://hub.example/>; rel="hub"',
            "<x>; rel=self",
        ]


def test_an_old_address_has_moved_for_good() -> None:
    """301 to the address of today, also for HEAD."""
    moved = Moved("https://blog.example/rss.xml")
    for method in ("GET", "HEAD"):
        answer = ask(moved, method=method)
        assert answer.code == 301
        assert dict(answer.headers)["Location"] == "https://blog.example/rss.xml"


@given(
    st.dictionaries(
        st.sampled_from(
            ["HTTP_IF_NONE_MATCH", "HTTP_IF_MODIFIED_SINCE", "HTTP_ACCEPT_ENCODING", "HTTP_COOKIE"]
        ),
        st.text(st.characters(max_codepoint=255), max_size=200)
        | st.from_regex(r'(W/)?"[0-9a-f]*(-gzip)?"( *,)*'),
    ),
    st.sampled_from(["GET", "HEAD", "POST"]) | st.text(max_size=10),
)
def test_garbage_is_answered(environ: dict[str, str], method: str) -> None:
    """H9: whatever the headers contain, the answer is 200, 304 or 405, and whole."""
    answer = served().respond({"REQUEST_METHOD": method, **environ}, NOW)
    assert answer.code in (200, 304, 405)
    assert answer.status.startswith(str(answer.code))
    assert answer.sent_bytes == sum(map(len, answer.body))
