"""One web worker of `publisher serve`."""

import gc
import os

from flask import Flask

from publisher.base import logs
from publisher.delivery.lane import Lane
from publisher.web.application import create_app


def application() -> Flask:
    """What granian calls in each worker process."""
    os.umask(0o077)
    logs.configure()
    app = create_app()
    app.extensions["front"].lane = Lane()
    # What is there now stays: without this each full collection looks through all of it again,
    # which costs a page that makes many objects (the readers report) a third of its time.
    gc.collect()
    gc.freeze()
    return app
