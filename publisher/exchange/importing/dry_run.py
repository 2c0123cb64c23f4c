"""The plan of an import (which posts are new, known or changed), and its report in sentences."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from sqlalchemy import exists, select
from sqlalchemy.orm import Session, selectinload

from publisher.base.numerals import counted
from publisher.blog.writing import content
from publisher.blog.writing.content import Content
from publisher.exchange.importing.images import without_addresses
from publisher.exchange.importing.imported import Batch
from publisher.exchange.importing.preparation import Ready
from publisher.storage.tables.blog import Post, Revision, Update
from publisher.storage.tables.credentials import Author

_AT_ONCE = 500
_UNDATED = datetime.max.replace(tzinfo=UTC)  # drafts come last


@dataclass
class Plan:
    """New posts, oldest first; changed ones with our post id; how many are known or kept.

    `new` and `changed` have indices in `found`. `kept` are changed in the source and were edited
    here since: ours stay. `author_ids` maps a name in the source to one of our authors, "" to the
    author of all other posts. `counted`: instants of loaded history; a post of the same second was
    counted already. Of the new posts: how many there are by state, how many former `addresses` and
    `updates` they have, and the first and last moment of these.
    """

    found: Sequence[Ready] = ()
    new: list[int] = field(default_factory=list)
    changed: list[tuple[int, int]] = field(default_factory=list)
    known: int = 0
    kept: int = 0
    author_ids: dict[str, int] = field(default_factory=dict)
    strangers: Counter[str] = field(default_factory=Counter)
    counted: set[datetime] = field(default_factory=set)
    states: Counter[str] = field(default_factory=Counter)
    addresses: int = 0
    updates: int = 0
    span: tuple[datetime, datetime] | None = None

    def new_posts(self) -> Iterator[Ready]:
        """The new posts, read again one by one."""
        return (self.found[place] for place in self.new)

    def update_at(self, one: Ready) -> datetime | None:
        """When a new post is an update; None if it is none, or the log has counted it already."""
        return None if one.shown_at in self.counted else one.shown_at

    def author_id(self, names: Iterable[str]) -> int | None:
        """Our author for the first of `names` that we know."""
        known = (self.author_ids.get(name.casefold()) for name in [*names, ""])
        return next((author_id for author_id in known if author_id is not None), None)


def make_plan(
    session: Session,
    found: Sequence[Ready],
    everybody_else: Author | None,
    coming: Iterable[str] = (),
) -> Plan:
    """Compare the posts that were read with ours; writes nothing.

    Posts whose author we do not know go to `everybody_else`, or to nobody. `coming` are names of
    authors that the import will add, for a plan that is made before that.
    """
    plan = Plan(found, author_ids=_authors(session))
    fresh = session.scalar(select(Post.id).limit(1)) is None
    dates: dict[int, datetime] = {}
    for start in range(0, len(found), _AT_ONCE):
        some = found[start : start + _AT_ONCE]
        here = {} if fresh else _known(session, [one.post.guid for one in some])
        plan.counted |= _counted(session, {one.shown_at for one in some if one.shown_at})
        for place, one in enumerate(some, start):
            ours = here.get(one.post.guid)
            if ours is None:
                dates[place] = one.post.published_at or _UNDATED
                _count_new(plan, one, coming)
            elif same(ours.content, one.content):
                plan.known += 1
            elif ours.edited or ours.deleted:
                plan.kept += 1
            else:
                plan.changed.append((ours.post_id, place))
    plan.new = sorted(dates, key=dates.__getitem__)
    if everybody_else is not None:
        plan.author_ids[""] = everybody_else.id
    return plan


def _count_new(plan: Plan, one: Ready, coming: Iterable[str]) -> None:
    out = one.post.status == "published"
    plan.states["page" if out and one.content.kind == "page" else one.post.status] += 1
    plan.addresses += len(one.old_paths)
    if at := plan.update_at(one):
        first, last = plan.span or (at, at)
        plan.updates, plan.span = plan.updates + 1, (min(first, at), max(last, at))
    names = [name for name in one.post.by if name]
    if names and plan.author_id(names) is None and not set(names) & set(coming):
        plan.strangers[names[-1]] += 1


def same(here: Content, there: Content) -> bool:
    """Whether a post equals its source, whatever the addresses of copied pictures."""
    # The source is compared below; the slug that a post has here is ours to choose.
    if not content.same(here, there, but=("source", "slug")):
        return False
    ours, theirs = here.source, there.source
    if "/media/" in ours:
        ours, theirs = without_addresses(ours), without_addresses(theirs)
    return ours == theirs


@dataclass(frozen=True)
class _Here:
    """A post of ours; `edited` when a person has saved it here."""

    post_id: int
    content: Content
    edited: bool
    deleted: bool


def _known(session: Session, guids: Sequence[str]) -> dict[str, _Here]:
    """Those of our posts that have one of `guids`, some hundreds of them."""
    by_person = exists().where(Revision.post_id == Post.id, Revision.author_id.is_not(None))
    found = {}
    query = select(Post, by_person).where(Post.guid.in_(guids)).options(selectinload(Post.tags))
    for post, edited in session.execute(query):
        value = content.of_post(post, tuple(tag.name for tag in post.tags))
        found[post.guid] = _Here(post.id, value, edited, post.status == "deleted")
    session.expunge_all()
    return found


def _authors(session: Session) -> dict[str, int]:
    """Our authors by name; login names take precedence over display names."""
    rows = session.execute(select(Author.id, Author.name, Author.display_name)).all()
    shown = {display.casefold(): id_ for id_, _, display in rows}
    return shown | {name.casefold(): id_ for id_, name, _ in rows}


def _counted(session: Session, instants: set[datetime]) -> set[datetime]:
    known = select(Update.at).where(Update.kind == "loaded", Update.at.in_(instants))
    return set(session.scalars(known)) if instants else set()


def sentences(plan: Plan, batch: Batch) -> Iterator[str]:
    """One line per fact, its number first; facts with the number 0 are left out."""
    yield f"{counted(len(plan.new), 'new post')}{_states(plan)}"
    if plan.known:
        yield f"{counted(plan.known, 'known post')}, unchanged"
    if plan.changed:
        changed = counted(len(plan.changed), "known post")
        yield f"{changed}, changed in the source: a minor edit here"
    if plan.kept:
        yield f"{counted(plan.kept, 'known post')}, edited or deleted here since: left alone"
    if batch.site is not None:
        yield f"{counted(len(batch.site.updates), 'update')} in the log of the export"
    elif plan.span:
        begin, end = (f"{at:%Y-%m-%d}" for at in plan.span)
        dates = begin if begin == end else f"{begin} to {end}"
        yield f"counted in the day of this blog, by date: {counted(plan.updates, 'post')}, {dates}"
    if plan.addresses:
        yield f"{counted(plan.addresses, 'old address', 'old addresses')} to redirect"
    for name, number in plan.strangers.most_common(20):
        yield f"{counted(number, 'post')} by {name!r}, who is not an author here{_fate(plan)}"
    for note, number in batch.notes.most_common():
        yield f"{number} × {note}"


def _states(plan: Plan) -> str:
    """How many new posts have which state, in brackets."""
    states = ", ".join(f"{number} {state}" for state, number in plan.states.most_common())
    return f" ({states})" if states else ""


def _fate(plan: Plan) -> str:
    return ": given to the one you chose" if "" in plan.author_ids else ": without an author"
