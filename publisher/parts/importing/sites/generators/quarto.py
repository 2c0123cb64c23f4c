"""Quarto's sites."""

import json
import re
from datetime import tzinfo
from functools import cached_property
from pathlib import PurePosixPath
from typing import Any

from publisher.base.errors import PublisherError
from publisher.exchange.front_matter import MAX_FILE_BYTES, split_front_matter
from publisher.parts.importing.sites import config_files as config
from publisher.parts.importing.sites.generators.generator import Generator, Text, path_of
from publisher.parts.importing.sites.template_words import fence_after
from publisher.parts.importing.sources import Folder
from publisher.storage.tables.blog import PostKind

_FENCE = re.compile(
    r"([ \t]*)(`{3,}|~{3,})[ \t]*(?:\{[ \t]*([=.]?)(\w{1,40})([^{}\n]*)\})?[^`\n]*\n?"
)
_HIDDEN = re.compile(r"\b(?:echo|include)\s*[=:]\s*F(?:ALSE)?\b|\b(?:echo|include):\s*false\b")
_OPTION = re.compile(r"[ \t]*(?:#|//)\|")


class Quarto(Generator):
    """Quarto: any text may be a post; what its code printed and drew is kept in `_freeze`."""

    name = "Quarto"
    guid_is_address = True
    CONFIGS = ("_quarto.yml", "_quarto.yaml")

    def __init__(self, folder: Folder, prefix: str, zone: tzinfo) -> None:
        super().__init__(folder, prefix, zone)
        self.settings = self._settings(*self.CONFIGS)
        self._site(config.string(self.settings, "website", "site-url"))
        self.output = config.string(self.settings, "project", "output-dir").strip("/") or "_site"
        self.feeds = ["/index.xml"]
        globs = config.strings(self.settings, "project", "render")
        shown = [glob if "*" in glob else f"/{glob}" for glob in globs if glob[0] != "!"]
        self.private = ["*", *(f"!{glob}" for glob in shown)] if shown else []
        self.private += [f"**/{glob[1:].lstrip('/')}" for glob in globs if glob[0] == "!"]
        self.private += config.strings(self.settings, "website", "drafts")

    def takes(self, place: str) -> bool:
        """Texts that are not in folders of settings or of what was built."""
        return not (place.startswith(f"{self.output}/") or re.search(r"(^|/)_", place))

    def fields(self, fields: dict[str, Any], place: str) -> dict[str, Any]:
        """With what `_metadata.yml` says for its folder, the nearest first."""
        return self.above(place) | fields

    def of_folder(self, top: str) -> dict[str, Any]:
        """What `_metadata.yml` says."""
        return self._settings(f"{top}_metadata.yml")

    def kind(self, text: Text) -> PostKind:
        """Texts beside the settings are pages."""
        return "post" if len(text.path.parts) > 1 else "page"

    def path(self, text: Text) -> str:
        """The path of the file."""
        if self.pattern:
            return super().path(text)
        return path_of(text.path.with_suffix("").as_posix(), ".html")

    def also(self, address: str) -> tuple[str, ...]:
        """The file in the folder."""
        return (f"{address}index.html",) if address.endswith("/") else ()

    def body(self, place: str, body: str) -> tuple[str, list[str]]:
        """The text with what its code made, where that was kept; else without."""
        path, needs, made = PurePosixPath(place), list[str](), ""
        kept = f"_freeze/{path.with_suffix('').as_posix()}"
        name = f"{self.prefix}{kept}/execute-results/html.json"
        try:
            made = json.loads(self.folder.read(name, MAX_FILE_BYTES))["result"]["markdown"]
            body = split_front_matter(str(made).replace("\r\n", "\n"))[1]
        except (PublisherError, OSError, ValueError, LookupError, TypeError, RecursionError):
            made = ""
        body, runs = _shown(body)
        if runs and not made and path.suffix.lower() == ".qmd":
            needs.append("what its code prints and draws is not in the source")
        if re.search(r"\[-?@\w", body):
            needs.append("the list of the works that it cites is not made")
        figures = f"{path.stem}_files"
        beside = (path.parent / figures).as_posix() in self._folders
        if f"{kept}/figure-html" in self._folders and not beside:
            up = "../" * (len(path.parts) - 1)
            body = body.replace(f"]({figures}/", f"]({up}{kept}/")
        return body, needs

    @cached_property
    def _folders(self) -> set[str]:
        """All folders of the site."""
        return {
            parent.as_posix() for name in self.below("") for parent in PurePosixPath(name).parents
        }


def _shown(body: str) -> tuple[str, bool]:
    """A text whose code is all to be shown, without what is hidden and with the HTML that it has as
    such, and whether some of it is run when the site is built."""
    made, inside, runs = list[str](), list[str](), False
    fence: re.Match[str] | None = None
    for line in body.splitlines(keepends=True):
        if fence is None:
            fence = _FENCE.fullmatch(line)
            made += [line] if fence is None else []
            continue
        if fence_after(line, fence[2]):
            inside.append(line)
            continue
        runs |= fence[3] == ""
        made += _block(fence, inside, line)
        inside, fence = [], None
    return "".join([*made, *([_head(fence)] if fence else []), *inside]), runs


def _head(fence: re.Match[str]) -> str:
    return f"{fence[1]}{fence[2]}{fence[4]}\n" if fence[4] and fence[3] != "=" else fence[0]


def _block(fence: re.Match[str], inside: list[str], end: str) -> list[str]:
    """A block of code between its fences; nothing where it is hidden."""
    if fence[3] == "=" and fence[4] == "html":
        return inside
    if fence[3] == "":
        options = "".join(line for line in inside if _OPTION.match(line))
        if _HIDDEN.search(f"{fence[5]}\n{options}"):
            return ["\n"]
        inside = [line for line in inside if not _OPTION.match(line)]
    return [_head(fence), *inside, end]
