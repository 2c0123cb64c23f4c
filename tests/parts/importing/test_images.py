"""Pictures of imported posts: which are wanted, what becomes of their addresses."""

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace

import pytest

from publisher.base.errors import InvalidData, PublisherError
from publisher.parts.importing import confined_reading, images
from publisher.parts.importing.imported import ImportedPost
from publisher.parts.importing.sources import Located
from publisher.storage.tables.blog import SourceFormat
from tests.parts.importing.conftest import zipped

A, B = "https://old.example/a.png?x=1&y=2", "https://old.example/b.png"


def post(source: str, source_format: SourceFormat = "html", where: str = "item 1") -> ImportedPost:
    return ImportedPost(where=where, guid="1", source=source, source_format=source_format)


def keep(data: bytes, name: str) -> str:
    return f"/media/{data.decode()}-{name}"


def nothing(names: Sequence[str]) -> list[tuple[str, bytes | PublisherError]]:
    return [(name, InvalidData("there is no such file")) for name in names]


def fetch(name: str) -> bytes:
    if name == B:
        raise InvalidData("the server answered 404")
    return b"kept"


@pytest.mark.parametrize(
    ("source", "source_format", "expected"),
    [
        (
            '<img alt="x" src="https://old.example/a.png?x=1&amp;y=2" srcset="https://o/1 1x">',
            "html",
            '<img alt="x" src="/media/kept-a.png">',
        ),
        (f"![A \\] cat]({A}) text", "markdown", "![A \\] cat](/media/kept-a.png) text"),
        (f'![]( {A})![x](<{A}> "T")', "markdown", f'![]( {A})![x](</media/kept-a.png> "T")'),
        (f"![gone]({B})", "markdown", f"![gone]({B})"),
        (f'<a href="{A}">no picture</a>', "html", f'<a href="{A}">no picture</a>'),
    ],
)
def test_addresses_are_replaced(source: str, source_format: SourceFormat, expected: str) -> None:
    """A picture that was had is shown from here, everything else stays as it was."""
    there = post(source, source_format)
    ours, _ = images.copy(images.wanted(there), fetch, nothing, keep, Counter())
    assert images.with_ours(there, ours).source == expected


def test_each_picture_is_fetched_once_and_failures_are_told() -> None:
    """Each name is fetched once. One picture is gone, for a reason."""
    fetched: list[str] = []

    def counting(name: str) -> bytes:
        fetched.append(name)
        return fetch(name)

    notes: Counter[str] = Counter()
    _, problems = images.copy({A, B}, counting, nothing, keep, notes)
    assert sorted(fetched) == [A, B]
    assert notes["picture copied here"] == 1
    assert notes["picture could not be copied and keeps its address"] == 1
    assert "404" in problems[B]


def test_pictures_beside_a_file() -> None:
    """Relative to the Markdown file or to the folder; never outside of it."""
    files = {"posts/tea/index.md": "x", "posts/tea/cup.png": "cup", "img/pot.png": "pot"}
    where = "posts/tea/index.md"
    source = "![](cup.png)![](<../../img/pot.png>)![](/img/pot.png)![](../../../etc/passwd)"
    assert images.wanted(post("![a b](<my cup.png>)", "markdown", "a.md")) == {"my cup.png"}
    named = images.wanted(post(source, "markdown", where))
    assert named == {"posts/tea/cup.png", "img/pot.png", "etc/passwd"}
    contents = dict(
        confined_reading.files(Located("a zip", data=zipped(files)), ["tea/cup.png", "etc/passwd"])
    )
    assert contents["tea/cup.png"] == b"cup"
    assert isinstance(contents["etc/passwd"], InvalidData)
    for source_folder, copied in (("", "site/public/"), ("", "public/"), ("site/", "site/_site/")):
        built = {f"{source_folder}static/img/pot.png": "pot", f"{copied}img/pot.png": "not this"}
        held = confined_reading.files(Located("a zip", data=zipped(built)), ["img/pot.png"])
        assert list(held) == [("img/pot.png", b"pot")]


def test_names_in_any_language(monkeypatch: pytest.MonkeyPatch) -> None:
    """WordPress keeps the letters of a file's name; they are asked for as a browser would."""
    addresses: list[str] = []

    def answer(url: str, **_: object) -> SimpleNamespace:
        addresses.append(url)
        return SimpleNamespace(status=200, body=b"x")

    monkeypatch.setattr("publisher.base.net.request_public", answer)
    assert images.fetcher(allow_private=False)("https://a.example/bär/%20x.png?ü") == b"x"
    assert addresses == ["https://a.example/b%C3%A4r/%20x.png?%C3%BC"]


def test_private_addresses_are_refused() -> None:
    """A post cannot make us ask machines of our own network."""
    there = post('<img src="http://127.0.0.1:1/x.png">')
    get = images.fetcher(allow_private=False)
    ours, problems = images.copy(images.wanted(there), get, nothing, keep, Counter())
    assert ours == {}
    assert "private" in problems["http://127.0.0.1:1/x.png"]


@pytest.mark.parametrize(
    "source",
    [
        "<img " * 40_000,
        "<img src='" * 20_000,
        "![" * 100_000,
        "![](a " * 32_000,
        "![](<a " * 32_000,
    ],
)
def test_hostile_sources_are_looked_through_once(source: str) -> None:
    """What begins a picture again and again and never ends it: no quadratic search."""
    begun = time.thread_time()
    assert images.wanted(post(source, "markdown")) == set()
    assert len(images.without_addresses(source)) == len(source)
    assert time.thread_time() - begun < 0.5  # it is a tenth


