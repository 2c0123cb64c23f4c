"""What may be opened, and how much of it."""

import io
import os
import zipfile
from datetime import UTC
from pathlib import Path
from types import SimpleNamespace
from typing import Any, BinaryIO, cast

import pytest

from publisher.base.errors import InvalidData, InvalidInput, TooLarge
from publisher.base.net import Reply
from publisher.parts.importing import sources
from publisher.parts.importing.formats import markdown_files, recognition
from publisher.parts.importing.imported import Batch
from publisher.parts.importing.sources import Document, Folder
from tests.parts.importing.conftest import document, folder, read, zipped

BOMB = """<?xml version="1.0"?><!DOCTYPE rss [<!ENTITY a "aaaaaaaaaa">
<!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]><rss><channel><item><title>&b;</title></item>
</channel></rss>"""
OUTSIDE = """<?xml version="1.0"?><!DOCTYPE rss [<!ENTITY x SYSTEM "file:///etc/passwd">]>
<rss><channel><item><title>&x;</title></item></channel></rss>"""


class Endless(io.RawIOBase):
    """A stream that never ends; it counts what was taken from it."""

    taken = 0

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        assert size > 0, "an unbounded read"
        self.taken += size
        return b"x" * size


def opened(stream: BinaryIO, source: str = "-") -> Document | Folder:
    with sources.opened(sources.located(source, stream, allow_private=False)) as content:
        return content


def left_out(data: bytes) -> str:
    """What an import of a zip says of the one file that it could not read."""
    batch = Batch()
    with sources.opened(sources.located("-", io.BytesIO(data), allow_private=False)) as folder:
        assert isinstance(folder, Folder)
        assert list(markdown_files.read_folder(folder, UTC, batch)) == []
    ((name, reason),) = batch.left_out
    assert name == "a.md"
    return reason


def read_zip(data: bytes) -> None:
    with sources.opened(sources.located("-", io.BytesIO(data), allow_private=False)) as folder:
        list(recognition.read(folder, None, UTC).posts)


def test_file_folder_and_zip_are_told_apart(tmp_path: Path) -> None:
    """By what they are, not by their names."""
    (tmp_path / "posts").mkdir()
    (tmp_path / "posts" / "a.md").write_text("A")
    (tmp_path / "posts" / ".hidden.md").write_text("H")
    (tmp_path / "posts" / "link.md").symlink_to("/etc/passwd")
    (tmp_path / "feed.txt").write_bytes(zipped({"b.md": "B"}))
    source = opened(io.BytesIO(), str(tmp_path / "posts"))
    assert isinstance(source, Folder)
    assert (source.names, source.read("a.md", 10)) == (["a.md"], b"A")
    with sources.opened(sources.located(str(tmp_path / "feed.txt"), io.BytesIO(), False)) as source:
        assert isinstance(source, Folder)
        assert source.read("b.md", 10) == b"B"
    assert isinstance(opened(io.BytesIO(b"<rss/>")), Document)
    (tmp_path / "posts" / os.fsdecode(b"caf\xe9.md")).write_text("C")
    with pytest.raises(InvalidData, match=r"caf\\udce9\.md' is not UTF-8; rename it"):
        opened(io.BytesIO(), str(tmp_path / "posts"))


def test_blank_lines_before_xml() -> None:
    """Plugins of WordPress print them; no parser takes a declaration after them."""
    feed = b"\r\n\n<?xml version='1.0'?><rss version='2.0'><channel/></rss>"
    with sources.opened(sources.located("-", io.BytesIO(feed), allow_private=False)) as source:
        assert list(recognition.read(source, None, UTC).posts) == []


