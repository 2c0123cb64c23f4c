"""The blog as readers see it: posts, lists of them, the sitemap; browsers may cache all pages."""

from flask import Blueprint

from publisher.web.blog import lists, posts, sitemap, subscribe
from publisher.web.requests.caching import cacheable

blueprint = Blueprint("blog", __name__)
blueprint.before_request(posts.moved_by_query)
blueprint.after_request(cacheable)
for module in (lists, posts, subscribe, sitemap):
    blueprint.register_blueprint(module.blueprint)
