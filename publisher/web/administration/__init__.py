"""The settings room: the site, the people who write here, and one's own account."""

from __future__ import annotations

from flask import Blueprint

from publisher.web.administration import account, people, preferences

blueprint = Blueprint("administration", __name__, url_prefix="/studio")
for module in (account, people, preferences):
    blueprint.register_blueprint(module.blueprint)
