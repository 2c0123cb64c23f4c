"""Character sets by the labels and the supersets that browsers read."""

import pytest

from publisher.feed_reading.character_sets import as_utf8, codec_of, decoded, header_charset
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
    ("x-x-big5", "中文測試", "big5"),
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


@pytest.mark.parametrize(
    ("label", "codec"),
    [
        ("windows-1250", "cp1250"), ("win1258", "cp1258"), ("ms-1251", "cp1251"),
        ("ansi1252", "cp1252"), ("windows-1259", ""), ("US-ASCII", "cp1252"),
        ("UTF8", "utf-8"), ("utf-16", ""), ("utf-32-le", ""), ("iso_8859-15", "iso8859-15"),
        ("base64", ""), ("a\0b", ""), ("x-mac-turkish", "mac-turkish"),
    ],
)  # fmt: skip
def test_the_codec_of_a_label(label: str, codec: str) -> None:
    assert codec_of(label) == codec


@pytest.mark.parametrize(
    ("content_type", "charset"),
    [
        ("text/xml; Charset='A-b'", "'a-b'"),
        ('a/b; x=y; charset="C"', "c"),
        ("a/b", None),
        ("", None),
    ],
)
def test_the_charset_of_a_header(content_type: str, charset: str | None) -> None:
    assert header_charset(content_type) == charset


@pytest.mark.parametrize("codec", ["utf-8-sig", "utf-16", "utf-32"])
def test_a_mark_says_what_a_document_is(codec: str) -> None:
    """Whatever the document and the header say."""
    body = "<?xml version='1.0' encoding='koi8-r'?><a>é</a>".encode(codec)
    assert decoded(body, "text/xml; charset=big5").text.endswith("<a>é</a>")
    assert as_utf8(body)[0] == '<?xml version="1.0" encoding="utf-8"?><a>é</a>'.encode()


@pytest.mark.parametrize(("blanks", "read"), [(62, True), (63, False)])
def test_utf16_without_a_mark_begins_soon(blanks: int, read: bool) -> None:
    """Four bytes of a tag in the first 64."""
    body = b" " * (blanks - 2) + "<é".encode("utf-16-le")
    assert decoded(body).text.endswith("<é") == read


@pytest.mark.parametrize(
    ("text", "codec"),
    [("äöüß", "utf-8"), ("äöü", "gbk")],
)
def test_four_characters_are_no_chance(text: str, codec: str) -> None:
    """A document that names a set in which any bytes are characters, and is UTF-8."""
    body = document("gbk", text, "utf-8")
    assert decoded(body).text == body.decode(codec)


def test_sets_of_ascii_bytes_are_believed() -> None:
    body = document("iso-2022-jp", "日本語日本語", "iso2022_jp")
    assert "日本語日本語" in decoded(body).text
    assert (
        "日本語"
        in as_utf8(document("", "日本語", "iso2022_jp"), "a/b; charset=iso-2022-jp")[0].decode()
    )


@pytest.mark.parametrize(
    ("letters", "bad", "read"),
    [("При", 2, "При��"), ("Пр", 2, "Ïð˜˜"), ("а", 1, "а�"), ("", 1, "�"), ("", 2, "˜˜")],
)
def test_how_many_characters_may_be_damaged(letters: str, bad: int, read: str) -> None:
    """One, and a fifth of those beyond ASCII."""
    body = f"<{letters}".encode("cp1251") + b"\x98" * bad
    assert decoded(body, "a/b; charset=windows-1251").text == f"<{read}"


@pytest.mark.parametrize(
    ("body", "text", "guess"),
    [
        ("<éé".encode() + b"\xe9", "<ééé", "the rest is"),
        ("<é".encode() + b"\xe9", "<Ã©é", "names none"),
        (b"<\xe9", "<é", "names none"),
    ],
)
def test_a_guess_without_a_label(body: bytes, text: str, guess: str) -> None:
    """Windows-1252, for all unless most characters are UTF-8."""
    read = decoded(body)
    assert read.text == text
    assert [remark.sentence.count(guess) for remark in read.remarks] == [1]


def test_a_common_label_on_utf8_with_a_bad_byte_is_no_reason_to_read_it_so() -> None:
    """In Windows-1252 two bytes of it are no characters, either."""
    read = decoded("Ísafjörður, Ítalía ".encode() + b"\xff", "text/xml; charset=iso-8859-1")
    assert read.text == "Ísafjörður, Ítalía ÿ"


def test_a_wrong_label_on_utf8_with_a_bad_byte_is_a_guess_too() -> None:
    read = decoded("Größe, naïve, été ".encode() + b"\xff", "text/xml; charset=iso-8859-8")
    assert read.text == "Größe, naïve, été ÿ"
    assert [remark.kind for remark in read.remarks] == ["characters-guessed"]


def test_damaged_characters_are_counted() -> None:
    """Those that the document has as such are not."""
    read = decoded("<ПриветПривет".encode("cp1251") + b"\x98\x98", "a/b; charset=windows-1251")
    assert [(remark.count, remark.is_loss) for remark in read.remarks] == [(2, True)]
    assert decoded("\ufeff<�".encode("utf-16-le")).remarks == ()


AS_UTF8 = b'<?xml version="1.0" encoding="utf-8"?>'


@pytest.mark.parametrize(
    ("body", "utf8"),
    [
        (b"<a/>", b"<a/>"),
        (b" <a/>", b" <a/>"),
        (b"<?xml version='1.0'?><a/>", b"<?xml version='1.0'?><a/>"),
        (b"\n<?xml version='1.0'?><a/>", AS_UTF8 + b"<a/>"),
        (b"<?xml version='1.0' encoding='ascii'?><a/>", AS_UTF8 + b"<a/>"),
        (b" " * 63 + b"\0", AS_UTF8 + b" " * 63 + b"\0"),
        (b" " * 64 + b"\0", b" " * 64 + b"\0"),
        (b"<a>\x1b</a>", AS_UTF8 + b"<a>\x1b</a>"),
        ("<a>é".encode(), AS_UTF8 + "<a>é".encode()),
        (b"Warning\n<?xml version='1.0'?>\n<rss/>", AS_UTF8 + b"\n<rss/>"),
        (b"<rss><?xml version='1.0'?></rss>", b"<rss><?xml version='1.0'?></rss>"),
    ],
)  # fmt: skip
def test_documents_as_utf8(body: bytes, utf8: bytes) -> None:
    """As they are if they are ASCII and name no set; their own declaration is the first thing."""
    assert as_utf8(body)[0] == utf8


@pytest.mark.parametrize(("blanks", "read"), [(1_024, True), (1_025, False)])
def test_where_a_declaration_may_begin(blanks: int, read: bool) -> None:
    declaration = b"<?xml version='1.0' encoding='koi8-r'?>"
    body = b" " * (blanks - len(declaration)) + declaration + "<a>Да".encode("koi8-r")
    assert ("Да" in decoded(body).text) == read


@pytest.mark.parametrize(("length", "read"), [(16_384, True), (16_385, False)])
def test_how_long_warnings_before_a_document_may_be(length: int, read: bool) -> None:
    start = b"<?xml version='1.0' encoding='koi8-r'?><rss"
    body = b"a" * (length - len(start)) + start + ">Да</rss>".encode("koi8-r")
    assert as_utf8(body)[0].startswith(AS_UTF8 + "<rss>Да".encode()) == read
