"""The settings of the readers' part."""

from dataclasses import dataclass

from publisher.installation.settings import choice, setting


@dataclass(frozen=True)
class ReadersSettings:
    """What is done about programs that come far too often."""

    fairness: str = setting("off", choice("off", "on"))
