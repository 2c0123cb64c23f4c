"""Real feed readers in the reader test: records their traces, and makes the page's table of them.

    python -m bench.real_clients record NAME...   # needs the program, and libfaketime
    python -m bench.real_clients table            # rewrites the table in docs/for-readers.md

A recorded client is started every quarter of an hour (slow ones every hour) of the test's week
under a shifted clock, as from a crontab, or keeps running under a faster one. A replayed one is the
rule of its source code (`simulator.real_readers`), of which only the times of its requests can be
judged.
"""

import gzip
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from publisher.dynamic_ttl.core.polling import Answer
from publisher.dynamic_ttl.core.validators import http_date
from publisher.reader_test.answering import WeekAnswer, WeekPlace, answer
from publisher.reader_test.command_runs import (
    EVERY_SECONDS,
    CommandRun,
    faketime_library,
    run_each_time,
    run_once_for_all,
)
from publisher.reader_test.scorecard import GOOD, NOT_SEEN, PARTLY, Scorecard, score
from publisher.reader_test.script import FEEDS, WEEK_HOURS, changed_at, posts_at, stretch_at
from publisher.reader_test.tester_trace import ONE_SHOT, Trace, TracedRequest, read_trace
from publisher.simulator.clients import parse_client

ROOT = Path(__file__).parent.parent
TRACES = ROOT / "tests" / "reader_test" / "traces"
PAGE = ROOT / "docs" / "for-readers.md"
HOURLY = 3600
BEGINS = datetime(2026, 11, 16, tzinfo=UTC)
START, END = "<!-- made by python -m bench.real_clients table -->\n", "<!-- end -->\n"


@dataclass(frozen=True)
class RealClient:
    """A program: how to ask for its version, and what a run of it does, as a shell script whose
    first argument is the feed's address and whose folder is its home. every: seconds between two
    runs; speed: of the clock, for a program that keeps running, else 0."""

    title: str
    version: str
    script: str
    files: tuple[tuple[str, str], ...] = ()
    every: int = EVERY_SECONDS
    speed: float = 0.0


