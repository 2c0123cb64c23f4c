"""Character sets by the labels and the supersets that browsers read."""

import pytest

from publisher.feed_reading.character_sets import codec_of, decoded
from publisher.feed_reading.parse import parse_document

SAMPLES = [  # a label, the text, the codec in which it was written
    ("gb2312", "朱镕基，他說", "gbk"),
    ("GBK", "中文 镕", "gb18030"),
    ("x-gbk", "中文", "gbk"),
    ("gb_2312-80", "中文", "gb2312"),
    ("Shift_JIS", "第①回～㈱", "cp932"),
    ("x-sjis", "日本語", "shift_jis"),
    ("windows-31j", "日本語①", "cp932"),
    ("x-euc-jp", "日本語", "euc_jp"),
    ("euc-jp", "日本語①", "euc_jis_2004"),
    ("iso-2022-jp", "日本語", "iso2022_jp"),
    ("euc-kr", "똠방각하", "cp949"),
    ("ks_c_5601-1987", "한국어 똠", "cp949"),
    ("big5", "中文測試", "big5"),
    ("Big5-HKSCS", "嘅啲", "big5hkscs"),
    ("windows-874", "ภาษาไทย", "cp874"),
    ("tis-620", "ภาษาไทย", "tis_620"),
    ("iso-8859-9", "İstanbul’da “güzel”", "cp1254"),
    ("iso-8859-8-i", "שלום", "iso8859_8"),
    ("iso-8859-2", "Zażółć gęślą jaźń", "iso8859_2"),
    ("ISO8859-7", "Καλημέρα", "iso8859_7"),
    ("x-cp1251", "Привет", "cp1251"),
    ("cp-1251", "Привет", "cp1251"),
    ("koi8-r", "Привет", "koi8_r"),
    ("x-mac-roman", "naïve “quotes”", "mac_roman"),
    ("iso-8859-1", "naïve “quotes” – €", "cp1252"),
    ("utf8", "Größe", "utf-8"),
]


def document(label: str, text: str, codec: str) -> bytes:
    declared = f'<?xml version="1.0" encoding="{label}"?>' if label else ""
    body = f"<rss><channel><title>t</title><item><title>{text}</title></item></channel></rss>"
    return declared.encode() + body.encode(codec)


@pytest.mark.parametrize(("label", "text", "codec"), SAMPLES)
def test_a_label(label: str, text: str, codec: str) -> None:
    """In the declaration, in the header alone, and in a declaration behind warnings."""
    declared, plain = document(label, text, codec), "application/xml"
    warned = b"<br />\n<b>Warning</b>: something\n" + declared
    labelled = (document("", text, codec), f"{plain}; charset={label}")
    for body, kind in ((declared, plain), labelled, (warned, plain)):
        parsed = parse_document(body, kind, "https://a.example/")
        assert ([item.title for item in parsed.items], parsed.remarks) == ([text], ())


@pytest.mark.parametrize(
    ("label", "bad"),
    [("gbk", b"\xd6"), ("gb2312", b"\xff"), ("euc-kr", b"\xb1"), ("shift_jis", b"\x83"),
     ("big5", b"\xa4"), ("windows-1251", b"\x98"), ("windows-874", b"\xfc"), ("euc-jp", b"\xc6")],
)  # fmt: skip
def test_one_bad_byte_costs_one_character(label: str, bad: bytes) -> None:
    """And it is a remark that something is lost."""
    text = {"gbk": "中文文字", "gb2312": "中文文字", "euc-kr": "한국어말", "big5": "中文測試",
            "windows-1251": "Привет", "windows-874": "ภาษา"}.get(label, "日本語文字")  # fmt: skip
    body = document(label, f"{text}!{text}", codec_of(label)).replace(b"!", bad + b" ")
    parsed = parse_document(body, "application/xml", "https://a.example/")
    title = parsed.items[0].title
    assert title.startswith(text)
    assert title.endswith(text[1:])
    assert "\ufffd" in title
    assert [(remark.kind, remark.is_loss) for remark in parsed.remarks] == [
        ("characters-replaced", True)
    ]


def test_utf8_that_calls_itself_something_else() -> None:
    for label in ("gb2312", "shift_jis", "windows-1251", "iso-8859-1"):
        assert "Größe, naïve, été" in decoded(document(label, "Größe, naïve, été", "utf-8")).text


def test_a_set_is_believed_while_few_of_its_characters_are_damaged() -> None:
    """Five in sixty are; where none fits, the label is wrong."""
    russian = document("windows-1251", "Привет" * 10, "cp1251").replace(
        b"</title><", b"\x98" * 5 + b"<"
    )
    assert "Привет" * 10 in decoded(russian).text
    french = "é à ü ö ñ "
    assert french in decoded(document("euc-kr", french, "cp1252")).text
    two = "é, à, "
    assert two in decoded(document("euc-kr", two, "cp1252")).text


def test_a_guess_is_remarked() -> None:
    guessed = decoded(b"<rss>na\xefve caf\xe9</rss>")
    assert (guessed.text, [r.kind for r in guessed.remarks]) == (
        "<rss>naïve café</rss>", ["characters-guessed"]
    )  # fmt: skip


def test_where_more_bytes_are_not_utf8_none_is() -> None:
    """Two letters that happen to be UTF-8 make no document of it."""
    text = "A long text of plain letters, with Ã©, café, naïve and déjà."
    assert decoded(text.encode("cp1252")).text == text


def test_a_few_bytes_that_are_not_utf8_are_guessed_and_the_rest_stays() -> None:
    """Somebody pasted a word in Windows-1252 into a text in UTF-8: that is remarked."""
    text = "“Quoted” – and more…"
    for content_type in ("", "text/xml; charset=utf-8"):
        guessed = decoded(text.encode() + b" caf\xe9", content_type)
        assert guessed.text == f"{text} café"
        assert [remark.kind for remark in guessed.remarks] == ["characters-guessed"]


@pytest.mark.parametrize(
    "label", ["", "rot13", "zip", "hex", "punycode", "idna", "utf-7", "no-such"]
)
def test_what_is_no_character_set(label: str) -> None:
    assert codec_of(label) == ""
