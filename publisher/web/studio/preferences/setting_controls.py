"""How each setting is shown: its tab, its words and its control.

The checks are in `installation.settings`. Words of protocols stand in the technical tab only: the
others are for people who write.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace

from publisher.dynamic_ttl.core.ttl.rule import PLANNERS, PROFILES
from publisher.installation.podcast_categories import category_names
from publisher.installation.settings import names_of
from publisher.part import Part


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

    tab: str
    heading: str
    controls: tuple[Control, ...]
    folded: bool = False


TABS = {"blog": "The blog", "visits": "Readers’ visits", "technical": "Technical"}

_PROFILE_WORDS = {
    "day": "the hours of the day",
    "week": "the hours of the day, and the weekdays",
    "week+minute": "the hours of the day, the weekdays, and the minutes within an hour",
}
_PLANNER_WORDS = {
    "auto": "whichever suits the waiting times above",
    "planned": "the best plan for the coming day",
    "winer": "Winer’s rule of 2002: 15, 60 or 480 minutes; no other setting counts",
}

_GROUPS = (
    Group(
        "blog",
        "The blog",
        (
            Control("title", "Title"),
            Control("description", "Description", "One sentence, shown below the title."),
            Control("language", "Language", "Code of your posts’ language: en, de, pt-BR."),
            Control(
                "timezone",
                "Time zone",
                "Yours, or a large city near you. Posts are dated in this zone, and the blog "
                "learns your usual hours in it; after a change, from all posts again.",
                "zone",
            ),
            Control(
                "site_url",
                "Address of the site",
                "Used in feeds, links and pictures. When the blog moves, change it here: posts "
                "keep their identity, so no reader shows them twice; subscribers come along only "
                "if the old address redirects to the new one.",
                "address",
            ),
            Control("home_items", "Posts on a page", kind="number"),
            Control(
                "newsletter_url",
                "Address of your newsletter’s form",
                "A page elsewhere, such as at Buttondown, where people leave their e-mail address. "
                "Linked on Subscribe and below posts. May be empty.",
            ),
            Control(
                "show_hours",
                "Show readers when you usually publish",
                kind="choice",
                options=(
                    ("off", "no"),
                    ("subscribe", "on the page Subscribe"),
                    ("subscribe+about", "on the pages Subscribe and About"),
                ),
            ),
            Control(
                "undo_seconds",
                "Seconds to undo",
                "A post from the studio waits this long before it goes to readers. What a reader "
                "has fetched cannot be taken back.",
                "number",
            ),
        ),
    ),
    Group(
        "blog",
        "Podcast",
        (
            Control(
                "podcast_image",
                "Cover",
                "Address of a square JPEG or PNG, 1400 to 3000 pixels wide. Apple refuses a "
                "podcast without cover and category. All this takes effect once a post has audio.",
            ),
            Control(
                "podcast_category",
                "Category",
                kind="choice",
                options=(("", "not chosen"), *((name, name) for name in category_names())),
            ),
            Control("podcast_author", "Who makes it", "If left empty, the blog’s title."),
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
        ),
        folded=True,
    ),
    Group(
        "visits",
        "How long people wait",
        (
            Control("poll_minutes", "Fresher or quieter", kind="freshness"),
        ),
    ),
    Group(
        "visits",
        "Visits",
        (
            Control(
                "readers_days", "Days to keep the counts of visits", kind="number"
            ),
        ),
    ),
    Group(
        "technical",
        "The waiting time",
        (
            Control(
                "menu",
                "Waiting times to choose from",
                "Minutes, separated by slashes: 15/60/480. Of short lists, those with even ratios "
                "do best: 15/45/135/405/1215. Or any, for every whole minute from 15 to 1440, or "
                "any:30-720.",
            ),
            Control(
                "planner",
                "How the time is chosen",
                kind="choice",
                options=tuple((name, _PLANNER_WORDS.get(name, name)) for name in PLANNERS),
            ),
            Control(
                "freshness",
                "What the headers say",
                kind="radios",
                options=(
                    ("exact", "how long this copy is valid, to the minute"),
                    ("ttl", "the feed’s waiting time"),
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
        "technical",
        "The feed",
        (
            Control("feed_items", "Posts in the feed", "The newest posts, in full.", "number"),
            Control(
                "old_feeds",
                "Former feed addresses",
                "Paths of the feed at its former home, such as /feed/ or /index.xml, one per line. "
                "They redirect to the current feed.",
                "area",
            ),
            Control(
                "etag",
                "When only the waiting time changes",
                kind="radios",
                options=(
                    (
                        "renewed",
                        "Readers fetch the feed again to learn it, in quiet times every four hours",
                    ),
                    ("document", "Readers fetch the feed again to learn it"),
                    ("quiet", "Readers are told that nothing is new (for very large feeds)"),
                ),
            ),
            Control(
                "hubs",
                "WebSub hubs",
                "Addresses of hubs to notify of new posts, at most 5, one per line.",
                "area",
            ),
            Control("cloud", "rssCloud server", "The address of its pleaseNotify. May be empty."),
            Control(
                "source_markdown",
                "Include the Markdown source in the feed",
                "For the few readers that edit or quote. Each text is then in the feed twice.",
                "radios",
                (("off", "no"), ("on", "yes")),
            ),
            Control(
                "podcast_guid",
                "podcast:guid",
                "Only for a podcast that moved here. If left empty, one is made and kept.",
            ),
        ),
    ),
)  # fmt: skip

# These have pages of their own: `/studio/moving`, `/studio/look` and `/studio/navigation`.
BACKUPS = ("backup_folder", "backup_hours", "backup_keep")
LOOK = ("look", "accent", "logo_shape", "header", "footer", "elsewhere", "home", "css", "css_on")
ON_OTHER_PAGES = {*BACKUPS, *LOOK, "logo", "icon", "navigation"}


def groups(parts: Iterable[Part]) -> list[Group]:
    """All settings of the site and of these parts in groups; controls of one heading stand
    together. A setting without a control comes last, under its name."""
    on = list(parts)
    joined = {(group.tab, group.heading): group for group in _GROUPS}
    for group in (group for part in on if part.controls for group in part.load(part.controls)):
        first = joined.get((group.tab, group.heading), replace(group, controls=()))
        joined[group.tab, group.heading] = replace(first, controls=first.controls + group.controls)
    worded = ON_OTHER_PAGES | {c.name for group in joined.values() for c in group.controls}
    unworded = tuple(Control(name, name) for name in names_of(on) if name not in worded)
    further = Group("technical", "Further settings", unworded, folded=True)
    return [*joined.values(), *([further] if unworded else ())]


def shown(parts: Iterable[Part], tab: str, sent: Collection[str] = ()) -> list[Group]:
    """The groups of a tab; of other tabs the settings that were `sent` with a refused form."""
    visible = [
        group if group.tab == tab
        else replace(group, controls=tuple(c for c in group.controls if c.name in sent))
        for group in groups(parts)
    ]  # fmt: skip
    return [group for group in visible if group.controls]
