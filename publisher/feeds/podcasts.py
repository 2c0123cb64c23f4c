"""A podcast's channel fields: Apple's, and those of the podcast namespace.

The categories are Apple's list; a directory refuses a feed whose category is spelt differently.
"""

import uuid
from dataclasses import dataclass
from urllib.parse import urlsplit

# The namespace that podcast:guid is made in, the same for everybody (podcastindex.org).
_GUIDS = uuid.UUID("ead4c236-bf58-58c6-a2c6-a6b28d128cb6")

CATEGORIES: dict[str, tuple[str, ...]] = {
    "Arts": (
        "Books", "Design", "Fashion & Beauty", "Food", "Performing Arts", "Visual Arts",
    ),
    "Business": (
        "Careers", "Entrepreneurship", "Investing", "Management", "Marketing", "Non-Profit",
    ),
    "Comedy": ("Comedy Interviews", "Improv", "Stand-Up"),
    "Education": ("Courses", "How To", "Language Learning", "Self-Improvement"),
    "Fiction": ("Comedy Fiction", "Drama", "Science Fiction"),
    "Government": (),
    "History": (),
    "Health & Fitness": (
        "Alternative Health", "Fitness", "Medicine", "Mental Health", "Nutrition", "Sexuality",
    ),
    "Kids & Family": (
        "Education for Kids", "Parenting", "Pets & Animals", "Stories for Kids",
    ),
    "Leisure": (
        "Animation & Manga", "Automotive", "Aviation", "Crafts", "Games", "Hobbies",
        "Home & Garden", "Video Games",
    ),
    "Music": ("Music Commentary", "Music History", "Music Interviews"),
    "News": (
        "Business News", "Daily News", "Entertainment News", "News Commentary", "Politics",
        "Sports News", "Tech News",
    ),
    "Religion & Spirituality": (
        "Buddhism", "Christianity", "Hinduism", "Islam", "Judaism", "Religion", "Spirituality",
    ),
    "Science": (
        "Astronomy", "Chemistry", "Earth Sciences", "Life Sciences", "Mathematics",
        "Natural Sciences", "Nature", "Physics", "Social Sciences",
    ),
    "Society & Culture": (
        "Documentary", "Personal Journals", "Philosophy", "Places & Travel", "Relationships",
    ),
    "Sports": (
        "Baseball", "Basketball", "Cricket", "Fantasy Sports", "Football", "Golf", "Hockey",
        "Rugby", "Running", "Soccer", "Swimming", "Tennis", "Volleyball", "Wilderness", "Wrestling",
    ),
    "Technology": (),
    "True Crime": (),
    "TV & Film": (
        "After Shows", "Film History", "Film Interviews", "Film Reviews", "TV Reviews",
    ),
}  # fmt: skip


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


def category_names() -> list[str]:
    """Every category as it is written here: "Arts", "Arts > Books", ..."""
    return [
        name
        for wide, narrow in CATEGORIES.items()
        for name in (wide, *(f"{wide} > {one}" for one in narrow))
    ]


def guid_of(feed_url: str) -> str:
    """The podcast:guid of a feed that has none yet, derived from its address without scheme."""
    parts = urlsplit(feed_url)
    return str(uuid.uuid5(_GUIDS, (parts.netloc + parts.path).rstrip("/")))
