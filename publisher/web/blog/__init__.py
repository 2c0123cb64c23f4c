"""The blog as readers see it: posts, lists of them, the sitemap; browsers may cache all pages."""

from flask import Blueprint

from publisher.web.api import feeds
from publisher.web.blog import lists, posts
from publisher.web.page_answers import cacheable

blueprint = Blueprint("blog", __name__)
blueprint.before_request(posts.moved_by_query)
blueprint.after_request(cacheable)
for part in (lists.blueprint, posts.blueprint, feeds.sitemap_blueprint):
    blueprint.register_blueprint(part)
