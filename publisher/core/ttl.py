"""The ttl decision: one pure function of the past, the queue of scheduled posts and the moment.

The document is built at g, the later of the last update and the top of the local hour, and served
until the next build; copies are read at any minute in between, and what is decided must be right
for all of them.

Until the histogram holds real data the warm-up rule of Dave Winer's "Algorithm for ttl element"
(2002) decides from the time since the last update; afterwards the planner looks forward through
the histogram.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from publisher.core.civil import (
    DAY_SECONDS,
    Zone,
    hour_end,
    hour_start,
    instant,
    local_second,
    seconds,
    zone_table,
)
from publisher.core.histogram import Activity, decay, exposure_days
from publisher.core.menu import Menu, parse_menu
from publisher.core.profile import (
    PROFILES,
    STEP_SECONDS,
    daily_rates,
    hidden,
    look_ahead,
    look_forward,
    number_by,
)

WARM_UP, PREDICTION = "warm-up", "prediction"
WARM_UP_DAYS = 7
WARM_UP_UPDATES = 20
WARM_UP_SECONDS, WARM_UP_MINUTES = (3600, 3 * 3600), (15, 60, 480)
PLANNERS = ("look-ahead",)
MENU, PLANNER, PROFILE, POLL_MINUTES = "15/60/480", "look-ahead", "day", 20.0


@dataclass(frozen=True, slots=True)
class TtlRule:
    """The author's settings. poll_minutes: minutes of one update's delay that one poll is worth
    (the knob "fresher <-> quieter")."""

    menu: Menu = field(default_factory=lambda: parse_menu(MENU))
    planner: str = PLANNER
    profile: str = PROFILE
    poll_minutes: float = POLL_MINUTES

    @classmethod
    def parse(
        cls,
        menu: str = MENU,
        planner: str = PLANNER,
        profile: str = PROFILE,
        poll_minutes: str | float = POLL_MINUTES,
    ) -> "TtlRule":
        """Read settings as people type them; ValueError is one clear line."""
        return cls(
            parse_menu(menu),
            _known("planner", planner, PLANNERS),
            _known("profile", profile, tuple(PROFILES)),
            _positive("poll_minutes", poll_minutes),
        )


@dataclass(frozen=True, slots=True)
class Refusal:
    """The next larger ttl and what it would have cost: minutes of hidden waiting."""

    ttl_minutes: int
    waiting_minutes: float


@dataclass(frozen=True, slots=True)
class Decision:
    """What the document built at `decided_at` says, and the numbers behind it.

    valid_until: when the document is built again if nothing is posted. reason_code: `empty`,
    `warm-up`, `look-ahead`, or `scheduled` where a scheduled post shortened the ttl.
    expected_updates: within ttl_minutes of decided_at. waiting_minutes: what a copy kept that
    long is expected to hide; refused: the next larger value of the menu. likely_at: beginning of
    the busiest hour of the coming 24.
    """

    zone: str
    decided_at: datetime
    valid_until: datetime
    ttl_minutes: int
    phase: str
    reason_code: str
    rule: TtlRule
    updates: int
    first_update: datetime | None
    last_update: datetime | None
    expected_updates: float = 0.0
    waiting_minutes: float = 0.0
    refused: Refusal | None = None
    likely_at: datetime | None = None
    scheduled_at: datetime | None = None
    unscheduled_ttl_minutes: int | None = None


@dataclass(frozen=True, slots=True)
class DayHour:
    """One hour of the day strip: decayed count, expected updates in it, the ttl it would get."""

    hour: int
    starts_at: datetime
    count: float
    expected_updates: float
    ttl_minutes: int


def build_moment(last_update: datetime | None, now: datetime, zone: str) -> datetime:
    """When the document served at `now` was built: the last update or the top of the local hour,
    whichever is later (updates after `now` must not be passed)."""
    table = zone_table(zone)
    top = hour_start(table.starts, table.offsets, seconds(now))
    return instant(top if last_update is None else max(top, seconds(last_update)))


def next_build(now: datetime, zone: str) -> datetime:
    """The top of the next local hour: when the document is built again if nothing is posted."""
    table = zone_table(zone)
    return instant(hour_end(table.starts, table.offsets, seconds(now)))


def warming_up(activity: Activity, now: datetime) -> bool:
    """Whether too little is known to predict: under 20 updates, or a first one under 7 days old."""
    if activity.first is None or activity.updates < WARM_UP_UPDATES:
        return True
    return seconds(now) - activity.first < WARM_UP_DAYS * DAY_SECONDS


def warm_up_minutes(silence_seconds: int) -> int:
    """Winer's rule: under an hour since the last update 15, under three 60, otherwise 480."""
    for limit, minutes in zip(WARM_UP_SECONDS, WARM_UP_MINUTES, strict=False):
        if silence_seconds < limit:
            return minutes
    return WARM_UP_MINUTES[-1]