def test_a_huge_document_is_not_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading stops one byte after the limit, with a clear word."""
    monkeypatch.setattr(sources, "MAX_DOCUMENT_BYTES", 5_000_000)
    stream = Endless()
    with pytest.raises(TooLarge, match="more than 5 MB"):
        opened(stream)  # type: ignore[arg-type]
    assert stream.taken == 5_000_001


def test_a_zip_bomb_is_not_unpacked() -> None:
    """A file that unpacks to more than its limit is refused when the limit is reached."""
    bomb = folder({"a.md": b"0" * 20_000_000})
    with pytest.raises(TooLarge, match=r"a\.md"):
        bomb.read("a.md", 8_000_000)


@pytest.mark.parametrize(
    "name", ["../../a.md", "/etc/a.md", "x/../../a.md", "C:\\a.md", "..\\a.md"]
)
def test_paths_that_point_outside(name: str) -> None:
    """A zip with such a path is refused as a whole."""
    with pytest.raises(InvalidData, match="unsafe path"):
        opened(io.BytesIO(zipped({"fine.md": "F", name: "x"})))


def test_damaged_and_encrypted_zips() -> None:
    """A cut-off zip and one with a password end in one clear line."""
    whole = zipped({"a.md": "A" * 1000})
    with pytest.raises(InvalidData, match="damaged"):
        opened(io.BytesIO(whole[: len(whole) // 2]))
    locked = bytearray(whole)
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        locked[locked.index(signature) + offset] |= 1
    assert "encrypted" in left_out(bytes(locked))
    broken = bytearray(whole)
    with zipfile.ZipFile(io.BytesIO(whole)) as archive:
        broken[archive.infolist()[0].header_offset + 40] ^= 0xFF
    assert "damaged" in left_out(bytes(broken))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (BOMB.encode(), "entities"),
        (OUTSIDE.encode(), "entities"),
        (b"<rss><channel><item><title>a</title></item>", "breaks at line 1"),
        (b'<?xml version="1.0" encoding="utf-8"?><rss><channel><title>caf\xe9', "breaks at"),
        (b'<?xml version="1.0" encoding="klingon"?><rss></rss>', "breaks|encoding|format"),
        (b"<rss><channel>" + b"<a>" * 300, "nested too deeply"),
        (b"", "empty"),
        (b"<!doctype html><html><p>Hi</html>", "web page"),
        (b"\x89PNG\r\n", "not a format we know"),
        (b"hello", "not a format we know"),
    ],
)
def test_hostile_and_broken_documents(data: bytes, message: str) -> None:
    """Whatever comes: one clear error, no entity is ever expanded."""
    with pytest.raises(InvalidData, match=message):
        read(data, "rss" if b"<rss" in data else None)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<rss><channel/></rss>", "rss"),
        ('\ufeff<?xml version="1.0"?><!-- <feed> --><rss/>', "rss"),
        ('<a:RDF xmlns:a="http://www.w3.org/1999/02/22-rdf-syntax-ns#"/>', "rss"),
        ('<feed xmlns="http://www.w3.org/2005/Atom"/>', "atom"),
        ('<rss xmlns:wp="http://wordpress.org/export/1.2/"><channel/></rss>', "wxr"),
        ('\n {"version": "https://jsonfeed.org/version/1"}', "json"),
        ("---\ntitle: a\n---\n", "markdown"),
    ],
)
def test_formats_are_recognised(text: str, expected: str) -> None:
    """By their first element, whatever stands before it."""
    assert recognition.sniff(document(text)) == expected


def test_other_encodings() -> None:
    """UTF-16 and Latin-1 are read as they declare themselves."""
    text = '<?xml version="1.0" encoding="{}"?><rss><channel><item><title>é</title></item>{}'
    for name in ("utf-16", "iso-8859-1"):
        data = text.format(name, "</channel></rss>").encode(name)
        (post,) = recognition.read(document(data), None, UTC).posts
        assert post.title == "é"


def test_private_addresses_are_not_fetched() -> None:
    """An address inside the own network is refused like everywhere."""
    with pytest.raises(InvalidData, match="private"):
        opened(io.BytesIO(), "http://127.0.0.1:1/feed.xml")


def test_no_such_file() -> None:
    """A name that is nothing is the caller's mistake, not a broken file."""
    with pytest.raises(InvalidInput, match="No such file"):
        opened(io.BytesIO(), "/nowhere/feed.xml")


