"""Strangers' pages as trees, and the program that a page describes (IndieAuth).

Pure functions for `base.system.confined`.
"""

import codecs
from typing import Any

from lxml import etree


def tree_of(body: bytes) -> Any:
    """The page as a tree without comments, scripts and templates; None if it cannot be parsed."""
    from lxml import html as lxml_html  # late: pages are read in processes made for that

    try:
        codecs.getincrementaldecoder("utf-8")().decode(body)  # `body` may end inside a character
        encoding = "utf-8"
    except ValueError:
        encoding = None  # the parser looks for a meta element
    parser = lxml_html.HTMLParser(remove_comments=True, remove_pis=True, encoding=encoding)
    try:
        page = lxml_html.document_fromstring(body, parser)
    except (etree.ParserError, etree.XMLSyntaxError, ValueError):
        return None
    for element in page.xpath("//script | //style | //template"):
        element.drop_tree()
    return page


def program_in_page(body: bytes) -> tuple[str, list[str]]:
    """The name of a page's program (its h-app, else its title), and its redirect addresses."""
    page = tree_of(body)
    if page is None:
        return "", []
    named = page.xpath(f"({having('h-app')} | {having('h-x-app')}){having('p-name')}")
    name = (
        named[0].get("alt") or named[0].text_content() if named else page.xpath("string(//title)")
    )
    links = [link.get("href", "").strip() for link in page.iter("link")
             if "redirect_uri" in link.get("rel", "").lower().split()]  # fmt: skip
    return str(name), [link for link in links if link]


def having(name: str, place: str = "") -> str:
    """The path of the elements that have a class; below the present one where `place` is "."."""
    return f"{place}//*[contains(concat(' ', normalize-space(@class), ' '), ' {name} ')]"
