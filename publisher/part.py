"""A part of the blog that it can do without, as the engine sees it: one value for each folder of
`publisher/parts`, and the choice among them.

`publisher/parts/NAME/part.py` holds the value `PART`. Whatever costs an import is a reference in it
("pages:blueprint": a module of the part, and a name in that module), which the engine follows where
it is needed. The environment variable PUBLISHER_PARTS names the parts that are on.

Of a part that is off, the engine still uses `tables`, `upkeep`, `expendable`, `reserved` and the
hooks `end_logins`, `end_tokens`, `forget_feed`, `keeps_file` and `index_all`: what is stored stays,
is backed up and tidied by age, and is there again when the part is.
"""

import importlib
import pkgutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any, Literal

from publisher.base.errors import InvalidInput, PublisherError

NONE = "none"


@dataclass(frozen=True)
class Command:
    """A command of the command line: the reference of its function, and its line in `--help`."""

    function: str
    purpose: str


@dataclass(frozen=True)
class MenuLink:
    """A link in the studio's menu, sorted by `order`; a page names the `room` that it is in."""

    room: str
    label: str
    address: str
    order: int


@dataclass(frozen=True)
class Figure:
    """A number that `/metrics` shows, or one for each state."""

    name: str
    meaning: str
    value: float | Mapping[str, int]


@dataclass(frozen=True)
class OtherFeed:
    """A feed of another site that a part serves here, at `/PART/NAME.xml`."""

    name: str
    title: str
    path: str
    url: str
    timezone: str
    updates: tuple[datetime, ...]


# What the engine calls, with what, for which result.
Hook = Literal[
    # Site: what is told of each answered poll (`serving.front.PollListener`); of one part at most.
    "poll_listener",
    # Session: first steps for a new author (words, address of the page, whether done).
    "first_steps",
    # Session, an author's id, a number: title and text of a new post about that.
    "text_about",
    # Job (`exchange.jobs`), the path of its file: the command that does it, if it is this part's.
    "long_job",
    # A file's name, standard input, a civil clock: the times at which its posts were published.
    "published_times",
    # Session: the path of a public list of feeds that the blog's own feed names, or "".
    "blogroll",
    # Session, the present moment: Figures for `/metrics`.
    "figures",
    # Session, a post whose text has been written.
    "text_written",
    # Session, a post that has been published, changed for readers, taken back, deleted or restored,
    # its path, the present moment, the HTML before a change.
    "public_change",
    # Session, a post's HTML: the same with addresses that stand alone as they show.
    "show_links",
    # Session, the mark of a file (`media.mark`): why it must stay, or "".
    "keeps_file",
    # Session, an author: ends the ways in that the part gives, besides the password.
    "end_logins",
    # The same for what the part gives out that is as good as a token.
    "end_tokens",
    # Session, name: the OtherFeed that is served here by that name; NotFound for none.
    "other_feed",
    # Session, name of an OtherFeed that is no longer served here.
    "forget_feed",
    # Session: fills the part's search index, which is empty.
    "index_all",
]


