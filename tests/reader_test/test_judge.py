"""The scripted week, its answers and the judge, without sockets."""

import json
import re
from datetime import UTC, datetime

import pytest

from publisher.base.errors import InvalidData
from publisher.reader_test import script
from publisher.reader_test.answering import WeekPlace, answer, document, tag_at
from publisher.reader_test.scorecard import Scorecard, badge, fragment, lines, score
from publisher.reader_test.tester_trace import MOST_REQUESTS, Trace, TracedRequest, read_trace
from tests.reader_test.invented import ADDRESS, AGENT, MONDAY, hourly, perfect, rude, week

PLACE = WeekPlace(ADDRESS, MONDAY)


def states(card: Scorecard) -> dict[str, str]:
    """The verdicts by behaviour."""
    return {verdict.what.id: verdict.state for verdict in card.verdicts}


@pytest.mark.parametrize("begins", [MONDAY, datetime(2024, 3, 6, 13, tzinfo=UTC)])
def test_a_perfect_reader_scores_100(begins: datetime) -> None:
    """Whenever the week begins; and it shows all that a trace of it can show."""
    card = score(week(perfect, begins))
    assert (card.score, [verdict for verdict in card.verdicts if verdict.state == "bad"]) == (
        100,
        [],
    )
    assert {name for name, state in states(card).items() if state == "not-seen"} == {
        "delta", "items", "restart", "jitter", "websub", "cloud", "archives",
    }  # fmt: skip


def test_a_perfect_reader_that_is_run_by_a_timer_scores_100() -> None:
    """A command that runs every quarter of an hour and decides itself whether to ask."""
    assert score(week(perfect, every=900.0)).score == 100


def test_a_rude_reader_gets_what_it_deserves() -> None:
    """Next to nothing; where it never came it is not judged."""
    card = score(week(rude))
    assert card.score is not None
    assert card.score < 10
    assert states(card)["permanent"] == states(card)["gone"] == states(card)["twice"] == "bad"


def test_an_hourly_reader_gets_half() -> None:
    """Right validators, no ear for hints: as newsboat and many others are."""
    card = score(week(hourly))
    verdicts = states(card)
    assert card.score is not None
    assert 40 <= card.score <= 60
    for name in ("etag", "last-modified", "own", "posts"):
        assert verdicts[name] == "good"
    for name in ("max-age-304", "ttl-kept", "retry-after", "gone"):
        assert verdicts[name] == "bad"


# What a perfect reader forgets -> the behaviours that are then no longer right.
FORGOTTEN = [
    ({"if-none-match"}, {"etag"}),
    ({"if-modified-since"}, {"last-modified"}),
    ({"accept-encoding"}, {"encoding"}),
    ({"user-agent"}, {"user-agent"}),
]


@pytest.mark.parametrize(("names", "wrong"), FORGOTTEN, ids=lambda value: "-".join(sorted(value)))
def test_each_header_has_its_verdict(names: set[str], wrong: set[str]) -> None:
    """Without that header in the trace only its own behaviour is wrong."""
    trace = week(perfect)
    trace.requests = [
        TracedRequest(
            asked.at,
            asked.method,
            asked.path,
            {n: v for n, v in asked.headers.items() if n not in names},
        )
        for asked in trace.requests
    ]
    # Without its validator a request gets another answer, so some waits are judged differently.
    bad = {name for name, state in states(score(trace)).items() if state == "bad"}
    assert bad == wrong


@pytest.mark.parametrize(
    ("added", "behaviour"),
    [
        (TracedRequest(60.0, "HEAD", "feed.xml", {}), "start"),
        (TracedRequest(11.0 * 3600 + 60, "GET", "feed.xml", {}), "ttl"),
        (TracedRequest(29.0 * 3600, "GET", "moved.xml", {}), "max-age"),
        (TracedRequest(42.0 * 3600, "GET", "moved.xml", {}), "max-age-304"),
        (TracedRequest(75.0 * 3600, "GET", "moved.xml", {}), "skip"),
        (TracedRequest(100.0 * 3600, "GET", "moved.xml", {}), "skip"),
        (TracedRequest(124.3 * 3600, "GET", "last.xml", {}), "retry-after"),
        (TracedRequest(90.0 * 3600, "GET", "feed.xml", {}), "permanent"),
        (TracedRequest(99.0 * 3600, "GET", "for-now.xml", {}), "temporary"),
        (TracedRequest(99.0 * 3600, "GET", "atom.xml", {}), "addresses"),
    ],
    ids=lambda value: value if isinstance(value, str) else f"{value.at:.0f}",
)
def test_one_request_too_many_is_found(added: TracedRequest, behaviour: str) -> None:
    """A perfect reader's trace with one more request is no longer perfect there."""
    trace = week(perfect)
    trace.requests = sorted([*trace.requests, added], key=lambda asked: asked.at)
    assert states(score(trace))[behaviour] != "good"


