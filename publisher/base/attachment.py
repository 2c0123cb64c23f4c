"""A file that a post carries and a feed item offers: a podcast episode."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Attachment:
    """The file's address, media type, size in bytes and length in seconds (0: not known)."""

    url: str
    content_type: str
    bytes: int
    seconds: int = 0

    @property
    def is_audio(self) -> bool:
        """Whether it is an audio file, which podcast players can play."""
        return self.content_type.startswith("audio/")
