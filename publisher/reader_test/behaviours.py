"""The judge: in how many of how many cases a trace shows the right behaviour, and a sentence.

Pure. A behaviour that the trace cannot show has no case: it is not seen, which is no failure.
"""

import re
import tomllib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import Any

from publisher.base.text import counted
from publisher.dynamic_ttl.core.durations import duration
from publisher.reader_test import script
from publisher.reader_test.answering import (
    WeekAnswer,
    answer,
    skipped_day,
    skipped_hours,
    subscription_problem,
)
from publisher.reader_test.script import FEEDS, HOUR, OWN_SECONDS, Stretch, stretch_at
from publisher.reader_test.tester_trace import LONG_RUNNING, ONE_SHOT, Trace, TracedRequest

SLACK_SHARE, SLACK_SECONDS = 0.95, 30.0  # of a wait, for clocks that differ and timers that round
REAL_SLACK_SECONDS = 0.1  # for a machine that is busy; multiplied by the speed of the clock
REDIRECTS = (301, 302, 307, 308)
TOGETHER_SECONDS = 15.0  # requests within it belong to one visit
REDIRECT_SECONDS = 120.0
PATIENCE_SECONDS = 65.0  # a minute, and some for a machine that is busy
MOVE_SECONDS = 26 * 3600.0  # how long a permanent move may be doubted
_AGENT = re.compile(r"[A-Za-z][\w.-]*/v?\d")
_CONTACT = re.compile(r"https?://|[\w.+-]@[\w-]+\.\w")

Finding = tuple[tuple[float, int], str]
"""How many of the cases were right, of how many, and a sentence, which counts if there were any."""
NOT_SEEN: Finding = (0, 0), ""


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request with its answer."""

    request: TracedRequest
    served: WeekAnswer

    @property
    def path(self) -> str:
        """The path that was asked for, without its query."""
        return self.request.path.partition("?")[0]

    @property
    def location(self) -> str:
        """The path that a redirect leads to, without the tester's address."""
        return (self.served.header("Location") or "").rpartition("/")[2]


@dataclass(frozen=True, slots=True)
class FeedVisit:
    """One look at the feed: a request, and those that its redirects led to."""

    hops: tuple[Exchange, ...]

    @property
    def at(self) -> float:
        """When it began, in seconds of the test."""
        return self.hops[0].request.at

    @property
    def end(self) -> Exchange:
        """Its last exchange."""
        return self.hops[-1]

    @property
    def stretch(self) -> Stretch:
        """The stretch in which its last request came."""
        return stretch_at(self.end.request.hours)


@dataclass
class Evidence:
    """A trace with what was answered, arranged for the judge."""

    trace: Trace

    @cached_property
    def exchanges(self) -> list[Exchange]:
        """All requests with their answers, in order of time."""
        exchanges = []
        for request in sorted(self.trace.requests, key=lambda request: request.at):
            headers = {**request.headers, "accept-encoding": ""}  # no body is compressed again
            served = answer(self.trace.place, request.hours, request.method, request.path, headers)
            exchanges.append(Exchange(request, served))
        return exchanges

    @cached_property
    def visits(self) -> list[FeedVisit]:
        """The looks at the feed by GET."""
        chains: list[list[Exchange]] = []
        for exchange in self.exchanges:
            if exchange.request.method != "GET" or exchange.path not in FEEDS:
                continue
            last = chains[-1][-1] if chains else None
            follows = (
                last is not None
                and last.location == exchange.path
                and exchange.request.at - last.request.at < REDIRECT_SECONDS
            )
            if follows:
                chains[-1].append(exchange)
            else:
                chains.append([exchange])
        return [FeedVisit(tuple(hops)) for hops in chains]

    @property
    def slack(self) -> float:
        """Seconds by which a wait may be too short."""
        return SLACK_SECONDS + REAL_SLACK_SECONDS * (self.trace.speed - 1.0)

    @cached_property
    def gaps(self) -> list[tuple[FeedVisit, float]]:
        """Each visit with the seconds until the next; visits that belong together count once. One
        that ended at a redirect asked for no document: an HTTP cache had the rest."""
        looks = [visit for visit in self.visits if visit.end.served.status not in REDIRECTS]
        pairs = [(visit, other.at - visit.at) for visit, other in pairwise(looks)]
        return [(visit, gap) for visit, gap in pairs if gap >= TOGETHER_SECONDS]


