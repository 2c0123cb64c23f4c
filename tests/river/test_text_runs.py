"""Escaped text as CDATA is the same document."""

import random
import time
from xml.etree.ElementTree import fromstring

import pytest

from publisher.river.reading.text_runs import in_one_run

TEXTS = [
    "&lt;p&gt;a &amp;amp; b &amp;lt; c &amp;#8220;d&amp;#8221;&lt;/p&gt;",
    "&#60;p&#x3e; &#38;lt; &#38;amp; &amp;#38; &#8220;&#x1F600;&quot;&apos;",
    "]]&gt; &lt;![CDATA[ &lt; ]]&gt; &amp;&amp; ]]&gt;",
    "&#13;&#10;&#9; &lt;&lt;&lt;&lt; line\none\r\ntwo",
    "<![CDATA[<p>&lt;b> &amp; &lt; &gt; &amp; </p>]]>",
    "<!-- > &lt; &gt; &amp; &lt; < --><a t='x > &amp;&amp;&amp;&amp; y'>é</a>",
    '<a u="\'>&lt;&lt;&lt;&lt;">é</a>',
    "<?pi > &lt;&lt;&lt;&lt; ?>&lt;br/&gt;&lt;br/&gt;<b/>&amp;nbsp;&amp;nbsp;&amp;nbsp;&amp;nbsp;",
    "&amp;amp;lt; &amp;amp;amp; &amp;#x26;amp; &lt;",
]


def content(document: bytes) -> list[tuple[str, dict[str, str], str, str]]:
    """All that a document says, in order."""
    tree = fromstring(document)  # noqa: S314 - our own
    return [(e.tag, dict(e.attrib), e.text or "", e.tail or "") for e in tree.iter()]


@pytest.mark.parametrize("seed", range(20))
def test_the_same_content(seed: int) -> None:
    rng = random.Random(seed)
    inside = "".join(
        f"<item><x>{rng.choice(TEXTS)}</x> {rng.choice(TEXTS)}</item>" for _ in range(9)
    )
    doctype = "<!DOCTYPE rss [ <!ELEMENT rss ANY> ]>" if seed % 2 else ""
    document = f"<?xml version='1.0'?>{doctype}<rss>{inside}</rss>".encode()
    assert content(in_one_run(document)) == content(document)


def test_escaped_html_is_one_run() -> None:
    found = in_one_run(b"<a>&lt;p&gt;x &amp;amp; y&lt;/p&gt;</a>")
    assert found == b"<a><![CDATA[<p>x &amp; y</p>]]></a>"


@pytest.mark.parametrize("part", [b"<a b='", b"<", b"<!--", b"&lt;", b"<a ", b"<![CDATA[", b"'\""])
def test_no_document_takes_long(part: bytes) -> None:
    begun = time.process_time()
    in_one_run(part * 20_000)
    assert time.process_time() - begun < 5