@dataclass(frozen=True)
class Part:
    """Everything that the engine knows of a part; CONTRIBUTING.md has a recipe."""

    name: str
    # Parts that it imports; it cannot be on without them.
    needs: tuple[str, ...] = ()
    # First words of its addresses, which no page of the blog may have as its name.
    reserved: tuple[str, ...] = ()
    # How the addresses of its pages behind the login begin: in English, and nothing for crawlers.
    behind_login: tuple[str, ...] = ()
    blueprints: tuple[str, ...] = ()
    # Names of its blueprints for programs: they take no cookie, so forged requests do no harm.
    programs: tuple[str, ...] = ()
    # How many bytes may be sent to addresses that begin so, where that is more than to others.
    body_limits: tuple[tuple[str, int], ...] = ()
    # Addresses to which programs send long forms, which are read once a token is in the head.
    long_forms: tuple[str, ...] = ()
    commands: Mapping[str, Command] = field(default_factory=dict)
    # What tokens of programs may be for, and in words.
    scopes: Mapping[str, str] = field(default_factory=dict)
    # The module with its tables.
    tables: str = ""
    # A dataclass of checked fields (`installation.settings.setting`), and the groups in which the
    # studio shows them (`setting_controls.Group`).
    settings: str = ""
    controls: str = ""
    # Functions of the scheduler process: jobs take a site and return the seconds until they should
    # run again; workers take a site and an event, in a thread of their own, until that is set;
    # upkeep takes a site and runs every hour.
    jobs: tuple[str, ...] = ()
    workers: tuple[str, ...] = ()
    upkeep: tuple[str, ...] = ()
    # Kinds of rows in the outbox, and what sends them (`outbox.Send`).
    senders: Mapping[str, str] = field(default_factory=dict)
    menu: tuple[MenuLink, ...] = ()
    # Places on the engine's pages, and the function that returns the HTML for each.
    places: Mapping[str, str] = field(default_factory=dict)
    # Functions that the engine calls at a Hook.
    hooks: Mapping[Hook, str] = field(default_factory=dict)
    # Tables that begin anew, empty, where they are damaged: no post is lost with them.
    expendable: tuple[str, ...] = ()

    def load(self, reference: str) -> Any:
        """What a reference of this part leads to: a module, or a name in one."""
        module, _, name = reference.partition(":")
        loaded = importlib.import_module(f"publisher.parts.{self.name}.{module}")
        return getattr(loaded, name) if name else loaded


@cache
def all_parts() -> Mapping[str, Part]:
    """All parts by their names, whether they are on or off."""
    folders = pkgutil.iter_modules([str(Path(__file__).parent / "parts")])
    names = sorted(folder.name for folder in folders)
    return {name: importlib.import_module(f"publisher.parts.{name}.part").PART for name in names}


@cache
def chosen(text: str) -> tuple[Part, ...]:
    """The parts that PUBLISHER_PARTS names: separated by commas; all if empty, `none` for none.

    Raises InvalidInput for a name that is unknown, and for a part without one that it needs.
    """
    names = {name for word in text.split(",") if (name := word.strip())} or set(all_parts())
    names -= {NONE} if names == {NONE} else set()
    if unknown := sorted(names - set(all_parts())):
        raise InvalidInput(
            f"PUBLISHER_PARTS: there is no part {unknown[0]!r} "
            f"(known: {', '.join(all_parts())}, or {NONE})"
        )
    for name in sorted(names):
        if missing := sorted(set(all_parts()[name].needs) - names):
            raise InvalidInput(f"PUBLISHER_PARTS: {name} needs {', '.join(missing)} too")
    return tuple(part for name, part in all_parts().items() if name in names)


def hooked(parts: Iterable[Part], hook: Hook) -> Iterator[Callable[..., Any]]:
    """The functions that parts have at a hook."""
    return (part.load(part.hooks[hook]) for part in parts if hook in part.hooks)


def every_hooked(hook: Hook) -> Iterator[Callable[..., Any]]:
    """The functions at a hook of all parts, on or off."""
    return hooked(all_parts().values(), hook)


def only_hooked(parts: Iterable[Part], hook: Hook) -> Callable[..., Any]:
    """The function at a hook that one part has; PartOff if that is off."""
    for function in hooked(parts, hook):
        return function
    raise PartOff(next(name for name, part in all_parts().items() if hook in part.hooks))


def other_feed(parts: Iterable[Part], session: Any, name: str) -> OtherFeed:
    """The feed of another site that is served here by a name; NotFound for none."""
    feed: OtherFeed = only_hooked(parts, "other_feed")(session, name)
    return feed


@cache
def _other_feed_folders() -> tuple[str, ...]:
    return tuple(f"/{part.name}/" for part in all_parts().values() if "other_feed" in part.hooks)


def other_feed_at(path: str) -> str:
    """The name of the OtherFeed that is served at a path; "" for the blog's own feeds."""
    for folder in _other_feed_folders():
        if path.startswith(folder) and path.endswith(".xml"):
            return path[len(folder) : -len(".xml")]
    return ""


class PartOff(PublisherError):
    """Something was asked of a part that is off."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"the part {name} is off: name it in PUBLISHER_PARTS, or leave that empty for all parts"
        )


def load_tables() -> None:
    """Import the tables of all parts, on or off: they are the database's."""
    for part in all_parts().values():
        if part.tables:
            part.load(part.tables)
