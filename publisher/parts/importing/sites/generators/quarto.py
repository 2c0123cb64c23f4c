"""Quarto's sites."""

import json
import re
from datetime import tzinfo
from pathlib import PurePosixPath
from typing import Any

from publisher.base.errors import InvalidData, TooLarge
from publisher.exchange.front_matter import MAX_FILE_BYTES, split_front_matter
from publisher.parts.importing.sites import config_files as config
from publisher.parts.importing.sites.generators.generator import Generator, Text
from publisher.parts.importing.sources import Folder
from publisher.storage.tables.blog import PostKind

_FENCE = r"^([ \t]*)(`{3,})[ \t]*\{%s\}[ \t]*\n((?:(?!\1\2)[^\n]*\n)*?)\1\2`*[ \t]*$"
_RAW = re.compile(_FENCE % r"=html", re.MULTILINE)
_RUN = re.compile(_FENCE % r"(\w{1,40})([^{}\n]*)", re.MULTILINE)
_SHOWN = re.compile(r"^([ \t]*`{3,})[ \t]*\{[ \t]*\.?(\w{1,40})[^{}\n]*\}", re.MULTILINE)
_HIDDEN = re.compile(r"\b(?:echo|include)\s*[=:]\s*F(?:ALSE)?\b|\b(?:echo|include):\s*false\b")


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
        self._shared: dict[str, dict[str, Any]] = {}

    def takes(self, place: str) -> bool:
        """Texts that are not in folders of settings or of what was built."""
        return not (place.startswith(f"{self.output}/") or re.search(r"(^|/)_", place))

    def fields(self, fields: dict[str, Any], place: str) -> dict[str, Any]:
        """With what `_metadata.yml` says for its folder, the nearest first."""
        for folder in PurePosixPath(place).parents:
            name = (folder / "_metadata.yml").as_posix()
            if name not in self._shared:
                self._shared[name] = self._settings(name)
            fields = self._shared[name] | fields
        return fields

    def kind(self, text: Text) -> PostKind:
        """Texts beside the settings are pages."""
        return "post" if len(text.path.parts) > 1 else "page"

    def path(self, text: Text) -> str:
        """The path of the file."""
        if self.pattern:
            return super().path(text)
        inner = text.path.with_suffix("").as_posix()
        return f"/{inner.removesuffix('index')}" + ("" if inner.endswith("index") else ".html")

    def also(self, address: str) -> tuple[str, ...]:
        """The file in the folder."""
        return (f"{address}index.html",) if address.endswith("/") else ()

    def body(self, place: str, body: str) -> tuple[str, list[str]]:
        """The text with what its code made, where that was kept; else without."""
        path, needs = PurePosixPath(place), list[str]()
        kept = f"_freeze/{path.with_suffix('').as_posix()}"
        name = f"{self.prefix}{kept}/execute-results/html.json"
        try:
            made = json.loads(self.folder.read(name, MAX_FILE_BYTES))["result"]["markdown"]
            body = split_front_matter(made.replace("\r\n", "\n"))[1]
        except (InvalidData, TooLarge, OSError, ValueError, KeyError, TypeError, AttributeError):
            if path.suffix.lower() == ".qmd" and _RUN.search(body):
                needs.append("what its code prints and draws is not in the source")
        if re.search(r"\[-?@\w", body):
            needs.append("the list of the works that it cites is not made")
        figures = f"{path.stem}_files/"
        if any(self.below(f"{kept}/figure-")) and not any(
            self.below(f"{path.parent.as_posix()}/{figures}")
        ):
            body = body.replace(f"]({figures}", f"]({'../' * (len(path.parts) - 1)}{kept}/")
        body = _RUN.sub(_code, _RAW.sub(r"\3", body))
        return _SHOWN.sub(r"\1\2", body), needs


def _code(run: re.Match[str]) -> str:
    """Code that is run when the site is built, as code that is shown; "" where it is hidden."""
    options = "".join(re.findall(r"^[ \t]*(?:#|//)\|[^\n]*\n", run[5], re.MULTILINE))
    if _HIDDEN.search(f"{run[4]}\n{options}"):
        return ""
    code = re.sub(r"^[ \t]*(?:#|//)\|[^\n]*\n", "", run[5], flags=re.MULTILINE)
    return f"{run[1]}{run[2]}{run[3]}\n{code}{run[1]}{run[2]}"