def test_an_address_that_is_none_is_not_asked_for() -> None:
    """A picture at an impossible host stays where it is; the others come."""
    for host in ("[4712::abcd::]", "[::1", "a.example:99999", "a.example:x"):
        there = post(f"![x](http://{host}/x.png) ![a]({A})", "markdown")
        assert A in images.wanted(there)
        assert not any("http" in name for name in images.wanted(there) - {A})


# -- names and addresses


@pytest.mark.parametrize(
    ("address", "source_format", "where", "name"),
    [
        ("https://a.example/b.png", "html", "x", "https://a.example/b.png"),
        ("//a.example/b.png", "html", "x", "https://a.example/b.png"),
        ("b.png", "html", "a.md", ""),
        ("b.png", "markdown", "a.md", "b.png"), ("b.png", "markdown", "x/a.md", "x/b.png"),
        ("/b.png", "markdown", "x/a.md", "b.png"), ("../b.png", "markdown", "x/y/a.md", "x/b.png"),
        ("../../../b.png", "markdown", "x/a.md", "b.png"),
        ("./b%20c.png?x", "markdown", "a.md", "b c.png"),
        ("mailto:x", "markdown", "a.md", ""), ("data:x", "markdown", "a.md", ""),
        ("#x", "markdown", "a.md", ""),
        (f"/media/{'a' * 20}.png", "markdown", "a.md", ""),
        ("/media/b.png", "markdown", "a.md", "media/b.png"),
        ("", "html", "a.md", ""),
    ],
)  # fmt: skip
def test_the_name_of_a_picture(
    address: str, source_format: SourceFormat, where: str, name: str
) -> None:
    """Its address, or the path of its file."""
    assert images.name_of(post("", source_format, where), address) == name


@pytest.mark.parametrize(
    ("source", "source_format", "first"),
    [
        ("", "html", ""), ('x <img src="/a.png"> <img src="/b.png">', "html", "/a.png"),
        ("![](b.png) <img src='a.png'>", "markdown", "b.png"),
        ("<img src='a.png'> ![](b.png)", "markdown", "a.png"),
        ('<img src="https://a.example/?a&amp;b">', "html", "https://a.example/?a&b"),
        ("![](b.png)", "html", ""),
    ],
)  # fmt: skip
def test_the_first_picture(source: str, source_format: SourceFormat, first: str) -> None:
    assert images.first(post(source, source_format, "a.md")) == first


def test_the_picture_of_a_post_is_wanted_too() -> None:
    with_picture = replace(post("![](b.png)", "markdown", "a.md"), image=A)
    assert images.wanted(with_picture) == {"b.png", A}
    assert images.wanted(replace(with_picture, image="c.png")) == {"b.png", "c.png"}
    assert images.wanted(replace(with_picture, image="", source="![](#x)")) == set()


def test_our_addresses_in_their_place() -> None:
    """Also for the post's own picture; srcset goes only where something changed."""
    source = '<img src="https://a.example/a.png" srcset="x 1x" sizes=\'y\'>![](b.png)'
    there = replace(post(source, "markdown", "a.md"), image="b.png")
    ours = images.with_ours(there, {"b.png": "/media/b"})
    assert ours.source == '<img src="https://a.example/a.png">![](/media/b)'
    assert ours.image == "/media/b"
    same = images.with_ours(there, {"c.png": "/media/c"})
    assert (same.source, same.image) == (source, "b.png")
    assert images.with_ours(replace(there, image=""), {"": "/media/c"}).image == ""
    assert images.with_ours(post("![](b.png)", "html"), {"b.png": "/x"}).source == "![](b.png)"


def test_a_source_without_its_addresses() -> None:
    source = '<img src="/a.png" srcset="x"> ![x](/b.png "T")'
    assert images.without_addresses(source) == '<img src=""> ![x]( "T")'


def test_pictures_of_a_folder_and_of_the_web() -> None:
    """Files come from the folder, addresses that are not there from the web; each is told by the
    end of its path."""
    asked, kept = list[str](), dict[str, bytes]()

    def beside(names: Sequence[str]) -> list[tuple[str, bytes | PublisherError]]:
        held = {"x/a b.png": b"1", "https://a.example/here.png?x": b"2"}
        return [(name, held.get(name, InvalidData(f"{name}: gone"))) for name in names]

    def get(name: str) -> bytes:
        asked.append(name)
        return b"3"

    def store(data: bytes, name: str) -> str:
        kept[name] = data
        return f"/media/{name}"

    names = ["x/a b.png", "https://a.example/here.png?x", "https://a.example/web%20p.png", "y.png"]
    notes = Counter[str]()
    ours, problems = images.copy(names, get, beside, store, notes)
    assert kept == {"a b.png": b"1", "here.png": b"2", "web p.png": b"3"}
    assert asked == ["https://a.example/web%20p.png"]
    assert (problems, len(ours)) == ({"y.png": "gone"}, 3)
    assert sorted(notes.values()) == [1, 3]
    assert images.copy([], get, beside, store, notes) == ({}, {})
    none = Counter[str]()
    images.copy(["x/a b.png"], get, beside, store, none)
    assert none == {"picture copied here": 1}