# A program with a window: the screen and the bus have the machine's clock, the program alone the
# test's, which bash knows (a program that it starts would begin anew).
WINDOW = """{0}
{2}
export XDG_CONFIG_HOME="$HOME/.config" XDG_DATA_HOME="$HOME/.local/share"
export XDG_CACHE_HOME="$HOME/.cache"
export GSETTINGS_BACKEND=memory NO_AT_BRIDGE=1 library="$LD_PRELOAD"
unset LD_PRELOAD
rm -f display
Xvfb -displayfd 4 -screen 0 1024x768x24 4>display 2>/dev/null &
until [ -s display ]; do env sleep 0.2; done
export DISPLAY=":$(cat display)"
eval "$(dbus-launch --sh-syntax)"
trap 'kill %1 $DBUS_SESSION_BUS_PID' EXIT
export FAKETIME="@$(printf '%(%s)T') ${{FAKETIME#* }}"
LD_PRELOAD="$library" {1}
"""
OPML = "<opml version='1.0'><head/><body><outline text='test' type='rss' xmlUrl='URL'"
CLIENTS = {
    "newsboat": RealClient(
        "newsboat",
        "newsboat --version",
        'echo "$1" > urls; touch config\n'
        "exec newsboat -u urls -c cache.db -C config -x reload",
    ),
    "rss2email": RealClient(
        "rss2email",
        "r2e --version",
        'r2e="r2e -c r2e.cfg -d r2e.json"\n'
        '[ -f r2e.cfg ] || { $r2e new me@example.org\n'
        "  sed -i \"s/= sendmail/= maildir/; s#^maildir-path.*#maildir-path = $HOME#\" r2e.cfg\n"
        '  $r2e add test "$1"; }\n'
        "exec $r2e run",
        every=HOURLY,
    ),
    "feed2exec": RealClient(
        "feed2exec",
        "feed2exec --version",
        'f="feed2exec --config f.ini --database f.db"\n'
        '[ -f f.ini ] || $f add test "$1" --output null\n'
        "exec $f fetch",
    ),
    "feed2imap": RealClient(
        "feed2imap",
        "dpkg-query -W feed2imap",
        '[ -f rc ] || { mkdir -p mail/cur mail/new mail/tmp\n'
        "  printf 'cache: %s/cache\\nfeeds:\\n  - name: test\\n    url: %s\\n"
        "    target: maildir://%s/mail\\n' \"$HOME\" \"$1\" \"$HOME\" > rc; }\n"
        "exec feed2imap -f rc",
    ),
    "liferea": RealClient(
        "liferea",
        "dpkg-query -W liferea",
        WINDOW.format(
            "export GIO_USE_NETWORK_MONITOR=base  # else no route to elsewhere is no network",
            "liferea",
            "mkdir -p .config/liferea; sed \"s#URL#$1#\" feeds > .config/liferea/feedlist.opml",
        ),
        ((
            "feeds",
            f"{OPML} id='abcdefg' updateInterval='60'/></body></opml>",
        ),),
        speed=600.0,
    ),
    "akregator": RealClient(
        "Akregator",
        "dpkg-query -W akregator",
        WINDOW.format(
            "export QTWEBENGINE_CHROMIUM_FLAGS=--no-sandbox",
            "akregator",
            "mkdir -p .config .local/share/akregator/data\n"
            "printf '[General]\\nUse Interval Fetch=true\\nAuto Fetch Interval=60\\n"
            "Fetch On Startup=true\\n' > .config/akregatorrc\n"
            "sed \"s#URL#$1#\" feeds > .local/share/akregator/data/feeds.opml",
        ),
        ((
            "feeds",
            f"{OPML} id='123456' useCustomFetchInterval='false'/></body></opml>",
        ),),
        speed=1000.0,
    ),
    "sfeed": RealClient(
        "sfeed",
        "dpkg-query -W sfeed",
        "printf 'sfeedpath=\"%s/feeds\"\\nfeeds() { feed test \"%s\"; }\\n' \"$HOME\" \"$1\" > rc\n"
        "exec sfeed_update ./rc",
    ),
    "gpodder": RealClient(
        "gPodder (gpo)",
        "dpkg-query -W gpodder",
        'export GPODDER_HOME="$HOME/g"\n[ -d g ] || { gpo subscribe "$1"; exit; }\nexec gpo update',
        every=HOURLY,
    ),
    "elfeed": RealClient(
        "elfeed (Emacs)",
        "dpkg-query -W elpa-elfeed",
        "exec emacs -Q --batch -l run.el -- \"$1\"",
        ((
            "run.el",
            """(add-to-list 'load-path "/usr/share/emacs/site-lisp/elpa-src/elfeed-3.4.1")
(require 'elfeed)
(setq elfeed-db-directory (expand-file-name "db" (getenv "HOME"))
      elfeed-feeds (list (car (last command-line-args))))
(elfeed-db-load)
(elfeed-update)
(let ((end (+ (float-time) 20)))
  (while (and (> (elfeed-queue-count-total) 0) (< (float-time) end))
    (accept-process-output nil 0.05)))
(elfeed-db-save)
""",
        ),),
        every=HOURLY,
    ),
    "lemon24-reader": RealClient(
        "lemon24/reader",
        f"{sys.executable} -c 'import reader; print(reader.__version__)'",
        f'exec {sys.executable} run.py "$1"',
        ((
            "run.py",
            """import sys, warnings
warnings.simplefilter("ignore")
import reader
store = reader.make_reader("reader.sqlite")
store.add_feed(sys.argv[1], exist_ok=True)
store.update_feeds(scheduled=True)
""",
        ),),
    ),
    "feedparser": RealClient(
        "feedparser alone, as its documentation uses it",
        f"{sys.executable} -c 'import feedparser; print(feedparser.__version__)'",
        f'exec {sys.executable} run.py "$1"',
        ((
            "run.py",
            """import json, os, sys, feedparser
kept = json.load(open("kept")) if os.path.exists("kept") else {}
got = feedparser.parse(sys.argv[1], **kept)
kept.update({name: got[name] for name in ("etag", "modified") if name in got})
json.dump(kept, open("kept", "w"))
""",
        ),),
    ),
}  # fmt: skip
# Replayed by the rules of their sources.
REPLAYED = {
    "netnewswire": ("NetNewsWire 834decfad", "netnewswire"),
    "freshrss": ("FreshRSS 6c58b905", "freshrss"),
    "miniflux": ("Miniflux 106cdd09", "miniflux"),
    "commafeed": ("CommaFeed 689c20d3", "commafeed"),
    "lion-reader": ("lion-reader 1592c756", "lion-reader"),
}
TIMING = {
    "max-age": "max-age", "max-age-304": "on 304", "ttl": "ttl", "ttl-kept": "ttl after 304",
    "expires": "Expires", "skip": "skipHours", "retry-after": "Retry-After", "back-off": "errors",
    "time-out": "time-out",
}  # fmt: skip
MANNERS = {
    "etag": "ETag", "last-modified": "Last-Modified", "permanent": "301, 308", "gone": "410",
    "user-agent": "User-Agent", "encoding": "gzip",
}  # fmt: skip
REPLAYED_SHOW = {"max-age", "max-age-304", "ttl", "ttl-kept", "expires"}


def record(name: str) -> Trace:
    """Run a client through the week."""
    client = CLIENTS[name]
    library = faketime_library()
    if library is None:
        sys.exit("libfaketime is needed (Debian: apt install faketime)")
    printed = subprocess.run(
        ["sh", "-c", client.version], capture_output=True, text=True, check=False
    ).stdout
    version = re.search(r"\d+(\.\d+)+[\w.~+-]*", printed)
    with tempfile.TemporaryDirectory(prefix=f"{name}-") as home:
        script = Path(home) / "run.sh"
        script.write_text(f'export HOME="{home}"\ncd "$HOME"\n{client.script}\n', "utf-8")
        for file, text in client.files:
            (Path(home) / file).write_text(text, "utf-8")
        run = CommandRun(f"bash {script} URL", BEGINS, library, every=client.every)
        if client.speed:
            trace = run_once_for_all(run, client.speed, lambda _: None)
        else:
            trace = run_each_time(run, lambda _: None)
    trace.program = f"{client.title} {version[0] if version else ''}".strip()
    return trace


