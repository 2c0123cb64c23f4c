"""The studio, where authors write: one module a page, all of them thin.

A view reads the form, calls a use-case of `publisher.blog` and shows what came of it.
"""

from flask import Blueprint

from publisher.web.studio import home

blueprint = Blueprint("studio", __name__, url_prefix="/studio")
for module in (home,):
    blueprint.register_blueprint(module.blueprint)
