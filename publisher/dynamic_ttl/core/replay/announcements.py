"""What a feed announces over time: a document is built at each update and at each top of the local
hour, from the updates up to then.

The simulator compiles `publish`; `poll_worth_choices` runs it in plain Python.
"""

from collections.abc import MutableSequence, Sequence
from typing import NamedTuple

from ..civil import hour_end, hour_start
from ..ttl.choice import Workspace, choose
from ..ttl.counts import SLOTS, STEP_SECONDS, History
from ..ttl.headers import slot_of
from ..ttl.mixture import after
from ..ttl.rule import RuleNumbers

# The setting `etag`, when the tag changes: with the document; also every four hours in a long
# silence (`headers.renewal`); with new items only.
DOCUMENT, RENEWED, QUIET = 0, 1, 2
ETAGS = {"renewed": RENEWED, "document": DOCUMENT, "quiet": QUIET}


class Announced(NamedTuple):
    """What a feed announces, by instants. From ``built[i]`` on the document says ``ttls[i]``
    minutes. Consecutive equal documents are merged.

    By the headers a copy fetched from ``begins[i]`` on is good until ``expiries[i]``; both are
    empty where the headers say the ttl."""

    built: MutableSequence[int]
    ttls: MutableSequence[int]
    begins: MutableSequence[int]
    expiries: MutableSequence[int]


def publish(
    times: Sequence[int],
    start: int,
    end: int,
    history: History,
    rule: RuleNumbers,
    work: Workspace,
    documents: Announced,
) -> tuple[int, int]:
    """Fill `documents` from `start` to `end`; returns the number of documents and of expiries.

    history: the updates before `times[history.past.number]`. documents: has room for an entry at
    each update and each hour; and for an expiry at each five minutes and each update, or for none.
    """
    built, ttls = documents.built, documents.ttls
    number, headers, now = 0, 0, int(start)
    while now < end:
        while history.past.number < len(times) and times[history.past.number] <= now:
            history = after(history, int(times[history.past.number]), rule.half_life)
        ttl = choose(history, now, rule, work)
        if number == 0 or ttls[number - 1] != ttl:
            built[number] = now
            ttls[number] = ttl
            number += 1
        begin, now = now, hour_end(history.zone, now)
        known = history.past.number
        if known < len(times) and times[known] < now:
            now = int(times[known])
        if len(documents.begins) > 0:
            headers = head(history, begin, now, work.header.expiries, documents, headers)
    return number, headers


def head(
    history: History,
    begin: int,
    end: int,
    expiries: Sequence[int],
    documents: Announced,
    number: int,
) -> int:
    """Append the expiries from `begin` to `end`, within one hour; returns the new `number` of
    them."""
    top, at = hour_start(history.zone, begin), begin
    for slot in range(slot_of(history, begin), SLOTS):
        if at < end:
            documents.begins[number] = at
            documents.expiries[number] = expiries[slot]
            number += 1
            at = top + (slot + 1) * STEP_SECONDS
    return number
