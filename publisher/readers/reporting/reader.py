"""One reader of the report: how it polls, and the verdict on it."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

from publisher.readers import intervals
from publisher.readers.reporting import verdicts
from publisher.readers.reporting.verdicts import Verdict, judge, several_addresses
from publisher.readers.sums import ReaderSums


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
            return several_addresses(self.sums, self.addresses)
        return judge(self.sums, smallest_ttl_minutes, self.kind)

    def to_dict(self, smallest_ttl_minutes: int) -> dict[str, Any]:
        """The reader's row as `publisher readers --json` has it."""
        sums, verdict = self.sums, self.judged(smallest_ttl_minutes)
        told = Counter[int]()
        for (minutes, _), count in sums.spans.items():
            told[minutes] += count
        return {
            "agent": self.agent,
            "version": self.version,
            "kind": self.kind,
            "requests": sums.requests,
            "requests_per_day": round(sums.requests / self.days, 1),
            "median_interval_minutes": intervals.quantile_minutes(
                verdicts.intervals(sums.spans), 0.5
            ),
            "told_minutes": intervals.quantile(told, 0.5),
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
