"""The studio, where authors write, and its settings: a module for each address, all of them thin.

A view reads the form, calls a use-case of `publisher.blog` and shows the result. After any error,
the page in the answer still contains what was typed.
"""

from flask import Blueprint

from publisher.web.studio import (
    account,
    autosave,
    feed,
    first_steps,
    home,
    look,
    media,
    mentions,
    moving,
    navigation,
    people,
    post_actions,
    post_editor,
    posts,
    preview,
    revisions,
    settings,
    tags,
)

blueprint = Blueprint("studio", __name__, url_prefix="/studio")
for module in (
    home,
    feed,
    first_steps,
    posts,
    post_editor,
    autosave,
    preview,
    media,
    post_actions,
    revisions,
    account,
    people,
    settings,
    look,
    navigation,
    tags,
    mentions,
    moving,
):
    blueprint.register_blueprint(module.blueprint)