def test_each_look_twice_is_one_fault() -> None:
    """The second request carries what the reader held before the first; that is no other fault."""
    trace = week(perfect)
    looks = [
        asked
        for asked in trace.requests
        if answer(PLACE, asked.hours, asked.method, asked.path, asked.headers).header("Location")
        is None
    ]
    again = [TracedRequest(look.at + 1.0, look.method, look.path, look.headers) for look in looks]
    trace.requests = sorted([*trace.requests, *again], key=lambda asked: asked.at)
    pairs = states(score(trace)).items()
    assert {name for name, state in pairs if state not in ("good", "not-seen")} == {
        "start", "twice",
    }  # fmt: skip


def test_too_little_gives_no_score() -> None:
    """One request, or none, is nothing to judge by."""
    empty = Trace(ADDRESS, MONDAY)
    once = Trace(ADDRESS, MONDAY, ran=3600.0, requests=[TracedRequest(0.0, "GET", "feed.xml", {})])
    assert [score(empty).score, score(once).score] == [None, None]
    assert "not yet known" in badge(score(empty))
    assert "Not yet known" in fragment(score(empty))


def test_a_trace_survives_its_file() -> None:
    """Read again, it gives the same verdicts; it is small."""
    trace = week(hourly)
    text = trace.to_json()
    assert score(read_trace(text)) == score(trace)
    assert len(text) < 20_000


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"address": 1}',
        "null",
        '{"headers": [1], "asked": []}',
        "[" * 100_000,
        week(hourly, hours=2).to_json().replace('"one-shot"', '"telepathy"'),
        week(hourly, hours=2).to_json().replace('"ran": 7200', '"ran": Infinity'),
        week(hourly, hours=2).to_json().replace("3600.0", "1e300"),
    ],
)
def test_what_is_no_trace_is_refused(text: str) -> None:
    """With one clear error."""
    with pytest.raises(InvalidData, match="not a trace"):
        read_trace(text)


def test_a_trace_is_bounded() -> None:
    """However many rows a file has."""
    stored = json.loads(week(hourly, hours=1).to_json())
    stored["asked"] = stored["asked"] * (MOST_REQUESTS + 5)
    assert len(read_trace(json.dumps(stored)).requests) == MOST_REQUESTS


def test_what_a_tester_sends_is_escaped() -> None:
    """In the page, wherever it appears."""
    trace = week(hourly)
    evil = '<script>alert("x")</script>'
    trace.requests = [
        TracedRequest(
            asked.at, asked.method, asked.path + evil, {**asked.headers, "user-agent": evil}
        )
        for asked in trace.requests
    ] + [TracedRequest(5.0, "GET", evil, {})]
    trace.program = evil
    card = score(trace)
    assert "<script" not in fragment(card) + badge(card)
    trace.program = "\x1b[2Jreader\u202e"
    assert "\n".join(lines(score(trace))).startswith("[2Jreader: ")


def test_the_week_is_whole() -> None:
    """Stretches in order, each with words of its own; the document changes only when it says so."""
    assert [stretch.begins for stretch in script.WEEK] == sorted(
        stretch.begins for stretch in script.WEEK
    )
    assert len({stretch.purpose for stretch in script.WEEK}) == len(
        {stretch.name for stretch in script.WEEK}
    )
    for at in script.CHANGES[:-1]:
        later = script.CHANGES[script.CHANGES.index(at) + 1] - 0.01
        assert document(PLACE, script.changed_at(at)) == document(PLACE, script.changed_at(later))


