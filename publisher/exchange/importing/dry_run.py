"""The plan of an import: which posts are new, which are known, which have changed."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from sqlalchemy import exists, select
from sqlalchemy.orm import Session, selectinload

from publisher.blog import content
from publisher.blog.content import Content
from publisher.exchange.importing.images import without_addresses
from publisher.exchange.importing.preparation import Ready
from publisher.storage.tables.blog import Author, Post, Revision, Update

_AT_ONCE = 500


@dataclass
class Plan:
    """New posts; changed ones with their number here; how many others are known or kept.

    `kept` are changed in the source and were edited here since: ours stay. `author_ids` maps a name
    that the source uses to one of our authors, "" to who gets everybody else's posts. `counted`:
    instants of loaded history; a post of that very second was counted already. `fresh`: there was
    no post here before.
    """

    new: list[Ready] = field(default_factory=list)
    changed: list[tuple[int, Ready]] = field(default_factory=list)
    known: int = 0
    kept: int = 0
    author_ids: dict[str, int] = field(default_factory=dict)
    strangers: Counter[str] = field(default_factory=Counter)
    counted: frozenset[datetime] = frozenset()
    fresh: bool = False

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
    """Compare what was read with what is here; reads only.

    Posts whose author we do not know go to `everybody_else`, or to nobody. `coming` are authors
    that the import brings along, for a plan that is made before they are here.
    """
    plan = Plan(author_ids=_authors(session), counted=_counted(session))
    plan.fresh = session.scalar(select(Post.id).limit(1)) is None
    here = {} if plan.fresh else _known(session, [one.post.guid for one in found])
    for one in found:
        ours = here.get(one.post.guid)
        if ours is None:
            plan.new.append(one)
        elif same(ours.content, one.content):
            plan.known += 1
        elif ours.edited or ours.deleted:
            plan.kept += 1
        else:
            plan.changed.append((ours.post_id, one))
    for one in plan.new:
        names = [name for name in one.post.by if name]
        if names and plan.author_id(names) is None and not set(names) & set(coming):
            plan.strangers[names[-1]] += 1
    if everybody_else is not None:
        plan.author_ids[""] = everybody_else.id
    return plan


def same(here: Content, there: Content) -> bool:
    """Whether a post says what its source says; where pictures were fetched does not matter."""
    # The source is compared below; the address that a post has here is ours to choose.
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
    """Those of our posts that have one of `guids`."""
    by_person = exists().where(Revision.post_id == Post.id, Revision.author_id.is_not(None))
    found = {}
    for start in range(0, len(guids), _AT_ONCE):
        some = guids[start : start + _AT_ONCE]
        query = select(Post, by_person).where(Post.guid.in_(some)).options(selectinload(Post.tags))
        for post, edited in session.execute(query):
            value = content.of_post(post, tuple(tag.name for tag in post.tags))
            found[post.guid] = _Here(post.id, value, edited, post.status == "deleted")
        session.expunge_all()
    return found


def _authors(session: Session) -> dict[str, int]:
    """Our authors by what they are called; names to log in with come before names to show."""
    rows = session.execute(select(Author.id, Author.name, Author.display_name)).all()
    shown = {display.casefold(): id_ for id_, _, display in rows}
    return shown | {name.casefold(): id_ for id_, name, _ in rows}


def _counted(session: Session) -> frozenset[datetime]:
    return frozenset(session.scalars(select(Update.at).where(Update.kind == "loaded")))
