"""The theory of operation (`publisher.dynamic_ttl.core.ttl`) worked out the long way.

Each number comes from the whole log with the formulas of that page: no checkpoint, no halved
tables, silences five minutes by five minutes, every ttl tried. The live code must say the same.
"""

from collections import defaultdict
from datetime import UTC, datetime
from functools import cache
from itertools import pairwise
from math import exp, log, sqrt
from random import Random
from statistics import fmean
from zoneinfo import ZoneInfo

import pytest

from publisher.dynamic_ttl.core.ttl.activity import HALF_LIFE_DAYS, Activity
from publisher.dynamic_ttl.core.ttl.choice import choose, workspace
from publisher.dynamic_ttl.core.ttl.counts import History
from publisher.dynamic_ttl.core.ttl.mixture import after
from publisher.dynamic_ttl.core.ttl.rule import TtlRule, numbers

DAY = 86_400
BEGIN = int(datetime(2021, 9, 20, 10, tzinfo=UTC).timestamp())  # clocks change in the weeks after
STEP, LONG = 300, 300 * 2**12  # all updates are at whole five minutes; seconds
START, HANDED_OUT = (0.25, 0.15, 0.3, 0.3), (0.7, 0.2, 0.05, 0.05)
SHAPE = [0.2] * 8 + [1.6] * 10 + [(24 - 8 * 0.2 - 10 * 1.6) / 6] * 6


def silence_class(age: float) -> int:
    """0 below 5 minutes, 1 below 10, 2 below 20, and so on; a week and more is 12."""
    return sum(age >= 300 << doublings for doublings in range(12))


class Moment:
    """The rates of the four forecasters at `now`, from all updates up to then."""

    def __init__(self, blog: "Blog", now: int) -> None:
        self.blog, self.now = blog, now
        self.counts, self.lately = defaultdict[tuple[str, int], float](float), [0.0] * 24
        for at in blog.times:
            local, days = blog.local(at), (now - at) / DAY
            five, hour = local.minute // 5, local.hour
            for place in (
                ("all", 0),
                ("hour", hour),
                ("weekday", local.weekday()),
                ("cell", local.weekday() * 24 + hour),
                ("five", five),
                ("slot", hour * 12 + five),
            ):
                self.counts[place] += 0.5 ** (days / 90)
            self.lately[hour] += 0.5 ** (days / 12)
        self.total = self.counts["all", 0]
        self.observed = blog.days(blog.first, now, 90)
        self.d = max(self.observed, 1.0)
        self.level = (self.total + 1) / (self.observed + 1)
        self.size = self.cluster()
        self.lump = 2 * self.size - 1  # variance over mean of the number in a time

    def hour(self, at: datetime) -> float:
        return (self.counts["hour", at.hour] + 1 / 24) / self.d

    def cell(self, at: datetime) -> float:
        """Updates in this hour of the week."""
        own = self.counts["cell", at.weekday() * 24 + at.hour]
        lump, days = self.lump, self.counts["weekday", at.weekday()]
        usual = self.hour(at) * (days + lump) / (self.total / 7 + lump)
        weeks = lump * (1 + 15 / (1 + (own / lump) ** 2))
        return (own + weeks * usual) / (self.d / 7 + weeks)

    def within(self, at: datetime) -> float:
        """The five minutes of `at` within their hour."""
        part = at.minute // 5
        common = (self.counts["five", part] + 1) / (self.total / 12 + 1)
        own = self.counts["slot", at.hour * 12 + part] + common
        return own / (self.counts["hour", at.hour] / 12 + 1)

    def recent(self, at: datetime) -> float:
        days = self.blog.days(self.blog.first, self.now, 12) + 1
        return (self.lately[at.hour] + SHAPE[at.hour] / 24) / days

    def others(self, at: datetime) -> tuple[float, float, float]:
        """An hour's updates by `recent`, `flat` and `daily`."""
        return self.recent(at), self.level / 24, self.level / 24 * SHAPE[at.hour]

    def factor(self, place: int) -> float:
        """What a silence of this class does to the rate; its counts decay twice as fast."""
        seen, due = 1.0, 1.0
        for at, where, came, predicted in self.blog.silences:
            if where == place:
                faded = 0.5 ** ((self.now - at) / DAY / 45)
                seen, due = seen + came * faded, due + predicted * faded
        return seen / due

    def cluster(self) -> float:
        """Updates that come together: all over those that do not follow another in 80 minutes."""
        seen, due = [0.0] * 13, [0.0] * 13
        for at, where, came, predicted in self.blog.silences:
            faded = 0.5 ** ((self.now - at) / DAY / 45)
            seen[where] += came * faded
            due[where] += predicted * faded
        alone = sum(seen[5:]) + min(sum(seen[:5]), sum(due[:5]))
        return (sum(seen) + 1) / (alone + 1)

    def missed(self) -> list[float]:
        """Updates that each of the four expected since the last one."""
        last, missed = self.blog.last, [0.0] * 4
        factors = [self.factor(place) for place in range(13)]
        for at in range(last, min(self.now, last + LONG), STEP):
            local, share = self.blog.local(at), min(STEP, self.now - at) / 3600
            habits = self.cell(local) * factors[silence_class(at - last)]
            for place, rate in enumerate((habits, *self.others(local))):
                missed[place] += rate * share
        longer = max((self.now - last) / LONG, 1.0)  # after two weeks as in these
        return [longer * one for one in missed]