def test_conditional_requests_and_deltas() -> None:
    """304 for the newest tag or date; with A-IM only what is new; in every coding the same tag."""
    first = answer(PLACE, 0.5, "GET", "feed.xml", {})
    tag, date = first.header("ETag"), first.header("Last-Modified")
    assert tag is not None
    assert date is not None
    for headers in ({"if-none-match": tag}, {"if-modified-since": date}):
        same = answer(PLACE, 0.7, "GET", "feed.xml", headers)
        assert (same.status, same.body, same.header("ETag")) == (304, b"", tag)
        assert same.header("Cache-Control") == "max-age=3600"
    delta = answer(PLACE, 1.4, "GET", "feed.xml", {"if-none-match": tag, "a-im": "feed"})
    assert (delta.status, delta.header("IM"), delta.body.count(b"<item>")) == (226, "feed", 1)
    small = answer(PLACE, 0.5, "GET", "feed.xml", {"accept-encoding": "gzip"})
    assert (small.header("Content-Encoding"), small.header("ETag")) == ("gzip", tag)
    assert answer(PLACE, 0.5, "HEAD", "feed.xml", {}).body == b""
    assert answer(PLACE, 0.5, "DELETE", "feed.xml", {}).status == 405


SUBSCRIBED = {"hub.mode": "subscribe", "hub.topic": f"{ADDRESS}/feed.xml",
              "hub.callback": "https://reader.example/cb"}  # fmt: skip
NOTIFIED = {"port": "80", "path": "/cb", "protocol": "http-post", "url1": f"{ADDRESS}/feed.xml"}


@pytest.mark.parametrize(
    ("path", "fields", "status"), [("hub", SUBSCRIBED, 202), ("cloud", NOTIFIED, 200)]
)
def test_a_subscription_is_answered(path: str, fields: dict[str, str], status: int) -> None:
    """The right fields are taken; what is missing or wrong is named."""
    served = answer(PLACE, 0.5, "POST", path, fields)
    assert served.status == status
    assert b'success="true"' not in served.body
    for name in fields:
        for wrong in ({}, {name: "<b>"}):
            others = {key: value for key, value in fields.items() if key != name}
            served = answer(PLACE, 0.5, "POST", path, {**others, **wrong})
            assert (served.status, served.body) == (400, f"missing or wrong: {name}\n".encode())


@pytest.mark.parametrize(
    ("hours", "fields", "state"),
    [
        ((0.1, 30.0), SUBSCRIBED, "good"),
        ((1.0, 1.1, 1.2), SUBSCRIBED, "partly"),
        ((1.0, 30.0), {**SUBSCRIBED, "hub.topic": "https://elsewhere.example/"}, "bad"),
        ((), {}, "not-seen"),
    ],
)
def test_subscriptions_are_judged(
    hours: tuple[float, ...], fields: dict[str, str], state: str
) -> None:
    """Right fields, and no insisting on a hub that verifies nothing."""
    trace = week(perfect)
    trace.requests += [
        TracedRequest(hour * 3600, "POST", "hub", {"user-agent": AGENT, **fields}) for hour in hours
    ]
    assert states(score(trace))["websub"] == state
    assert (score(trace).score == 100) == (state in ("good", "not-seen"))


@pytest.mark.parametrize(
    ("paths", "state"),
    [
        (("archive-2.xml", "archive-1.xml"), "good"),
        (("archive-2.xml",), "partly"),
        (("archive-2.xml", "archive-1.xml") * 5, "bad"),
        ((), "not-seen"),
    ],
)
def test_archives_are_judged(paths: tuple[str, ...], state: str) -> None:
    """All of them, once each; they lead from one to the next, and hold what the feed no longer
    does."""
    trace = week(perfect)
    trace.requests += [
        TracedRequest(10.0 + place, "GET", path, {}) for place, path in enumerate(paths)
    ]
    assert states(score(trace))["archives"] == state
    bodies = [document(PLACE, 0.0), *(
        answer(PLACE, 9.0, "GET", path, {}).body for path in script.ARCHIVES
    )]  # fmt: skip
    led = [re.findall(rb'rel="prev-archive" href="[^"]*/([^"/]*)"', body) for body in bodies]
    assert led == [[b"archive-2.xml"], [b"archive-1.xml"], []]
    assert b'rel="self" href="%s/archive-1.xml"' % ADDRESS.encode() in bodies[2]
    numbers = {int(number) for body in bodies[1:] for number in re.findall(rb"Post (\d+)<", body)}
    assert numbers == {post.number for post in script.POSTS if post.at < 0}