def decide(
    activity: Activity, decided_at: datetime, rule: TtlRule, scheduled: Iterable[datetime] = ()
) -> Decision:
    """The ttl of the document built at `decided_at`.

    `activity` holds the updates up to that moment and no later ones; `scheduled` the times of
    posts still to come. ValueError if the activity knows the future.
    """
    if activity.last is not None and activity.last > seconds(decided_at):
        raise ValueError("the activity holds updates later than the moment of the decision")
    outlook = Outlook(activity, decided_at, rule)
    if warming_up(activity, decided_at):
        decision = _warm_up(activity, decided_at, rule)
    else:
        decision = outlook.decision(decided_at)
    decision = _capped(decision, scheduled)
    if decision.reason_code == "empty":
        return decision
    end = decided_at + timedelta(minutes=decision.ttl_minutes)
    return replace(decision, expected_updates=outlook.expected(decided_at, end))


def next_change_at(
    activity: Activity, decided_at: datetime, rule: TtlRule, scheduled: Iterable[datetime] = ()
) -> datetime | None:
    """When the ttl will next differ if nothing more is posted; None if not within two days.

    A scheduled post that appears is an update: the answer is never later than the first one.
    """
    queue = sorted(post for post in scheduled if post > decided_at)
    now = decide(activity, decided_at, rule, queue)
    at = now.valid_until
    while at < decided_at + timedelta(days=2):
        if queue and queue[0] <= at:
            return queue[0]
        if decide(activity, at, rule, queue).ttl_minutes != now.ttl_minutes:
            return at
        at = next_build(at, activity.zone)
    return None


def day_table(activity: Activity, now: datetime, rule: TtlRule) -> list[DayHour]:
    """The coming 24 civil hours as the day strip shows them, ordered by local hour.

    The ttl is what each hour would get if nothing new is posted. On the day of a clock change an
    hour that comes twice is shown once, and one that is left out is missing.
    """
    counts = activity.decayed(now)
    outlook = Outlook(activity, now, rule)
    at = build_moment(None, now, activity.zone)
    rows: dict[int, DayHour] = {}
    for _ in range(24):
        hour = outlook.local_hour(at)
        end = next_build(at, activity.zone)
        ttl = decide(activity, max(at, now), rule).ttl_minutes
        row = DayHour(hour, at, counts[hour], outlook.expected(at, end), ttl)
        rows.setdefault(hour, row)
        at = end
    return [rows[hour] for hour in sorted(rows)]


