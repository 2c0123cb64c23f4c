"""When to poll next, with the reasons: the policy, then politeness, then jitter. No I/O."""

import random
from dataclasses import dataclass
from datetime import datetime, timedelta

from publisher.core.durations import duration
from publisher.core.polling import Memory, PollPolicy
from publisher.river.following import followed_lists
from publisher.river.options import RiverOptions
from publisher.river.polls.feed_visit import Visit
from publisher.river.polls.poll_rows import FeedRow
from publisher.storage.tables.river import RiverFeed

DAY_SECONDS = 86400.0
DEAD_AFTER = timedelta(days=7)
RETRY_SECONDS = (900.0, 3600.0, 14400.0, DAY_SECONDS)
"""Waits after the first, second ... failure in a row."""


@dataclass(frozen=True, slots=True)
class PollTrouble:
    """A failed poll, as far as the next one depends on it. `failures`: how many in a row, with it.

    `last_wait_seconds`: how long we waited before this poll; errors never shorten that.
    `least_seconds`: the shortest wait for a feed that says it is gone. `answered`: there was an
    answer, and the feed was read before, so its usual wait holds. `dead_for`: how long the feed
    has been missing, zero for problems that pass.
    """

    failures: int = 0
    words: str = ""
    slow_down: bool = False
    told_seconds: int | None = None
    least_seconds: float = 0.0
    last_wait_seconds: float = 0.0
    answered: bool = False
    dead_for: timedelta = timedelta(0)


@dataclass(frozen=True, slots=True)
class Stakes:
    """What a poll costs the server, and what a missing one would cost us.

    `blind`: without validators each poll costs a whole document, so polls are rare. `turnover`:
    the time in which all items of the document are replaced, None if unknown; it overrides
    `blind`. `asked_seconds`: how long the feed asks to be left alone, which overrides both.
    """

    blind: bool = False
    turnover: timedelta | None = None
    asked_seconds: int = 0


@dataclass(frozen=True, slots=True)
class PollPlan:
    """The next poll and why then."""

    next_at: datetime
    reasons: list[str]


def plan(
    policy: PollPolicy,
    memory: Memory,
    now: datetime,
    options: RiverOptions,
    rng: random.Random,
    *,
    trouble: PollTrouble | None = None,
    stakes: Stakes | None = None,
) -> PollPlan:
    """The next poll after one at `now`; without `stakes` the policy alone decides."""
    epoch = int(now.timestamp())
    wait = float(policy.decide(memory, epoch).wait_seconds)
    reasons = policy.explain(memory, epoch)[:-1]
    if trouble and trouble.failures:
        wait = _backed_off(wait, trouble, options, reasons)
    elif stakes is not None:
        wait = _weighed(wait, stakes, options, reasons)
    jitter = rng.random() * min(wait * options.jitter_share, options.jitter_ceiling_seconds)
    if jitter >= 1:
        reasons.append(f"plus {duration(jitter)} at random, so that polls are spread out")
    next_at = now + timedelta(seconds=int(wait + jitter))
    return PollPlan(next_at, [*reasons, f"next poll in {duration(int(wait + jitter))}"])


def _weighed(wait: float, stakes: Stakes, options: RiverOptions, reasons: list[str]) -> float:
    """Seconds to wait: a day or more without validators, but less where items would be missed."""
    rare = options.unconditional_minutes * 60
    rarely = stakes.blind and wait < rare
    if stakes.turnover is not None:
        turned = stakes.turnover.total_seconds()
        sooner = max(turned / 2, _floor(stakes, options))
        if sooner < (rare if rarely else wait):
            why = (
                f"all items are new within {duration(turned)}"
                if turned >= 1
                else "its items have no dates and came all at once, so it may be a fast one"
            )
            reasons.append(f"{why}: wait {duration(sooner)}")
            return sooner
    if rarely:
        reasons.append(f"no validators, so each poll costs a whole document: wait {duration(rare)}")
        return rare
    return wait


def _floor(stakes: Stakes, options: RiverOptions) -> float:
    """The shortest wait for a fast turnover, in seconds: what the feed asks for, else an hour."""
    if stakes.asked_seconds:
        return max(stakes.asked_seconds, options.turnover_floor_minutes * 60)
    return options.unasked_floor_minutes * 60


