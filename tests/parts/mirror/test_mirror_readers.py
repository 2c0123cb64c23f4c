"""Each mirrored feed has readers of its own, its push, and its answer to what its day is worth."""

import json
from dataclasses import replace
from datetime import timedelta

import click
import pytest
from click.testing import CliRunner
from flask.testing import FlaskClient
from sqlalchemy import select

from publisher.base.environment import Environment
from publisher.cli import cli
from publisher.cli.timeline_sources import sources
from publisher.installation import Site
from publisher.installation.settings import load_settings
from publisher.other_feeds.feed_history import FeedHistory
from publisher.parts.mirror import mirrors
from publisher.parts.mirror.mirrors import build
from publisher.parts.mirror.tables import Mirror
from publisher.parts.readers.pages import worth
from publisher.parts.readers.reporting.push_arrivals import results
from publisher.parts.readers.reporting.report import make
from publisher.parts.readers.tables import Reach, ReaderOrigin
from publisher.publishing import snapshots
from publisher.simulator.timelines import Timeline
from publisher.storage.tables.publishing import Delivery
from publisher.web import background_commands
from tests.conftest import FakeClock
from tests.databases import work_on
from tests.factories import make_post
from tests.parts.readers.polls import FULL, NOT_MODIFIED, Counting, FakeDocument
from tests.parts.readers.test_worth import ROWS

TIDES, OWN = "/mirror/tides.xml", "/rss.xml"


@pytest.fixture
def mirror(site: Site, clock: FakeClock) -> Mirror:
    """One of which two months of mornings are known."""
    first = clock() - timedelta(days=60)
    updates = tuple(
        first + timedelta(days=day, minutes=17 * n) for day in range(60) for n in (0, 1)
    )
    with site.database.write() as session:
        made, _ = mirrors.add(session, "https://a.example/feed", "tides", "UTC", clock())
        made.history, made.title = FeedHistory("a", (), updates).to_json(), "Tides & time"
        session.flush()
        session.expunge(made)
    return made


@pytest.fixture
def counted(site: Site, clock: FakeClock, mirror: Mirror) -> Counting:
    """One address with one program that reads the blog and the mirrored feed, and a second."""
    assert mirror.path == TIDES
    counting, document = Counting(site), FakeDocument()
    for step in range(12):
        at = clock() + timedelta(minutes=15 * step)
        answer = NOT_MODIFIED if step else FULL
        tag = {"if_none_match": document.etag} if step else {}
        polls = [(TIDES, "Polite/1"), (OWN, "Polite/1"), (TIDES, "Hourly/1")]
        for path, agent in polls[: 1 if step % 4 else 3]:
            counting.poll(at, answer, document, path=path, agent=agent, **tag)
    clock.forward(hours=3)
    counting.fold()
    return counting


@pytest.mark.usefixtures("counted")
def test_who_reads_two_feeds_is_two_readers(site: Site, clock: FakeClock) -> None:
    """The counts of one feed hold nothing of another's."""
    with site.database.read() as session:
        ours, theirs = (make(session, clock(), 7, 15, mirror=name) for name in ("", "tides"))
        mix = worth.population(session, load_settings(session), clock(), "tides")
    assert [(r.agent, r.sums.requests) for r in ours.readers] == [("Polite", 3)]
    assert [(r.agent, r.sums.requests) for r in theirs.readers] == [("Polite", 12), ("Hourly", 3)]
    assert theirs.readers[0].verdict == "obedient"
    assert theirs.totals()["requests"] == 15
    assert mix.splitlines()[0] == "1 max-age"


def test_a_tag_from_before_a_new_ttl_is_known(site: Site, clock: FakeClock, mirror: Mirror) -> None:
    """A reader that brings back what it was given last night ignored nothing."""
    counting, held = Counting(site), dict[str, str]()
    for night, hour in enumerate((23, 9)):
        clock.moment = (clock() + timedelta(days=night)).replace(hour=hour, minute=2)
        with site.database.write() as session:
            row = mirrors.named(session, mirror.name)
            row.body, row.content_hash = b"<rss><channel><title>x</title></channel></rss>", "x"
            shown = build(site, session, row, clock())
            document = FakeDocument(shown.etag, shown.last_modified)
        counting.poll(clock(), FULL, document, path=TIDES, **held)
        held = {"if_none_match": document.etag}
    counting.fold()
    with site.database.read() as session:
        [reader] = make(session, clock(), 7, 15, mirror="tides").readers
    assert (reader.sums.invented, reader.sums.ttl_only) == (0, 1)
    with site.database.write() as session:
        mirrors.remove(session, mirror.name)
        assert snapshots.versions_since(session, TIDES, clock()) == []


