"""The studio, where authors write, and its settings: a module for each address, all of them thin.

A view reads the form, calls a use-case of `publisher.blog` and shows the result. After any error,
the page in the answer still contains what was typed. All pages are behind the login.
"""

from flask import Blueprint

from publisher.web.context import need_login
from publisher.web.studio import home, media, posts
from publisher.web.studio.account_pages import account, people
from publisher.web.studio.editor import autosave, live_preview, post_actions, post_editor
from publisher.web.studio.preferences import feed, look, moving, settings

blueprint = Blueprint("studio", __name__, url_prefix="/studio")
blueprint.before_request(need_login)
for module in (
    home, feed, posts, post_editor, autosave, media, post_actions, live_preview, account, people,
    settings, look, moving,
):  # fmt: skip
    blueprint.register_blueprint(module.blueprint)
