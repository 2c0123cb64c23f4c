"""The sentences about readers on the studio's first page: who has a post, when to publish, the
month."""

from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from datetime import date, datetime
from functools import lru_cache
from math import isfinite
from threading import Lock

from sqlalchemy.orm import Session

from publisher.blog import update_log
from publisher.core.replay.reader_groups import ReaderGroup, group_by_habit
from publisher.core.replay.when_to_publish import PublishingAdvice, in_words, when_to_publish
from publisher.core.ttl.activity import Activity
from publisher.core.ttl.rule import TtlRule
from publisher.installation import Site
from publisher.installation.settings import Settings, load_settings
from publisher.readers.reporting import reach
from publisher.readers.reporting.reach_progress import Progress
from publisher.readers.reporting.report import Report, make
from publisher.readers.reporting.verdicts import OBEDIENT
from publisher.web.rendering import clock, minutes

DAYS, MOST_READERS = 30, 200
WAIT_SECONDS = 0.25  # the page waits so long for the advice; a later request then has it
LEAST_INTERVALS, LEAST_DELIVERIES = 20, 20
LEAST_UPDATES = 5  # before these and without readers, when to publish is not advised


@dataclass(frozen=True)
class ReadersSummary:
    """The sentences. moment: the better time to publish, as in the editor's date input; "" for
    now."""

    advice: str
    moment: str
    month: str


@dataclass(frozen=True)
class _Month:
    """The last thirty days: the groups of readers and a sentence; computed once a day."""

    groups: tuple[ReaderGroup, ...]
    sentence: str


_months: dict[str, tuple[date, _Month]] = {}
_making = Lock()


def summary(here: Site, session: Session, now: datetime) -> ReadersSummary:
    """The sentences at `now`."""
    settings = load_settings(session)
    month = _month(here, session, settings, now)
    known = update_log.load(session)
    advice = None
    if known.last_update is not None and known.updates >= LEAST_UPDATES and month.groups:
        begin = now.replace(minute=now.minute // 5 * 5, second=0, microsecond=0)
        minute = max(begin, known.last_update)
        queue = tuple(update_log.scheduled(session, now))
        advice = _advice(known, minute, settings.rule, month.groups, queue)
    return ReadersSummary(
        advice=in_words(advice, settings.zone.key)
        if advice and isfinite(advice.now.most_minutes)
        else "",
        moment=f"{advice.better.at.astimezone(settings.zone):%Y-%m-%dT%H:%M}"
        if advice and advice.better
        else "",
        month=month.sentence,
    )


def reached_in_words(progress: Progress) -> str:
    """Who has a post: 3 of your 6 readers; NetNewsWire in 12 min; all by 14:20."""
    words = [progress.reached_words]
    for name, taken in progress.programs:
        words.append(f"{name} in {minutes(taken) if taken >= 1 else 'less than a minute'}")
    if progress.all_by:
        words.append(f"all by {clock(progress.all_by)}")
    return "; ".join(words)


def _advice(
    known: Activity,
    minute: datetime,
    rule: TtlRule,
    groups: tuple[ReaderGroup, ...],
    queue: tuple[datetime, ...],
) -> PublishingAdvice | None:
    """The advice for these five minutes; None while another process is still computing it."""
    future = _asked(known, minute, rule, groups, queue)
    try:
        return future.result(WAIT_SECONDS)
    except TimeoutError:
        return None


@lru_cache(maxsize=4)
def _asked(
    known: Activity,
    minute: datetime,
    rule: TtlRule,
    groups: tuple[ReaderGroup, ...],
    queue: tuple[datetime, ...],
) -> Future[PublishingAdvice]:
    return _pool().submit(when_to_publish, known, minute, rule, groups, queue)


@lru_cache(maxsize=1)
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(1, thread_name_prefix="readers-summary")


def _month(here: Site, session: Session, settings: Settings, now: datetime) -> _Month:
    key, today = here.environment.database_url, now.date()
    with _making:
        kept = _months.get(key)
        if kept is None or kept[0] != today:
            report = make(
                session, now, DAYS, settings.rule.menu.smallest, lambda every: every[:MOST_READERS]
            )
            kept = today, _Month(_groups(report), sentence(report))
            _months[key] = kept
        return kept[1]


def _groups(report: Report) -> tuple[ReaderGroup, ...]:
    rows = (
        reader.to_dict(report.smallest_ttl_minutes)
        for reader in report.readers[:MOST_READERS]
        if reader.kind == "reader"
    )
    return group_by_habit(
        (row["subscribers"], row["median_interval_minutes"], row["verdict"]) for row in rows
    )


def sentence(report: Report) -> str:
    """A sentence about the last thirty days; "" if too little is known."""
    totals, reached = report.totals(), reach.delays_summary(report.delays)
    polite = totals["verdicts"][OBEDIENT]
    saved = totals["avoided_against_fixed_15"]
    parts = []
    if reached["deliveries"] >= LEAST_DELIVERIES:
        parts.append(
            f"half of your readers had a post within {reached['median_minutes']:.0f} minutes"
        )
    intervals = sum(reader.sums.intervals for reader in report.readers)
    if polite and saved > 0 and intervals >= LEAST_INTERVALS:
        who = "the polite one" if polite == 1 else f"the {polite} polite ones"
        parts.append(
            f"{who} made {saved:,} fewer visits than one every 15 minutes would have meant"
        )
    return f"In the last 30 days {', and '.join(parts)}." if parts else ""
