"""The dates of one document, understood with the help of each other; what is not is remarked."""

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import cached_property

from publisher.base.written_dates import AmbiguousDate, NotADate, Usage, parse_written
from publisher.feed_reading.remarks import Remark, gathered

_FIRST_SEEN = "the moment at which the item was first seen counts instead"


class FeedDates:
    """Reads the dates of a document. `usage` says how it writes them, and is asked only where a
    date can mean several instants."""

    def __init__(self, usage: Callable[[], Usage]) -> None:
        self._asked = usage
        self._remarks: list[Remark] = []

    @cached_property
    def _usage(self) -> Usage:
        return self._asked()

    def read(self, texts: Sequence[str]) -> datetime | None:
        """The first of an item's dates that is understood; None, with a remark, if none is."""
        remark = None
        for text in texts:
            try:
                return self._moment(text)
            except AmbiguousDate as problem:
                why = f"{problem}, and nothing in the feed tells which is meant: {_FIRST_SEEN}."
                remark = remark or Remark("date-ambiguous", why[:1].upper() + why[1:])
            except NotADate:
                what = f"A date is not understood ({text[:60]!r}): {_FIRST_SEEN}."
                remark = remark or Remark("date-not-understood", what)
        if remark is not None:
            self._remarks.append(remark)
        return None

    def _moment(self, text: str) -> datetime:
        try:
            return parse_written(text)
        except AmbiguousDate:
            return parse_written(text, usage=self._usage)

    @property
    def remarks(self) -> tuple[Remark, ...]:
        """What was not understood so far."""
        return gathered(self._remarks)
