"""The words of a slug: the last part of a post's address, from its title or its first words.

No database is needed here: confined processes read this when they start.
"""

import re
import unicodedata

MAX_LENGTH = 80
# [shown](target "title"), [shown][reference], pictures alike; a target may hold a bracket pair.
_LINK = re.compile(r"!?\[([^\[\]]*)\](?:\((?:[^()]|\([^()]*\))*\)|\[[^\[\]]*\])")
# Tags and <addresses>, definitions of references, bare addresses.
_UNSEEN = re.compile(r"<[^<>]*>|^ {0,3}\[[^\[\]]+\]:.*$|\bhttps?://\S+|\bwww\.\S+", re.MULTILINE)


def slugify(text: str) -> str:
    """`text` as lower-case words with hyphens; letters of every script are kept, accents are not.

    Empty when nothing is left.
    """
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    plain = "".join(char for char in plain if not unicodedata.combining(char))
    words = re.findall(r"\w+", unicodedata.normalize("NFC", plain).replace("_", " "))
    slug = ""
    for word in words:
        longer = f"{slug}-{word}" if slug else word[:MAX_LENGTH]
        if len(longer) > MAX_LENGTH:
            break
        slug = longer
    return slug


def tag_slug(name: str) -> str:
    """The slug of a tag, which identifies it; the signs in c++, c# and .net become words."""
    spoken = re.sub(r"(?<=\w)\++", lambda signs: " plus " * len(signs[0]), name)
    spoken = re.sub(r"(?<=\w)#(?!\w)", " sharp ", spoken)
    spoken = re.sub(r"(?:^|(?<=\s))\.(?=\w)", "dot ", spoken)
    return slugify(spoken)


def slug_from(title: str, source: str) -> str:
    """A slug from the title, or without a title from the first words; "" if nothing is usable."""
    return slugify(title or " ".join(_spoken(source[:2000]).split()[:8]))


def _spoken(source: str) -> str:
    """The words of Markdown or HTML that a reader sees: no addresses, no tags."""
    shown = _LINK.sub(r"\1", source)
    return _UNSEEN.sub(" ", shown)
