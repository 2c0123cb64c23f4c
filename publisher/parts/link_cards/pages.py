"""The button in the editor that fetches a post's link cards again."""

from flask import Blueprint, render_template
from werkzeug.wrappers import Response

from publisher.blog.published import ALONE
from publisher.blog.writing import posts
from publisher.parts.link_cards import cards
from publisher.storage.tables.blog import Post
from publisher.web.context import done, login_required, me, site

blueprint = Blueprint("link_cards", __name__)


@blueprint.post("/studio/posts/<int:post_id>/cards")
@login_required
def refresh(post_id: int) -> Response:
    """Fetch the post's link cards again."""
    with site().database.write() as db:
        cards.request(db, posts.editable(db, me(), post_id).html, again=True)
    words = "The linked pages are being asked again; the cards follow in a moment."
    return done(words, "studio.post_editor.edit", post_id=post_id)


def post_tools(post: Post) -> str:
    """The button, for a post with an address that stands alone."""
    return render_template("link_cards/button.html", post=post) if ALONE.search(post.html) else ""
