"""The sums that are kept of one reader's polls, and the rule that adds equal polls to them."""

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from math import log

from publisher.core.menu import band
from publisher.readers import intervals as spans
from publisher.readers.intervals import Spans
from publisher.readers.poll_batches import BROUGHT, PollGroup, bare, version_of
from publisher.readers.visits import EARLY_SHARE, came_early
from publisher.storage.tables.readers import ReaderCounts, ReaderFeed

DAY_SECONDS, HOUR_SECONDS = 86_400, 3600


@dataclass(slots=True)
class Told:
    """The intervals after ttls of one class: how many, on time, too early; total seconds."""

    intervals: int = 0
    on_time: int = 0
    early: int = 0
    seconds: int = 0

    def plus(self, other: "Told", sign: int = 1) -> "Told":
        """The sum of two, or with -1 the difference."""
        return Told(
            self.intervals + sign * other.intervals,
            self.on_time + sign * other.on_time,
            self.early + sign * other.early,
            self.seconds + sign * other.seconds,
        )


@dataclass(slots=True)
class ReaderSums(ReaderCounts):
    """One reader's sums; `told`: its intervals by class of the ttl before them."""

    told: dict[int, Told] = field(default_factory=lambda: defaultdict(Told))
    spans: Spans = field(default_factory=Counter)


COUNTS = tuple(column.name for column in fields(ReaderCounts))


@dataclass(frozen=True, slots=True)
class Versions:
    """Versions of a document that were served: content by bare ETag and by Last-Modified."""

    by_tag: dict[str, str]
    by_date: dict[str, str]


def told_to_text(told: Mapping[int, Told]) -> str:
    """For storage: "class:intervals:on time:early:seconds" with spaces between."""
    return " ".join(
        f"{which}:{part.intervals}:{part.on_time}:{part.early}:{part.seconds}"
        for which, part in sorted(told.items())
    )


def told_from_text(text: str) -> dict[int, Told]:
    """What `told_to_text` wrote."""
    told = {}
    for part in text.split():
        which, *sums = map(int, part.split(":"))
        told[which] = Told(*sums)
    return told


def told_sum(one: Mapping[int, Told], other: Mapping[int, Told], sign: int = 1) -> dict[int, Told]:
    """The sum of two by class, or with -1 the difference, without empty classes."""
    if not other:
        return dict(one)
    zero = Told()
    sums = {
        which: one.get(which, zero).plus(other.get(which, zero), sign)
        for which in one.keys() | other.keys()
    }
    return {which: part for which, part in sums.items() if part.intervals}


def count_answers(
    sums: ReaderSums, poll: PollGroup, versions: Versions, given: bool, polls: int
) -> None:
    """Add what so many equal answers cost and saved; `given`: the request has a tag that this
    reader was given, so its version need not be known (those of tags' feeds are not kept)."""
    sums.requests += polls
    sums.bytes += poll.sent * polls
    if poll.method == "HEAD":
        sums.heads += polls
        return
    sums.gzip += poll.gzip * polls
    sums.conditional += poll.conditional * polls
    if poll.status == 304:
        sums.not_modified += polls
        document = poll.document
        sums.saved_by_304_bytes += (document.packed if poll.gzip else document.whole) * polls
    elif poll.status == 429:
        sums.refused += polls
    elif poll.status in BROUGHT:
        if poll.status == 200:
            sums.full += polls
            if poll.gzip and poll.sent:
                sums.saved_by_gzip_bytes += (poll.document.whole - poll.sent) * polls
        if poll.conditional:
            _count_validators(sums, poll, versions, given, polls)


def count_interval(
    sums: ReaderSums, state: ReaderFeed, at: float, on_time: bool, smallest_ttl_minutes: int
) -> None:
    """Add the time since the reader's last poll, judged by the ttl and max-age it got then;
    `on_time`: see `came_on_time`."""
    interval = at - state.last_at
    if interval < 0.0:  # the clock went back, or another worker's polls came late
        return
    seconds, told = round(interval), sums.told[band(state.told_minutes)]
    sums.intervals += 1
    sums.interval_seconds += seconds
    sums.spans[_followed_minutes(state, interval), spans.rounded(interval)] += 1
    obeyed = state.asked_back_at is not None and at >= state.asked_back_at - 1.0
    on_time = obeyed or on_time
    early = not (obeyed or on_time) and came_early(state, interval)
    told.intervals += 1
    told.seconds += seconds
    if on_time:
        sums.on_time += 1
        told.on_time += 1
    elif early:
        sums.early += 1
        told.early += 1
    sums.fast += not obeyed and interval < EARLY_SHARE * smallest_ttl_minutes * 60.0
    sums.refused_obeyed += obeyed


def _followed_minutes(state: ReaderFeed, interval: float) -> int:
    """The ttl or the max-age, whichever the interval is closer to; the max-age is rounded."""
    element, header = state.told_minutes * 60.0, max(float(state.max_age), 1.0)
    if element == header:
        return state.told_minutes
    length = max(interval, 1.0)
    if abs(log(length / element)) <= abs(log(length / header)):
        return state.told_minutes
    minutes = header / 60.0
    step = 5 if minutes <= 60 else 15 if minutes <= 240 else 60
    return max(round(minutes / step) * step, step)


def _validator_content(poll: PollGroup, versions: Versions) -> str | None:
    """The content that the request's validators belong to; None if we never sent them."""
    for version in map(version_of, poll.bare_tags):
        if version in versions.by_tag:
            return versions.by_tag[version]
    return None if poll.tags else versions.by_date.get(poll.since.strip())


def _count_validators(
    sums: ReaderSums, poll: PollGroup, versions: Versions, given: bool, polls: int
) -> None:
    held = _validator_content(poll, versions)
    if held is None and not given:
        sums.invented += polls
        return
    sums.stale += polls
    if held is not None and held == versions.by_tag.get(bare(poll.document.etag)):
        sums.ttl_only += polls
        sums.ttl_only_bytes += poll.sent * polls
