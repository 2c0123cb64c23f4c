"""How each setting is shown to people: its words and its control. What is allowed is not here."""

from dataclasses import dataclass

from publisher.core.ttl.rule import PLANNERS, PROFILES
from publisher.feeds.podcasts import category_names
from publisher.settings import CHECKS


@dataclass(frozen=True)
class Control:
    """One setting in the form; `kind` is line, area, number, choice, radios, zone,
    address or freshness."""

    name: str
    label: str
    hint: str = ""
    kind: str = "line"
    options: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Group:
    """Settings that belong together; a folded group is shown closed until it is needed."""

    heading: str
    controls: tuple[Control, ...]
    folded: bool = False


_PROFILE_WORDS = {
    "day": "the hours of the day",
    "week": "the hours of the day, and the weekdays",
    "week+minute": "the hours of the day, the weekdays, and the minutes within an hour",
}
_PLANNER_WORDS = {
    "auto": "the way that suits the waiting times above",
    "look-ahead": "the longest wait that hides little enough",
    "planned": "the best course through the coming day",
}

_GROUPS = (
    Group(
        "The blog",
        (
            Control("title", "Title"),
            Control("description", "Description", "One sentence; it stands under the title."),
            Control("language", "Language", "Of your posts, as a code: en, de, pt-BR."),
            Control(
                "timezone",
                "Time zone",
                "Yours, or a large city near you. Dates are shown in it, and your day is counted "
                "in it; after a change it is counted anew.",
                "zone",
            ),
            Control(
                "site_url",
                "Address of the site",
                "Feeds, links and pictures name it. When the blog moves, change it here: posts "
                "keep their identity, so no reader shows them twice; subscribers come along only "
                "if the old address leads to the new one.",
                "address",
            ),
            Control("home_items", "Posts on a page", kind="number"),
        ),
    ),
    Group(
        "How often readers should check",
        (
            Control("poll_minutes", "Fresher or quieter", kind="freshness"),
            Control(
                "menu",
                "Waiting times to choose from",
                "Minutes with slashes between them: 15/60/480, or 15/45/135/405/1215, whose even "
                "steps do best of all short lists; or any, for every whole minute from 15 to "
                "1440; or any:30-720.",
            ),
            Control(
                "planner",
                "How the time is chosen",
                kind="choice",
                options=tuple((name, _PLANNER_WORDS.get(name, name)) for name in PLANNERS),
            ),
            Control(
                "freshness",
                "What the headers of each answer say",
                kind="radios",
                options=(
                    ("exact", "until when this very copy is good, to the minute"),
                    ("ttl", "the feed's waiting time"),
                ),
            ),
            Control(
                "skip_hours",
                "Hours in which nobody need come",
                kind="radios",
                options=(
                    ("off", "are not named"),
                    (
                        "learned",
                        "are named (skipHours) where they cost nobody a minute in your last weeks",
                    ),
                ),
            ),
            Control(
                "profile",
                "What to learn from",
                kind="choice",
                options=tuple((name, _PROFILE_WORDS.get(name, name)) for name in PROFILES),
            ),
        ),
    ),
    Group(
        "The feed",
        (
            Control("feed_items", "Posts in the feed", "Whole posts, the newest ones.", "number"),
            Control(
                "undo_seconds",
                "Seconds to undo",
                "A post from the studio waits this long before it enters the feed. What a reader "
                "has fetched cannot be taken back.",
                "number",
            ),
            Control(
                "old_feeds",
                "Former feed addresses",
                "Paths of the feed at its former home, such as /feed/ or /index.xml, one a line. "
                "They lead to the feed of today.",
                "area",
            ),
            Control(
                "etag",
                "When only the waiting time changes",
                kind="radios",
                options=(
                    (
                        "renewed",
                        "Readers fetch the feed again and learn it, in silence every four hours",
                    ),
                    ("document", "Readers fetch the feed again and learn the new time"),
                    ("quiet", "They hear that nothing is new: for very large feeds"),
                ),
            ),
            Control(
                "hubs",
                "WebSub hubs",
                "Addresses of hubs that are told of new posts, at most 5, one a line.",
                "area",
            ),
            Control("cloud", "rssCloud server", "The address of its pleaseNotify, or nothing."),
            Control(
                "source_markdown",
                "Beside the HTML, posts carry",
                kind="radios",
                options=(
                    ("on", "the Markdown they were written in, for readers that want it"),
                    ("off", "nothing else: a smaller feed"),
                ),
            ),
        ),
    ),
    Group(
        "Conversations",
        (
            Control(
                "webmention_send",
                "Pages that a post links to",
                "They are told by Webmention, where they take it: when the post is published, "
                "changed and deleted.",
                "radios",
                (("on", "are told"), ("off", "are not told")),
            ),
            Control(
                "webmention_receive",
                "Pages that link to a post",
                "They are looked at and then wait among your mentions, under Posts. Nothing is "
                "shown before you say so.",
                "radios",
                (("off", "cannot tell this blog"), ("on", "may tell this blog")),
            ),
        ),
    ),
    Group(
        "Podcast",
        (
            Control(
                "podcast_image",
                "Cover",
                "Address of a square JPEG or PNG, 1400 to 3000 pixels wide. Apple refuses a "
                "podcast without cover and category. These count once a post has a recording.",
            ),
            Control(
                "podcast_category",
                "Category",
                kind="choice",
                options=(("", "not chosen"), *((name, name) for name in category_names())),
            ),
            Control("podcast_author", "Who makes it", "Left empty, the title of the blog."),
            Control(
                "podcast_email",
                "E-mail of the owner",
                "Anybody can read it in the feed. Some directories write to it to make sure that "
                "the podcast is yours.",
            ),
            Control(
                "podcast_explicit",
                "Explicit",
                kind="radios",
                options=(("no", "for everybody"), ("yes", "has explicit language or subjects")),
            ),
            Control(
                "podcast_guid",
                "podcast:guid",
                "Of a podcast that comes from elsewhere; left empty, it is made once and stays.",
            ),
        ),
        folded=True,
    ),
    Group(
        "Who reads",
        (
            Control("readers_days", "Days to keep the counts of polls", kind="number"),
            Control(
                "fairness",
                "Abusive feed readers",
                kind="radios",
                options=(
                    ("off", "serve them"),
                    ("on", "ask them to slow down (429)"),
                ),
            ),
        ),
    ),
    Group(
        "The river",
        (
            Control("river_policy", "Policy of new feeds", "ttl, or another one by its name."),
            Control("river_host_delay_seconds", "Seconds between two requests to one site",
                    kind="number"),
            Control("river_on_demand_minutes", "Minutes between two polls by hand", kind="number"),
            Control("river_keep_days", "Days to keep items", kind="number"),
            Control("river_keep_items", "Items to keep of a feed", kind="number"),
            Control("river_keep_visit_days", "Days to keep the history of polls", kind="number"),
            Control(
                "river_estimator",
                "Estimator for observed pages",
                kind="choice",
                options=(("changes", "counts changes"), ("nochanges", "counts quiet visits")),
            ),
            Control("river_visits", "Visits to an estimate", kind="number"),
            Control("river_metadata", "Further fields to keep", "Names with spaces between them."),
        ),
        folded=True,
    ),
)  # fmt: skip


# These have pages of their own: `/studio/look` and `/studio/navigation`.
BACKUPS = ("backup_folder", "backup_hours", "backup_keep")
LOOK = ("look", "accent", "logo_shape", "header", "footer", "elsewhere", "home", "css", "css_on")
ON_OTHER_PAGES = {*BACKUPS, *LOOK, "logo", "icon", "navigation"}


def groups() -> tuple[Group, ...]:
    """All settings in groups; one that nobody has found words for comes last, by its name."""
    worded = ON_OTHER_PAGES | {control.name for group in _GROUPS for control in group.controls}
    others = tuple(Control(name, name) for name in CHECKS if name not in worded)
    known = tuple(
        Group(group.heading, tuple(c for c in group.controls if c.name in CHECKS), group.folded)
        for group in _GROUPS
    )
    return (*known, Group("Further settings", others, folded=True)) if others else known
