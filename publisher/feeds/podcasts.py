"""A podcast's channel fields: Apple's, and those of the podcast namespace.

The categories are Apple's list (`installation.podcast_categories`).
"""

import uuid
from dataclasses import dataclass
from urllib.parse import urlsplit

# The namespace that podcast:guid is made in, the same for everybody (podcastindex.org).
_GUIDS = uuid.UUID("ead4c236-bf58-58c6-a2c6-a6b28d128cb6")


@dataclass(frozen=True)
class Podcast:
    """A podcast's channel fields; empty ones are left out of the feed.

    `category` is Apple's, with " > " before a narrower one; `guid` stays when the feed moves.
    """

    image_url: str = ""
    category: str = ""
    author: str = ""
    owner_email: str = ""
    explicit: bool = False
    guid: str = ""


NO_PODCAST = Podcast()


def guid_of(feed_url: str) -> str:
    """The podcast:guid of a feed that has none yet, derived from its address without scheme."""
    parts = urlsplit(feed_url)
    return str(uuid.uuid5(_GUIDS, (parts.netloc + parts.path).rstrip("/")))
