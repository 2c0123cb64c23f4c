"""What the engine knows of the part that counts readers."""

from publisher.part import Command, MenuLink, Part

PART = Part(
    name="readers",
    reserved=("readers",),
    behind_login=("/readers",),
    tables="tables",
    blueprints=(
        "pages.report:blueprint",
        "pages.worth:blueprint",
        "pages.worth:advise_blueprint",
        "pages.summary:blueprint",
    ),
    expendable=(
        "poll_flushes",
        "fold_parts",
        "reader_clients",
        "reader_origins",
        "reader_feeds",
        "reader_days",
        "poll_hours",
        "poll_sources",
        "log_positions",
        "log_requests",
        "update_reach",
        "program_days",
        "push_arrivals",
    ),
    commands={
        "readers": Command("command:readers", "who reads, how they poll, what the ttl saves")
    },
    jobs=("jobs:fold_polls",),
    upkeep=("jobs:prune_polls",),
    settings="settings:ReadersSettings",
    controls="pages.controls:GROUPS",
    menu=(MenuLink("readers", "Readers", "/readers", 30),),
    hooks={
        "poll_listener": "jobs:poll_listener",
        "forget_feed": "store:forget_mirror",
        "first_steps": "pages.places:first_steps",
    },
    places={
        "publish-now": "pages.places:publish_now",
        "publish-later": "pages.places:publish_later",
        "progress": "pages.places:progress",
        "post-link": "pages.places:post_link",
        "room-styles": "pages.places:room_styles",
        "visits": "pages.places:visits",
        "home-month": "pages.places:home_month",
        "posts-heads": "pages.places:posts_heads",
        "posts-cells": "pages.places:posts_cells",
        "posts-note": "pages.places:posts_note",
        "feed-week": "pages.places:feed_week",
    },
)
