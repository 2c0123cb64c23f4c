"""The blog as readers see it: one module for each address; browsers may cache all pages."""

from flask import Blueprint

from publisher.web.blog import (
    archives,
    authors,
    home,
    old_addresses,
    pages,
    posts,
    search,
    sitemap,
    subscribe,
    tags,
)
from publisher.web.caching import cacheable

blueprint = Blueprint("blog", __name__)
blueprint.before_request(old_addresses.moved_by_query)
blueprint.after_request(cacheable)
for module in (home, posts, tags, authors, pages, archives, search, subscribe, sitemap):
    blueprint.register_blueprint(module.blueprint)
blueprint.register_blueprint(old_addresses.blueprint)
