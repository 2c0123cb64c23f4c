"""The river's settings."""

from dataclasses import dataclass

from publisher.dynamic_ttl.core.polling import parse
from publisher.installation.settings import choice, field_names, setting, whole


@dataclass(frozen=True)
class RiverSettings:
    """How other feeds are polled, and what is kept of them; docs/river.md explains each."""

    river_policy: str = setting("attentive", lambda text: parse(text.strip()).spec)
    river_keep_days: int = setting(90, whole(1, 36500))
    river_keep_items: int = setting(1000, whole(20, 1_000_000))
    river_keep_visit_days: int = setting(90, whole(1, 36500))
    river_host_delay_seconds: int = setting(2, whole(0, 3600))
    river_on_demand_minutes: int = setting(60, whole(1, 10_080))
    river_estimator: str = setting("changes", choice("changes", "nochanges"))
    river_visits: int = setting(5, whole(2, 1000))
    river_metadata: str = setting("", field_names)
