"""Feeds that are not served from memory yet."""

from __future__ import annotations

from flask import Blueprint

from publisher.errors import StorageUnavailable

blueprint = Blueprint("feeds", __name__)


@blueprint.get("/rss.xml")
def rss() -> str:
    """Reached only while no snapshot exists: a GET never makes one."""
    raise StorageUnavailable("the feed has not been built yet; try again in a moment")
