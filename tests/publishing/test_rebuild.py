"""The build of the documents: what moves which date, and when a build is due."""

import re
from concurrent.futures import ThreadPoolExecutor, wait
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

import pytest
from sqlalchemy import event, func, select

from publisher.base.media_files import Attachment
from publisher.blog import update_log
from publisher.blog.members import authors
from publisher.blog.writing import posts
from publisher.installation import Site
from publisher.installation.settings import store_setting
from publisher.publishing.rebuild import ADDRESSES, document_at, rebuild, rebuild_if_due
from publisher.publishing.snapshots import freshness, served
from publisher.storage.tables.blog import Update
from publisher.storage.tables.publishing import Snapshot
from tests.conftest import SITE_URL, FakeClock
from tests.factories import content, delete_post, make_author, make_post, set_settings
from tests.feeds.samples import parse, texts


def element(row: Snapshot, path: str) -> list[str]:
    """The texts of the elements at `path` in the main feed."""
    return texts(parse(row.body), path)


def built_on(row: Snapshot) -> str:
    """The feed's lastBuildDate."""
    (date,) = element(row, "channel/lastBuildDate")
    return date


@pytest.fixture
def blog(site: Site, clock: FakeClock) -> Site:
    """A blog with three posts, an hour old, and a feed of two items."""
    set_settings(site, {"feed_items": "2"})
    for number in (3, 2, 1):
        make_post(site, f"Text {number}.", clock() - timedelta(hours=number), title=f"T{number}")
    rebuild(site)
    return site


def edit(site: Site, post_id: int, text: str, minor: bool = False) -> None:
    """Save a post's text."""
    with site.database.write() as db:
        post = posts.get(db, post_id)
        posts.save(
            db, post_id, content(text, title=post.title), post.version, None, site.clock(), minor
        )


def test_the_headers_are_kept_with_the_document(site: Site, clock: FakeClock) -> None:
    """Twelve instants stand beside the snapshot; with `freshness ttl` there are none."""
    days = [clock().replace(hour=9) - timedelta(days=day) for day in range(40, 0, -1)]
    with site.database.write() as db:
        update_log.record_all(db, days, "loaded")
    row = rebuild(site)
    expiries = freshness(row).expiries
    assert expiries is not None
    assert len(expiries.instants) == 12
    set_settings(site, {"freshness": "ttl"})
    row = rebuild(site)
    assert freshness(row).expiries is None
    assert served(row).max_age_seconds == row.ttl_minutes * 60


def test_all_formats_are_kept(blog: Site) -> None:
    """One build makes RSS, Atom and JSON; each knows its own address."""
    with blog.database.read() as db:
        for name, path in ADDRESSES.items():
            assert f"{SITE_URL}{path}".encode() in db.get_one(Snapshot, name).body


def test_a_build_without_change_changes_nothing(blog: Site, clock: FakeClock) -> None:
    """R13: the same content and the same ttl give the same bytes, whenever it is built."""
    first = rebuild(blog)
    clock.forward(minutes=10)
    second = rebuild(blog)
    assert second.body == first.body
    assert (second.etag, second.last_modified) == (first.etag, first.last_modified)
    assert second.built_at == clock()


def test_a_new_ttl_does_not_move_last_build_date(blog: Site, clock: FakeClock) -> None:
    """R4: a ttl step changes the bytes, the tag and Last-Modified, but not lastBuildDate."""
    first = rebuild(blog)
    clock.forward(hours=4)
    second = rebuild(blog)
    assert element(first, "channel/ttl") != element(second, "channel/ttl")
    assert first.etag != second.etag
    assert second.last_modified == clock()
    assert built_on(second) == built_on(first)


@pytest.mark.parametrize("minor", [True, False])
def test_an_edit_moves_it(blog: Site, clock: FakeClock, minor: bool) -> None:
    """R4, R5, R7: an edit, minor or not, moves lastBuildDate; pubDate and guid stay."""
    first = rebuild(blog)
    clock.forward(minutes=10)
    edit(blog, 3, "Corrected.", minor)
    second = rebuild(blog)
    assert built_on(second) == "Mon, 04 Mar 2024 09:40:00 +0000"
    for path in ("channel/item/pubDate", "channel/item/guid"):
        assert element(second, path) == element(first, path)


