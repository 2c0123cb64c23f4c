"""Small timelines and documents that the simulator's tests share."""

import numpy as np

from publisher.simulator.histories.timelines import Timeline
from publisher.simulator.publishers import Documents

EPOCH = 1_600_000_000
DAY = 86400
ALL_CLIENTS = (
    "ttl",
    "fixed:7",
    "miniflux",
    "max-age",
    "weekly-average",
    "doubling",
    "doubling:factor=1.25",
    "doubling:factor=adaptive,ceiling=600",
    "delay-skip",
    "delay-skip:divisor=1",
    "cho-changes:visits=3",
    "cho-changes:form=original",
    "cho-nochanges:visits=4",
    "adaptive",
    "adaptive:sync=0.2,ceiling=300",
    "entry-frequency",
    "histogram",
    "attentive",
    "cron:15",
    "cron:30,hint=ttl",
    "freshrss",
    "netnewswire",
    "commafeed",
    "lemon24-reader",
    "feed2exec",
    "lion-reader",
    "heard:interval=60",
    "heard:header=304,element=200,floor=60",
    "oracle",
)


def timeline(
    offsets: list[int], days: float, holes: list[tuple[int, int]] | None = None
) -> Timeline:
    """Updates at `offsets` seconds after EPOCH; holes likewise."""
    times = EPOCH + np.unique(np.array(offsets, np.int64))
    return Timeline(
        name="case",
        times=times.astype(np.uint32),
        start=EPOCH,
        end=EPOCH + round(days * DAY),
        holes=EPOCH + np.array(holes or [], np.int64).reshape(-1, 2),
    )


def random_timeline(rng: np.random.Generator, days: float = 12, rate: float = 6) -> Timeline:
    """Bursts and silences: a Poisson stream thinned by the half-day, with a hole now and then."""
    number = rng.poisson(days * rate)
    at = np.sort(rng.integers(0, int(days * DAY), number))
    busy = rng.random(int(days * 2) + 1) < 0.6
    at = at[busy[at // (DAY // 2)]]
    holes = []
    if rng.random() < 0.5:
        begin = int(rng.integers(0, int(days * DAY)))
        holes.append((begin, begin + int(rng.integers(3600, 2 * DAY))))
    return timeline([int(days * DAY / 2), *at.tolist()], days, holes)


def random_documents(rng: np.random.Generator, line: Timeline) -> Documents:
    """A ttl that changes at random instants, now and then with hours and days to skip."""
    changes = np.unique(rng.integers(line.start, line.end, 40))
    built = np.concatenate([[line.start], changes]).astype(np.uint32)
    ttls = rng.choice([15, 30, 60, 240, 480], len(built)).astype(np.int32)
    begins = np.arange(line.start, line.end, 300)[: int(rng.integers(0, 2)) * 9999]
    expiries = begins + rng.integers(0, 90_000, len(begins))
    headers = begins.astype(np.uint32), expiries.astype(np.uint32)
    skips = rng.choice([0, 0, 0b111000000000000000111111, 1 << 26], len(built))
    return Documents(built, ttls, skips.astype(np.int32), *headers, int(rng.integers(0, 3)))
