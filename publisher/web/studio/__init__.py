"""The studio, where authors write: one module a page, all of them thin.

A view reads the form, calls a use-case of `publisher.blog` and shows what came of it. Whatever
goes wrong, the page that answers has the text that was typed in it.
"""

from flask import Blueprint

from publisher.web.studio import editor, history, home, moves, posts, typing, uploads

blueprint = Blueprint("studio", __name__, url_prefix="/studio")
for module in (home, posts, editor, typing, uploads, moves, history):
    blueprint.register_blueprint(module.blueprint)
