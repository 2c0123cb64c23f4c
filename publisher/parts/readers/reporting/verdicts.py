"""The verdict on a reader's polls: obedient, fixed, unconditional, abusive, or too few to tell."""

from collections import Counter
from dataclasses import dataclass

from publisher.base.text import counted
from publisher.parts.readers.sums import ReaderSums, Spans, TtlClassCounts, quantile

OBEDIENT, FIXED, UNCONDITIONAL = "obedient", "fixed", "unconditional"
ABUSIVE, TOO_FEW = "abusive", "too-few"
VERDICTS = (OBEDIENT, FIXED, UNCONDITIONAL, ABUSIVE, TOO_FEW)
# The verdicts in words; the names above are used in JSON.
_WORDS = {
    OBEDIENT: "listens",
    FIXED: "fixed schedule",
    UNCONDITIONAL: "downloads everything each time",
    ABUSIVE: "far too often",
    TOO_FEW: "too new to tell",
}
_WORDS_OF_SEVERAL = _WORDS | {
    OBEDIENT: "listen",
    UNCONDITIONAL: "download everything each time",
}

HEAD_ONLY = "HEAD only"  # a kind beside those of `agents`

INTERVALS_NEEDED, SECONDS_NEEDED = 5, 3600  # a new subscriber may poll several times at once
ON_TIME_SHARE = 0.7  # of all intervals of an obedient reader are on time
CLASS_SHARE, CLASS_INTERVALS = 0.5, 3  # and of those after each class of ttl with this many
PATIENT_SHARE = 0.1  # of the intervals may be early where a reader has a floor of its own
CONDITIONAL_SHARE = 0.5  # of the requests that could have been conditional
FAST_SHARE = 0.5  # of the intervals shorter than the smallest ttl
FOLLOWING_RATIO = 1.5  # longest to shortest mean interval that a reader with a floor needs
UNSURE_SHARE = 0.5  # of the polls may have been made by another reader at the same address
AGAIN = 1.5  # requests per visit, from which on the evidence mentions them
HAMMERING_SECONDS = 60.0  # a mean interval below this is abuse, validators or not

_NOT_JUDGED = {
    HEAD_ONLY: "{requests} with HEAD; nothing went out",
    "browser": "a person's browser, {requests}; it is not judged",
    "search engine": "reads for a search engine, {requests}; it is not judged",
    "monitor": "watches whether the site is there, {requests}; it is not judged",
}


def in_words(verdict: str, readers: int = 1) -> str:
    """A verdict in words, about one reader or several."""
    return (_WORDS if readers == 1 else _WORDS_OF_SEVERAL)[verdict]


@dataclass(frozen=True, slots=True)
class Verdict:
    """One of `VERDICTS`, and the figures behind it in a sentence."""

    name: str
    evidence: str


def judge(sums: ReaderSums, smallest_ttl_minutes: int, kind: str = "reader") -> Verdict:
    """Judge one reader by its sums; `smallest_ttl_minutes` is the least the feed ever asks."""
    name = name_of(sums, kind)
    if name == TOO_FEW and kind in _NOT_JUDGED:
        return Verdict(name, _NOT_JUDGED[kind].format(requests=counted(sums.requests, "request")))
    return Verdict(name, _evidence(name, sums, smallest_ttl_minutes))


def name_of(sums: ReaderSums, kind: str = "reader") -> str:
    """The verdict alone, at a small part of the cost of its evidence.

    Other kinds than feed readers are not judged, unless they hammer; polls that another reader at
    the same address may have made count against nobody.
    """
    if sums.intervals < INTERVALS_NEEDED or sums.interval_seconds < SECONDS_NEEDED:
        return TOO_FEW
    hammers = sums.interval_seconds < HAMMERING_SECONDS * sums.intervals
    if kind != "reader":
        return ABUSIVE if hammers and kind != "browser" else TOO_FEW
    careless = _honest(sums) < CONDITIONAL_SHARE * _repeated(sums)
    if not careless and (_obedient(sums) or _patient(sums)) and not hammers:
        return OBEDIENT
    doubtful = sums.unsure > UNSURE_SHARE * sums.intervals
    if not careless and (doubtful or _obedient(sums, granted=sums.unsure)):
        return TOO_FEW
    if hammers or (careless and not doubtful and sums.fast >= FAST_SHARE * sums.intervals):
        return ABUSIVE
    return UNCONDITIONAL if careless else FIXED


