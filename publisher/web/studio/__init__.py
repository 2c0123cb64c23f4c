"""The studio, where authors write, and its settings: a module for each address, all of them thin.

A view reads the form, calls a use-case of `publisher.blog` and shows the result. After any error,
the page in the answer still contains what was typed.
"""

from flask import Blueprint

from publisher.web.studio import first_steps, home, media, mentions, post_reach, posts, tags
from publisher.web.studio.account_pages import account, people
from publisher.web.studio.editor import autosave, post_actions, post_editor, preview, revisions
from publisher.web.studio.preferences import feed, look, moving, navigation, settings

blueprint = Blueprint("studio", __name__, url_prefix="/studio")
for module in (
    home,
    feed,
    first_steps,
    posts,
    post_reach,
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
