"""Structured logs: one event a line on standard error; JSON, or coloured for a person's terminal.

Events name things by number and path. Passwords, tokens, cookies and addresses of people are never
passed to a logger; the filter below is the second line of defence. Tracebacks are logged without
local variables, whose values include typed passwords and whole requests.
"""

import json
import logging
import re
import sys
from collections.abc import MutableMapping
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any

request_number: ContextVar[str] = ContextVar("request_number", default="")  # in each line about it
_OURS = "publisher"
_SECRET = ("password", "token", "secret", "cookie", "authorization", "csrf")
_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]")  # a stranger's could steer a terminal
_COLOURS = {"warning": "\033[33m", "error": "\033[31m"}


class _Events(logging.LoggerAdapter[logging.Logger]):
    """A logger of events with values: `log.info("feed built", ttl_minutes=15)`."""

    def process(
        self, msg: str, kwargs: MutableMapping[str, Any]
    ) -> tuple[str, MutableMapping[str, Any]]:
        return msg, {"exc_info": kwargs.pop("exc_info", None), "extra": {"values": kwargs}}


class LogLines(logging.Formatter):
    """An event as a line: its values, those that sound like a secret blanked, and what it is."""

    def __init__(self, human: bool) -> None:
        super().__init__()
        self.human = human

    def format(self, record: logging.LogRecord) -> str:
        values = {
            name: "(hidden)" if any(word in name.lower() for word in _SECRET) else value
            for name, value in getattr(record, "values", {}).items()
        }
        if number := request_number.get():
            values["request"] = number
        event, level = record.getMessage(), record.levelname.lower()
        time = datetime.fromtimestamp(record.created, UTC).isoformat().replace("+00:00", "Z")
        trace = self.formatException(record.exc_info) if record.exc_info else ""
        if self.human:
            told = " ".join(f"{name}={value!r}" for name, value in values.items())
            colour = _COLOURS.get(level, "\033[32m")
            event, trace = (_CONTROL.sub(lambda at: ascii(at[0])[1:-1], t) for t in (event, trace))
            line = f"{time} {colour}[{level:<9}]\033[0m \033[1m{event:<30}\033[0m {told}"
            return f"{line}\n{trace}" if trace else line
        values |= {"event": event, "level": level, "timestamp": time}
        return json.dumps(values | {"exception": trace} if trace else values, default=repr)


class _StandardError(logging.Handler):
    """Writes to the present `sys.stderr`, so that redirecting it works."""

    def emit(self, record: logging.LogRecord) -> None:
        try:
            sys.stderr.write(self.format(record) + "\n")
            sys.stderr.flush()
        except Exception:
            self.handleError(record)


def configure(least: int = logging.INFO) -> None:
    """Set up logging, once per process.

    Our own events below the level `least` are left out, and those of libraries below a warning.
    """
    handler = _StandardError()
    handler.setFormatter(LogLines(human=sys.stderr.isatty()))
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    logging.getLogger(_OURS).setLevel(least)
    # Its warnings are a line for each write to a peer that is gone, as often as strangers like.
    logging.getLogger("asyncio").setLevel(logging.ERROR)


def get_logger(name: str) -> Any:
    """The logger of a room. Where `configure` was not called, as in a command, only warnings and
    errors are logged: a command prints its own result.
    """
    if not logging.getLogger(_OURS).level:
        configure(logging.WARNING)
    return _Events(logging.getLogger(f"{_OURS}.{name}"))
