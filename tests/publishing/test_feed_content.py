"""What settings and posts put into the feed beside titles and texts."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from flask.testing import FlaskClient

from publisher.base.errors import FieldErrors
from publisher.base.media_files import Attachment
from publisher.blog import published, update_log
from publisher.blog.writing import posts
from publisher.feeds.channel import Item, guid_of
from publisher.installation import Site
from publisher.installation.podcast_categories import CATEGORIES
from publisher.installation.settings import Settings, store_settings
from publisher.parts.river.following import subscriptions
from publisher.publishing import feed_content
from publisher.publishing.feed_content import accounts
from publisher.publishing.rebuild import rebuild
from publisher.storage.tables.blog import Tag
from publisher.storage.tables.publishing import Snapshot
from tests.conftest import SITE_URL, FakeClock
from tests.factories import content, make_author, make_post, set_settings
from tests.feeds.samples import NAMESPACES, parse, texts

EPISODE = Attachment("/episode.mp3", "audio/mpeg", 1_000_000, 600)


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("https://github.com/ada", ("github", "ada")),
        ("https://www.linkedin.com/in/ada-l/", ("linkedin", "ada-l")),
        ("https://bsky.app/profile/ada.example", ("bluesky", "ada.example")),
        ("https://social.example/@ada", ("mastodon", "@ada@social.example")),
        ("https://github.com/ada/project", None),
        ("https://github.com/", None),
        ("https://example.org/about", None),
        ("mailto:ada@example.org", None),
        ("http://x.com/ada/", ("twitter", "ada")),
        ("https://bsky.app/ada.example", None),
        ("https://threads.net/@ada", ("threads", "ada")),
        ("https://social.example/@ada/1", None),
        ("https://social.example/@", None),
        ("https://social.example/ada", None),
        ("ftp://github.com/ada", None),
        ("https:///@ada", None),
        ("https://github.com/a\u200bb", None),
    ],
)
def test_accounts_are_read_from_addresses(address: str, expected: tuple[str, str] | None) -> None:
    """A person's page at a service is an account, anything else is not."""
    assert accounts(address) == ((expected,) if expected else ())


def test_the_feed_of_a_tag_is_the_blogs_with_its_own_addresses() -> None:
    """No hub is told of it, and a podcast's guid belongs to one feed only."""
    settings = Settings(
        title="A blog", hubs="https://hub.example/ https://b.example/", podcast_guid="x",
        cloud="http://c.example/pleaseNotify", podcast_explicit="yes", podcast_author="Ada",
        podcast_image="/media/a.png",
    )  # fmt: skip
    main = feed_content.frame(settings, SITE_URL)
    assert (main.home_url, main.feed_url) == (f"{SITE_URL}/", f"{SITE_URL}/rss.xml")
    assert main.hubs == ("https://hub.example/", "https://b.example/")
    assert (main.cloud or {})["domain"] == "c.example"
    assert (main.podcast.explicit, main.podcast.guid) == (True, "x")
    assert main.podcast.image_url == f"{SITE_URL}/media/a.png"
    made = feed_content.tag_frame(main, Tag(slug="東京", name="Tokyo"))
    home = f"{SITE_URL}/tags/%E6%9D%B1%E4%BA%AC"
    assert (made.title, made.home_url, made.feed_url) == ("A blog: Tokyo", home, f"{home}/rss.xml")
    assert (made.hubs, made.cloud, made.podcast.guid) == ((), None, "")
    assert made.podcast.author == "Ada"
    plain = feed_content.frame(Settings(podcast_image="https://a.example/a.png"), SITE_URL)
    assert (plain.hubs, plain.cloud, plain.podcast.explicit) == ((), None, False)
    assert plain.podcast.image_url == "https://a.example/a.png"