def _begin_of(name: str) -> float:
    """When a stretch begins, in seconds of the test."""
    return next(stretch.begins * HOUR for stretch in script.WEEK if stretch.name == name)


def _waited(
    seen: Evidence,
    after: str,
    stretches: Sequence[str],
    statuses: Sequence[int],
    hints: Sequence[str],
) -> Finding:
    """Whether the visits after an answer with one of `statuses` in one of `stretches` came after
    the shortest of its `hints`; after: the beginning of the sentence about it."""
    right, early, of, asked_wait = 0, 0.0, 0, 0.0
    for visit, gap in seen.gaps:
        stretch = visit.stretch
        if stretch.name not in stretches or visit.end.served.status not in statuses:
            continue
        wait = min(map(stretch.seconds, hints))
        of += 1
        if gap >= wait * SLACK_SHARE - seen.slack:
            right += 1
        elif not early or gap < early:
            early, asked_wait = gap, wait
    words = f"{after}: of {counted(of, 'wait')} {right} were long enough"
    if early:
        words += f"; it came after {duration(early)} where {duration(asked_wait)} were asked"
    return (right, of), words + "."


def _skipped(seen: Evidence) -> Finding:
    """Requests in hours or days that the document held names."""
    of, wrong, place = 0, 0, seen.trace.place
    for name in ("skip-hours", "skip-days"):
        stretch = next(stretch for stretch in script.WEEK if stretch.name == name)
        inside = [visit for visit in seen.visits if visit.stretch is stretch]
        first = next((visit for visit in inside if visit.end.served.status == 200), None)
        end = script.WEEK[script.WEEK.index(stretch) + 1].begins
        if first is None or seen.trace.ran < end * HOUR:
            continue
        hours, day = skipped_hours(place, stretch), skipped_day(place, stretch)
        of += 1
        later = [visit.at for visit in inside if visit.at - first.at >= TOGETHER_SECONDS]
        came = [place.moment(at / HOUR) for at in later]
        wrong += any(moment.hour in hours or moment.weekday() == day for moment in came)
    return (of - wrong, of), (
        f"Told to stay away for hours or for a day, it did so {of - wrong} of {of} times."
    )


def _backs_off(seen: Evidence) -> Finding:
    """While errors go on, no wait may be shorter than the one before it."""
    runs: list[list[float]] = []
    for visit, gap in seen.gaps:
        failed = visit.stretch.name in ("silent", "closed", "500")
        if failed and runs and runs[-1]:
            runs[-1].append(gap)
        elif failed:
            runs.append([gap])
        else:
            runs.append([])
    waits = next((run for run in runs if len(run) > 1), [])
    if not waits:
        alone = next((run for run in runs if run), [])
        if alone and alone[0] >= OWN_SECONDS * SLACK_SHARE:
            return (1, 1), f"After an error it waited {duration(alone[0])}."
        return NOT_SEEN
    grows = all(later >= earlier - 2 * seen.slack for earlier, later in pairwise(waits))
    slower = grows and waits[-1] >= 1.5 * waits[0]
    sequence = ", ".join(duration(wait) for wait in waits[:6])
    steady = grows and min(waits) >= OWN_SECONDS * SLACK_SHARE
    share = 1.0 if slower else 0.5 if steady else 0.0
    return (share, 1), f"While the server had errors, it waited {sequence}."


def _time_out(seen: Evidence) -> Finding:
    """Whether it gives up where no answer comes. A silence that ended sooner shows nothing."""
    most = PATIENCE_SECONDS + REAL_SLACK_SECONDS * (seen.trace.speed - 1.0)
    waits = [held for _, held, gave_up in seen.trace.silences if gave_up or held > most]
    right = sum(held <= most for held in waits)
    return (right, len(waits)), (
        f"Where no answer came, it gave up within a minute {right} of {counted(len(waits), 'time')}"
        f"; it waited {duration(max(waits, default=0.0))}"
        f"{'' if right == len(waits) else ' or longer'}."
    )