@pytest.mark.parametrize("status", [404, 500, 204])
def test_an_address_that_has_nothing(monkeypatch: pytest.MonkeyPatch, status: int) -> None:
    """What a server says instead is no blog."""
    monkeypatch.setattr(
        "publisher.base.net.request_public", lambda *_, **__: Reply("", status, {}, b"x")
    )
    with pytest.raises(InvalidData, match=f"a.example/x: the server answered {status}"):
        sources.fetched("https://a.example/x", allow_private=False)


def test_a_file_that_is_not_listed_is_not_read(tmp_path: Path) -> None:
    """As a link to a folder elsewhere, whose files have names, too."""
    (tmp_path / "else").mkdir()
    (tmp_path / "else/a.md").write_text("secret")
    (tmp_path / "blog").mkdir()
    (tmp_path / "blog/b.md").write_text("b")
    (tmp_path / "blog/link").symlink_to(tmp_path / "else")
    with sources.opened(sources.Located("blog", tmp_path / "blog")) as found:
        assert isinstance(found, Folder)
        assert found.read("b.md", 10) == b"b"
        for name in ("link/a.md", "../else/a.md"):
            with pytest.raises(InvalidData, match="there is no file"):
                found.read(name, 10)


# -- limits and names


def test_standard_input_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """One byte more is asked for, and refused."""
    monkeypatch.setattr(sources, "MAX_DOCUMENT_BYTES", 3_000_000)
    stream = Endless()
    with pytest.raises(TooLarge, match="standard input has more than 3 MB; split it"):
        sources.located("-", cast("BinaryIO", stream), allow_private=False)
    assert stream.taken == 3_000_001
    place = sources.located("-", io.BytesIO(b"x" * 3_000_000), allow_private=False)
    assert (place.name, len(place.data), place.path) == ("standard input", 3_000_000, None)


def test_a_document_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "MAX_DOCUMENT_BYTES", 4)
    with sources.opened(sources.Located("x", data=b"xxxx")) as fits:
        assert isinstance(fits, Document)
        assert (fits.head(), fits.stream.read()) == (b"xxxx", b"xxxx")
    larger = sources.opened(sources.Located("x", data=b"xxxxx"))
    with pytest.raises(TooLarge, match="x has more than 0 MB"), larger:
        pass


def test_the_files_of_a_folder(tmp_path: Path) -> None:
    """By their names with slashes, in order; links and what is hidden are not there."""
    settings = (
        ".eleventy.js", "a/.eleventy.js", ".x.eleventy.js", ".git/.eleventy.js",
        "node_modules/p/.eleventy.js", "a/node_modules/.eleventy.js",
    )  # fmt: skip
    for name in ("b.md", "a/c.md", ".git/x", "a/.hidden", *settings):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("12345")
    (tmp_path / "link.md").symlink_to(tmp_path / "b.md")
    with sources.opened(sources.located(str(tmp_path), io.BytesIO(), allow_private=False)) as held:
        assert isinstance(held, Folder)
        assert held.names == [".eleventy.js", "a/.eleventy.js", "a/c.md", "b.md"]
        assert held.name == tmp_path.name
        assert held.read("a/c.md", 5) == b"12345"
        with pytest.raises(TooLarge, match=r"a/c.md has more than 4 bytes"):
            held.read("a/c.md", 4)
        inner = held.below("a/")
        assert (inner.names, inner.read("c.md", 5)) == ([".eleventy.js", "c.md"], b"12345")
        with pytest.raises(InvalidData, match=r"there is no file 'link.md'"):
            held.read("link.md", 5)