class Outlook:
    """The coming hours as the histogram sees them from `now`."""

    def __init__(self, activity: Activity, now: datetime, rule: TtlRule) -> None:
        self._activity, self._rule = activity, rule
        self._zone: Zone = zone_table(activity.zone)
        at = seconds(now)
        top = hour_start(self._zone.starts, self._zone.offsets, at)
        self._begin = top - top % STEP_SECONDS
        steps = (max(rule.menu.values[-1], 1440) + 120) // 5
        half_life = activity.half_life_days * DAY_SECONDS
        first = at if activity.first is None else activity.first
        hourly, weekly, within = [0.0] * 24, [0.0] * 7, [0.0] * 12
        daily_rates(
            PROFILES[rule.profile],
            activity.hours,
            activity.week,
            activity.minutes,
            decay(at - activity.as_of, half_life),
            exposure_days(first, at, half_life),
            hourly,
            weekly,
            within,
        )
        self._number, self._waiting = [0.0] * (steps + 1), [0.0] * (steps + 1)
        look_forward(
            self._zone.starts,
            self._zone.offsets,
            self._begin,
            steps,
            hourly,
            weekly,
            within,
            self._number,
            self._waiting,
        )

    def local_hour(self, at: datetime) -> int:
        """The author's civil hour at `at`."""
        return local_second(self._zone.starts, self._zone.offsets, seconds(at)) // 3600 % 24

    def expected(self, start: datetime, end: datetime) -> float:
        """Updates expected from `start` to `end`."""
        return number_by(self._number, self._minute(end)) - number_by(
            self._number, self._minute(start)
        )

    def decision(self, at: datetime) -> Decision:
        """The planner's word for the document built at `at`."""
        rule, activity = self._rule, self._activity
        end = next_build(at, activity.zone)
        values: Sequence[int] = rule.menu.values
        window = (self._minute(at), self._minute(end))
        place = look_ahead(self._number, self._waiting, *window, values, rule.poll_minutes)
        ttl, larger = values[place], rule.menu.next_above(values[place])
        return Decision(
            zone=activity.zone,
            decided_at=at,
            valid_until=end,
            ttl_minutes=ttl,
            phase=PREDICTION,
            reason_code=rule.planner,
            rule=rule,
            updates=activity.updates,
            first_update=activity.first_update,
            last_update=activity.last_update,
            waiting_minutes=self._hidden(window, ttl),
            refused=None if larger is None else Refusal(larger, self._hidden(window, larger)),
            likely_at=self._likely(end),
        )

    def _hidden(self, window: tuple[float, float], ttl: int) -> float:
        return hidden(self._number, self._waiting, *window, float(ttl))

    def _likely(self, end: datetime) -> datetime:
        hours = [end + timedelta(hours=ahead) for ahead in range(24)]
        return max(hours, key=lambda at: self.expected(at, at + timedelta(hours=1)))

    def _minute(self, at: datetime) -> float:
        return (seconds(at) - self._begin) / 60.0


def _warm_up(activity: Activity, at: datetime, rule: TtlRule) -> Decision:
    silence = 10**9 if activity.last is None else seconds(at) - activity.last
    return Decision(
        zone=activity.zone,
        decided_at=at,
        valid_until=next_build(at, activity.zone),
        ttl_minutes=rule.menu.nearest(warm_up_minutes(silence)),
        phase=WARM_UP,
        reason_code="empty" if activity.last is None else WARM_UP,
        rule=rule,
        updates=activity.updates,
        first_update=activity.first_update,
        last_update=activity.last_update,
    )


def _capped(decision: Decision, scheduled: Iterable[datetime]) -> Decision:
    """Shorten the ttl so that a copy read at any minute expires at most the smallest menu value
    after the next scheduled post."""
    post = min((at for at in scheduled if at > decision.decided_at), default=None)
    if post is None:
        return decision
    room = int((post - decision.valid_until).total_seconds() // 60) + decision.rule.menu.smallest
    ttl = decision.rule.menu.at_most(room)
    if ttl >= decision.ttl_minutes:
        return decision
    return replace(
        decision,
        ttl_minutes=ttl,
        reason_code="scheduled",
        scheduled_at=post,
        unscheduled_ttl_minutes=decision.ttl_minutes,
    )


def _known(kind: str, name: str, names: tuple[str, ...]) -> str:
    if name not in names:
        raise ValueError(f"unknown {kind} {name!r} (known: {', '.join(names)})")
    return name


def _positive(name: str, value: str | float) -> float:
    try:
        number = float(value)
    except ValueError:
        raise ValueError(f"{name}: {value!r} is not a number") from None
    if not 0.0 < number <= 100_000.0:
        raise ValueError(f"{name}: {value} is not between 0 and 100000")
    return number
