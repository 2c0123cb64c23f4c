"""One reader of the report: how it polls, the verdict on it, and advice: whom to contact, a letter
to send, what the site can do itself."""

import re
from collections import Counter
from dataclasses import dataclass
from typing import Any

from publisher.parts.readers.reporting import verdicts
from publisher.parts.readers.reporting.verdicts import Verdict
from publisher.parts.readers.sums import ReaderSums, quantile, quantile_minutes


@dataclass(frozen=True, slots=True)
class Reader:
    """One reader's part of the report; `sums.spans` are filled for the readers that are shown.

    `kind`: a feed reader, browser, search engine, monitor, or HEAD only; `verdict`: a name.
    `last_at`: seconds since 1970. `addresses`: how many it stands for, where nothing else tells
    their polls apart (see `programs`).
    """

    client: int
    agent: str
    version: str
    text: str
    subscribers: int
    subscribers_capped: bool
    days: float
    last_at: float
    kind: str
    verdict: str
    sums: ReaderSums
    addresses: int = 1

    def judged(self, smallest_ttl_minutes: int) -> Verdict:
        """The verdict with its evidence."""
        if self.addresses > 1:
            return verdicts.several_addresses(self.sums, self.addresses)
        return verdicts.judge(self.sums, smallest_ttl_minutes, self.kind)

    def to_dict(self, smallest_ttl_minutes: int) -> dict[str, Any]:
        """The reader's row as `publisher readers --json` has it."""
        sums, verdict = self.sums, self.judged(smallest_ttl_minutes)
        announced = Counter[int]()
        for (minutes, _), count in sums.spans.items():
            announced[minutes] += count
        return {
            "agent": self.agent,
            "version": self.version,
            "kind": self.kind,
            "requests": sums.requests,
            "requests_per_day": round(sums.requests / self.days, 1),
            "median_interval_minutes": quantile_minutes(verdicts.intervals(sums.spans), 0.5),
            "told_minutes": quantile(announced, 0.5),
            "conditional_share": _share(sums.conditional, sums.requests - sums.heads),
            "not_modified_share": _share(sums.not_modified, sums.requests),
            "bytes": sums.bytes,
            "subscribers": self.subscribers,
            "subscribers_capped": self.subscribers_capped,
            "refused": sums.refused,
            "refused_obeyed": sums.refused_obeyed,
            "verdict": verdict.name,
            "evidence": verdict.evidence,
        }


def _share(part: int, whole: int) -> float:
    return round(part / whole, 3) if whole else 0.0


_ADDRESS = re.compile(r"https?://[^\s;,()<>\"']+")
_MAIL = re.compile(r"[\w.+-]+@[\w-]+\.[\w.-]+\w")


# What a letter says of it.
_WRONG = {
    verdicts.FIXED: "about every {mean}, whatever the feed asks for.",
    verdicts.UNCONDITIONAL: "whole each time: {full} documents in {days:.0f} days, though it had "
    "most of them.",
    verdicts.ABUSIVE: "every {mean}, which is more often than the feed ever asks.",
}


@dataclass(frozen=True, slots=True)
class Remedy:
    """`contact` is what the agent names, an address or a mailbox; `letter` may be sent there."""

    todo: str
    contact: str = ""
    letter: str = ""
    fairness: bool = False


def remedy(reader: Reader, feed_url: str) -> Remedy:
    """What can be done about this reader."""
    if reader.kind != "reader" and reader.verdict != verdicts.ABUSIVE:
        return Remedy("Nothing to do: it is not a feed reader.")
    author, sums = contact(reader.text), reader.sums
    if reader.verdict == verdicts.OBEDIENT:
        return Remedy("Nothing to do: it comes when the feed asks it to.", author)
    if reader.verdict not in _WRONG:
        return Remedy("Nothing to do yet: a few more visits will tell.", author)
    patient = sums.early <= verdicts.PATIENT_SHARE * sums.intervals
    if reader.verdict == verdicts.FIXED and patient:
        return Remedy("Nothing to do: it comes less often than the feed allows.", author)
    wrong = _WRONG[reader.verdict].format(
        mean=verdicts.mean_interval(sums), full=sums.full, days=reader.days
    )
    letter = (
        f"Hello, {f'{reader.agent} {reader.version}'.strip()} fetches {feed_url} {wrong} The feed "
        "says how long a copy is good, in <ttl> and in Cache-Control: max-age, and sends an ETag "
        "with each answer. Could it wait that long, and send the ETag back as If-None-Match? Most "
        "answers would then be an empty 304. Thank you."
    )
    todo = "Write to its author; most are glad to hear of it."
    return Remedy(todo, author, letter, fairness=reader.verdict != verdicts.FIXED)


def contact(agent: str) -> str:
    """The address or mailbox that a User-Agent names; nothing where it names none."""
    match = _ADDRESS.search(agent) or _MAIL.search(agent)
    return match[0].rstrip("./") if match else ""
