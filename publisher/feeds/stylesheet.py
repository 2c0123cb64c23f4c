"""A style sheet and a comment in XML feeds, for people who open the feed in a browser.

A processing instruction names the style sheet, for browsers that show feeds as XML. Chromium shows
the source instead, so a comment says in words where to subscribe. The sheet's address carries no
hash, so that a new sheet makes no new document. Feed readers ignore both.
"""

from urllib.parse import urljoin

_SHEET = '<?xml-stylesheet type="text/css" href="/static/feed.css"?>'
_WORDS = "A web feed, meant for feed readers. How to follow this blog: {}"


def styled(document: bytes, home_url: str) -> bytes:
    """Insert both after the XML declaration, the only place where the instruction may stand."""
    page = urljoin(home_url, "/subscribe")
    if "--" in page:  # it would end the comment; every internationalised host name contains it
        page = "choose Subscribe on its pages"
    head = f"{_SHEET}\n<!-- {_WORDS.format(page)} -->\n"
    declaration, end, rest = document.partition(b"?>\n")
    return declaration + end + head.encode() + rest