def test_an_edit_outside_the_window_does_not(blog: Site, clock: FakeClock) -> None:
    """R4: an old post that is edited is an update, but the feed says what it said."""
    first = rebuild(blog)
    clock.forward(minutes=10)
    edit(blog, 1, "Corrected.")
    second = rebuild(blog)
    assert second.decided_at == clock()
    assert built_on(second) == built_on(first)
    assert second.content_hash == first.content_hash


def test_a_deletion_moves_it(blog: Site, clock: FakeClock) -> None:
    """R4: a deleted post leaves the feed, the next one moves up, lastBuildDate moves."""
    first = rebuild(blog)
    clock.forward(minutes=10)
    delete_post(blog, 3)
    second = rebuild(blog)
    assert element(second, "channel/item/title") == ["T2", "T3"]
    assert built_on(second) > built_on(first)
    assert second.last_modified > first.last_modified


def test_nothing_is_dated_in_the_future(blog: Site, clock: FakeClock) -> None:
    """R5: a post whose date has not come (the clock was set back) has that of the last update."""
    with blog.database.write() as db:
        posts.get(db, 3).published_at = clock() + timedelta(days=1)
    snapshot = rebuild(blog)
    assert element(snapshot, "channel/item/title") == ["T1", "T2"]
    with blog.database.read() as db:
        last = update_log.last_update(db, clock())
    assert last is not None
    assert parsedate_to_datetime(element(snapshot, "channel/item/pubDate")[0]) == last


def test_the_guid_survives_a_new_address(blog: Site, clock: FakeClock) -> None:
    """R7: a new slug changes the link and nothing else of the item's identity."""
    first = rebuild(blog)
    with blog.database.write() as db:
        post = posts.get(db, 3)
        posts.save(
            db, 3, content("Text.", title="T1", slug="brand-new"), post.version, None, clock()
        )
    second = rebuild(blog)
    assert element(second, "channel/item/guid") == element(first, "channel/item/guid")
    assert element(second, "channel/item/link")[0] == f"{SITE_URL}/posts/brand-new"


def test_no_relative_address_in_the_text(site: Site, clock: FakeClock) -> None:
    """R9: links, pictures and footnotes of a post lead somewhere from any reader."""
    source = "[a](/about) ![b](media/b.png) <a href='#top'>c</a> [^1]\n\n[^1]: Note."
    make_post(site, source, slug="Ünïcode пост")
    html = " ".join(element(rebuild(site), "channel/item/description"))
    addresses = re.findall(r'(?:href|src)="([^"]*)"', html)
    assert len(addresses) >= 4
    assert all(address.startswith("https://") for address in addresses)
    (link,) = element(rebuild(site), "channel/item/link")
    assert link.isascii()


def test_the_present_can_be_asked_for(blog: Site, clock: FakeClock) -> None:
    """The document for now is the one that is served, byte for byte; asking stores nothing."""
    shown = rebuild(blog)
    clock.forward(minutes=20)
    with blog.database.read() as db:
        assert document_at(db, SITE_URL, clock(), blog.parts) == shown.body
        assert db.get_one(Snapshot, "rss").built_at == shown.built_at


def test_the_past_can_be_asked_for(blog: Site, clock: FakeClock) -> None:
    """The document for a past moment has the posts and the ttl of then."""
    with blog.database.read() as db:
        document = document_at(db, SITE_URL, clock() - timedelta(minutes=90), blog.parts)
    assert texts(parse(document), "channel/item/title") == ["T2", "T3"]
    assert texts(parse(document), "channel/ttl") == ["15"]