def has_no_rhythm(sums: ReaderSums) -> bool:
    """Whether too few intervals are known, or most may be uneven or belong to another reader."""
    return sums.intervals < INTERVALS_NEEDED or sums.unsure > UNSURE_SHARE * sums.intervals


def several_addresses(sums: ReaderSums, addresses: int) -> Verdict:
    """The verdict on polls without validators from many addresses, which nothing tells apart."""
    return Verdict(
        TOO_FEW,
        f"{counted(sums.requests, 'request')} from {addresses:,} addresses, none of which named "
        f"what it had: one reader or several, they cannot be told apart; "
        f"{counted(sums.full, 'whole document')} went out",
    )


def names_nothing(sums: ReaderSums) -> bool:
    """Whether no request had a validator that we had sent: only the address tells it apart."""
    return _honest(sums) == 0


def mean_interval(sums: ReaderSums) -> str:
    """The mean interval in words."""
    return _length(sums.interval_seconds / max(sums.intervals, 1))


def intervals(spans: Spans) -> Counter[int]:
    """How often each interval came, whatever the ttl before it."""
    total: Counter[int] = Counter()
    for (_, span), count in spans.items():
        total[span] += count
    return total


def intervals_by_ttl(spans: Spans) -> dict[int, Counter[int]]:
    """The intervals that followed each ttl, by ttl."""
    groups: dict[int, Counter[int]] = {}
    for (minutes, span), count in sorted(spans.items()):
        groups.setdefault(minutes, Counter())[span] += count
    return groups


def _evidence(name: str, sums: ReaderSums, smallest_ttl_minutes: int) -> str:
    if name == TOO_FEW and sums.intervals >= INTERVALS_NEEDED:
        if sums.interval_seconds < SECONDS_NEEDED:
            pauses = counted(sums.intervals, "pause")
            span = _length(sums.interval_seconds)
            return f"{pauses} seen, all within {span}; perhaps it has only just begun"
        return (
            f"several readers that cannot be told apart: {_share(sums.unsure, sums.intervals)} of "
            f"{counted(sums.intervals, 'pause')} may belong to another one"
        )
    if name == TOO_FEW:
        pauses = counted(sums.intervals, "pause")
        return f"{pauses} between its visits so far; {INTERVALS_NEEDED} are needed"
    if name == ABUSIVE:
        return _abusive(sums, _repeated(sums), _honest(sums), smallest_ttl_minutes)
    if name == UNCONDITIONAL:
        return _careless(sums, _repeated(sums), _honest(sums))
    if name == FIXED:
        return _fixed(sums)
    if _obedient(sums):
        return f"{_on_time(sums)}: {_followed(sums)}{_doubt(sums)}{_again(sums)}"
    return _patience(sums) + _again(sums)


def _repeated(sums: ReaderSums) -> int:
    """The requests that could have been conditional."""
    return max(sums.requests - sums.heads - sums.first, 1)


def _honest(sums: ReaderSums) -> int:
    """The requests with validators that we had sent."""
    return max(sums.conditional - sums.invented, 0)


def _obedient(sums: ReaderSums, granted: int = 0) -> bool:
    """Whether most intervals are on time, also after each class of ttl: a fixed hour is on time
    after 60 minutes only.

    granted: so many of the others may have been made by another reader.
    """
    return sums.on_time + granted >= ON_TIME_SHARE * sums.intervals and all(
        part.on_time + granted >= CLASS_SHARE * part.intervals for part in _classes(sums)
    )