def test_an_item_has_what_its_post_has(site: Site, clock: FakeClock) -> None:
    """And nothing in the place of what it lacks."""
    ada = make_author(site)
    make_post(site, "Text.", slug="é")
    make_post(
        site, "[a](/b)", title="T", summary="S", image="/media/c.png", tags=["x", "y"],
        author_id=ada.id,
        transcript="/media/d.srt", enclosure=Attachment("https://a.example/1.mp3", "audio/mpeg", 1),
    )  # fmt: skip
    with site.database.write() as db:
        full, bare = published.newest(db, 2)
        bare.guid, bare.guid_is_permalink = "https://old.example/?p=1", True
        bare.published_at = None
        bare.changed_at = clock() + timedelta(microseconds=5)
        whole, plain = feed_content.items([full, bare], SITE_URL)
        assert plain.guid_is_permalink
        assert (plain.url, plain.title, plain.image) == (f"{SITE_URL}/posts/e", "", "")
        assert (plain.author, plain.author_url, plain.tags) == ("", "", ())
        assert (plain.attachment, plain.transcript, plain.markdown) == (None, None, "Text.")
        assert plain.published_at == plain.changed_at == clock()
        assert (whole.title, whole.summary, whole.tags) == ("T", "S", ("x", "y"))
        assert whole.image == f"{SITE_URL}/media/c.png"
        assert (whole.author, whole.author_url) == ("ada", f"{SITE_URL}/authors/ada")
        assert whole.attachment is not None
        assert whole.attachment.url == "https://a.example/1.mp3"
        assert whole.transcript == (f"{SITE_URL}/media/d.srt", "application/x-subrip")
        assert whole.markdown == f"[a]({SITE_URL}/b)"
        bare.guid = "https://old.example/ 1"
        (plain,) = feed_content.items([bare], SITE_URL, with_markdown=False)
        assert (plain.guid_is_permalink, plain.markdown) == (False, "")


def test_no_item_is_ahead_of_the_clock(site: Site, clock: FakeClock) -> None:
    """What was dated by a clock that was ahead has the date of the last update, or the present."""
    second = timedelta(seconds=1)
    now = clock()
    item = Item("g", False, "u", "t", "h", "s", now, now)
    dates = [(now, now), (now + second, now), (now - second, now + second), (now + second,) * 2]
    items = [replace(item, published_at=first, changed_at=last) for first, last in dates]
    with site.database.write() as db:
        for last_update in (now, now - 9 * second):
            if last_update != now:
                update_log.record(db, last_update + timedelta(microseconds=7), "publish")
            made = feed_content.not_ahead(db, items, now)
            assert [(one.published_at, one.changed_at) for one in made] == [
                (now, now), (last_update, now), (now - second, last_update), (last_update,) * 2,
            ]  # fmt: skip
    assert feed_content.tombstones([("g\x00", now + timedelta(microseconds=7))]) == (("g", now),)


@pytest.mark.parts("river")
def test_the_source_comes_along(site: Site, clock: FakeClock) -> None:
    """Markdown with our own addresses whole; none of imported HTML, none where it is off."""
    own = '<video src="/media/1.webm">'
    make_post(site, f"[it](/posts/x), ![p](/media/1.png), {own}, [out](//o.example).", title="One")
    make_post(site, "<p>Old.</p>", title="Two", source_format="html")
    set_settings(site, {"elsewhere": "https://github.com/ada", "source_markdown": "on"})
    root = parse(rebuild(site).body)
    [source] = texts(root, "channel/item/source:markdown")
    assert source.startswith(f"[it]({SITE_URL}/posts/x), ![p]({SITE_URL}/media/1.png), ")
    assert source.endswith(f'<video src="{SITE_URL}/media/1.webm">, [out](//o.example).')
    assert texts(root, "channel/source:self") == [f"{SITE_URL}/rss.xml"]
    assert texts(root, "channel/source:account") == ["ada"]
    assert texts(root, "channel/source:blogroll") == []
    with site.database.write() as db:
        feed = subscriptions.subscribe(db, "https://o.example/feed", clock(), clock())
        feed.public = True
        store_settings(db, {"source_markdown": "off"})
    root = parse(rebuild(site).body)
    assert texts(root, "channel/item/source:markdown") == []
    assert texts(root, "channel/source:blogroll") == [f"{SITE_URL}/opml.xml"]


def test_a_podcast_is_as_its_directories_want_it(site: Site, clock: FakeClock) -> None:
    """All that Apple asks for; the guid stays when the feed moves, and can be brought along."""
    ada = make_author(site)
    make_post(
        site, "Spoken.", title="Episode", enclosure=EPISODE, author_id=ada.id,
        transcript="/media/0123456789abcdef0123.vtt",
    )  # fmt: skip
    with site.database.write() as db:
        store_settings(db, {
            "podcast_image": "/media/cover.png", "podcast_category": "Science > Physics",
            "podcast_author": "Ada", "podcast_email": "ada@blog.example",
        })  # fmt: skip
    root = parse(rebuild(site).body)
    (image,) = root.findall("channel/itunes:image", NAMESPACES)
    assert image.get("href") == f"{SITE_URL}/media/cover.png"
    (category,) = root.findall("channel/itunes:category", NAMESPACES)
    assert category[0].get("text") in CATEGORIES[category.get("text")]
    assert texts(root, "channel/itunes:explicit") == ["false"]
    first = texts(root, "channel/podcast:guid")
    assert first == [guid_of("https://blog.example/rss.xml")]
    (sound,) = root.findall("channel/item/enclosure")
    assert sound.get("url") == f"{SITE_URL}/episode.mp3"
    (person,) = root.findall("channel/item/podcast:person", NAMESPACES)
    assert (person.text, person.get("href")) == ("ada", f"{SITE_URL}/authors/ada")
    (transcript,) = root.findall("channel/item/podcast:transcript", NAMESPACES)
    assert transcript.get("url") == f"{SITE_URL}/media/0123456789abcdef0123.vtt"
    assert transcript.get("type") == "text/vtt"
    environment = replace(site.environment, site_url="https://new.example")
    moved = parse(rebuild(replace(site, environment=environment)).body)
    assert texts(moved, "channel/source:self") == ["https://new.example/rss.xml"]
    assert texts(moved, "channel/podcast:guid") == first
    own = "917393e3-1b1e-5cef-ace4-edaa54e1f810"
    set_settings(site, {"podcast_guid": own.upper()})
    assert texts(parse(rebuild(site).body), "channel/podcast:guid") == [own]