def test_a_folder_has_a_limit_of_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in "abc":
        (tmp_path / name).write_text("")
    place = sources.located(str(tmp_path), io.BytesIO(), allow_private=False)
    monkeypatch.setattr(sources, "MAX_FILES", 3)
    with sources.opened(place):
        pass
    with sources.opened(sources.Located("x", data=zipped({"a": "", "b": "", "c": "", "d/": ""}))):
        pass
    monkeypatch.setattr(sources, "MAX_FILES", 2)
    for too_many in (place, sources.Located("x", data=zipped({"a": "", "b": "", "c": ""}))):
        with pytest.raises(TooLarge, match="more than 2 files"), sources.opened(too_many):
            pass


def test_a_name_that_is_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"\xff.md")).write_text("")
    place = sources.located(str(tmp_path), io.BytesIO(), allow_private=False)
    why = r"the file name .* is not UTF-8; rename it"
    with pytest.raises(InvalidData, match=why), sources.opened(place):
        pass


def test_the_files_of_a_zip(monkeypatch: pytest.MonkeyPatch) -> None:
    """Backslashes are slashes; what systems add, and what is hidden, is not there."""
    shown = {"b.md": "1234", "a\\c.md": "x", ".eleventy.js": ""}
    files = {**shown, "__MACOSX/b.md": "", ".git/x": "", "d/": ""}
    with sources.opened(sources.Located("a zip", data=zipped(files))) as held:
        assert isinstance(held, Folder)
        assert held.names == [".eleventy.js", "a/c.md", "b.md"]
        assert held.read("b.md", 4) == b"1234"
        with pytest.raises(TooLarge, match=r"b.md has more than 3 bytes"):
            held.read("b.md", 3)
    monkeypatch.setattr(sources, "MAX_TOTAL_BYTES", 5)
    with sources.opened(sources.Located("a zip", data=zipped(files))):
        pass
    monkeypatch.setattr(sources, "MAX_TOTAL_BYTES", 4)
    too_much = sources.opened(sources.Located("a zip", data=zipped(files)))
    with pytest.raises(TooLarge, match="unpacked, the zip has more than 4 bytes"), too_much:
        pass


@pytest.mark.parametrize(
    ("name", "safe"),
    [("a/../b", False), ("../a", False), ("/a", False), ("\\a", False), ("c:/a", False),
    ("a/b:c", True),
     ("a..b", True), ("..a", True), ("a\\..\\b", False)],
)  # fmt: skip
def test_names_that_lead_out(name: str, safe: bool) -> None:
    place = sources.Located("x", data=zipped({name: "", "z.md": ""}))
    if safe:
        with sources.opened(place):
            return
    with pytest.raises(InvalidData, match="unsafe path"), sources.opened(place):
        pass


@pytest.mark.parametrize(
    ("data", "rest"),
    [(b"\n <?xml?>", b"<?xml?>"), (b"<?xml?>", b"<?xml?>"), (b"\n x", b"\n x"), (b"", b"")],
)
def test_blank_lines_go_only_before_xml(data: bytes, rest: bytes) -> None:
    with sources.opened(sources.Located("x", data=data)) as opened_file:
        assert isinstance(opened_file, Document)
        assert opened_file.stream.read() == rest


def test_what_an_address_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[str, Any] = {}

    def answer(url: str, **how: Any) -> SimpleNamespace:
        asked.update(how, url=url)
        return SimpleNamespace(status=200, body=b"x")

    monkeypatch.setattr("publisher.base.net.request_public", answer)
    place = sources.located("HTTPS://a.example/", io.BytesIO(), allow_private=True)
    assert place == sources.Located("HTTPS://a.example/", data=b"x")
    assert (asked["allow_private"], asked["max_bytes"], asked["timeout_seconds"]) == (
        True, sources.MAX_DOCUMENT_BYTES, 120.0,
    )  # fmt: skip
    sources.located("http://a.example/", io.BytesIO(), allow_private=False)
    assert asked["allow_private"] is False