def _subscribed(seen: Evidence, path: str) -> Finding:
    """What it asked of the hub or the cloud, which verify nothing, so that it must not insist."""
    requests = [
        exchange.request
        for exchange in seen.exchanges
        if (exchange.request.method, exchange.path) == ("POST", path)
    ]
    wrong = [subscription_problem(seen.trace.place, path, asked.headers) for asked in requests]
    problem = next(filter(None, wrong), "")
    soon = sum(
        later.at - asked.at < OWN_SECONDS * SLACK_SHARE for asked, later in pairwise(requests)
    )
    return (max(0, wrong.count("") - soon), len(requests)), (
        f"It asked {counted(len(requests), 'time')}, {wrong.count('')} of them with the right"
        f" fields{f' (missing or wrong: {problem})' if problem else ''}, and {soon} within an hour"
        " of the one before."
    )


def _archives(seen: Evidence) -> Finding:
    """Whether each archive was fetched, and once."""
    paths = [exchange.path for exchange in seen.exchanges if exchange.path in script.ARCHIVES]
    count = len(set(paths))
    return (count, max(len(paths), len(script.ARCHIVES)) if paths else 0), (
        f"It fetched {count} of the {len(script.ARCHIVES)} archives, with"
        f" {counted(len(paths), 'request')}."
    )


def _gone(seen: Evidence) -> Finding:
    gone = [visit for visit in seen.visits if visit.end.served.status == 410]
    left = seen.trace.ran - gone[0].at if gone else 0.0
    if not gone or left < 2 * 3600.0:
        return NOT_SEEN
    more = len(gone) - 1
    share = 1.0 if more <= 1 else max(0.0, 0.5 - more / 20)
    return (share, 1), (
        f"After the first 410 it asked {counted(more, 'more time')} in {duration(left)};"
        " once more is enough to make sure."
    )


def _permanent(seen: Evidence) -> Finding:
    right = of = 0
    parts = []
    for move in (move for move in script.MOVES if move.status in (301, 308)):
        path = move.source
        led = [visit for visit in seen.visits for hop in visit.hops
               if hop.path == path and hop.served.status == move.status]  # fmt: skip
        if not led:
            continue
        late = [visit for visit in led if visit.at - led[0].at > MOVE_SECONDS]
        direct = any(visit.hops[0].path == move.to for visit in seen.visits)
        over = _begin_of("gone") - led[0].at > MOVE_SECONDS and seen.trace.ran > _begin_of("gone")
        if not direct and not late and not over:
            continue  # it may still be making sure
        of += 1
        right += direct and not late
        moved = "; then it asked at the new address" if direct and not late else ""
        parts.append(f"{move.status} was answered {counted(len(led), 'time')}{moved}")
    return (right, of), f"{'; '.join(parts)}."


def _temporary(seen: Evidence) -> Finding:
    led = [v for v in seen.visits if any(hop.served.status in (302, 307) for hop in v.hops)]
    followed = sum(len(visit.hops) > 1 for visit in led)
    later = [visit for visit in seen.visits if visit.at > 62 * 3600.0]
    back = not any(v.hops[0].path in (script.FOR_NOW, script.FOR_NOW_TOO) for v in later)
    return ((followed + back * len(led)) / 2, len(led)), (
        f"Of {counted(len(led), 'temporary redirect')} (302, 307) it followed {followed}"
        f"{', and then asked at the old address again' if back else '; it kept the new address'}."
    )


