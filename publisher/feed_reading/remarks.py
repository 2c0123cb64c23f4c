"""Remarks on how a document was read: what was guessed, and what was dropped.

A reader of a feed sees a date, a text or a list of items; a remark says where one of them is not
what the document says, or not all of it.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Remark:
    """What was guessed or dropped in one document.

    `kind` is a stored name such as ``date-not-understood``, `sentence` says it to a person, with
    the first example; `count` is how often it happened. `is_loss`: something that the document had
    is missing or damaged now; else it was only guessed.
    """

    kind: str
    sentence: str
    count: int = 1
    is_loss: bool = False

    def as_json(self) -> dict[str, object]:
        """The remark by the names of its fields."""
        return {
            "kind": self.kind,
            "sentence": self.sentence,
            "count": self.count,
            "loss": self.is_loss,
        }


def gathered(remarks: Iterable[Remark]) -> tuple[Remark, ...]:
    """One remark of each kind, with the first one's sentence and the sum of the counts."""
    by_kind: dict[str, Remark] = {}
    for remark in remarks:
        before = by_kind.get(remark.kind)
        by_kind[remark.kind] = (
            replace(before, count=before.count + remark.count) if before else remark
        )
    return tuple(by_kind.values())


def base_guessed(count: int) -> tuple[Remark, ...]:
    """A remark on items whose relative addresses start from the document's own, for want of one."""
    sentence = (
        "The address of an item is relative, and the feed names no site: it is taken to start from "
        "the feed's own address."
    )
    return (Remark("base-guessed", sentence, count),) if count else ()


def ids_shared(count: int) -> tuple[Remark, ...]:
    """A remark on ids that several items have."""
    sentence = "Several items have one id: they are told apart by address, title and text."
    return (Remark("ids-shared", sentence, count),) if count else ()
