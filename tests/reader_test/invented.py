"""Readers written for the tests, and a week of them in virtual time, without any socket."""

import gzip
import re
from collections.abc import Callable, Generator
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import brotli

from publisher.reader_test.answering import WeekAnswer, WeekPlace, answer
from publisher.reader_test.script import WEEK_HOURS
from publisher.reader_test.tester_trace import ONE_SHOT, Trace, TracedRequest, kept_headers

MONDAY = datetime(2024, 3, 4, tzinfo=UTC)
ADDRESS = "http://127.0.0.1:8010/t/token"
AGENT = "Perfect/1.0 (+https://reader.example/)"
DAY = 86_400.0

Ask = Callable[[str, dict[str, str]], tuple[WeekAnswer, float]]
"""Asks for a path with these headers; gives the answer and the seconds of the test."""
Reader = Callable[[Ask], Generator[float]]
"""A generator of waits in seconds."""


def week(
    reader: Reader, begins: datetime = MONDAY, hours: float = WEEK_HOURS, every: float = 0.0
) -> Trace:
    """What the test sees of a reader. every: seconds between two runs of it, if it is run by a
    timer; it is then asked at each run whether it wants to poll."""
    trace = Trace(ADDRESS, begins, ONE_SHOT, "invented")
    place, now = WeekPlace(ADDRESS, begins), 0.0

    def ask(path: str, headers: dict[str, str], method: str = "GET") -> tuple[WeekAnswer, float]:
        trace.requests.append(TracedRequest(now, method, path, kept_headers(headers)))
        served = answer(place, now / 3600, method, path, trace.requests[-1].headers)
        if served.fault == "silent":
            trace.silences.append((now, 20.0, True))
        return served, now

    turns = reader(ask)
    while now < hours * 3600:
        wait = next(turns)
        now += -(-wait // every) * every if every else wait
    trace.ran = hours * 3600
    return trace


def perfect(ask: Ask) -> Generator[float]:
    """Does all that the specification says."""
    memory: dict[str, Any] = {}
    while True:
        yield visit(memory, ask)


def visit(memory: dict[str, Any], ask: Ask) -> float:
    """One poll of the perfect reader; changes its memory, which fits into JSON; the next wait."""
    path = memory.setdefault("path", "feed.xml")
    headers = {"User-Agent": AGENT, "Accept-Encoding": "gzip, br", **memory.get("kept", {})}
    served, now = ask(path, headers)
    permanent, target = True, path
    while served.status in (301, 302, 307, 308):
        permanent = permanent and served.status in (301, 308)
        target = (served.header("Location") or "").rpartition("/")[2]
        served, now = ask(target, headers)
    if target != path and permanent:
        offered, since = memory.get("offered", ("", 0.0))
        if offered != target:
            memory["offered"] = (target, now)
        elif now - since >= DAY and served.status in (200, 304):
            memory["path"] = target
    wait: float
    if served.status in (200, 304) and served.fault != "cut":
        memory["errors"] = 0
        names = (("If-None-Match", "ETag"), ("If-Modified-Since", "Last-Modified"))
        memory["kept"] = {name: value for name, header in names if (value := served.header(header))}
        if served.status == 200:
            _learn(memory, plain(served))
        wait = fresh(served) or memory["held"] or 3600.0
    elif served.status == 410:
        memory["gone"] = memory.get("gone", 0) + 1
        wait = DAY if memory["gone"] == 1 else 1000 * DAY
    elif retry_after := served.header("Retry-After"):
        wait = float(retry_after) if retry_after.isdecimal() else until(retry_after, served)
    else:
        memory["errors"] = memory.get("errors", 0) + 1
        wait = 3600.0 * 2 ** (memory["errors"] - 1)
    if date := served.header("Date"):
        memory["at"] = parsedate_to_datetime(date).timestamp()
    # The first answer may have been lost: then nothing is known yet.
    remembered = memory.get("at", now), wait, memory.get("hours", []), memory.get("days", [])
    return away(*remembered) + 17.0


def _learn(memory: dict[str, Any], body: bytes) -> None:
    """What a document says: its own wait, the hours and the days to skip."""
    memory["held"] = 0.0
    if match := re.search(rb"<ttl>(\d+)</ttl>", body):
        memory["held"] = int(match[1]) * 60.0
    elif b"<sy:updatePeriod>" in body:
        memory["held"] = DAY / int(body.split(b"<sy:updateFrequency>")[1].split(b"<")[0])
    memory["hours"] = [int(hour) for hour in re.findall(rb"<hour>(\d+)</hour>", body)]
    memory["days"] = [day.decode() for day in re.findall(rb"<day>(\w+)</day>", body)]


def away(at: float, wait: float, hours: list[int], days: list[str]) -> float:
    """The wait after the instant `at`, prolonged to where neither hour nor day is to be skipped."""
    while True:
        moment = datetime.fromtimestamp(at + wait, UTC)
        if moment.hour not in hours and f"{moment:%A}" not in days:
            return wait
        wait += 3600.0 - (at + wait) % 3600.0


def fresh(served: WeekAnswer) -> float:
    """max-age, else Expires, in seconds; 0 where there is neither."""
    if match := re.search(r"max-age=(\d+)", served.header("Cache-Control") or ""):
        return float(match[1])
    expires = served.header("Expires")
    return until(expires, served) if expires else 0.0


def until(date: str, served: WeekAnswer) -> float:
    """Seconds from the answer's Date until `date`."""
    now = parsedate_to_datetime(served.header("Date") or "")
    return (parsedate_to_datetime(date) - now).total_seconds()


def plain(served: WeekAnswer) -> bytes:
    """The body without its coding."""
    coding = served.header("Content-Encoding")
    if coding == "br":
        return bytes(brotli.decompress(served.body))
    return gzip.decompress(served.body) if coding == "gzip" else served.body


def rude(ask: Ask) -> Generator[float]:
    """Does nothing right: HEAD and two whole documents every quarter of an hour, for ever."""
    headers = {
        "User-Agent": "Mozilla/5.0",
        "Cookie": "id=1",
        "Referer": "https://reader.example/",
        "Cache-Control": "no-cache",
        "If-None-Match": '"made-up"',
        "If-Modified-Since": "Thu, 01 Jan 1970 00:00:00 GMT",
    }
    while True:
        ask("feed.xml", headers, "HEAD")  # type: ignore[call-arg]
        ask("feed.xml?t=1", headers)
        ask("feed.xml?t=2", headers)
        ask("favicon.ico", headers)
        yield 900.0


def hourly(ask: Ask) -> Generator[float]:
    """As many programs are: conditional requests at an interval of its own, and nothing else."""
    validators: dict[str, str] = {}
    while True:
        served, _ = ask("feed.xml", {"User-Agent": "Hourly/1.0", **validators})
        while served.status in (301, 302, 307, 308):
            target = (served.header("Location") or "").rpartition("/")[2]
            served, _ = ask(target, {"User-Agent": "Hourly/1.0", **validators})
        if served.status == 200:
            names = (("If-None-Match", "ETag"), ("If-Modified-Since", "Last-Modified"))
            validators = {name: value for name, header in names if (value := served.header(header))}
        yield 3600.0