def test_a_document_says_nothing_of_later(blog: Site, clock: FakeClock) -> None:
    """At the moment of a change it is the one that is served; before, it was built before."""
    make_post(blog, "A text.", clock() - timedelta(hours=1), title="A")
    clock.forward(minutes=20)
    shown = rebuild(blog)
    assert built_on(shown) == "Mon, 04 Mar 2024 09:50:00 +0000"
    with blog.database.read() as db:
        assert document_at(db, SITE_URL, clock(), blog.parts) == shown.body
        before = document_at(db, SITE_URL, clock() - timedelta(minutes=5), blog.parts)
    (date,) = texts(parse(before), "channel/lastBuildDate")
    assert date == "Mon, 04 Mar 2024 09:30:00 +0000"


def test_quiet_setting(blog: Site, clock: FakeClock) -> None:
    """With `etag` quiet a ttl step leaves the tag alone; the document carries the new ttl."""
    set_settings(blog, {"etag": "quiet"})
    first = rebuild(blog)
    clock.forward(hours=4)
    second = rebuild(blog)
    assert element(second, "channel/ttl") == ["480"]
    assert (second.etag, second.last_modified) == (first.etag, first.last_modified)
    tags_feeds = [build.decision["frame_changed_at"] for build in (first, second)]
    assert tags_feeds[0] == tags_feeds[1]


# When a build is due


def test_refresh_does_nothing_within_the_hour(blog: Site, clock: FakeClock) -> None:
    """Between two hours, without an update, the job finds nothing to do."""
    rebuild_if_due(blog)
    clock.forward(minutes=29)
    assert not rebuild_if_due(blog)
    clock.forward(minutes=1)
    assert rebuild_if_due(blog)
    clock.forward(seconds=1)
    assert not rebuild_if_due(blog)


def test_the_hour_is_the_author_s(blog: Site, clock: FakeClock) -> None:
    """In Kolkata the hour changes at half past of UTC."""
    set_settings(blog, {"timezone": "Asia/Kolkata"})
    clock.moment = datetime(2024, 3, 4, 12, 29, 59, tzinfo=UTC)
    rebuild_if_due(blog)
    assert not rebuild_if_due(blog)
    clock.forward(seconds=1)
    assert rebuild_if_due(blog)
    with blog.database.read() as db:
        assert db.get_one(Snapshot, "rss").decided_at == clock()


def test_sleep_is_caught_up_with(blog: Site, clock: FakeClock) -> None:
    """After days of sleep one build brings the feed to the present hour."""
    rebuild_if_due(blog)
    clock.forward(days=3, minutes=7)
    assert rebuild_if_due(blog)
    with blog.database.read() as db:
        assert db.get_one(Snapshot, "rss").decided_at == clock().replace(minute=0)
    assert not rebuild_if_due(blog)


def test_two_schedulers_build_the_same(blog: Site, clock: FakeClock) -> None:
    """A second scheduler that builds again changes no byte and records no update."""
    clock.forward(hours=1)
    first = rebuild(blog)
    second = rebuild(blog)
    assert second.body == first.body
    with blog.database.read() as db:
        assert db.scalar(select(func.count(Update.id))) == 3


def test_a_scheduled_post_is_published_in_time(blog: Site, clock: FakeClock) -> None:
    """At its minute, not at the next hour; and it is in the feed of that build."""
    rebuild_if_due(blog)
    make_post(blog, "Later.", clock() + timedelta(minutes=10), title="Later")
    clock.forward(minutes=9)
    assert not rebuild_if_due(blog)
    clock.forward(minutes=1)
    assert rebuild_if_due(blog)
    with blog.database.read() as db:
        assert element(db.get_one(Snapshot, "rss"), "channel/item/title")[0] == "Later"


def test_a_minor_edit_that_lost_its_build_is_found(blog: Site, clock: FakeClock) -> None:
    """Killed between the save and the build: the next tick notices and builds."""
    rebuild_if_due(blog)
    clock.forward(minutes=1)
    edit(blog, 3, "Corrected.", minor=True)
    clock.forward(seconds=1)
    assert rebuild_if_due(blog)
    with blog.database.read() as db:
        assert b"Corrected." in db.get_one(Snapshot, "rss").body


