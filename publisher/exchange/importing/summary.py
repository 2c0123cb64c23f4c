"""The report of an import in sentences, before or after it."""

from collections.abc import Iterator

from publisher.base.plurals import counted
from publisher.exchange.importing.dry_run import Plan
from publisher.exchange.importing.imported import Batch


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
