"""Copies pictures of imported posts to our media, if requested.

Addresses are fetched only from the public internet; pictures beside a Markdown file are read from
its folder. Pictures that cannot be copied keep their address, and the report counts them.
"""

import html
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import PurePosixPath
from urllib.parse import unquote

from publisher.base.errors import PublisherError
from publisher.blog.post_files import media
from publisher.blog.post_files.media import MAX_BYTES
from publisher.parts.importing.imported import ImportedPost, is_web_address
from publisher.parts.importing.sources import fetched

AT_ONCE = 4
# Neither searches beyond the end of its tag or bracket: both get megabytes of untrusted text.
_IN_HTML = re.compile(
    r"""(?P<before><img\b[^<>]*?\bsrc\s*=\s*(?P<quote>["']))(?P<address>[^<>]*?)(?P<after>(?P=quote))""",
    re.IGNORECASE,
)
_IN_MARKDOWN = re.compile(
    r"""(?P<before>!\[(?:\\.|[^\[\]\\]|\[[^\[\]\\]*\])*\]\((?P<sharp><)?)"""
    r"""(?P<address>(?(sharp)[^\n<>]+|[^\s()<>]+))(?P<after>(?(sharp)>)(?:\s+"[^"]*")?\))"""
)
_IMG = re.compile(r"<img\b[^<>]*>", re.IGNORECASE)
_SRCSET = re.compile(r"""\s(?:srcset|sizes)\s*=\s*(?:"[^"]*"|'[^']*')""", re.IGNORECASE)

Fetch = Callable[[str], bytes]
Beside = Callable[[Sequence[str]], Iterable[tuple[str, bytes | PublisherError]]]
Keep = Callable[[bytes, str], str]


def copy(
    wanted_names: Iterable[str], fetch: Fetch, beside: Beside, keep: Keep, notes: Counter[str]
) -> tuple[dict[str, str], dict[str, str]]:
    """Our addresses of the pictures that could be copied, and why others could not.

    `beside` gives the bytes of files in the folder that is imported, `fetch` those of the other
    addresses; `keep` stores bytes under the file's name and returns our address.
    """
    names, local = sorted(wanted_names), set[str]()
    addresses, problems = dict[str, str](), dict[str, str]()

    def take(name: str, data: bytes | PublisherError | None = None) -> None:
        try:
            if isinstance(data, PublisherError):
                raise data
            file = PurePosixPath(unquote(name.partition("?")[0])).name
            addresses[name] = keep(fetch(name) if data is None else data, file)
        except PublisherError as error:
            problems[name] = str(error).removeprefix(f"{name}: ")

    for name, data in beside(names) if names else ():
        if not (isinstance(data, PublisherError) and is_web_address(name)):
            local.add(name)
            take(name, data)
    with ThreadPoolExecutor(AT_ONCE) as threads:
        list(threads.map(take, (name for name in names if name not in local)))
    if addresses:
        notes["picture copied here"] += len(addresses)
    if problems:
        notes["picture could not be copied and keeps its address"] += len(problems)
    return addresses, problems


def wanted(post: ImportedPost) -> set[str]:
    """The pictures of a post that are not ours: web addresses, or files beside it."""
    names = {name_of(post, html.unescape(m["address"])) for m in _mentions(post)}
    return (names | {name_of(post, post.image) if post.image else ""}) - {""}


def first(post: ImportedPost) -> str:
    """The name of the first picture in a post's text, or its address; "" for none."""
    found = min(_mentions(post), key=lambda m: m.start(), default=None)
    address = html.unescape(found["address"]) if found else ""
    return name_of(post, address) or address


def fetcher(allow_private: bool) -> Fetch:
    """A function that fetches a picture from the internet."""
    return partial(fetched, allow_private=allow_private, max_bytes=MAX_BYTES, seconds=30.0)


def without_addresses(source: str) -> str:
    """A source without its pictures' addresses, which `copy` changes, to compare two of them."""
    source = _IN_HTML.sub(r"\g<before>\g<after>", _without_srcset(source))
    return _IN_MARKDOWN.sub(r"\g<before>\g<after>", source)


def _mentions(post: ImportedPost) -> Iterable[re.Match[str]]:
    yield from _IN_HTML.finditer(post.source)
    if post.source_format == "markdown":
        yield from _IN_MARKDOWN.finditer(post.source)


def is_ours(address: str) -> bool:
    """Whether this is a path of our media: other programs have a folder of that name, too."""
    return address.startswith("/media/") and media.is_name(address.removeprefix("/media/"))


def name_of(post: ImportedPost, address: str) -> str:
    """A picture's name: its address, or the path of its file in the folder; "" for none."""
    if is_web_address(whole := f"https:{address}" if address.startswith("//") else address):
        return whole
    if post.source_format != "markdown" or re.match(r"[a-z]+:|#", address) or is_ours(address):
        return ""
    path = unquote(address.partition("?")[0])
    parts: list[str] = []
    for part in (PurePosixPath(f"/{post.where}").parent / path).parts[1:]:
        if part == "..":
            parts = parts[:-1]
        else:
            parts.append(part)
    return "/".join(parts)


def with_ours(post: ImportedPost, addresses: Mapping[str, str]) -> ImportedPost:
    """The post with our addresses in place of those that were found."""

    def change(match: re.Match[str]) -> str:
        ours = addresses.get(name_of(post, html.unescape(match["address"])))
        return match[0] if ours is None else f"{match['before']}{ours}{match['after']}"

    source = _IN_HTML.sub(change, post.source)
    if post.source_format == "markdown":
        source = _IN_MARKDOWN.sub(change, source)
    if source != post.source:
        source = _without_srcset(source)  # browsers would prefer these addresses to ours
    picture = addresses.get(name_of(post, post.image), post.image) if post.image else ""
    return replace(post, source=source, image=picture)


def _without_srcset(source: str) -> str:
    return _IMG.sub(lambda tag: _SRCSET.sub("", tag[0]), source)
