"""Structured logs: one event a line on standard error; JSON, or text for a person's terminal, who
is told warnings and errors only.

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

    def __init__(self, human: bool, coloured: bool = True) -> None:
        super().__init__()
        self.human, self.coloured = human, coloured

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
            pairs = " ".join(f"{name}={value!r}" for name, value in values.items())
            colour = _COLOURS.get(level, "\033[32m")
            event, trace = (_CONTROL.sub(lambda at: ascii(at[0])[1:-1], t) for t in (event, trace))
            line = f"{time} {colour}[{level:<9}]\033[0m \033[1m{event:<30}\033[0m {pairs}"
            line = line if self.coloured else f"{time} [{level}] {event} {pairs}".rstrip()
            return f"{line}\n{trace}" if trace else line
        values |= {"event": event, "level": level, "timestamp": time}
        return json.dumps(values | {"exception": trace} if trace else values, default=repr)


class _StandardError(logging.Handler):
    """Writes to the present `sys.stderr`, so that redirecting it works.

    text: the chosen format, also of processes that are forked later; None as the terminal wants it.
    """

    text: bool | None = None

    def emit(self, record: logging.LogRecord) -> None:
        try:
            sys.stderr.write(self.format(record) + "\n")
            sys.stderr.flush()
        except Exception:
            self.handleError(record)


def choose_format(name: str) -> None:
    """Have events logged as `text` or `json` from the next `configure` on."""
    _StandardError.text = name == "text"


def configure(least: int = logging.INFO) -> None:
    """Set up logging, once per process.

    Our own events below the level `least` are left out (in text, those below a warning too), and
    those of libraries below a warning.
    """
    handler, terminal = _StandardError(), sys.stderr.isatty()
    text = terminal if _StandardError.text is None else _StandardError.text
    least = max(least, logging.WARNING) if text else least
    handler.setFormatter(LogLines(human=text, coloured=terminal))
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
