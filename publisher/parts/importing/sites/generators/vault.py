"""Vaults of Obsidian that are published with Quartz."""

import re
from datetime import tzinfo

from publisher.parts.importing.sites import config_files as config
from publisher.parts.importing.sites.generators.generator import Generator, Text, path_of
from publisher.parts.importing.sources import Folder


class Quartz(Generator):
    """Quartz: `content`; a text is called like its file."""

    name = "Quartz"
    guid_is_address = True
    spaced_tags = False
    no_posts = ()
    CONFIGS = ("quartz.config.ts",)

    def __init__(self, folder: Folder, prefix: str, zone: tzinfo) -> None:
        super().__init__(folder, prefix, zone)
        program = self._text(self.CONFIGS[0])
        base = config.word_in(program, "baseUrl")
        self.root = "content/"
        self.private = config.words_in(program, "ignorePatterns") or ["private", "templates"]
        self.explicit = bool(re.search(r"(?m)^(?!\s*//).*\bExplicitPublish\(", program))
        self._site(f"https://{base}" if base else "")
        self.dates = ["created"]
        self.feeds = ["/index.xml"]

    def is_draft(self, text: Text) -> bool:
        """Also where a filter shows only what says so."""
        return super().is_draft(text) or (self.explicit and text.value("publish") != "True")

    def title(self, text: Text) -> str:
        """The name of its file."""
        return self.slug(text)

    def path(self, text: Text) -> str:
        """The path of the file, with hyphens for blanks."""
        if self.pattern:
            return super().path(text)
        path = path_of(text.place.removeprefix(self.root).rpartition(".")[0], "")
        path = re.sub(r"[?#]", "", re.sub(r"\s", "-", path))
        return path.replace("&", "-and-").replace("%", "-percent")
