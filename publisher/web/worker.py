"""One web worker of `publisher serve`."""

from __future__ import annotations

from flask import Flask

from publisher import logs
from publisher.web.application import create_app


def application() -> Flask:
    """What the server calls in each worker process."""
    logs.configure()
    return create_app()
