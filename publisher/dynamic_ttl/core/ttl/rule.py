"""The author's settings of the ttl decision: as typed (`TtlRule`), and as the numbers that the
functions behind `decide` take (`RuleNumbers`)."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from ..civil import DAY_SECONDS, HOUR_SECONDS
from ..menu import Menu, parse_menu

DAY, WEEK, WEEK_MINUTE = 0, 1, 2
PROFILES = {"day": DAY, "week": WEEK, "week+minute": WEEK_MINUTE}
LOOK_AHEAD, PLANNED, WINERS = 0, 1, 2
AUTO, WINER = "auto", "winer"
PLANNERS = (AUTO, "planned", WINER)
EXACT, AS_TTL = "exact", "ttl"
FRESHNESS = (EXACT, AS_TTL)
MENU, PLANNER, PROFILE, POLL_MINUTES = "15/60/480", AUTO, "week+minute", 10.0

# Winer's rule, "Algorithm for ttl element" (2002): 15 minutes if the last update is less than an
# hour ago, 60 if less than three, otherwise 480.
WARM_UP_SECONDS, WARM_UP_MINUTES = (HOUR_SECONDS, 3 * HOUR_SECONDS), (15, 60, 480)
_NUMBERS = {"look-ahead": LOOK_AHEAD, "planned": PLANNED, WINER: WINERS}
HORIZON_HOURS = 30  # planned ahead, besides the longest ttl: a day and the next morning


class RuleNumbers(NamedTuple):
    """A `TtlRule` in numbers. menu, milestones, warm_up: minutes; all values of the menu, those
    tried for later documents, and the three nearest to Winer's. planner, profile: constants above.
    poll_minutes: minutes. half_life: seconds. exact: 1 if headers have their own forecast."""

    menu: Sequence[int]
    milestones: Sequence[int]
    warm_up: Sequence[int]
    planner: int
    profile: int
    poll_minutes: float
    half_life: int
    exact: int


@dataclass(frozen=True, slots=True)
class TtlRule:
    """The author's settings. poll_minutes: minutes of one update's delay that one poll is worth
    (the knob "fresher <-> quieter"). freshness: `exact`, the headers have a forecast of their own
    for the minute of the fetch; `ttl`, they say the ttl. The planner `winer` is Winer's rule of
    2002 and nothing else: with it no other setting has an effect."""

    menu: Menu = field(default_factory=lambda: parse_menu(MENU))
    planner: str = PLANNER
    profile: str = PROFILE
    poll_minutes: float = POLL_MINUTES
    freshness: str = EXACT

    @classmethod
    def parse(
        cls,
        menu: str = MENU,
        planner: str = PLANNER,
        profile: str = PROFILE,
        poll_minutes: str | float = POLL_MINUTES,
        freshness: str = EXACT,
    ) -> "TtlRule":
        """Parse settings as typed; a ValueError's message is one line for people."""
        rule = cls(
            parse_menu(menu),
            _known("planner", planner, PLANNERS),
            _known("profile", profile, tuple(PROFILES)),
            _minutes(poll_minutes),
            _known("freshness", freshness, FRESHNESS),
        )
        return cls(planner=WINER, freshness=AS_TTL) if planner == WINER else rule


def planner_for(name: str, menu: Menu) -> str:
    """The planner that `name` means with this `menu`. `auto`: `planned` for a coarse menu, where a
    long ttl must begin at the right time; `look-ahead` for one with (nearly) every value."""
    if name != AUTO:
        return name
    return "planned" if menu.coarse else "look-ahead"


@lru_cache(maxsize=64)
def numbers(rule: TtlRule, half_life_days: int) -> RuleNumbers:
    """`rule` as numbers for the functions behind `decide`."""
    return RuleNumbers(
        menu=rule.menu.values,
        milestones=rule.menu.milestones(),
        warm_up=tuple(rule.menu.nearest(minutes) for minutes in WARM_UP_MINUTES),
        planner=_NUMBERS[planner_for(rule.planner, rule.menu)],
        profile=PROFILES[rule.profile],
        poll_minutes=float(rule.poll_minutes),
        half_life=half_life_days * DAY_SECONDS,
        exact=int(rule.freshness == EXACT),
    )


def _known(kind: str, name: str, names: tuple[str, ...]) -> str:
    if name not in names:
        raise ValueError(f"unknown {kind} {name!r} (known: {', '.join(names)})")
    return name


def _minutes(value: str | float) -> float:
    try:
        number = float(value)
    except ValueError:
        raise ValueError(f"{value!r} is not a number of minutes") from None
    if not 0.0 < number <= 100_000.0:
        raise ValueError(f"{value} is not between 0 and 100000 minutes")
    return number
