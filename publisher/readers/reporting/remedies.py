"""Advice about a reader: whom to contact, a letter to send, and what the site can do itself."""

import re
from dataclasses import dataclass

from publisher.readers.reporting.reader import Reader
from publisher.readers.reporting.verdicts import (
    ABUSIVE,
    FIXED,
    OBEDIENT,
    PATIENT_SHARE,
    UNCONDITIONAL,
    mean_interval,
)

_ADDRESS = re.compile(r"https?://[^\s;,()<>\"']+")
_MAIL = re.compile(r"[\w.+-]+@[\w-]+\.[\w.-]+\w")


@dataclass(frozen=True, slots=True)
class Remedy:
    """`contact` is what the agent names, an address or a mailbox; `letter` may be sent there."""

    todo: str
    contact: str = ""
    letter: str = ""
    fairness: bool = False


def remedy(reader: Reader, feed_url: str) -> Remedy:
    """What can be done about this reader."""
    if reader.verdict == OBEDIENT:
        return Remedy("Nothing to do: it comes when the feed asks it to.", contact(reader.text))
    if reader.verdict == FIXED and reader.sums.early <= PATIENT_SHARE * reader.sums.intervals:
        todo = "Nothing to do: it comes less often than the feed allows."
        return Remedy(todo, contact(reader.text))
    wrong = {FIXED: _own_time, UNCONDITIONAL: _whole, ABUSIVE: _too_often}.get(reader.verdict)
    if reader.kind != "reader" and reader.verdict != ABUSIVE:
        return Remedy("Nothing to do: it is not a feed reader.")
    if wrong is None:
        return Remedy("Nothing to do yet: a few more visits will tell.", contact(reader.text))
    program = f"{reader.agent} {reader.version}".strip()
    letter = (
        f"Hello, {program} fetches {feed_url} {wrong(reader)} The feed says how long a copy is "
        "good, in <ttl> and in Cache-Control: max-age, and sends an ETag with each answer. Could "
        "it wait that long, and send the ETag back as If-None-Match? Most answers would then be "
        "an empty 304. Thank you."
    )
    todo = "Write to its author; most are glad to hear of it."
    careless = reader.verdict in (UNCONDITIONAL, ABUSIVE)
    return Remedy(todo, contact(reader.text), letter, careless)


def contact(agent: str) -> str:
    """The address or mailbox that a User-Agent names; nothing where it names none."""
    found = _ADDRESS.search(agent) or _MAIL.search(agent)
    return found[0].rstrip("./") if found else ""


def _own_time(reader: Reader) -> str:
    return f"about every {mean_interval(reader.sums)}, whatever the feed asks for."


def _whole(reader: Reader) -> str:
    return (
        f"whole each time: {reader.sums.full} documents in {reader.days:.0f} days, though it had "
        "most of them."
    )


def _too_often(reader: Reader) -> str:
    return f"every {mean_interval(reader.sums)}, which is more often than the feed ever asks."
