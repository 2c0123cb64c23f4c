"""Feeds that the front does not hold: before the first build, and tags that nobody uses."""

from __future__ import annotations

from flask import Blueprint

from publisher.errors import NotFound, StorageUnavailable

blueprint = Blueprint("feeds", __name__)


@blueprint.get("/rss.xml")
@blueprint.get("/atom.xml")
@blueprint.get("/feed.json")
def not_built() -> str:
    """Reached only while no snapshot exists: a GET never makes one."""
    raise StorageUnavailable("the feed has not been built yet; try again in a moment")


@blueprint.get("/tags/<tag>/rss.xml")
def no_such_tag(tag: str) -> str:
    """Reached only when the tag has no published post."""
    raise NotFound(f"no post has the tag {tag!r}")
