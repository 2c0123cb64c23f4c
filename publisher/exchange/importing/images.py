"""Pictures of imported posts, fetched when asked for and kept with ours.

Addresses are fetched only from the public internet; pictures that lie beside a Markdown file are
read from its folder. What cannot be had keeps its old address, and the report says how many.
"""

import html
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import PurePosixPath
from urllib.parse import unquote, urlsplit

from publisher.base.errors import InvalidData, PublisherError
from publisher.base.net import OutgoingError, request_public
from publisher.blog.media import MAX_BYTES
from publisher.exchange.importing.fields import is_web_address
from publisher.exchange.importing.imported import ImportedPost
from publisher.exchange.importing.sources import Folder

AT_ONCE = 4
_IN_HTML = re.compile(
    r"""(?P<before><img\b[^>]*?\bsrc\s*=\s*(?P<quote>["']))(?P<address>.*?)(?P<after>(?P=quote))""",
    re.IGNORECASE | re.DOTALL,
)
_IN_MARKDOWN = re.compile(
    r"""(?P<before>!\[(?:\\.|[^\]\\])*\]\(<?)(?P<address>[^\s()<>]+)(?P<after>>?(?:\s+"[^"]*")?\))"""
)
_SRCSET = re.compile(r"""\s(?:srcset|sizes)\s*=\s*(?:"[^"]*"|'[^']*')""", re.IGNORECASE)

Fetch = Callable[[str], bytes]
Keep = Callable[[bytes, str], str]


def bring(
    posts: Sequence[ImportedPost], fetch: Fetch, keep: Keep, notes: Counter[str]
) -> list[ImportedPost]:
    """The posts with the addresses of pictures that were had replaced by ours.

    `fetch` gives the bytes of a picture by what `wanted` calls it, `keep` stores them (with the
    file's name) and gives our address.
    """
    names = sorted({name for post in posts for name in wanted(post)})

    def one(name: str) -> tuple[str, str]:
        try:
            return keep(fetch(name), PurePosixPath(unquote(name.partition("?")[0])).name), ""
        except (PublisherError, OutgoingError) as error:
            return "", str(error)

    with ThreadPoolExecutor(AT_ONCE) as threads:
        answers = dict(zip(names, threads.map(one, names), strict=True))
    found = {name: address for name, (address, _) in answers.items() if address}
    if found:
        notes["picture is kept with ours"] += len(found)
    if failed := [problem for address, problem in answers.values() if not address]:
        notes[f"picture could not be had and keeps its address (such as: {failed[0]})"] += len(
            failed
        )
    return [_with(post, found) for post in posts]


def wanted(post: ImportedPost) -> set[str]:
    """The pictures of a post that are not ours: whole addresses, or files beside it."""
    names = (_name(post, html.unescape(m["address"])) for m in _mentions(post))
    return {name for name in names if name}


def fetcher(folder: Folder | None, allow_private: bool) -> Fetch:
    """Gets a picture from the folder that is imported, where it has it, or from the internet."""

    def fetch(name: str) -> bytes:
        if not is_web_address(name):
            return _beside(folder, name)
        path = unquote(urlsplit(name).path).lstrip("/")
        if folder is not None and path in folder.names:
            return folder.read(path, MAX_BYTES)
        reply = request_public(
            name,
            user_agent="Publisher import",
            allow_private=allow_private,
            max_bytes=MAX_BYTES,
        )
        if reply.status != 200:
            raise InvalidData(f"the server answered {reply.status}")
        return reply.body

    return fetch


def without_addresses(source: str) -> str:
    """A source without what `bring` changes in it, to compare two of them."""
    source = _IN_HTML.sub(r"\g<before>\g<after>", _SRCSET.sub("", source))
    return _IN_MARKDOWN.sub(r"\g<before>\g<after>", source)


def _beside(folder: Folder | None, name: str) -> bytes:
    """A file of the folder, by its path or by the end of its path where only one fits."""
    names = folder.names if folder else ()
    fitting = [name] if name in names else [one for one in names if one.endswith(f"/{name}")]
    if folder is None or len(fitting) != 1:
        raise InvalidData("there is no such file in the folder")
    return folder.read(fitting[0], MAX_BYTES)


def _mentions(post: ImportedPost) -> Iterable[re.Match[str]]:
    yield from _IN_HTML.finditer(post.source)
    if post.source_format == "markdown":
        yield from _IN_MARKDOWN.finditer(post.source)


def _name(post: ImportedPost, address: str) -> str:
    """What a picture is called: its address, or the path of its file in the folder; "" for none."""
    if is_web_address(address):
        return address
    if post.source_format != "markdown" or re.match(r"[a-z]+:|/media/|#", address):
        return ""
    path = unquote(address.partition("?")[0])
    here = PurePosixPath("/" if path.startswith("/") else f"/{post.where}").parent
    parts: list[str] = []
    for part in (here / path.lstrip("/") if path.startswith("/") else here / path).parts[1:]:
        if part == "..":
            parts = parts[:-1]
        else:
            parts.append(part)
    return "/".join(parts)


def _with(post: ImportedPost, found: Mapping[str, str]) -> ImportedPost:
    def change(match: re.Match[str]) -> str:
        ours = found.get(_name(post, html.unescape(match["address"])))
        return match[0] if ours is None else f"{match['before']}{ours}{match['after']}"

    source = _IN_HTML.sub(change, post.source)
    if post.source_format == "markdown":
        source = _IN_MARKDOWN.sub(change, source)
    if source != post.source and post.source_format == "html":
        source = _SRCSET.sub("", source)  # smaller versions elsewhere would win over ours
    return replace(post, source=source)