@dataclass
class _Held:
    """The validators that a reader holds; two of each where it may hold either."""

    tags: set[str | None] = field(default_factory=lambda: {None})
    dates: set[str | None] = field(default_factory=lambda: {None})
    path: str = ""  # the address that gave them: at another one nothing needs to be sent
    given_tags: set[str] = field(default_factory=set)
    given_dates: set[str] = field(default_factory=set)

    def update(self, exchange: Exchange) -> None:
        served = exchange.served
        if served.status not in (200, 226, 304):
            return
        self.path = exchange.path
        tag, date = served.header("ETag"), served.header("Last-Modified")
        self.given_tags |= {tag} if tag else set()
        self.given_dates |= {date} if date else set()
        if served.status == 304:
            self.tags = {tag} if tag else self.tags
            self.dates = {date} if date else self.dates
        elif served.fault or served.status == 226:  # it may have refused either
            self.tags, self.dates = self.tags | {tag}, self.dates | {date}
        else:
            self.tags, self.dates = {tag}, {date}


def _validators(seen: Evidence) -> Iterator[tuple[FeedVisit, _Held]]:
    """Each visit but the first document's with what the reader holds before it. The validators
    belong to the address that gave the document, so the last request of a visit is judged. A second
    look within seconds is one too many, whatever it carries: `_twice` counts it."""
    held, before = _Held(), -TOGETHER_SECONDS
    for visit in seen.visits:
        if (held.given_tags or held.given_dates) and visit.at - before >= TOGETHER_SECONDS:
            yield visit, held
        held.update(visit.end)
        before = visit.at


def _echoed(seen: Evidence, header: str, sent_as: str) -> Finding:
    """Whether a validator comes back byte for byte."""
    right = of = missing = 0
    for visit, held in _validators(seen):
        valid = held.tags if header == "ETag" else held.dates
        if valid == {None} or held.path != visit.end.path:
            continue
        of += 1
        sent = visit.end.request.headers.get(sent_as.lower())
        right += sent in valid
        missing += sent is None
    return (right, of), (
        f"Of {counted(of, 'request')} after a document with {header} {right} carried it as"
        f" {sent_as}, byte for byte{f'; {missing} carried none' if missing else ''}."
    )


def _delta(seen: Evidence) -> Finding:
    """After a 226 the reader holds the new document, and says so by its tag."""
    right = of = 0
    for earlier, later in pairwise(seen.visits):
        if earlier.end.served.status == 226:
            of += 1
            sent = later.end.request.headers.get("if-none-match")
            right += sent == earlier.end.served.header("ETag")
    return (right, of), (
        f"It asked for news alone (A-IM: feed) and got a 226 {counted(of, 'time')};"
        f" after {right} of them it sent the new ETag."
    )


def _invented(seen: Evidence) -> Finding:
    of = invented = older = 0
    for visit, held in _validators(seen):
        headers = visit.end.request.headers
        for name, current, ever in (
            ("if-none-match", held.tags, held.given_tags),
            ("if-modified-since", held.dates, held.given_dates),
        ):
            sent = headers.get(name)
            if sent is None:
                continue
            of += 1
            older += sent not in current and sent in ever
            invented += sent not in current and sent not in ever
    return (of - invented - older, of), (
        f"Of {counted(of, 'validator')} sent {invented} had never been given and {older}"
        f" {'was' if older == 1 else 'were'} of an earlier document."
    )


def _start(seen: Evidence) -> Finding:
    if not seen.exchanges:
        return NOT_SEEN
    offered = {*script.ARCHIVES, script.HUB, script.CLOUD}
    until = seen.exchanges[0].request.at + 600.0
    first = [
        exchange
        for exchange in seen.exchanges
        if exchange.request.at < until and exchange.path not in offered
    ]
    return (1 if len(first) == 1 else max(0.0, 0.6 - 0.2 * (len(first) - 1)), 1), (
        f"It began with {counted(len(first), 'request')} in ten minutes."
    )


