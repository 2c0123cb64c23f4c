"""What an XML feed says to people who open its address in a browser; readers pass over it.

A processing instruction names a style sheet, for browsers that show feeds as XML. Chromium shows
the source instead, so a comment says in words where to subscribe. The sheet's address carries no
hash, so that a new sheet makes no new document.
"""

from urllib.parse import urljoin

_SHEET = '<?xml-stylesheet type="text/css" href="/static/feed.css"?>'
_WORDS = "A web feed, meant for feed readers. How to follow this blog: {}"


def styled(document: bytes, home_url: str) -> bytes:
    """An XML document with both behind its declaration, the only place for the instruction."""
    page = urljoin(home_url, "/subscribe")
    if "--" in page:  # which ends a comment, and stands in every name of another script
        page = "choose Subscribe on its pages"
    head = f"{_SHEET}\n<!-- {_WORDS.format(page)} -->\n"
    declaration, end, rest = document.partition(b"?>\n")
    return declaration + end + head.encode() + rest
