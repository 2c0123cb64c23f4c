"""`/readers`: who reads, how they poll, what the ttl saves; also erases all counts."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

from flask import Blueprint, render_template, request

from publisher.base.errors import InvalidInput
from publisher.base.text import whole_number
from publisher.installation.settings import load, load_settings
from publisher.part import other_feed
from publisher.parts.readers import store
from publisher.parts.readers.pages.counted import count_polls
from publisher.parts.readers.reporting import reach
from publisher.parts.readers.reporting.audience import AudienceReader, audience, people_in
from publisher.parts.readers.reporting.charts import chart
from publisher.parts.readers.reporting.programs import Program, by_program
from publisher.parts.readers.reporting.push_arrivals import results
from publisher.parts.readers.reporting.reader import Reader, Remedy, remedy
from publisher.parts.readers.reporting.report import make
from publisher.parts.readers.reporting.verdicts import VERDICTS, in_words
from publisher.parts.readers.settings import ReadersSettings
from publisher.publishing.rebuild import ADDRESSES, RSS
from publisher.web.context import admin_required, done, login_required, now, site

blueprint = Blueprint("readers", __name__)

DAYS = (1, 7, 30)
PROGRAMS, OF_ONE = 8, 60  # programs with people, and others; readers of a chosen program
MEANING = {
    "obedient": "comes back when the feed asks it to",
    "fixed": "comes on a schedule of its own",
    "unconditional": "downloads the whole feed every time",
    "abusive": "comes more often than the feed ever asks, and downloads everything",
    "too-few": "has not come often enough to tell, or cannot be told apart",
}


@dataclass(frozen=True)
class Shown:
    """The filters of the page; empty ones match all. mirror: "" for the blog's own feeds."""

    days: int
    program: str
    verdict: str
    mirror: str

    def matches(self, reader: Reader) -> bool:
        """Whether a reader passes the filters."""
        return self.program in ("", reader.agent) and self.verdict in ("", reader.verdict)


class Listed:
    """The programs that the page shows, in two lists: those that read for people, and others.

    Of each program one reader of each verdict is shown; of a chosen program all are.
    """

    def __init__(self, shown: Shown, followers: list[AudienceReader]) -> None:
        self.shown = shown
        self.people = people_in(followers)
        self._following = Counter[str]()
        for follower in followers:
            self._following[follower.program] += follower.people

    def programs(self, everybody: list[Reader]) -> tuple[list[Program], list[Program]]:
        """All that match, the most people first."""
        programs = by_program(filter(self.shown.matches, everybody), self._following)
        return (
            [program for program in programs if program.reads_for_people],
            [program for program in programs if not program.reads_for_people],
        )

    def of(self, program: Program) -> list[tuple[Reader, int]]:
        """Those of its readers that are shown, and how many each stands for."""
        if self.shown.program:
            return [(reader, 1) for reader in program.readers[:OF_ONE]]
        return program.alike()

    def readers(self, everybody: list[Reader]) -> list[Reader]:
        """The readers to show with all their figures."""
        groups = [program for part in self.programs(everybody) for program in part[:PROGRAMS]]
        return [reader for program in groups for reader, _ in self.of(program)]


@blueprint.get("/readers")
@login_required
def report() -> str:
    """The readers of the last days, by program."""
    shown = Shown(
        _days(request.args.get("days", "7")),
        request.args.get("program", "")[:100],
        _verdict(request.args.get("verdict", "")),
        request.args.get("mirror", ""),
    )
    count_polls()
    with site().database.read() as session:
        settings = load_settings(session)
        mirror = other_feed(site().parts, session, shown.mirror) if shown.mirror else None
        feed_url = site().site_url + (mirror.path if mirror else ADDRESSES[RSS])
        smallest = settings.rule.menu.smallest
        listed = Listed(shown, audience(session, now(), shown.mirror))
        figures = make(session, now(), shown.days, smallest, listed.readers, shown.mirror)
        groups = listed.programs(figures.readers)

        def rows(program: Program) -> list[tuple[dict[str, Any], Remedy, int]]:
            return [
                (reader.to_dict(figures.smallest_ttl_minutes), remedy(reader, feed_url), alike)
                for reader, alike in listed.of(program)
            ]

        return render_template(
            "readers/report.html",
            shown=shown,
            mirror=mirror,
            groups=[
                ([(program, rows(program)) for program in part[:PROGRAMS]], part[PROGRAMS:])
                for part in groups
            ],
            totals=figures.totals(),
            people=listed.people,
            delays=reach.delays_summary(figures.delays),
            chart=None if mirror else chart(session, figures.begin, figures.end, shown.program),
            push=results(session, figures.begin, shown.mirror),
            fairness=load(session, ReadersSettings).fairness,
            choices=DAYS,
            verdicts=VERDICTS,
            words=in_words,
            meaning=MEANING,
            privacy=store.privacy_text(settings.readers_days),
        )


@blueprint.post("/readers/erase")
@admin_required
def erase() -> Any:
    """Forget every count."""
    with site().database.write() as session:
        store.erase(session)
    return done("All counts have been erased.", "readers.report")


def _days(text: str) -> int:
    if not (days := whole_number(text, 400)):
        raise InvalidInput("the number of days is a whole number from 1 to 400")
    return days


def _verdict(text: str) -> str:
    if text and text not in VERDICTS:
        raise InvalidInput(f"there is no such verdict; known are {', '.join(VERDICTS)}")
    return text