def _patient(sums: ReaderSums) -> bool:
    """Whether it obeys with a floor of its own: hardly ever early, slower after a longer ttl."""
    classes = _classes(sums)
    if len(classes) < 2 or sums.early > PATIENT_SHARE * sums.intervals:
        return False
    shortest, longest = classes[0], classes[-1]
    return (
        longest.on_time >= ON_TIME_SHARE * longest.intervals
        and longest.seconds / longest.intervals
        >= FOLLOWING_RATIO * shortest.seconds / shortest.intervals
    )


def _classes(sums: ReaderSums) -> list[TtlClassCounts]:
    """The classes of ttl with enough intervals to judge by, from the shortest ttl."""
    return [part for _, part in sorted(sums.told.items()) if part.intervals >= CLASS_INTERVALS]


def _doubt(sums: ReaderSums) -> str:
    if len(_classes(sums)) > 1:
        return ""
    return "; it was never told anything else, so a fixed interval would look the same"


def _again(sums: ReaderSums) -> str:
    """A remark on a reader that polls more than once at each visit, else ""."""
    times = (sums.requests - sums.heads) / sums.intervals
    return f"; it asks {times:.0f} times each time that it comes" if times >= AGAIN else ""


def _patience(sums: ReaderSums) -> str:
    return (
        f"too soon {_share(sums.early, sums.intervals)} of {counted(sums.intervals, 'time')}; it "
        f"has a shortest pause of its own, but waits longer when told to: {_followed(sums)}"
    )


def _abusive(sums: ReaderSums, repeated: int, honest: int, smallest: int) -> str:
    mean = sums.interval_seconds / sums.intervals
    return (
        f"comes every {_length(mean)}: {_share(sums.fast, sums.intervals)} of "
        f"{counted(sums.intervals, 'time')} sooner than the feed ever asks ({smallest} min), and "
        f"{_share(honest, repeated)} of the repeated requests said which version it had"
        f"{_perhaps_several(honest)}"
    )


def _careless(sums: ReaderSums, repeated: int, honest: int) -> str:
    if sums.invented > honest:
        return (
            f"{_share(sums.invented, repeated)} of {counted(repeated, 'repeated request')} named "
            "a version that it never got here, so the whole document went out again"
        )
    return (
        f"{_share(honest, repeated)} of {counted(repeated, 'repeated request')} said "
        f"which version it had; {counted(sums.full, 'whole document')} went out. "
        f"{_on_time(sums).capitalize()}{_perhaps_several(honest)}"
    )


def _perhaps_several(honest: int) -> str:
    """A caveat for a reader that only its address tells apart, else ""."""
    if honest:
        return ""
    return ". One reader, or several at one address: not saying what they have, they look the same"


def _fixed(sums: ReaderSums) -> str:
    median = quantile(intervals(sums.spans), 0.5) or 0
    return (
        f"comes every {_length(median)}: {_share(sums.early, sums.intervals)} of "
        f"{counted(sums.intervals, 'time')} sooner than it was told, "
        f"{_share(sums.on_time, sums.intervals)} on time; {_followed(sums)}"
    )


def _on_time(sums: ReaderSums) -> str:
    share = _share(sums.on_time, sums.intervals)
    return f"on time {share} of {counted(sums.intervals, 'time')}"


def _followed(sums: ReaderSums) -> str:
    """How long it waits after each ttl, those with the same wait together."""
    waits: dict[str, list[str]] = {}
    for minutes, group in intervals_by_ttl(sums.spans).items():
        if group.total() >= CLASS_INTERVALS:
            waits.setdefault(_length(quantile(group, 0.5) or 0), []).append(str(minutes))
    parts = [f"told to wait {_either(after)} min, it waits {wait}" for wait, after in waits.items()]
    return "; ".join(parts[:5])


def _either(values: list[str]) -> str:
    """15; 15 or 60; 15, 60 or 480; the range where there are many."""
    if len(values) > 4:
        return f"{values[0]} to {values[-1]}"
    *first, last = values
    return f"{', '.join(first)} or {last}" if first else last


def _length(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120.0 else f"{seconds / 60.0:.0f} min"


def _share(part: int, whole: int) -> str:
    return f"{100.0 * part / whole:.0f} %"