@pytest.mark.parametrize(
    ("silences", "state"),
    [
        ([(1.0, 60.4, True)], "good"),
        ([(1.0, 15.0, False)], "not-seen"),  # it ended too soon to tell
        ([(1.0, 70.0, False)], "bad"),
        ([(1.0, 5.0, True), (2.0, 300.0, True)], "partly"),
    ],
)
def test_time_outs_are_judged(silences: list[tuple[float, float, bool]], state: str) -> None:
    """A minute; where the silence was shorter nothing is known."""
    trace = week(perfect)
    trace.silences = silences
    assert states(score(read_trace(trace.to_json())))["time-out"] == state


def test_the_wrong_things_are_served() -> None:
    """Duplicate guid, undated and future posts, an edit, a deletion, a moved self, redirects."""
    text = document(PLACE, script.changed_at(28.1)).decode()
    guids = re.findall(r"<guid[^>]*>([^<]*)", text)
    assert len(guids) == len(set(guids)) + 1
    assert "<pubDate>some day</pubDate>" in text
    assert "was corrected" in document(PLACE, script.changed_at(4.6)).decode()
    gone = "<title>Post 18</title>"
    assert gone in document(PLACE, script.changed_at(4.9)).decode()
    assert gone not in document(PLACE, script.changed_at(5.1)).decode()
    assert b"/self.xml" in document(PLACE, script.changed_at(45))
    codes = [
        answer(PLACE, hour, "GET", path, {}).status
        for hour, path in ((23, "feed.xml"), (59, "moved.xml"), (61, "moved.xml"),
                           (121, "moved.xml"), (124, "last.xml"), (130, "last.xml"),
                           (138, "last.xml"), (151, "feed.xml"), (23, "for-now.xml"))
    ]  # fmt: skip
    assert codes == [301, 302, 307, 308, 429, 503, 500, 410, 404]
    assert answer(PLACE, 136, "GET", "last.xml", {}).fault == "closed"
    assert tag_at(PLACE, 45) == ""
    assert tag_at(PLACE, 53).startswith('"')


@pytest.mark.parametrize(
    "headers",
    [
        {"if-none-match": '"' * 299, "if-modified-since": "yesterday", "a-im": "feed,,"},
        {"accept-encoding": "gzip;q=x, \udcff", "if-none-match": "*"},
        {"if-modified-since": "Thu, 01 Jan 99999 00:00:00 GMT"},
    ],
)
def test_garbage_gets_an_answer(headers: dict[str, str]) -> None:
    """At each hour, for odd headers and paths."""
    for hour in range(0, 169, 3):
        for path in ("feed.xml", "", "post/99999999999", "../../etc/passwd", "moved.xml?a=b"):
            assert answer(PLACE, float(hour), "GET", path, headers).status in range(600)


@pytest.mark.parametrize(("takes", "state"), [(True, "good"), (False, "bad")])
def test_who_asks_for_news_alone_must_take_them(takes: bool, state: str) -> None:
    """After a 226 the next request has the new tag, or the reader lost what was in it."""
    trace, tag = Trace(ADDRESS, MONDAY, ran=6 * 3600.0), ""
    for hour in range(6):
        headers = {"if-none-match": tag, "a-im": "feed"} if tag else {}
        trace.requests.append(TracedRequest(hour * 3600.0, "GET", "feed.xml", headers))
        served = answer(PLACE, float(hour), "GET", "feed.xml", headers)
        if served.status == 200 or (takes and served.status == 226):
            tag = served.header("ETag") or ""
    assert states(score(trace))["delta"] == state


def test_an_http_cache_behind_a_redirect_obeys() -> None:
    """It asks the old address each hour, and the new one only when its copy is no longer fresh."""
    trace = Trace(ADDRESS, MONDAY, ran=30 * 3600.0)
    for hour in range(22, 30):
        trace.requests.append(TracedRequest(hour * 3600.0, "GET", "feed.xml", {}))
        if hour % 2 == 0:
            trace.requests.append(TracedRequest(hour * 3600.0 + 1, "GET", "moved.xml", {}))
    assert states(score(trace))["max-age"] == "good"
