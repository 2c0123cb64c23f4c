"""The settings of Webmention."""

from dataclasses import dataclass

from publisher.installation.settings import choice, setting


@dataclass(frozen=True)
class WebmentionSettings:
    """Whether mentions are sent, and whether they are accepted."""

    webmention_send: str = setting("on", choice("on", "off"))
    webmention_receive: str = setting("off", choice("off", "on"))
