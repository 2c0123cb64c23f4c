"""Testers' addresses and the server for strangers: limits, expiry, faults on the wire, escaping."""

import json
import socket
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

import pytest

from publisher.base.errors import InvalidInput, NotFound, TooMany
from publisher.reader_test import tester_server
from publisher.reader_test import testers as testers_module
from publisher.reader_test.scorecard import score
from publisher.reader_test.tester_server import serving
from publisher.reader_test.tester_trace import ONE_SHOT
from publisher.reader_test.testers import (
    MOST_TESTERS,
    NEW_AN_HOUR,
    REQUESTS_A_SECOND,
    ReaderTests,
    RunDesk,
)
from tests.conftest import FakeClock
from tests.reader_test.invented import MONDAY
from tests.running_site import wait_until

BASE = "http://127.0.0.1:1"


@pytest.fixture
def testers(tmp_path: Path, clock: FakeClock) -> ReaderTests:
    """No testers yet."""
    return ReaderTests(tmp_path / "tests", clock)


def test_a_test_in_real_time_and_a_faster_one(testers: ReaderTests, clock: FakeClock) -> None:
    """Hours of the test go with the clock, the trace is kept, the end is the end."""
    slow, fast = testers.make(1), testers.make(24)
    assert slow.begins == MONDAY.replace(hour=9)
    for _ in range(3):
        for tester in (slow, fast):
            testers.answer(BASE, tester.word, "GET", "feed.xml", {"User-Agent": "R/1"})
        clock.forward(hours=1)
    assert [asked.hours for asked in testers.trace(BASE, slow.word).requests] == [0.5, 1.5, 2.5]
    assert [round(asked.hours, 1) for asked in testers.trace(BASE, fast.word).requests] == [
        0.5,
        24.5,
        48.5,
    ]
    clock.forward(days=2)
    assert testers.answer(BASE, fast.word, "GET", "feed.xml", {}).status == 410
    assert len(testers.trace(BASE, fast.word).requests) == 3
    assert testers.trace(BASE, fast.word).ran == 168 * 3600
    assert score(testers.trace(BASE, fast.word)).requests == 3


def test_addresses_cannot_be_guessed_and_expire(testers: ReaderTests, clock: FakeClock) -> None:
    """Other words, paths and dates find nothing; two days after its end a test is gone."""
    tester = testers.make(1)
    assert testers.named(tester.word) == tester
    for word in ("", tester.word[:-1], "../" + tester.word, "x" * 22, tester.word + "/..", "%00"):
        with pytest.raises(NotFound):
            testers.named(word)
    clock.forward(days=10)
    with pytest.raises(NotFound):
        testers.named(tester.word)


def test_their_number_is_limited(testers: ReaderTests, clock: FakeClock, tmp_path: Path) -> None:
    """By the hour, and in all; testers that nobody used make room."""
    for _ in range(NEW_AN_HOUR):
        testers.make(1)
    with pytest.raises(TooMany, match="within an hour"):
        testers.make(1)
    clock.forward(hours=2)
    testers.make(1)
    assert len(list((tmp_path / "tests").iterdir())) == 1
    for _ in range(MOST_TESTERS - 1):
        tester = testers.make(1)
        testers.answer(BASE, tester.word, "GET", "feed.xml", {"User-Agent": "x" * 90})
        clock.forward(minutes=3)
    tester = testers.make(1)  # in place of the one that nobody used
    testers.answer(BASE, tester.word, "GET", "feed.xml", {"User-Agent": "x" * 90})
    with pytest.raises(TooMany, match="under way"):
        testers.make(1)


