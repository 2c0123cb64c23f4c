"""The river's options: what a site's settings choose, and what is fixed for all sites."""

from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from publisher.parts.river.settings import RiverSettings


@dataclass(frozen=True, slots=True)
class RiverOptions:
    """Options of one river; defaults that a person can change stand in `RiverSettings`.

    Durations are by the site's clock, which runs `clock_speed` times as fast as the real one,
    except those named `real`.
    A redirect waits `patience_real_seconds` for the host it leads to.
    `locks_folder` holds the lock files by which processes of one computer take turns at machines.
    `policy` is for the feeds that have none of their own. `quarantine_polls` and
    `quarantine_hours` must both pass before a permanent redirect is believed.
    """

    policy: str = RiverSettings.river_policy
    contact_url: str = "http://127.0.0.1:8000/"
    allow_private: bool = False
    host_delay_seconds: float = RiverSettings.river_host_delay_seconds
    host_delay_ceiling_seconds: float = 3600.0
    jitter_share: float = 0.05
    jitter_ceiling_seconds: float = 300.0
    in_flight: int = 32
    per_address: int = 1
    starts_per_real_second: float = 20.0
    lease_real_seconds: float = 90.0
    patience_real_seconds: float = 10.0
    slow_down_minutes: float = 30.0
    unconditional_minutes: float = 1440.0
    unasked_floor_minutes: float = 60.0
    turnover_floor_minutes: float = 15.0
    on_demand_minutes: float = RiverSettings.river_on_demand_minutes
    quarantine_polls: int = 3
    quarantine_hours: float = 24.0
    clock_speed: float = 1.0
    locks_folder: Path | None = None

    @property
    def lease(self) -> timedelta:
        """How long a host is leased at a time, by the site's clock."""
        return timedelta(seconds=self.lease_real_seconds * self.clock_speed)
