"""The result of one poll, as a value (`Answer`) and as the columns that the rules read."""

from collections.abc import Iterable
from dataclasses import dataclass

# Columns of an answer as the rules see it. All are integers; ABSENT where there is no value.
STATUS = 0
NEW_ITEMS = 1
CHANGED = 2  # 1 when the content differs from the last poll's
TTL = 3  # seconds
MAX_AGE = 4  # seconds, as sent
AGE = 5  # seconds the copy had already spent in caches
EXPIRES = 6  # instant
UPDATE_PERIOD = 7  # seconds, from sy:updatePeriod / sy:updateFrequency
SKIP_HOURS = 8  # 24 bits, bit 0 = 00 h UTC
SKIP_DAYS = 9  # 7 bits, bit 0 = Monday
DATED = 10  # 1 when the new items carry their own dates
LAST_MODIFIED = 11  # instant of the newest change, by the server
ON_DEMAND = 12  # 1 when a person asked for this poll
COLUMNS = 13

ABSENT = -1
NOT_MODIFIED = 304


@dataclass(frozen=True)
class Answer:
    """One response of a feed's server. Instants are whole seconds since 1970, UTC.

    `status`: HTTP status (0: no response). `changed`: whether the content's hash differs from the
    last poll's; None: whether there are new items. `item_dates`: dates of the new items, in any
    order; empty where the feed does not date its items. `skip_hours`: hours of UTC (RSS 2.0);
    `skip_days`: 0 = Monday. `on_demand`: whether a person asked for this poll.
    """

    status: int
    new_items: int = 0
    changed: bool | None = None
    item_dates: tuple[int, ...] = ()
    ttl_minutes: int | None = None
    max_age_seconds: int | None = None
    age_seconds: int | None = None
    expires_at: int | None = None
    update_period_seconds: int | None = None
    skip_hours: frozenset[int] = frozenset()
    skip_days: frozenset[int] = frozenset()
    last_modified_at: int | None = None
    on_demand: bool = False

    @property
    def succeeded(self) -> bool:
        """Whether it is a 2xx or a 304: rules learn from these only, errors go elsewhere."""
        return 200 <= self.status < 300 or self.status == NOT_MODIFIED

    def columns(self) -> tuple[int, ...]:
        """The values of the columns above, in their order."""
        changed = self.new_items > 0 if self.changed is None else self.changed
        return (
            self.status,
            self.new_items,
            int(changed),
            ABSENT if self.ttl_minutes is None else self.ttl_minutes * 60,
            _or_absent(self.max_age_seconds),
            _or_absent(self.age_seconds),
            _or_absent(self.expires_at),
            _or_absent(self.update_period_seconds),
            _bits(self.skip_hours),
            _bits(self.skip_days),
            int(bool(self.item_dates)),
            _or_absent(self.last_modified_at),
            int(self.on_demand),
        )


def _or_absent(value: int | None) -> int:
    return ABSENT if value is None else value


def _bits(positions: Iterable[int]) -> int:
    return sum(1 << position for position in set(positions)) or ABSENT