def _twice(seen: Evidence) -> Finding:
    visits = len(seen.visits)
    again = sum(later.at - visit.at < TOGETHER_SECONDS for visit, later in pairwise(seen.visits))
    heads = sum(exchange.request.method == "HEAD" for exchange in seen.exchanges)
    unfollowed = [e for e in seen.exchanges if e.request.method not in ("GET", "HEAD", "POST")]
    wrong = min(again + heads + len(unfollowed), visits)
    return (visits - wrong, visits if visits > 1 else 0), (
        f"In {counted(visits - again, 'visit')} it fetched the feed {counted(again, 'time')} more"
        f" than needed and sent {counted(heads, 'HEAD request')}."
    )


def _agent(seen: Evidence) -> Finding:
    agents = {exchange.request.headers.get("user-agent", "") for exchange in seen.exchanges}
    if not agents:
        return NOT_SEEN
    agent = max(agents)
    named = all(_AGENT.match(agent) for agent in agents)
    contact = all(_CONTACT.search(agent) for agent in agents)
    honest = not any(agent.startswith("Mozilla/") for agent in agents)
    share = (0.4 * named + 0.4 * contact + 0.1 * honest + 0.1 * (len(agents) == 1)) * bool(agent)
    wants = [
        text
        for text, there in (
            ("the program's name and version at its head", named),
            ("an address where its author can be reached", contact),
            ("a name of its own instead of a browser's", honest),
            ("one name during the whole test", len(agents) == 1),
        )
        if not there
    ]
    words = f"It calls itself {agent!r}" if agent else "It sends no User-Agent"
    return (share, 1), words + (f"; it lacks {', '.join(wants)}." if wants else ".")


def _encoding(seen: Evidence) -> Finding:
    sent = [visit.hops[0].request.headers.get("accept-encoding", "") for visit in seen.visits]
    right = sum("gzip" in codings.lower() for codings in sent)
    return (right, len(sent)), (
        f"It offered to take gzip in {right} of {counted(len(sent), 'request')}."
    )


def _needless(seen: Evidence) -> Finding:
    kinds: dict[str, Callable[[TracedRequest], bool]] = {
        "cookies": lambda request: "cookie" in request.headers,
        "Referer": lambda request: "referer" in request.headers,
        "Cache-Control: no-cache or Pragma": lambda request: (
            "pragma" in request.headers or "no-cache" in request.headers.get("cache-control", "")
        ),
        "a query that nobody named": lambda request: "?" in request.path,
        "a password that nobody asked for": lambda request: "authorization" in request.headers,
    }
    requests = [exchange.request for exchange in seen.exchanges]
    counts = {name: sum(map(has, requests)) for name, has in kinds.items()}
    wrong = sum(any(has(request) for has in kinds.values()) for request in requests)
    sent = ", ".join(name for name, times in counts.items() if times)
    return (len(requests) - wrong, len(requests)), (
        f"It sent {sent}, in {wrong} of {counted(len(requests), 'request')}." if wrong
        else "It sent no cookies, no Referer, no query and no order against caches."
    )  # fmt: skip


def _addresses(seen: Evidence) -> Finding:
    named = {*FEEDS, *script.ARCHIVES, script.HUB, script.CLOUD, ""}
    strange = [
        exchange.path
        for exchange in seen.exchanges
        if exchange.path not in named and not exchange.path.startswith("post/")
    ]
    if not seen.exchanges:
        return NOT_SEEN
    if not strange:
        return (1, 1), "It asked only for addresses that it had been given."
    some = ", ".join(repr(path[:40]) for path in sorted(set(strange))[:3])
    return (max(0.0, 0.5 - len(strange) / len(seen.exchanges)), 1), (
        f"It asked {counted(len(strange), 'time')} for what nobody named: {some}."
    )


def _posts(seen: Evidence) -> Finding:
    """Whether each post was fetched while the document had it."""
    whole = [
        exchange.request.hours
        for exchange in seen.exchanges
        if exchange.served.status in (200, 226) and exchange.served.fault == ""
        and exchange.request.method == "GET" and exchange.path in FEEDS
    ]  # fmt: skip
    if not whole:
        return NOT_SEEN
    due = [
        post
        for post in script.POSTS
        if 0 < post.at < min(seen.trace.ran / HOUR, 143.5) and post.removed is None
    ]
    fetched, waits = 0, []
    for post in due:
        when = next((at for at in whole if at >= post.at and post in script.posts_at(at)), None)
        if when is not None:
            fetched += 1
            waits.append((when - post.at) * 60)
    mean = f", {duration(60 * fmean(waits))} after they appeared on average" if waits else ""
    return (fetched, len(due)), (
        f"It fetched {fetched} of {counted(len(due), 'post')} while the feed had them{mean}."
    )


