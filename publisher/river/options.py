"""What can be chosen about the river, with its defaults."""

from dataclasses import dataclass

from publisher.core.polling import PollPolicy, parse


@dataclass(frozen=True, slots=True)
class RiverOptions:
    """Settings of one river. Durations are of the site's clock, except where they say real.

    `policy` serves the feeds that have none of their own. `quarantine_polls` and
    `quarantine_hours` must both pass before a permanent redirect is believed.
    """

    policy: str = "attentive"
    contact_url: str = "http://127.0.0.1:8000/"
    allow_private: bool = False
    host_delay_seconds: float = 2.0
    host_delay_ceiling_seconds: float = 3600.0
    jitter_share: float = 0.05
    jitter_ceiling_seconds: float = 300.0
    in_flight: int = 32
    per_address: int = 1
    starts_per_real_second: float = 20.0
    lease_real_seconds: float = 600.0
    error_minutes: float = 30.0
    error_ceiling_minutes: float = 1440.0
    unconditional_minutes: float = 1440.0
    on_demand_minutes: float = 60.0
    quarantine_polls: int = 3
    quarantine_hours: float = 24.0
    keep_days: int = 90
    keep_items: int = 1000
    keep_visit_days: int = 90

    def policy_for(self, spec: str) -> PollPolicy:
        """The policy of a feed; SpecError for a name that nobody knows."""
        return parse(spec or self.policy)
