"""One feed with everything in it, and the tools that the tests of all formats share."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from lxml.etree import fromstring

from publisher.base.media_files import Attachment
from publisher.feeds.channel import Channel, Item, Podcast
from publisher.publishing.outbox import cloud_element

GOLDEN = Path(__file__).parent / "golden"
MORNING = datetime(2024, 3, 4, 9, 30, tzinfo=UTC)
HOME = "https://blog.example"
NAMESPACES = {
    "atom": "http://www.w3.org/2005/Atom",
    "content": "http://purl.org/rss/1.0/modules/content/",
    "at": "http://purl.org/atompub/tombstones/1.0",
    "dc": "http://purl.org/dc/elements/1.1/",
    "fh": "http://purl.org/syndication/history/1.0",
    "media": "http://search.yahoo.com/mrss/",
    "itunes": "http://www.itunes.com/dtds/podcast-1.0.dtd",
    "podcast": "https://podcastindex.org/namespace/1.0",
    "source": "http://source.scripting.com/",
    "sy": "http://purl.org/rss/1.0/modules/syndication/",
}


def item(number: int = 1, **changes: Any) -> Item:
    """A post; every field can be changed."""
    values: dict[str, Any] = {
        "guid": f"urn:uuid:00000000-0000-4000-8000-{number:012d}",
        "guid_is_permalink": False,
        "url": f"{HOME}/posts/{number}",
        "title": f"Post {number}",
        "html": f"<p>The text of post {number}.</p>",
        "summary": "",
        "published_at": MORNING - timedelta(hours=number),
        "changed_at": MORNING - timedelta(hours=number),
    }
    return Item(**{**values, **changes})


def channel(*items: Item, **changes: Any) -> Channel:
    """A feed of `items`; every field can be changed."""
    values: dict[str, Any] = {
        "title": "A blog & more",
        "description": "Notes, as they come.",
        "language": "en",
        "home_url": f"{HOME}/",
        "feed_url": f"{HOME}/rss.xml",
        "ttl_minutes": 15,
        "content_changed_at": MORNING,
        "items": items,
    }
    return Channel(**{**values, **changes})


def everything() -> Channel:
    """A title and none, a summary and none, an episode, tags, an author, hub, cloud, quiet hours.

    Also what an author may type: `]]>`, ampersands, another script, an imported guid.
    """
    return channel(
        item(1, title="Ampersands & <brackets>", summary="Short: 1 < 2", author="Ada Lovelace"),
        item(2, title="", html="<p>No title, <em>just</em> a note. Привет ]]&gt; ]]></p>"),
        item(
            3,
            title="Episode 3",
            attachment=Attachment(f"{HOME}/media/3.mp3", "audio/mpeg", 1_234_567, 1800),
            tags=("podcast", "web & feeds"),
            author="Ada Lovelace",
            author_url=f"{HOME}/authors/ada",
            markdown="The text of *post* 3 ]]> & more.",
        ),
        item(4, guid=f"{HOME}/posts/4", guid_is_permalink=True, changed_at=MORNING),
        item(5, guid="4711", html=""),
        hubs=("https://hub.example/",),
        cloud=cloud_element("https://blog.example/pleaseNotify"),
        podcast=Podcast(
            image_url=f"{HOME}/media/cover.png",
            category="Arts > Books",
            author="Ada & friends",
            owner_email="ada@blog.example",
            guid="917393e3-1b1e-5cef-ace4-edaa54e1f810",
        ),
        accounts=(("github", "ada"),),
        blogroll_url=f"{HOME}/opml.xml",
        complete=True,
        deleted=(("urn:uuid:00000000-0000-4000-8000-000000000006", MORNING),),
    )


def parse(document: bytes) -> Any:
    """The root element."""
    return fromstring(document)


def texts(root: Any, path: str) -> list[str]:
    """The texts of all elements at `path`."""
    return [element.text or "" for element in root.findall(path, NAMESPACES)]