def test_posts_of_the_blog_do_not_reach_a_mirror_s_readers(
    site: Site, clock: FakeClock, mirror: Mirror
) -> None:
    """A newer document of another blog brings no post of this one."""
    counting, old = Counting(site), FakeDocument(last_modified=clock())
    for path in (mirror.path, OWN):
        counting.poll(clock(), document=old, path=path)
    clock.forward(minutes=5)
    post = make_post(site).id
    clock.forward(minutes=5)
    counting.poll(clock(), document=FakeDocument('W/"two"', clock()), path=mirror.path)
    counting.fold()
    with site.database.read() as session:
        assert not session.scalars(select(Reach)).all()
    counting.poll(clock(), document=FakeDocument('W/"two"', clock()), path=OWN)
    counting.fold()
    with site.database.read() as session:
        reach = session.scalars(select(Reach)).one()
        assert (reach.post_id, list(reach.programs)) == (post, ["newsboat"])


def test_a_ping_belongs_to_the_feed_that_it_told_of(
    site: Site, clock: FakeClock, mirror: Mirror
) -> None:
    """Who comes for the mirrored feed came because of its ping."""
    counting = Counting(site)
    for path in (mirror.path, OWN):
        counting.poll(clock(), path=path)
    clock.forward(hours=1)
    with site.database.write() as session:
        for path in (mirror.path, OWN):
            session.add(
                Delivery(
                    protocol="websub", target="https://hub.example/", topic=f"https://x{path}",
                    created_at=clock(), delivered_at=clock(), attempts=1, answer="200",
                )
            )  # fmt: skip
    clock.forward(seconds=20)
    counting.poll(clock(), document=FakeDocument('W/"two"', clock()), path=mirror.path)
    counting.fold()
    with site.database.read() as session:
        (result,) = results(session, clock() - timedelta(days=1), "tides")
        (ours,) = results(session, clock() - timedelta(days=1))
    assert (result.pings, result.arrivals, result.median_seconds) == (1, 1, 20)
    assert (ours.pings, ours.arrivals) == (1, 0)


@pytest.mark.usefixtures("counted")
def test_the_pages(author: FlaskClient, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """The report of one feed, with links that stay with it; a name that nobody has is 404."""
    page = author.get("/readers?mirror=tides").text
    assert "Readers of Tides &amp; time" in page
    assert "Hourly" in page
    assert "mirror=tides&amp;days" in page or "days=1&amp;mirror=tides" in page
    assert "Hourly" not in author.get("/readers").text
    assert author.get("/readers?mirror=nobody").status_code == 404
    assert "/readers?mirror=tides" in author.get("/mirror").text
    begun: list[background_commands.State] = []
    monkeypatch.setattr(background_commands, "begin", lambda _site, state, *_: begun.append(state))
    assert "How much is knowing its day worth?" in author.get("/readers/worth?mirror=tides").text
    assert begun[0].name.endswith(":tides")
    background_commands.save(site, replace(begun[0], rows=tuple(ROWS)))
    assert "has it after 9 minutes, with 11" in author.get("/readers/worth?mirror=tides").text
    assert "This blog learns when posts usually come" in author.get("/readers/worth").text
    assert author.get("/readers/worth?mirror=nobody").status_code == 404


@pytest.mark.usefixtures("counted")
def test_the_commands(
    environment: Environment, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`readers --mirror` reports, `simulate --mirror` replays what was learned."""
    work_on(environment.instance, monkeypatch)
    done = CliRunner().invoke(cli, ["readers", "--days", "400", "--mirror", "tides", "--json"])
    assert done.exit_code == 0, done.exception
    assert "nameless_requests" in json.loads(done.stdout)["totals"]
    with click.Context(cli):  # its end closes what is opened
        (line,) = sources({
            "files": (), "timezone": None, "mine": False, "other_feed": "tides",
            "begin": clock() - timedelta(days=99),
            "end": None, "last_days": None, "score_days": None, "synthetic": None,
        })  # fmt: skip
    assert isinstance(line, Timeline)
    assert (line.name, line.zone, len(line.times)) == ("tides", "UTC", 120)
    for command in ("simulate", "readers"):
        unknown = CliRunner().invoke(cli, [command, "--mirror", "nobody"])
        assert getattr(unknown.exception, "exit_code", 0) == 2


@pytest.mark.usefixtures("counted")
def test_a_mirror_takes_its_readers_along(
    site: Site, clock: FakeClock, environment: Environment
) -> None:
    """Who read what is mirrored no more is forgotten; the blog's own readers are not."""
    done = CliRunner().invoke(cli, ["mirror", "remove", "tides"], env=environment.variables())
    assert (done.exit_code, done.output) == (0, "")
    with site.database.read() as session:
        ours, theirs = (make(session, clock(), 7, 15, mirror=name) for name in ("", "tides"))
        assert session.query(ReaderOrigin).count() == len(ours.readers) == 1
    assert theirs.readers == []
