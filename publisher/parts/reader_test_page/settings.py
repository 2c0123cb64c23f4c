"""The setting of the page that tests feed readers."""

from dataclasses import dataclass

from publisher.installation.settings import choice, setting


@dataclass(frozen=True)
class ReaderTestSettings:
    """Whether the page is offered."""

    reader_test: str = setting("off", choice("off", "on"))
