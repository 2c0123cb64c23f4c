"""The demonstration: believable, whole, the same each time, and never over somebody's blog."""

import random
from collections import Counter
from datetime import timedelta
from functools import cache
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from sqlalchemy import func, select

from publisher.base.environment import Environment
from publisher.base.errors import Conflict
from publisher.blog import update_log
from publisher.blog.members import authors
from publisher.blog.post_files.media import Accepted
from publisher.blog.writing import posts
from publisher.installation import Site, open_site
from publisher.parts.demo import build, readers_week
from publisher.parts.readers.reporting.programs import by_program
from publisher.parts.readers.reporting.push_arrivals import results
from publisher.parts.readers.reporting.report import make
from publisher.parts.river.tables import RiverFeed, RiverItem
from publisher.publishing.rebuild import rebuild
from publisher.publishing.signals import signals_at
from publisher.storage.tables.blog import Media, Post, Revision, Update
from tests.conftest import SITE_URL, FakeClock
from tests.databases import database_url
from tests.factories import PASSWORD, make_author


@cache
def prepared() -> dict[str, Accepted]:
    """The files, encoded once for all tests."""
    return build.files()


def fill(site: Site, seed: int = 1) -> None:
    build.store_files(site.environment.media, prepared())
    with site.database.write() as db:
        hashes = dict.fromkeys(build.PEOPLE, authors.hashed(PASSWORD))
        build.build(db, prepared(), hashes, random.Random(seed), site.clock())


def test_there_is_one_of_everything(site: Site, clock: FakeClock) -> None:
    """Notes, articles, pictures, code, tables, footnotes, an episode, drafts, a page."""
    fill(site)
    with site.database.read() as db:
        stored = db.scalars(select(Post)).all()
        states = Counter((post.kind, post.status) for post in stored)
        assert states[("post", "published")] >= 40
        assert states[("post", "scheduled")] == 1
        assert states[("post", "draft")] == 2
        assert states[("page", "published")] == 1
        html = "".join(post.html for post in stored)
        for wanted in (
            "<table",
            "<pre",
            "footnote",
            "<figure",
            "srcset",
            "<blockquote",
            "<s>",
            "gallery",
        ):
            assert wanted in html, wanted
        assert "{" not in "".join(post.source for post in stored if "![" in post.source)
        assert sum(not post.title for post in stored) >= 20
        (episode,) = [post for post in stored if post.enclosure_url]
        assert episode.enclosure_seconds == 30
        assert {post.author_id for post in stored} == {1, 2}
        assert db.scalar(select(func.max(Revision.version))) == 2
        assert authors.authenticate(db, "mara", PASSWORD).role == "admin"
        for row in db.scalars(select(Media)):
            assert list((site.environment.instance / "media").glob(f"{row.digest[:20]}*"))


def test_the_history_is_a_day(site: Site, clock: FakeClock) -> None:
    """Three months, none of it to come; the ttl is short by day and long by night."""
    fill(site)
    zone = ZoneInfo(build.ZONE)
    with site.database.read() as db:
        instants = db.scalars(select(Update.at).order_by(Update.at)).all()
        assert len(instants) > 800
        assert instants[-1] < clock()
        assert instants[0] < clock() - timedelta(days=85)
        hours = Counter(at.astimezone(zone).hour for at in instants)
        assert hours[9] > 10 * (hours[2] + 1)
        assert update_log.load(db).updates == len(instants)
        assert update_log.load(db) == update_log.at(db, clock())
    rebuild(site)
    nine = clock().replace(hour=9, minute=5)
    with site.database.read() as db:
        assert signals_at(db, nine).decision.ttl_minutes == 15
        assert signals_at(db, nine.replace(hour=23)).decision.ttl_minutes == 480


def test_the_same_seed_and_moment_give_the_same_blog(
    site: Site, clock: FakeClock, tmp_path: Path
) -> None:
    """Posts, addresses, dates and history repeat; another seed has another history."""

    def state_of(where: Site) -> tuple[list[object], list[object]]:
        with where.database.read() as db:
            texts = [
                (post.guid, post.slug, post.published_at, posts.content(db, post))
                for post in db.scalars(select(Post).order_by(Post.id))
            ]
            return list(texts), list(db.scalars(select(Update.at).order_by(Update.at)))

    copies = []
    for number, seed in enumerate((1, 2)):
        folder = tmp_path / str(number)
        url = database_url(folder)
        copies.append(open_site(Environment(folder, url, SITE_URL, "key"), clock))
        fill(copies[-1], seed)
    fill(site)
    assert state_of(site) == state_of(copies[0])
    assert state_of(site)[1] != state_of(copies[1])[1]
    for copy in copies:
        copy.database.close()


def test_a_blog_in_use_is_left_alone(site: Site) -> None:
    """One author is enough: nothing is written."""
    make_author(site)
    with pytest.raises(Conflict, match="in use"):
        fill(site)
    with site.database.read() as db:
        assert db.scalar(select(func.count()).select_from(Post)) == 0


def test_early_in_the_day_nothing_lies_ahead(clock: FakeClock) -> None:
    """A morning post of today that has not come yet belongs to yesterday."""
    midnight = clock().replace(hour=0, minute=5)
    at = build.moment(0, "09:00", midnight, ZoneInfo("UTC"))
    assert at == midnight.replace(hour=9, minute=0) - timedelta(days=1)


def test_a_week_of_readers_and_a_river(site: Site, clock: FakeClock) -> None:
    """Programs polite and not, pings and who came after them, and feeds that ask nobody."""
    fill(site)
    with site.database.write() as db:
        feeds = build.follow(db, clock())
    polls = readers_week.live(site, random.Random(1), clock())
    with site.database.read() as db:
        report = make(db, clock(), 7, 15)
        values = report.to_dict()
        pushed = results(db, report.begin)
        rows = {program.name: program for program in by_program(report.readers, {})}
        assert db.scalar(select(func.count()).select_from(RiverItem)) == 3 * feeds
        assert set(db.scalars(select(RiverFeed.state))) == {"paused"}
    assert values["totals"]["requests"] == polls
    assert len(rows["NetNewsWire"].readers) == 6
    assert rows["NetNewsWire"].verdicts.keys() == {"obedient"}
    assert len(rows["newsboat"].readers) == 3
    verdicts = {row["verdict"] for row in values["readers"] if row["kind"] == "reader"}
    assert verdicts == {"obedient", "fixed", "unconditional", "abusive"}
    assert values["delays"]["deliveries"] > 20
    assert any(target.arrivals and target.median_seconds for target in pushed)
