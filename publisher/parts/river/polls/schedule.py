"""When to poll next, with the reasons: the policy, politeness or the wait after a failure, jitter.

Failures are counted and put into words here too. No I/O.
"""

import random
from dataclasses import dataclass
from datetime import datetime, timedelta

from publisher.dynamic_ttl.core.durations import duration
from publisher.dynamic_ttl.core.polling import Memory, PollPolicy
from publisher.parts.river.following import subscriptions
from publisher.parts.river.options import RiverOptions
from publisher.parts.river.polls.poll_job import PollResult
from publisher.parts.river.stored.poll_rows import FeedRow
from publisher.parts.river.tables import RiverFeed

DAY_SECONDS = 86400.0
DEAD_AFTER = timedelta(days=7)
RETRY_SECONDS = (900.0, 3600.0, 14400.0, DAY_SECONDS)
"""Waits after the first, second ... failure in a row."""


@dataclass(frozen=True, slots=True)
class PollCost:
    """What a poll costs the server, and what a missing one would cost us.

    `blind`: without validators each poll costs a whole document, so polls are rare. `turnover`:
    the time in which all items of the document are replaced, None if unknown; it overrides
    `blind`. `asked_seconds`: how long the feed asks to be left alone, which overrides both.
    """

    blind: bool = False
    turnover: timedelta | None = None
    asked_seconds: int = 0


def plan(
    policy: PollPolicy,
    memory: Memory,
    feed: FeedRow,
    result: PollResult,
    options: RiverOptions,
    rng: random.Random,
    *,
    waited: float,
    cost: PollCost | None,
) -> tuple[datetime, list[str]]:
    """The next poll of a feed after a visit, and why then.

    Without `cost` the policy alone decides. `waited`: seconds since the poll before.
    """  # fmt: skip
    now = result.job.at
    epoch = int(now.timestamp())
    wait = float(policy.decide(memory, epoch).wait_seconds)
    reasons = policy.explain(memory, epoch)[:-1]
    if feed.problem:
        wait = _backed_off(wait, feed, result, waited, options, reasons)
    elif cost is not None:
        wait = _by_cost(wait, cost, options, reasons)
    jitter = rng.random() * min(wait * options.jitter_share, options.jitter_ceiling_seconds)
    if jitter >= 1:
        reasons.append(f"plus {duration(jitter)} at random, so that polls are spread out")
    total = int(wait + jitter)
    return now + timedelta(seconds=total), [*reasons, f"next poll in {duration(total)}"]


def _by_cost(wait: float, cost: PollCost, options: RiverOptions, reasons: list[str]) -> float:
    """Seconds to wait: a day or more without validators, but less where items would be missed."""
    rare = options.unconditional_minutes * 60
    rarely = cost.blind and wait < rare
    if cost.turnover is not None:
        turned = cost.turnover.total_seconds()
        # At the least what the feed asks for, else an hour.
        least = max(cost.asked_seconds, options.turnover_floor_minutes * 60)
        unasked = options.unasked_floor_minutes * 60
        sooner = max(turned / 2, least if cost.asked_seconds else unasked)
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


def _backed_off(
    wait: float, feed: FeedRow, result: PollResult, waited: float, options: RiverOptions,
    reasons: list[str],
) -> float:  # fmt: skip
    """Seconds to wait after a failure: what the server asked for, else longer each time.

    Errors never shorten the wait. If there was an answer, and the feed was read before, its usual
    wait holds as well. A feed that seems dead is polled once a week, after two months once a month.
    """
    answered = result.fetched.status > 0 and feed.last_success_at is not None
    slow_down, retry_after = result.asked_to_slow_down, result.told_seconds
    words = in_words(feed.problem)
    step = RETRY_SECONDS[min(feed.failures, len(RETRY_SECONDS)) - 1]
    if slow_down and retry_after is not None:
        reasons.append(f"{words}: asked to wait {duration(retry_after)}")
        return max(wait if answered else step, retry_after)
    dead = dead_for(feed, result.job.at)
    rarely = DAY_SECONDS * (30 if dead >= timedelta(days=60) else 7 if dead >= DEAD_AFTER else 0)
    ceiling = max(DAY_SECONDS, wait, rarely)
    usual = wait if answered else 0.0
    if slow_down:
        least = max(usual, options.slow_down_minutes * 60)
        backed = min(least * 2.0 ** min(feed.failures, 20), ceiling)
    else:
        backed = max(step, min(usual * 2.0 ** min(feed.failures - 1, 20), ceiling), rarely)
    if feed.failures > 1:
        backed = max(backed, min(waited, ceiling))
    if feed.gone_at is not None:
        backed = max(backed, DAY_SECONDS)
    times = "once" if feed.failures == 1 else f"{feed.failures} times in a row"
    reasons.append(f"{words}, {times}: wait {duration(backed)}")
    return backed


LASTING = frozenset({"status-404", "dns", "not-a-feed", "not-a-list", "unsafe", "unreadable"})
"""Problems that do not pass by themselves, as a rule."""

_WORDS = {
    "dns": "host not found", "connect": "no connection", "tls": "no safe connection",
    "timeout": "no answer in time", "truncated": "cut off", "unsafe": "unsafe to read",
    "internal": "our own error", "overloaded": "this site was too busy",
    "status-206": "only a part was sent (206)",
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


def count_failure(feed: FeedRow, result: PollResult, problem: str) -> None:
    """Count a failure. A 410 must be confirmed a day later, unless the feed was never read."""
    feed.failures += 1
    feed.asked_at = None  # a failed retrieval does not count against the limit on demand
    feed.limited = feed.limited + 1 if result.asked_to_slow_down else 0
    if problem == subscriptions.SHRUNK:
        feed.gone_at = feed.gone_at or result.job.at
    elif problem != "status-410":
        feed.gone_at = None
    elif feed.last_success_at is None or (
        feed.gone_at is not None and result.job.at - feed.gone_at >= _WHOLE_DAY
    ):
        feed.state = "gone"
    elif feed.gone_at is None:
        feed.gone_at = result.job.at


def dead_for(feed: RiverFeed | FeedRow, now: datetime) -> timedelta:
    """How long a feed has been missing from its address; zero while its problem may pass."""
    if feed.problem not in LASTING:
        return timedelta(0)
    return now - (feed.last_success_at or feed.added_at)