def believed(before: list[float], logs: list[float]) -> list[float]:
    """Bayes' rule."""
    parts = [belief * exp(log_gain) for belief, log_gain in zip(before, logs, strict=True)]
    return [part / sum(parts) for part in parts]


class Blog:
    """A log that grows, with what is learnt at each update."""

    def __init__(self, zone: str, holes: list[tuple[int, int]]) -> None:
        self.zone, self.holes = ZoneInfo(zone), holes
        self.times: list[int] = []
        self.silences: list[tuple[int, int, float, float]] = []  # at, class, came, predicted
        self.beliefs = list(START)
        self.places: dict[int, datetime] = {}

    @property
    def first(self) -> int:
        return min(self.times)

    @property
    def last(self) -> int:
        return max(self.times)

    def local(self, at: int) -> datetime:
        if at not in self.places:
            self.places[at] = datetime.fromtimestamp(at, self.zone)
        return self.places[at]

    def days(self, since: int, until: int, half_life: float) -> float:
        """The observed days, decayed like counts: an integral, without the holes."""

        def integral(begin: int, end: int) -> float:
            early, late = ((until - at) / DAY / half_life for at in (begin, end))
            return float(0.5**late - 0.5**early) * half_life / log(2)

        holes = [(max(begin, since), min(end, until)) for begin, end in self.holes]
        return integral(since, until) - sum(integral(*hole) for hole in holes if hole[0] < hole[1])

    def knows_enough(self, now: int) -> bool:
        return len(self.times) >= 5 and now - self.first >= 2 * DAY

    def watched(self, since: int, until: int) -> bool:
        return not any(begin < until and end > since for begin, end in self.holes)

    def add(self, at: int) -> None:
        if len(self.times) >= 2 and at > self.last and self.watched(self.last, at):
            self.learn(at)
        self.times.append(at)

    def learn(self, at: int) -> None:
        """Beliefs by Bayes' rule, and what this silence says of its like."""
        then, local = Moment(self, at), self.local(at)
        age = silence_class(at - self.last)
        habits = then.cell(local) * then.factor(age) * then.within(local)
        rates = [log(rate) for rate in (habits, *then.others(local))]
        gains = [rate - missed for rate, missed in zip(rates, then.missed(), strict=True)]
        updated = believed(self.beliefs, gains)
        self.beliefs = [
            0.995 * belief + 0.005 * part for belief, part in zip(updated, HANDED_OUT, strict=True)
        ]
        if self.knows_enough(at):
            self.silences.append((at, age, 1.0, 0.0))
            due = defaultdict[int, float](float)
            for five in range(self.last, min(at, self.last + LONG), STEP):
                due[silence_class(five - self.last)] += then.cell(self.local(five)) / 12
            self.silences += [(at, place, 0.0, number) for place, number in due.items()]

    def curve(self, now: int, profile: str, steps: int) -> list[float]:
        """The updates expected in each five minutes from the last whole ones on."""
        then = Moment(self, now)
        sure = believed(self.beliefs, [-min(missed, 3.0) for missed in then.missed()])
        less = [max(share - 0.02, 0.0) for share in sure]
        share, *weights = (weight / sum(less) for weight in less)
        start, quiet, edges = now - now % 300, 1.0, []
        factors, size = [then.factor(place) for place in range(13)], then.size
        ahead: dict[tuple[int, int, int], tuple[float, float]] = {}
        for step in range(steps):
            at = self.local(start + 300 * step)
            key = at.weekday(), at.hour, at.minute // 5
            if key not in ahead:
                usual = (then.hour(at) if profile == "day" else then.cell(at)) / 12
                usual *= then.within(at) if profile == "week+minute" else 1.0
                others = zip(weights, then.others(at), strict=True)
                ahead[key] = usual, sum(weight * rate / 12 for weight, rate in others)
            usual, other = ahead[key]
            factor = factors[silence_class(start + 300 * step - self.last)]
            ended = 1 - exp(-usual * factor)  # by a cluster; after it the rate is the usual one
            expected = quiet * (ended * size + usual - ended / factor) + (1 - quiet) * usual
            quiet *= 1 - ended
            edges.append(share * expected + other)
        return edges