def _backed_off(
    wait: float, trouble: PollTrouble, options: RiverOptions, reasons: list[str]
) -> float:
    """Seconds to wait after a failure: what the server asked for, else longer each time."""
    step = RETRY_SECONDS[min(trouble.failures, len(RETRY_SECONDS)) - 1]
    times = "once" if trouble.failures == 1 else f"{trouble.failures} times in a row"
    if trouble.told_seconds is not None:
        reasons.append(f"{trouble.words}: asked to wait {duration(trouble.told_seconds)}")
        return max(wait if trouble.answered else step, trouble.told_seconds)
    ceiling = max(DAY_SECONDS, wait, _dead_wait(trouble))
    if trouble.slow_down:
        doublings = min(trouble.failures, 20)
        usual = wait if trouble.answered else 0.0
        backed = min(max(usual, options.slow_down_minutes * 60) * 2.0**doublings, ceiling)
    else:
        doubled = min(wait * 2.0 ** min(trouble.failures - 1, 20), ceiling)
        backed = max(step, doubled if trouble.answered else 0.0, _dead_wait(trouble))
    backed = max(backed, min(trouble.last_wait_seconds, ceiling), trouble.least_seconds)
    reasons.append(f"{trouble.words}, {times}: wait {duration(backed)}")
    return backed


def _dead_wait(trouble: PollTrouble) -> float:
    """Seconds between polls of a feed that seems dead: a week, after two months a month."""
    if trouble.dead_for >= timedelta(days=60):
        return 30 * DAY_SECONDS
    return 7 * DAY_SECONDS if trouble.dead_for >= DEAD_AFTER else 0.0


LASTING = frozenset({"status-404", "dns", "not-a-feed", "not-a-list", "unsafe", "unreadable"})
"""Problems that do not pass by themselves, as a rule."""

_WORDS = {
    "dns": "host not found", "connect": "no connection", "tls": "no safe connection",
    "timeout": "no answer in time", "truncated": "cut off", "unsafe": "unsafe to read",
    "internal": "our own error", "overloaded": "this site was too busy",
    "status-401": "login needed (401)", "status-403": "refused (403)",
    "status-404": "not found (404)", "status-410": "gone (410)",
    "status-429": "asked to slow down (429)",
}  # fmt: skip
_WHOLE_DAY = timedelta(days=1)


def in_words(problem: str, detail: str = "") -> str:
    """A stored problem in words: `dns` becomes "host not found".

    The `detail` is added, or stands alone if it begins with the same words.
    """
    words = _WORDS.get(problem, problem.replace("-", " "))
    return detail if detail.startswith(words) else f"{words}: {detail}" if detail else words


def count(feed: FeedRow, visit: Visit, problem: str) -> None:
    """Count a failure. A 410 must be confirmed a day later, unless the feed was never read."""
    feed.failures += 1
    feed.asked_at = None  # a failed retrieval does not count against the limit on demand
    feed.limited = feed.limited + 1 if visit.asked_to_slow_down else 0
    if problem == followed_lists.SHRUNK:
        feed.gone_at = feed.gone_at or visit.job.at
    elif problem != "status-410":
        feed.gone_at = None
    elif feed.last_success_at is None or (
        feed.gone_at is not None and visit.job.at - feed.gone_at >= _WHOLE_DAY
    ):
        feed.state = "gone"
    elif feed.gone_at is None:
        feed.gone_at = visit.job.at


def trouble(feed: FeedRow, visit: Visit, waited: float) -> PollTrouble:
    """What the next poll of a failed feed depends on; `waited`: seconds since its last poll."""
    status = visit.fetched.status
    return PollTrouble(
        failures=feed.failures,
        words=in_words(feed.problem),
        slow_down=visit.asked_to_slow_down,
        told_seconds=visit.told_seconds if visit.asked_to_slow_down else None,
        least_seconds=_WHOLE_DAY.total_seconds() if feed.gone_at is not None else 0.0,
        last_wait_seconds=waited if feed.failures > 1 else 0.0,
        answered=status > 0 and feed.last_success_at is not None,
        dead_for=dead_for(feed, visit.job.at),
    )


def dead_for(feed: RiverFeed | FeedRow, now: datetime) -> timedelta:
    """How long a feed has been missing from its address; zero while its problem may pass."""
    if feed.problem not in LASTING:
        return timedelta(0)
    return now - (feed.last_success_at or feed.added_at)
