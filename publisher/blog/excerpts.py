"""What a page is about, for those who only see its card: its picture, the length of its text."""

import re

DESCRIPTION_LENGTH = 200


def first_picture(html: str) -> str:
    """The address of the first picture in a post; empty when there is none."""
    found = re.search(r'<img\b[^>]*?\bsrc="([^"]+)"', html)
    return found[1].replace("&amp;", "&") if found else ""