def test_a_build_does_not_read_the_log(blog: Site, clock: FakeClock) -> None:
    """The checkpoint is enough: no query of a build goes through the rows of the update log."""
    statements: list[str] = []
    event.listen(
        blog.database.engine,
        "before_cursor_execute",
        lambda *call: statements.append(" ".join(call[2].split())),
    )
    clock.forward(hours=1)
    rebuild(blog)
    of_the_log = [text for text in statements if "FROM updates" in text]
    assert of_the_log
    assert all(text.startswith("SELECT max(") for text in of_the_log)


def test_what_was_published_while_a_build_waited_is_in_it(blog: Site, clock: FakeClock) -> None:
    """Somebody has the write lock, and publishes, when a build is asked for: no post is lost."""
    with ThreadPoolExecutor(1) as pool:
        with blog.database.write() as db:
            built = pool.submit(rebuild, blog)
            wait([built], 0.3)  # it gets as far as it can
            now = clock.forward(seconds=5)
            posts.publish_or_schedule(
                db, posts.create(db, content("", title="Late"), None, now), now, now
            )
        assert element(built.result(), "channel/item/title")[0] == "Late"
    assert not rebuild_if_due(blog)


@pytest.mark.parametrize("change", ["post", "minor edit", "setting", "name"])
def test_what_began_earlier_and_came_later_is_noticed(
    blog: Site, clock: FakeClock, change: str
) -> None:
    """A request that read the clock before a build and committed after it is not forgotten."""
    make_author(blog)
    post = make_post(blog, "First.")
    began = clock()
    clock.forward(seconds=30)
    rebuild(blog)
    assert not rebuild_if_due(blog)
    with blog.database.write() as db:
        if change == "post":
            posts.publish_or_schedule(
                db, posts.create(db, content("Second."), None, began), began, began
            )
        elif change == "minor edit":
            posts.save(db, post.id, content("Changed."), 1, None, began, minor=True)
        elif change == "setting":
            store_setting(db, "title", "Another title")
        else:
            authors.describe(db, authors.named(db, "ada"), "Ada Lovelace", "")
    assert rebuild_if_due(blog)
    assert not rebuild_if_due(blog)


def test_a_clock_that_is_set_back_is_noticed(blog: Site, clock: FakeClock) -> None:
    """The document of the hour before, which was served then, is made again."""
    clock.forward(hours=4)
    rebuild_if_due(blog)
    assert not rebuild_if_due(blog)
    clock.forward(hours=-3)
    assert rebuild_if_due(blog)
    assert not rebuild_if_due(blog)


def test_what_the_feeds_of_tags_share_changes_with_it(blog: Site, clock: FakeClock) -> None:
    """The blog's name, the authors', how many posts fit; not with a post, nor with time."""
    make_author(blog)
    set_settings(blog, {"etag": "quiet"})

    def changed_at() -> float:
        return float(rebuild(blog).decision["frame_changed_at"])

    moment = changed_at()
    assert moment == clock().timestamp()
    clock.forward(hours=5)
    make_post(blog, "New.")
    assert changed_at() == moment
    for change in ("title", "feed_items", "name"):
        clock.forward(minutes=1)
        if change == "name":
            with blog.database.write() as db:
                authors.describe(db, authors.named(db, "ada"), "Ada Lovelace", "")
        else:
            set_settings(blog, {change: "7"})
        assert changed_at() == clock().timestamp()
    clock.forward(minutes=1)
    set_settings(blog, {"etag": "document"})
    assert changed_at() == clock().timestamp()


def test_the_last_guid_of_a_podcast_is_kept(site: Site) -> None:
    """Whichever it was: later feeds have it when it is not set any more."""
    make_post(site, enclosure=Attachment("https://a.example/1.mp3", "audio/mpeg", 9))
    guids = [f"{digit * 8}-1b1e-5cef-ace4-edaa54e1f810" for digit in "5a1"]
    for guid in guids:
        set_settings(site, {"podcast_guid": guid})
        assert element(rebuild(site), "channel/podcast:guid") == [guid]
    set_settings(site, {"podcast_guid": ""})
    assert element(rebuild(site), "channel/podcast:guid") == [guids[-1]]
