"""Structured logs: one event a line on standard error; JSON, or coloured for a person's terminal.

Events name things by number and path. Passwords, tokens, cookies and addresses of people are never
passed to a logger; the filter below is the second line of defence. Tracebacks are logged without
local variables, whose values include typed passwords and whole requests.
"""

import logging
import sys
from collections.abc import MutableMapping
from typing import Any

import structlog
from structlog.tracebacks import ExceptionDictTransformer

_SECRET = ("password", "token", "secret", "cookie", "authorization", "csrf")


def configure(least: int = logging.INFO) -> None:
    """Set up structlog and the standard library's logging, once per process.

    Our own events below the level `least` are left out.
    """
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        hide_secrets,
    ]
    human = sys.stderr.isatty()
    renderer: Any = (
        structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)
        if human
        else structlog.processors.JSONRenderer()
    )
    places = ExceptionDictTransformer(show_locals=False)
    trace = [] if human else [structlog.processors.ExceptionRenderer(places)]
    structlog.configure(
        processors=[*shared, *trace, renderer],
        logger_factory=_to_standard_error,
        wrapper_class=structlog.make_filtering_bound_logger(least),
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared, processors=[_drop_internals, *trace, renderer]
        )
    )
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)


def get_logger(name: str) -> Any:
    """The logger of a room. Where `configure` was not called, as in a command, only warnings and
    errors are logged: a command prints its own result.
    """
    if not structlog.is_configured():
        configure(logging.WARNING)
    return structlog.get_logger(name)


def _to_standard_error(*_: Any) -> structlog.WriteLogger:
    """A logger on the present `sys.stderr`, so that redirecting it works."""
    return structlog.WriteLogger(sys.stderr)


def hide_secrets(
    _logger: Any, _method: str, event: MutableMapping[str, Any]
) -> MutableMapping[str, Any]:
    """Blank every value whose name sounds like a secret."""
    for name in event:
        if any(word in name.lower() for word in _SECRET):
            event[name] = "(hidden)"
    return event


def _drop_internals(
    _logger: Any, _method: str, event: MutableMapping[str, Any]
) -> MutableMapping[str, Any]:
    for name in ("_record", "_from_structlog"):
        event.pop(name, None)
    return event