def hidden(curve: list[float], begin: float, ttl: float) -> float:
    """The integral of rate(u) (end - u) over a copy's life."""
    end, total = begin + ttl, 0.0
    for step in range(int(begin // 5), int(-(-end // 5))):
        low, high = max(begin, 5.0 * step), min(end, 5.0 * step + 5)
        total += curve[step] / 5 * ((end - low) ** 2 - (end - high) ** 2) / 2
    return total


def fetches(first: float, last: float) -> list[float]:
    """Four minutes at which a document is fetched."""
    return [first + (last - first) * part / 8 for part in (1, 3, 5, 7)]


def looked_ahead(curve: list[float], span: list[float], menu: list[int], worth: float) -> int:
    fits = [ttl for ttl in menu if fmean(hidden(curve, at, ttl) for at in span) <= worth]
    return max(fits, default=menu[0])


def best_chain(curve: list[float], first: float, last: float, menu: list[int], worth: float) -> int:
    """The ttl that begins the cheapest chain; every value tried in each of the 30 hours."""
    rate = sum(curve) / len(curve) / 5
    ideal = min(max(sqrt(2 * worth / rate), menu[0]), menu[-1])
    usual = worth / ideal + rate * ideal / 2
    quarters = 30 * 4
    value = {cell: -usual * cell * 15 for cell in range(quarters + menu[-1] // 15 + 3)}

    def to_come(minute: float) -> float:
        place = max(minute / 15 - 0.5, 0.0)
        low = int(place)
        return value[low] + (value[low + 1] - value[low]) * (place - low)

    for hour in range(29, -1, -1):
        tried = {}
        for ttl in menu:
            for cell in range(hour * 4 + 3, hour * 4 - 1, -1):
                at = (cell + 0.5) * 15
                value[cell] = worth + hidden(curve, last + at, ttl) + to_come(at + ttl)
            tried[ttl] = [value[cell] for cell in range(hour * 4, hour * 4 + 4)]
        best = min(tried.values(), key=sum)
        value.update(zip(range(hour * 4, hour * 4 + 4), best, strict=True))

    def cost(ttl: int) -> float:
        total = 0.0
        for at in fetches(first, last):
            then = at
            while then < last:
                total, then = total + worth + hidden(curve, then, ttl), then + ttl
            total += to_come(then - last)
        return total

    return max(min(menu, key=cost), looked_ahead(curve, fetches(first, last), menu, worth))


def habits(seed: int) -> list[int]:
    """A log with hours, weekdays, full minutes, bursts, a move of hours and a long silence."""
    rng, instants, at = Random(seed), [], BEGIN
    for day in range(70):
        hour = 7 if day < 45 else 15
        if day % 7 < 5 and not 20 < day < 37:
            for _ in range(rng.randrange(4)):
                at = BEGIN + day * DAY + 3600 * (hour - 10) + STEP * rng.randrange(30)
                instants += [at - at % 900, at + STEP * rng.randrange(1, 3)]
    return sorted(set(instants))


LOGS: dict[str, tuple[str, list[tuple[int, int]], list[int]]] = {
    "habits": ("America/New_York", [], habits(1)),
    "half hours": ("Australia/Lord_Howe", [], habits(2)),
    "watched in parts": (
        "Europe/Berlin",
        [(BEGIN - 5 * DAY, BEGIN + DAY), (BEGIN + 12 * DAY, BEGIN + 16 * DAY + 7200)],
        habits(3),
    ),
    "backdated": ("Asia/Kolkata", [], [*habits(4)[20:], habits(4)[3], BEGIN - 4 * DAY]),
    "slow": ("UTC", [], [BEGIN + STEP * (day * 288 + day * 97 % 61) for day in range(1, 40, 3)]),
    "young": ("UTC", [], [BEGIN + hour * 11_100 for hour in range(18)]),
}


@cache
def both(name: str) -> tuple[Blog, History]:
    """The log the long way, and as the live code has it."""
    zone, holes, times = LOGS[name]
    blog, empty = Blog(zone, holes), Activity.empty(zone).history(0)
    known = empty._replace(holes=[at for hole in holes for at in hole])
    for at in times:
        blog.add(at)
        known = after(known, at, HALF_LIFE_DAYS * DAY)
    return blog, known


@pytest.mark.parametrize("name", LOGS)
def test_what_is_learnt_is_what_the_theory_says(name: str) -> None:
    """The beliefs, and what is expected in the coming two days."""
    blog, known = both(name)
    assert known.beliefs == pytest.approx(blog.beliefs, rel=1e-9)
    for profile in ("day", "week", "week+minute"):
        rule = numbers(TtlRule.parse(profile=profile), HALF_LIFE_DAYS)
        for later in (0, 3 * 3600 + 660, 4 * DAY, 40 * DAY):
            now, work = blog.last + later, workspace(rule)
            choose(known, now, rule, work)
            steps = len(work.curve.number) - 1
            curve = blog.curve(now, profile, steps)
            steps_hidden = [later - sooner for sooner, later in pairwise(work.curve.number)]
            assert steps_hidden == pytest.approx(curve, rel=1e-6, abs=1e-12)
            waited = sum(5.0 * (steps - step - 0.5) * number for step, number in enumerate(curve))
            assert work.curve.waiting[steps] == pytest.approx(waited, rel=1e-9)


@pytest.mark.parametrize(
    ("name", "menu", "planner", "minutes"),
    [
        ("habits", "15/60/480", "planned", 10.0),
        ("habits", "20/50/500", "planned", 10.0),
        ("habits", "any:30-45", "planned", 5.0),
        ("half hours", "15/60/480", "planned", 25.0),
        ("half hours", "any:30-300", "auto", 10.0),
        ("watched in parts", "any:15-480", "auto", 10.0),
        ("backdated", "20/50/500", "planned", 30.0),
        ("backdated", "15/60/480", "planned", 10.0),
        ("slow", "15/60/480", "planned", 10.0),
        ("young", "15/60/480", "planned", 10.0),
    ],
)
def test_the_ttl_is_that_of_trying_every_value(
    name: str, menu: str, planner: str, minutes: float
) -> None:
    """At moments of a day each planner says what the search over all values says."""
    blog, known = both(name)
    setting = TtlRule.parse(menu=menu, planner=planner, poll_minutes=minutes)
    rule, values = numbers(setting, HALF_LIFE_DAYS), list(setting.menu.values)
    for later in (0, 1500, 5 * 3600 + 840, 17 * 3600 + 60):
        now, work = blog.last + later, workspace(rule)
        curve = blog.curve(now, "week+minute", len(work.curve.number) - 1)
        first, local = now % 300 / 60, blog.local(now)
        last = first + 60 - (local.minute + local.second / 60)
        if planner == "planned":
            wanted = best_chain(curve, first, last, values, minutes)
        else:
            wanted = looked_ahead(curve, fetches(first, last), values, minutes)
        assert choose(known, now, rule, work) == wanted, later
