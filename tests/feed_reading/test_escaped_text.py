"""Escaped text reaches feedparser in one piece; else a feed of escaped HTML takes three times as
long."""

from io import BytesIO
from xml.sax.handler import ContentHandler
from xml.sax.xmlreader import InputSource

from publisher.feed_reading.parse import Expat


class _Pieces(ContentHandler):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def characters(self, content: str) -> None:
        self.found.append(content)


def test_escaped_html_is_one_piece() -> None:
    pieces, reader = _Pieces(), Expat()
    reader.setContentHandler(pieces)
    source = InputSource()
    document = b"<a>&lt;p&gt;x\n &amp;amp; y&lt;/p&gt;<![CDATA[ & <b>\nz]]></a>"
    source.setByteStream(BytesIO(document))
    reader.parse(source)
    assert pieces.found == ["<p>x\n &amp; y</p> & <b>\nz"]