def test_the_guid_is_that_of_the_standard() -> None:
    """The example of the namespace's own document."""
    assert guid_of("https://podnews.net/rss") == "9b024349-ccf0-5f69-a609-6b82873eab3c"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("podcast_category", "Arts > Physics"),
        ("podcast_category", "arts"),
        ("podcast_email", "ada"),
        ("podcast_email", "a b@c.d"),
        ("podcast_image", "ftp://o.example/x.png"),
        ("podcast_image", "/etc/passwd"),
        ("podcast_guid", "x"),
    ],
)
def test_what_directories_would_refuse_is_refused_here(site: Site, name: str, text: str) -> None:
    """Said beside the field."""
    with pytest.raises(FieldErrors), site.database.write() as db:
        store_settings(db, {name: text})


def test_what_is_gone_is_said(site: Site, clock: FakeClock) -> None:
    """A young blog's feed is complete until it has more posts than fit; what readers had and is
    deleted is named in Atom, a draft that was thrown away is not, and what comes back is not."""
    set_settings(site, {"feed_items": "3"})
    kept_post = make_post(site, "One.", title="One")
    gone = make_post(site, "Two.", title="Two")
    with site.database.write() as db:
        draft = posts.create(db, content("Never out."), None, clock())
        posts.delete(db, draft, clock())
        posts.delete(db, posts.get(db, gone.id), clock())
    assert len(parse(rebuild(site).body).findall("channel/fh:complete", NAMESPACES)) == 1
    feed = _atom(site)
    (stone,) = feed.findall("at:deleted-entry", NAMESPACES)
    assert (stone.get("ref"), stone.get("when")) == (gone.guid, "2024-03-04T09:30:00Z")
    assert len(feed.findall("fh:complete", NAMESPACES)) == 1
    with site.database.write() as db:
        posts.restore(db, posts.get(db, gone.id), clock())
    make_post(site, "Three.", title="Three")
    assert len(parse(rebuild(site).body).findall("channel/fh:complete", NAMESPACES)) == 1
    feed = _atom(site)
    assert not feed.findall("at:deleted-entry", NAMESPACES)
    assert kept_post.guid in texts(feed, "atom:entry/atom:id")
    make_post(site, "Four.", title="Four")
    assert not parse(rebuild(site).body).findall("channel/fh:complete", NAMESPACES)


def _atom(site: Site) -> Any:
    with site.database.read() as db:
        return parse(db.get_one(Snapshot, "atom").body)


def test_a_posts_picture_comes_along(site: Site, clock: FakeClock, client: FlaskClient) -> None:
    """Above the text for those who read it, and as an element of its own in each format."""
    sound = Attachment("/media/a.mp3", "audio/mpeg", 1_000, 60)
    make_post(site, "Text.", title="One", image="/media/sea.jpg", image_alt='The "sea"',
              enclosure=sound)  # fmt: skip
    make_post(site, "No picture.", title="Two")
    rebuild(site)
    address = f"{SITE_URL}/media/sea.jpg"
    root = parse(client.get("/rss.xml").data)
    (shown,) = root.findall("channel/item/media:content", NAMESPACES)
    assert dict(shown.attrib) == {"url": address, "medium": "image"}
    (cover,) = root.findall("channel/item/itunes:image", NAMESPACES)
    assert cover.get("href") == address
    words = "".join(texts(root, "channel/item/description"))
    assert words.index(f'<img src="{address}" alt="The &quot;sea&quot;"') < words.index("Text.")
    items = client.get("/feed.json").get_json()["items"]
    assert [item.get("image") for item in items] == [None, address]
    page = client.get("/posts/one").text
    assert f'property="og:image" content="{address}"' in page
    assert '<img src="/media/sea.jpg" alt="The &#34;sea&#34;" class="u-featured">' in page
