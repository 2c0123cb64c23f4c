"""How the studio shows the river's settings."""

from publisher.web.studio.preferences.setting_controls import Control, Group

GROUPS = (
    Group(
        "technical",
        "Following",
        (
            Control(
                "river_policy",
                "When to look at new feeds (poll policy)",
                "attentive, ttl or another one.",
            ),
            Control("river_host_delay_seconds", "Seconds between requests to the same site",
                    kind="number"),
            Control("river_on_demand_minutes", "Minutes between polls by hand", kind="number"),
            Control("river_keep_days", "Days to keep items", kind="number"),
            Control("river_keep_items", "Items to keep per feed", kind="number"),
            Control("river_keep_visit_days", "Days to keep the history of polls", kind="number"),
            Control(
                "river_estimator",
                "A crawler’s results: what is counted",
                kind="choice",
                options=(("changes", "changes"), ("nochanges", "visits without one")),
            ),
            Control("river_visits", "A crawler’s results: visits for an estimate", kind="number"),
            Control("river_metadata", "A crawler’s results: fields to keep",
                    "Names, separated by spaces."),
        ),
        folded=True,
    ),
)  # fmt: skip
