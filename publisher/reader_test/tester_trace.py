"""A trace: the requests of one tester in the order in which they came, without the answers.

It is stored as compact JSON: each set of headers once, then a row for each request. Strangers write
what is in it, so everything is cut to lengths and numbers that fit into memory.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from urllib.parse import parse_qsl

from publisher.base.dates import format_rfc3339, parse_rfc3339
from publisher.base.errors import InvalidData
from publisher.reader_test.answering import WeekPlace

MOST_REQUESTS = 20_000
LONGEST_VALUE, LONGEST_PATH = 300, 200
# The headers that the judge reads, and the fields of a subscription (WebSub, rssCloud); the values
# of NOTED are not kept.
JUDGED_HEADERS = (
    "user-agent", "accept-encoding", "if-none-match", "if-modified-since", "a-im", "cache-control",
    "pragma", "referer",
    "hub.mode", "hub.topic", "hub.callback", "port", "path", "protocol", "url1",
)  # fmt: skip
MOST_FIELDS = 20
NOTED = ("cookie", "authorization")

ONE_SHOT, LONG_RUNNING, FROM_AFAR = "one-shot", "long-running", "from-afar"
_MODES = (ONE_SHOT, LONG_RUNNING, FROM_AFAR)
_LONGEST_SECONDS = 14 * 86_400.0


@dataclass(frozen=True, slots=True)
class TracedRequest:
    """One request. at: seconds since the beginning of the week; path: relative to the tester's
    address, with its query; headers: JUDGED_HEADERS and NOTED alone, names in lower case."""

    at: float
    method: str
    path: str
    headers: Mapping[str, str]

    @property
    def hours(self) -> float:
        """When it came, in hours of the test."""
        return self.at / 3600.0


@dataclass
class Trace:
    """The requests of one tester, and how they were brought about.

    mode: `one-shot` (a command that was run every quarter of an hour), `long-running` (a
    program that keeps its own time under a shifted clock), `from-afar` (somebody's reader, in
    real time or at a chosen speed). ran: seconds of the test that are over. runs: how often a
    command ran; speed: of the clock. restarts: at which seconds a long-running program was
    started again. shown: for each run that printed items, its second and the identities
    printed, in order. silences: where no answer came: the second, how many seconds of the
    reader's clock passed until one side hung up, and whether the reader did.
    """

    address: str
    begins: datetime
    mode: str = FROM_AFAR
    program: str = ""
    ran: float = 0.0
    runs: int = 0
    speed: float = 1.0
    restarts: list[float] = field(default_factory=list)
    shown: list[tuple[float, list[str]]] = field(default_factory=list)
    silences: list[tuple[float, float, bool]] = field(default_factory=list)
    requests: list[TracedRequest] = field(default_factory=list)

    @property
    def place(self) -> WeekPlace:
        """Where and when the test ran."""
        return WeekPlace(self.address, self.begins)

    def to_json(self) -> str:
        """The trace as compact JSON."""
        sets: dict[str, int] = {}
        rows = []
        for request in self.requests:
            key = json.dumps(dict(request.headers), sort_keys=True)
            place = sets.setdefault(key, len(sets))
            rows.append([round(request.at, 1), f"{request.method} {request.path}", place])
        document = {
            "address": self.address, "begins": format_rfc3339(self.begins), "mode": self.mode,
            "program": self.program, "ran": round(self.ran), "runs": self.runs,
            "speed": self.speed,
            "restarts": self.restarts, "shown": self.shown, "silences": self.silences,
        }  # fmt: skip
        head = json.dumps(document, ensure_ascii=False)[:-1]
        headers = ",\n".join(sets)
        lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
        return f'{head}, "headers": [\n{headers}\n], "asked": [\n{lines}\n]}}\n'


def read_trace(text: str) -> Trace:
    """Read what `to_json` wrote. Raises InvalidData for anything else."""
    try:
        stored = json.loads(text)
        sets = [kept_headers(headers) for headers in stored["headers"]]
        requests = [_row(row, sets) for row in stored["asked"][:MOST_REQUESTS]]
        return Trace(
            str(stored["address"]), parse_rfc3339(stored["begins"]),
            _MODES[_MODES.index(stored["mode"])],
            str(stored["program"]), _seconds(stored["ran"]), int(stored["runs"]),
            _seconds(stored.get("speed", 1)),
            [_seconds(at) for at in stored["restarts"]],
            [(_seconds(at), [str(name) for name in names]) for at, names in stored["shown"]],
            [(_seconds(at), _seconds(held), bool(gave_up))
             for at, held, gave_up in stored.get("silences", [])[:MOST_REQUESTS]],
            requests,
        )  # fmt: skip
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError) as error:
        raise InvalidData(f"this is not a trace of the reader test: {error}") from error


def _row(row: Any, sets: list[dict[str, str]]) -> TracedRequest:
    method, _, path = str(row[1]).partition(" ")
    return TracedRequest(_seconds(row[0]), method, path[:LONGEST_PATH], sets[row[2]])


def _seconds(value: Any) -> float:
    """A number of seconds of a test. ValueError for others, infinity and NaN included."""
    number = float(value)
    if not 0 <= number <= _LONGEST_SECONDS:
        raise ValueError(f"{number} is no time of the test")
    return number


def kept_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Of a request's headers those that the judge reads, names in lower case, values cut."""
    judged = {}
    for name, value in headers.items():
        small = name.lower()
        if small in JUDGED_HEADERS:
            judged[small] = str(value)[:LONGEST_VALUE]
        elif small in NOTED:
            judged[small] = "sent"
    return judged


def form_fields(body: bytes) -> dict[str, str]:
    """The fields of a form, names in lower case; none if there are too many."""
    try:
        pairs = parse_qsl(body.decode("utf-8", "replace"), max_num_fields=MOST_FIELDS)
    except ValueError:
        return {}
    return {name.lower(): value for name, value in pairs}
