"""The errors that are meant for people; each knows its HTTP status and its exit code.

Rules and use-cases raise these; the command line turns them into one line and an exit code, the
web into a page or a JSON answer with `http_status`. Any other exception is a bug.
"""

from typing import TypeVar

T = TypeVar("T")


class PublisherError(Exception):
    """Any error whose message is a sentence for people.

    `exit_code` is what a command ends with, `http_status` what a page or an API answers.
    """

    exit_code = 1
    http_status = 400


class InvalidInput(PublisherError, ValueError):
    """What was asked cannot be understood: unknown names, bad options, malformed values."""

    exit_code = 2


class InvalidData(PublisherError, ValueError):
    """A file or a document is unreadable or breaks its format."""

    http_status = 422


class FieldErrors(PublisherError):
    """A form cannot be taken as it is: `fields` maps a field's name to what is wrong with it."""

    exit_code = 2
    http_status = 422

    def __init__(self, fields: dict[str, str]) -> None:
        super().__init__("; ".join(f"{name}: {problem}" for name, problem in fields.items()))
        self.fields = fields


class NotFound(PublisherError):
    """The named thing does not exist."""

    exit_code = 2
    http_status = 404


def must_exist(value: T | None, message: str) -> T:
    """`value`; NotFound with the message for None."""
    if value is None:
        raise NotFound(message)
    return value


class Gone(PublisherError):
    """The named thing was there and has been deleted."""

    http_status = 410


class Forbidden(PublisherError):
    """The person is known but may not do this."""

    http_status = 403


class Conflict(PublisherError):
    """Somebody else changed the thing meanwhile, or the name is taken."""

    http_status = 409


class TooMany(PublisherError):
    """Too many tries; `retry_after_seconds` says when the next one makes sense."""

    http_status = 429

    def __init__(self, message: str, retry_after_seconds: int) -> None:
        super().__init__(message)
        self.retry_after_seconds = retry_after_seconds


class TooLarge(PublisherError):
    """More bytes, pixels or entries than are accepted."""

    http_status = 413


class StorageUnavailable(PublisherError):
    """The database or the disk cannot take a write now; nothing was changed."""

    http_status = 503


def to_install(packages: str) -> str:
    """How to install further packages by their own names, whatever Publisher came from."""
    return f"`python -m pip install {packages}`, where Publisher is installed"