def replay(title: str, spec: str) -> Trace:
    """The week of a rule: it polls when the rule says, with the validators that it was given."""
    policy = parse_client(spec)
    place = WeekPlace("http://127.0.0.1/replayed", BEGINS)
    trace = Trace(place.address, BEGINS, ONE_SHOT, title, ran=WEEK_HOURS * 3600)
    memory, at, heard = policy.start(), 0.0, dict[str, str]()
    known: set[int] = set()
    while at < 150 * 3600:  # what a rule does after the end of a feed it does not say
        path, served = FEEDS[0], WeekAnswer(0)
        for _ in range(3):
            trace.requests.append(TracedRequest(at, "GET", path, dict(heard)))
            served = answer(place, at / 3600, "GET", path, heard)
            if served.status not in (301, 302, 307, 308):
                break
            path = (served.header("Location") or "").rpartition("/")[2]
        now = int(BEGINS.timestamp() + at)
        if served.status == 200:
            names = (("if-none-match", "ETag"), ("if-modified-since", "Last-Modified"))
            heard = {name: value for name, given in names if (value := served.header(given))}
        memory = policy.remember(memory, _answer(served, at, known), now)
        if stretch_at(at / 3600).status == 200 and not stretch_at(at / 3600).fault:
            at += policy.decide(memory, now).wait_seconds
        else:
            at += 3600.0
    return trace


def _answer(served: WeekAnswer, at: float, known: set[int]) -> Answer:
    hours = changed_at(at / 3600)
    age = re.search(r"max-age=(\d+)", served.header("Cache-Control") or "")
    expires = http_date(served.header("Expires"))
    stretch, body = stretch_at(hours), served.status == 200
    new = [post for post in posts_at(hours) if post.number not in known] if body else []
    known.update(post.number for post in new)
    return Answer(
        served.status,
        new_items=len(new),
        item_dates=tuple(int(BEGINS.timestamp() + post.at * 3600) for post in new),
        ttl_minutes=stretch.ttl if body else None,
        max_age_seconds=int(age[1]) if age else None,
        expires_at=int(expires.timestamp()) if expires else None,
    )


def traces() -> dict[str, Trace]:
    """All recorded traces, by name."""
    return {
        file.name.removesuffix(".json.gz"): read_trace(gzip.decompress(file.read_bytes()).decode())
        for file in sorted(TRACES.glob("*.json.gz"))
    }


def table() -> Iterable[str]:
    """The lines of the table in docs/for-readers.md."""
    columns = {**TIMING, **MANNERS}
    yield f"| program | started | score | {' | '.join(columns.values())} |"
    yield f"|---|---|---|{'---|' * len(columns)}"
    judged = [(score(trace), trace) for trace in traces().values()]
    for card, trace in sorted(judged, key=lambda pair: -(pair[0].score or 0)):
        started = f"each {WEEK_HOURS * 60 / trace.runs:.0f} min" if trace.runs else "once"
        yield _row(card.program, f"{started} | {card.score}", card, set(columns))
    for title, spec in REPLAYED.values():
        yield _row(f"{title}, replayed", " | ", score(replay(title, spec)), REPLAYED_SHOW)


def _row(name: str, told: str, card: Scorecard, shown: set[str]) -> str:
    states = {verdict.what.id: verdict.state for verdict in card.verdicts}
    marks = {GOOD: "yes", PARTLY: "partly", NOT_SEEN: ""}
    cells = [marks.get(states[key], "no") if key in shown else "" for key in (*TIMING, *MANNERS)]
    return f"| {name} | {told} | {' | '.join(cells)} |"


def main(words: list[str]) -> None:
    """Record, or make the table."""
    if words[:1] == ["record"] and words[1:] and set(words[1:]) <= CLIENTS.keys():
        TRACES.mkdir(exist_ok=True)
        for name in words[1:]:
            trace = record(name)
            file = TRACES / f"{name}.json.gz"
            file.write_bytes(gzip.compress(trace.to_json().encode(), 9, mtime=0))
            print(f"{trace.program}: {score(trace).score}, {file.stat().st_size} bytes")
    elif words == ["table"]:
        before, _, rest = PAGE.read_text("utf-8").partition(START)
        after = rest.partition(END)[2]
        lines = "\n".join(table())
        PAGE.write_text(f"{before}{START}{lines}\n{END}{after}", "utf-8")
    else:
        sys.exit(f"usage: python -m bench.real_clients record {'|'.join(CLIENTS)}... | table")


if __name__ == "__main__":
    main(sys.argv[1:])