def test_size_and_rate_are_limited(
    testers: ReaderTests, clock: FakeClock, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Of one tester's file, of its values, and of its requests in a second."""
    tester = testers.make(1)
    monkeypatch.setattr(testers_module, "MOST_BYTES", 5_000)
    for _ in range(REQUESTS_A_SECOND):
        testers.answer(BASE, tester.word, "GET" * 90, "p" * 9999, {"User-Agent": "x" * 99_999})
    with pytest.raises(TooMany, match="one test"):
        testers.answer(BASE, tester.word, "GET", "feed.xml", {})
    clock.forward(seconds=2)
    assert testers.answer(BASE, tester.word, "GET", "feed.xml", {}).status == 200
    (file,) = (tmp_path / "tests").iterdir()
    assert file.stat().st_size <= 5_100
    request = testers.trace(BASE, tester.word).requests[0]
    assert (request.method, len(request.path), len(request.headers["user-agent"])) == (
        "OTHER",
        200,
        300,
    )


@pytest.mark.parametrize("speed", [0, -1, 0.5, 10_001, float("nan"), float("inf")])
def test_speeds_are_checked(testers: ReaderTests, speed: float) -> None:
    """Between 1 and 10,000."""
    with pytest.raises(InvalidInput):
        testers.make(speed)


@pytest.fixture
def base(testers: ReaderTests) -> Iterator[str]:
    """The server of testers; its address."""
    with serving(testers, "127.0.0.1", 0) as address:
        yield address


def get(url: str, data: bytes | None = None) -> tuple[int, bytes]:
    """One request; redirects are followed."""
    try:
        with urllib.request.urlopen(url, data, timeout=20) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as answer:
        return answer.code, answer.read()


def test_from_the_page_to_the_score(base: str, testers: ReaderTests) -> None:
    """A stranger's way: the page, a test of one's own, its score in three forms."""
    status, page = get(f"{base}/")
    assert (status, b"Begin a test" in page) == (200, True)
    status, page = get(f"{base}/", b"speed=60")
    feed = page.partition(b"<code>")[2].partition(b"</code>")[0].decode()
    assert (status, feed.startswith(base), feed.endswith("/feed.xml")) == (200, True, True)
    evil = urllib.request.Request(feed, headers={"User-Agent": "<script>x</script>", "Cookie": "a"})
    urllib.request.urlopen(evil).read()
    score_page = feed.replace("feed.xml", "score")
    status, page = get(score_page)
    assert (status, b"<script" in page, b"1 request in" in page) == (200, False, True)
    assert json.loads(get(score_page + ".json")[1])["score"] is None
    assert b"<svg" in get(feed.replace("feed.xml", "badge.svg"))[1]
    assert get(f"{base}/{'x' * 22}/feed.xml")[0] == 404
    assert get(f"{base}/favicon.ico")[0] == 404
    assert get(f"{base}/", b"speed=fast")[0] == 400


@pytest.mark.parametrize(
    "sent",
    [
        b"GET", b"GET / HTTP/9.9\r\n\r\n", b"\x00\x01\x02\r\n\r\n", b"A" * 70_000,
        b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 500 + b"\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\nspeed=1",
        b"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\nspeed=%ff",
        b"get /x/feed.xml HTTP/1.0\r\nHost: \xff\r\n\r\n",
    ],
)  # fmt: skip
def test_garbage_does_not_hurt(base: str, sent: bytes) -> None:
    """Whatever a stranger sends, the next one is answered, and nothing is a 5xx but a version."""
    host, _, port = base.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port)), timeout=10) as line:
        line.sendall(sent)
        line.shutdown(socket.SHUT_WR)
        received = line.recv(100)
    assert b" 500 " not in received
    assert get(f"{base}/")[0] == 200


def test_faults_on_the_wire() -> None:
    """A connection that closes without an answer, and a document that is cut off."""
    desk = RunDesk(MONDAY, ONE_SHOT)
    with serving(desk, "127.0.0.1", 0) as base:
        desk.jump(136 * 3600)
        with pytest.raises((ConnectionError, urllib.error.URLError)):
            get(f"{base}/{desk.word}/last.xml")
        desk.jump(139.5 * 3600)
        with pytest.raises(Exception, match="IncompleteRead"):
            get(f"{base}/{desk.word}/last.xml")
    assert [asked.path for asked in desk.recorded.requests] == ["last.xml", "last.xml"]


