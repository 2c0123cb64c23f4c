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
from publisher.reader_test.tester_trace import LONG_RUNNING, ONE_SHOT, Asked, Trace

SLACK_SHARE, SLACK_SECONDS = 0.95, 30.0  # of a wait, for clocks that differ and timers that round
REAL_SLACK_SECONDS = 0.1  # for a machine that is busy; multiplied by the speed of the clock
REDIRECTS = (301, 302, 307, 308)
TOGETHER_SECONDS = 15.0  # requests within it belong to one visit
REDIRECT_SECONDS = 120.0
PATIENCE_SECONDS = 65.0  # a minute, and some for a machine that is busy
MOVE_SECONDS = 26 * 3600.0  # how long a permanent move may be doubted
_AGENT = re.compile(r"[A-Za-z][\w.-]*/v?\d")
_CONTACT = re.compile(r"https?://|[\w.+-]@[\w-]+\.\w")

Found = tuple[tuple[float, int], str]
"""How many of the cases were right, of how many, and a sentence, which counts if there were any."""
NOT_SEEN: Found = (0, 0), ""


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request with its answer."""

    asked: Asked
    served: WeekAnswer

    @property
    def path(self) -> str:
        """The path that was asked for, without its query."""
        return self.asked.path.partition("?")[0]

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
        return self.hops[0].asked.at

    @property
    def end(self) -> Exchange:
        """Its last exchange."""
        return self.hops[-1]

    @property
    def stretch(self) -> Stretch:
        """The stretch in which its last request came."""
        return stretch_at(self.end.asked.hours)


@dataclass
class Evidence:
    """A trace with what was answered, arranged for the judge."""

    trace: Trace

    @cached_property
    def exchanges(self) -> list[Exchange]:
        """All requests with their answers, in order of time."""
        ordered = sorted(self.trace.asked, key=lambda one: one.at)
        return [
            Exchange(one, answer(self.trace.place, one.hours, one.method, one.path, headers))
            for one in ordered
            for headers in [{**one.headers, "accept-encoding": ""}]  # no body is compressed again
        ]

    @cached_property
    def visits(self) -> list[FeedVisit]:
        """The looks at the feed by GET."""
        found: list[list[Exchange]] = []
        for one in self.exchanges:
            if one.asked.method != "GET" or one.path not in FEEDS:
                continue
            last = found[-1][-1] if found else None
            follows = (
                last is not None
                and last.location == one.path
                and one.asked.at - last.asked.at < REDIRECT_SECONDS
            )
            if follows:
                found[-1].append(one)
            else:
                found.append([one])
        return [FeedVisit(tuple(hops)) for hops in found]

    @property
    def slack(self) -> float:
        """Seconds by which a wait may be too short."""
        return SLACK_SECONDS + REAL_SLACK_SECONDS * (self.trace.speed - 1.0)

    @cached_property
    def gaps(self) -> list[tuple[FeedVisit, float]]:
        """Each visit with the seconds until the next; visits that belong together count once. One
        that ended at a redirect asked for no document: an HTTP cache had the rest."""
        looks = [visit for visit in self.visits if visit.end.served.status not in REDIRECTS]
        pairs = [(one, other.at - one.at) for one, other in pairwise(looks)]
        return [(visit, gap) for visit, gap in pairs if gap >= TOGETHER_SECONDS]


def _begin_of(name: str) -> float:
    """When a stretch begins, in seconds of the test."""
    return next(one.begins * HOUR for one in script.WEEK if one.name == name)


def _waited(
    seen: Evidence,
    after: str,
    stretches: Sequence[str],
    statuses: Sequence[int],
    hints: Sequence[str],
) -> Found:
    """Whether the visits after an answer with one of `statuses` in one of `stretches` came after
    the shortest of its `hints`; after: the beginning of the sentence about it."""
    right, early, of, told = 0, 0.0, 0, 0.0
    for visit, gap in seen.gaps:
        said = visit.stretch
        if said.name not in stretches or visit.end.served.status not in statuses:
            continue
        wait = min(map(said.seconds, hints))
        of += 1
        if gap >= wait * SLACK_SHARE - seen.slack:
            right += 1
        elif not early or gap < early:
            early, told = gap, wait
    words = f"{after}: of {counted(of, 'wait')} {right} were long enough"
    if early:
        words += f"; it came after {duration(early)} where {duration(told)} were asked"
    return (right, of), words + "."


def _skipped(seen: Evidence) -> Found:
    """Requests in hours or days that the document held names."""
    of, wrong, place = 0, 0, seen.trace.place
    for name in ("skip-hours", "skip-days"):
        stretch = next(one for one in script.WEEK if one.name == name)
        inside = [visit for visit in seen.visits if visit.stretch is stretch]
        told = next((visit for visit in inside if visit.end.served.status == 200), None)
        end = script.WEEK[script.WEEK.index(stretch) + 1].begins
        if told is None or seen.trace.ran < end * HOUR:
            continue
        hours, day = skipped_hours(place, stretch), skipped_day(place, stretch)
        of += 1
        later = [visit.at for visit in inside if visit.at - told.at >= TOGETHER_SECONDS]
        came = [place.moment(at / HOUR) for at in later]
        wrong += any(moment.hour in hours or moment.weekday() == day for moment in came)
    return (of - wrong, of), (
        f"Told to stay away for hours or for a day, it did so {of - wrong} of {of} times."
    )


def _backs_off(seen: Evidence) -> Found:
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
    said = ", ".join(duration(wait) for wait in waits[:6])
    steady = grows and min(waits) >= OWN_SECONDS * SLACK_SHARE
    share = 1.0 if slower else 0.5 if steady else 0.0
    return (share, 1), f"While the server had errors, it waited {said}."


def _time_out(seen: Evidence) -> Found:
    """Whether it gives up where no answer comes. A silence that ended sooner shows nothing."""
    most = PATIENCE_SECONDS + REAL_SLACK_SECONDS * (seen.trace.speed - 1.0)
    waits = [held for _, held, gave_up in seen.trace.silences if gave_up or held > most]
    right = sum(held <= most for held in waits)
    return (right, len(waits)), (
        f"Where no answer came, it gave up within a minute {right} of {counted(len(waits), 'time')}"
        f"; it waited {duration(max(waits, default=0.0))}"
        f"{'' if right == len(waits) else ' or longer'}."
    )


def _subscribed(seen: Evidence, path: str) -> Found:
    """What it asked of the hub or the cloud, which verify nothing, so that it must not insist."""
    asked = [one.asked for one in seen.exchanges if (one.asked.method, one.path) == ("POST", path)]
    wrong = [subscription_problem(seen.trace.place, path, one.headers) for one in asked]
    problem = next((one for one in wrong if one), "")
    soon = sum(later.at - one.at < OWN_SECONDS * SLACK_SHARE for one, later in pairwise(asked))
    return (max(0, wrong.count("") - soon), len(asked)), (
        f"It asked {counted(len(asked), 'time')}, {wrong.count('')} of them with the right fields"
        f"{f' (missing or wrong: {problem})' if problem else ''}, and {soon} within an hour of the"
        " one before."
    )


def _archives(seen: Evidence) -> Found:
    """Whether each archive was fetched, and once."""
    asked = [one.path for one in seen.exchanges if one.path in script.ARCHIVES]
    found = len(set(asked))
    return (found, max(len(asked), len(script.ARCHIVES)) if asked else 0), (
        f"It fetched {found} of the {len(script.ARCHIVES)} archives, with"
        f" {counted(len(asked), 'request')}."
    )


def _gone(seen: Evidence) -> Found:
    gone = [one for one in seen.visits if one.end.served.status == 410]
    left = seen.trace.ran - gone[0].at if gone else 0.0
    if not gone or left < 2 * 3600.0:
        return NOT_SEEN
    more = len(gone) - 1
    share = 1.0 if more <= 1 else max(0.0, 0.5 - more / 20)
    return (share, 1), (
        f"After the first 410 it asked {counted(more, 'more time')} in {duration(left)};"
        " once more is enough to make sure."
    )


def _permanent(seen: Evidence) -> Found:
    right = of = 0
    parts = []
    for move in (one for one in script.MOVES if one.status in (301, 308)):
        path = move.source
        led = [visit for visit in seen.visits for hop in visit.hops
               if hop.path == path and hop.served.status == move.status]  # fmt: skip
        if not led:
            continue
        late = [one for one in led if one.at - led[0].at > MOVE_SECONDS]
        direct = any(one.hops[0].path == move.to for one in seen.visits)
        over = _begin_of("gone") - led[0].at > MOVE_SECONDS and seen.trace.ran > _begin_of("gone")
        if not direct and not late and not over:
            continue  # it may still be making sure
        of += 1
        right += direct and not late
        moved = "; then it asked at the new address" if direct and not late else ""
        parts.append(f"{move.status} was answered {counted(len(led), 'time')}{moved}")
    return (right, of), f"{'; '.join(parts)}."


def _temporary(seen: Evidence) -> Found:
    led = [v for v in seen.visits if any(hop.served.status in (302, 307) for hop in v.hops)]
    followed = sum(len(visit.hops) > 1 for visit in led)
    later = [visit for visit in seen.visits if visit.at > 62 * 3600.0]
    kept = not any(v.hops[0].path in (script.FOR_NOW, script.FOR_NOW_TOO) for v in later)
    return ((followed + kept * len(led)) / 2, len(led)), (
        f"Of {counted(len(led), 'temporary redirect')} (302, 307) it followed {followed}"
        f"{', and then asked at the old address again' if kept else '; it kept the new address'}."
    )


@dataclass
class _Held:
    """The validators that a reader holds; two of each where it may hold either."""

    tags: set[str | None] = field(default_factory=lambda: {None})
    dates: set[str | None] = field(default_factory=lambda: {None})
    path: str = ""  # the address that gave them: at another one nothing needs to be sent
    given_tags: set[str] = field(default_factory=set)
    given_dates: set[str] = field(default_factory=set)

    def take(self, one: Exchange) -> None:
        served = one.served
        if served.status not in (200, 226, 304):
            return
        self.path = one.path
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
        held.take(visit.end)
        before = visit.at


def _echoed(seen: Evidence, given: str, sent_as: str) -> Found:
    """Whether a validator comes back byte for byte."""
    right = of = missing = 0
    for visit, held in _validators(seen):
        known = held.tags if given == "ETag" else held.dates
        if known == {None} or held.path != visit.end.path:
            continue
        of += 1
        sent = visit.end.asked.headers.get(sent_as.lower())
        right += sent in known
        missing += sent is None
    return (right, of), (
        f"Of {counted(of, 'request')} after a document with {given} {right} carried it as"
        f" {sent_as}, byte for byte{f'; {missing} carried none' if missing else ''}."
    )


def _delta(seen: Evidence) -> Found:
    """After a 226 the reader holds the new document, and says so by its tag."""
    right = of = 0
    for one, later in pairwise(seen.visits):
        if one.end.served.status == 226:
            of += 1
            sent = later.end.asked.headers.get("if-none-match")
            right += sent == one.end.served.header("ETag")
    return (right, of), (
        f"It asked for news alone (A-IM: feed) and got a 226 {counted(of, 'time')};"
        f" after {right} of them it sent the new ETag."
    )


def _invented(seen: Evidence) -> Found:
    of = invented = older = 0
    for visit, held in _validators(seen):
        headers = visit.end.asked.headers
        for name, now, given in (
            ("if-none-match", held.tags, held.given_tags),
            ("if-modified-since", held.dates, held.given_dates),
        ):
            sent = headers.get(name)
            if sent is None:
                continue
            of += 1
            older += sent not in now and sent in given
            invented += sent not in now and sent not in given
    return (of - invented - older, of), (
        f"Of {counted(of, 'validator')} sent {invented} had never been given and {older}"
        f" {'was' if older == 1 else 'were'} of an earlier document."
    )


def _start(seen: Evidence) -> Found:
    if not seen.exchanges:
        return NOT_SEEN
    offered = {*script.ARCHIVES, script.HUB, script.CLOUD}
    until = seen.exchanges[0].asked.at + 600.0
    first = [one for one in seen.exchanges if one.asked.at < until and one.path not in offered]
    return (1 if len(first) == 1 else max(0.0, 0.6 - 0.2 * (len(first) - 1)), 1), (
        f"It began with {counted(len(first), 'request')} in ten minutes."
    )


def _twice(seen: Evidence) -> Found:
    visits = len(seen.visits)
    again = sum(later.at - one.at < TOGETHER_SECONDS for one, later in pairwise(seen.visits))
    heads = sum(one.asked.method == "HEAD" for one in seen.exchanges)
    unfollowed = [e for e in seen.exchanges if e.asked.method not in ("GET", "HEAD", "POST")]
    wrong = min(again + heads + len(unfollowed), visits)
    return (visits - wrong, visits if visits > 1 else 0), (
        f"In {counted(visits - again, 'visit')} it fetched the feed {counted(again, 'time')} more"
        f" than needed and sent {counted(heads, 'HEAD request')}."
    )


def _agent(seen: Evidence) -> Found:
    agents = {one.asked.headers.get("user-agent", "") for one in seen.exchanges}
    if not agents:
        return NOT_SEEN
    agent = max(agents)
    named = all(_AGENT.match(one) for one in agents)
    contact = all(_CONTACT.search(one) for one in agents)
    honest = not any(one.startswith("Mozilla/") for one in agents)
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
    said = f"It calls itself {agent!r}" if agent else "It sends no User-Agent"
    return (share, 1), said + (f"; it lacks {', '.join(wants)}." if wants else ".")


def _encoding(seen: Evidence) -> Found:
    sent = [visit.hops[0].asked.headers.get("accept-encoding", "") for visit in seen.visits]
    right = sum("gzip" in one.lower() for one in sent)
    return (right, len(sent)), (
        f"It offered to take gzip in {right} of {counted(len(sent), 'request')}."
    )


def _needless(seen: Evidence) -> Found:
    kinds: dict[str, Callable[[Asked], bool]] = {
        "cookies": lambda one: "cookie" in one.headers,
        "Referer": lambda one: "referer" in one.headers,
        "Cache-Control: no-cache or Pragma": lambda one: (
            "pragma" in one.headers or "no-cache" in one.headers.get("cache-control", "")
        ),
        "a query that nobody named": lambda one: "?" in one.path,
        "a password that nobody asked for": lambda one: "authorization" in one.headers,
    }
    asked = [one.asked for one in seen.exchanges]
    found = {name: sum(map(has, asked)) for name, has in kinds.items()}
    wrong = sum(any(has(one) for has in kinds.values()) for one in asked)
    sent = ", ".join(name for name, times in found.items() if times)
    return (len(asked) - wrong, len(asked)), (
        f"It sent {sent}, in {wrong} of {counted(len(asked), 'request')}." if wrong
        else "It sent no cookies, no Referer, no query and no order against caches."
    )  # fmt: skip


def _addresses(seen: Evidence) -> Found:
    named = {*FEEDS, *script.ARCHIVES, script.HUB, script.CLOUD, ""}
    strange = [
        one.path
        for one in seen.exchanges
        if one.path not in named and not one.path.startswith("post/")
    ]
    if not seen.exchanges:
        return NOT_SEEN
    if not strange:
        return (1, 1), "It asked only for addresses that it had been given."
    some = ", ".join(repr(one[:40]) for one in sorted(set(strange))[:3])
    return (max(0.0, 0.5 - len(strange) / len(seen.exchanges)), 1), (
        f"It asked {counted(len(strange), 'time')} for what nobody named: {some}."
    )


def _posts(seen: Evidence) -> Found:
    """Whether each post was fetched while the document had it."""
    whole = [
        one.asked.hours
        for one in seen.exchanges
        if one.served.status in (200, 226) and one.served.fault == ""
        and one.asked.method == "GET" and one.path in FEEDS
    ]  # fmt: skip
    if not whole:
        return NOT_SEEN
    due = [
        post
        for post in script.POSTS
        if 0 < post.at < min(seen.trace.ran / HOUR, 143.5) and post.removed is None
    ]
    got, waits = 0, []
    for post in due:
        when = next((at for at in whole if at >= post.at and post in script.posts_at(at)), None)
        if when is not None:
            got += 1
            waits.append((when - post.at) * 60)
    mean = f", {duration(60 * sum(waits) / got)} after they appeared on average" if got else ""
    return (got, len(due)), (
        f"It fetched {got} of {counted(len(due), 'post')} while the feed had them{mean}."
    )


def _items(seen: Evidence) -> Found:
    """What the command printed: each item once, edits as edits."""
    if not seen.trace.shown:
        return NOT_SEEN
    _, last = seen.trace.shown[-1]
    known = {post.identity for post in script.POSTS}
    names = [next((one for one in known if name.endswith(one)), "") for name in last]
    twice = len(names) - len(set(names))
    strange = sum(not name for name in names)
    wrong = min(twice + strange, len(names))
    return (len(names) - wrong, max(1, len(names))), (
        f"It printed {counted(len(names), 'item')} at the end, {twice} of them more than once."
    )


def _restart(seen: Evidence) -> Found:
    """The first request after a start again carries validators."""
    starts = seen.trace.restarts
    if seen.trace.mode != LONG_RUNNING:
        return NOT_SEEN
    after = [next((v for v in seen.visits if v.at >= start), None) for start in starts]
    known = [visit for visit in after if visit is not None]
    right = sum(
        "if-none-match" in v.end.asked.headers or "if-modified-since" in v.end.asked.headers
        for v in known
    )
    soon = sum(
        later.at - start < 600.0 and later.at - one.at < OWN_SECONDS * SLACK_SHARE
        for start in starts
        for one, later in pairwise(seen.visits)
        if one.at < start <= later.at
    )
    return (right * (0.5 if soon else 1.0), len(known)), (
        f"Started again, it still had its validators {right} of {counted(len(known), 'time')}"
        f"{', and asked at once although nothing was due' if soon else ''}."
    )


def _jitter(seen: Evidence) -> Found:
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
    check: Callable[[Evidence], Found]


_CHECKS: dict[str, Callable[[Evidence], Found]] = {
    "etag": partial(_echoed, given="ETag", sent_as="If-None-Match"),
    "last-modified": partial(_echoed, given="Last-Modified", sent_as="If-Modified-Since"),
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
BEHAVIOURS = tuple(_behaviour(name, **told) for name, told in _WORDS.items())