def _items(seen: Evidence) -> Finding:
    """What the command printed: each item once, edits as edits."""
    if not seen.trace.shown:
        return NOT_SEEN
    _, last = seen.trace.shown[-1]
    identities = {post.identity for post in script.POSTS}
    names = [
        next((identity for identity in identities if name.endswith(identity)), "") for name in last
    ]
    twice = len(names) - len(set(names))
    strange = sum(not name for name in names)
    wrong = min(twice + strange, len(names))
    return (len(names) - wrong, max(1, len(names))), (
        f"It printed {counted(len(names), 'item')} at the end, {twice} of them more than once."
    )


def _restart(seen: Evidence) -> Finding:
    """The first request after a start again carries validators."""
    starts = seen.trace.restarts
    if seen.trace.mode != LONG_RUNNING:
        return NOT_SEEN
    after = [next((v for v in seen.visits if v.at >= start), None) for start in starts]
    looks = [visit for visit in after if visit is not None]
    right = sum(
        "if-none-match" in v.end.request.headers or "if-modified-since" in v.end.request.headers
        for v in looks
    )
    soon = sum(
        later.at - start < 600.0 and later.at - visit.at < OWN_SECONDS * SLACK_SHARE
        for start in starts
        for visit, later in pairwise(seen.visits)
        if visit.at < start <= later.at
    )
    return (right * (0.5 if soon else 1.0), len(looks)), (
        f"Started again, it still had its validators {right} of {counted(len(looks), 'time')}"
        f"{', and asked at once although nothing was due' if soon else ''}."
    )


def _jitter(seen: Evidence) -> Finding:
    if seen.trace.mode == ONE_SHOT or len(seen.visits) < 24:
        return NOT_SEEN
    moments = [(seen.trace.begins.timestamp() + visit.at) % 900 for visit in seen.visits]
    full = sum(moment < 5 for moment in moments)
    return (full <= len(moments) / 2, 1), (
        f"{full} of {counted(len(moments), 'visit')} began in the first five seconds of a quarter"
        " of an hour."
    )


@dataclass(frozen=True, slots=True)
class Behaviour:
    """One thing that readers do well or badly. points: what it is worth; rule: where it is asked
    for; cost: what the wrong way costs; advice: what to change."""

    id: str
    title: str
    points: int
    rule: str
    cost: str
    advice: str
    check: Callable[[Evidence], Finding]


_CHECKS: dict[str, Callable[[Evidence], Finding]] = {
    "etag": partial(_echoed, header="ETag", sent_as="If-None-Match"),
    "last-modified": partial(_echoed, header="Last-Modified", sent_as="If-Modified-Since"),
    "invented": _invented,
    "delta": _delta,
    "skip": _skipped,
    "back-off": _backs_off,
    "time-out": _time_out,
    "gone": _gone,
    "permanent": _permanent,
    "temporary": _temporary,
    "start": _start,
    "twice": _twice,
    "user-agent": _agent,
    "encoding": _encoding,
    "needless": _needless,
    "addresses": _addresses,
    "posts": _posts,
    "items": _items,
    "restart": _restart,
    "jitter": _jitter,
    "websub": partial(_subscribed, path=script.HUB),
    "cloud": partial(_subscribed, path=script.CLOUD),
    "archives": _archives,
}


def _behaviour(name: str, wait: dict[str, Any] | None = None, **words: Any) -> Behaviour:
    check = _CHECKS[name] if wait is None else partial(_waited, **wait)
    return Behaviour(name, **words, check=check)


_WORDS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
BEHAVIOURS = tuple(_behaviour(name, **row) for name, row in _WORDS.items())