def test_silence_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """When the reader hangs up, when its time is over, and with the server; above their number
    connections are closed at once."""
    monkeypatch.setattr(tester_server, "MOST_SILENCES", 2)
    monkeypatch.setattr(tester_server, "LEAST_SILENCE", 1.0)
    desk = RunDesk(MONDAY, ONE_SHOT, speed=70.0)  # the silence lasts a second
    desk.jump(146.5 * 3600)

    def ask(seconds: float) -> float:
        begun = time.monotonic()
        with socket.create_connection((host, int(port)), timeout=seconds) as line:
            line.sendall(f"GET /{desk.word}/last.xml HTTP/1.1\r\nHost: x\r\n\r\n".encode())
            with suppress(TimeoutError):
                assert line.recv(100) == b""
        return time.monotonic() - begun

    with serving(desk, "127.0.0.1", 0) as base:
        host, _, port = base.removeprefix("http://").partition(":")
        ask(0.2)
        wait_until(lambda: desk.recorded.silences, 10)
        assert ask(9.0) >= 0.9
        with ThreadPoolExecutor(4) as pool:
            took = sorted(pool.map(ask, [9.0] * 4))
        assert took[1] < 0.9 < took[2]
        assert get(f"{base}/")[0] == 200
        desk.recorded.speed = 1.0
        left = socket.create_connection((host, int(port)))
        left.sendall(f"GET /{desk.word}/last.xml HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        wait_until(lambda: len(desk.recorded.requests) == 7, 10)
    left.close()
    assert [gave_up for _, _, gave_up in desk.recorded.silences] == [True, False, False, False]
    held = [seconds for _, seconds, _ in desk.recorded.silences]
    assert 70 * 0.15 < held[0] < 70 <= held[1]  # in seconds of the program's clock


def test_silences_of_strangers_are_kept(testers: ReaderTests) -> None:
    """In the tester's file, beside its requests."""
    tester = testers.make(24)
    testers.answer(BASE, tester.word, "GET", "feed.xml", {})
    testers.silence(tester.word, 30.04, True)
    testers.answer(BASE, tester.word, "SILENCE", "[1, 2, 3]", {})
    trace = testers.trace(BASE, tester.word)
    assert (len(trace.requests), trace.silences) == (2, [(1800.0, 30.0, True)])


def test_nothing_is_sent_to_a_callback(base: str, testers: ReaderTests) -> None:
    """A subscription to the hub or the cloud is noted; the address that it names gets nothing."""
    feed = get(f"{base}/", b"")[1].partition(b"<code>")[2].partition(b"</code>")[0].decode()
    with socket.create_server(("127.0.0.1", 0)) as trap:
        trap.settimeout(1.0)
        callback = f"http://127.0.0.1:{trap.getsockname()[1]}/"
        body = f"hub.callback={callback}&hub.mode=subscribe&hub.topic={feed}"
        assert get(feed.replace("feed.xml", "hub"), body.encode())[0] == 202
        body = f"port={trap.getsockname()[1]}&path=/&protocol=http-post&url1={feed}"
        assert get(feed.replace("feed.xml", "cloud"), body.encode())[0] == 200
        with pytest.raises(TimeoutError):
            trap.accept()


def test_an_hour_ends(testers: ReaderTests, clock: FakeClock) -> None:
    """A clock that goes back does not move a test before its beginning."""
    tester = testers.make(2)
    clock.forward(hours=-5)
    assert tester.hours(clock()) == pytest.approx(0.5)
    assert tester.ends - tester.made == timedelta(hours=167.5) / 2


def test_a_public_address_of_its_own(testers: ReaderTests) -> None:
    """In a container: what the feed names is the address that readers see."""
    address = "http://tests.example:80"
    with serving(testers, "127.0.0.1", 0, f"{address}/") as named:
        assert named == address
