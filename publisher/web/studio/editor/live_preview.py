"""`/studio/preview`: the post that is being typed, as its page will show it.

The editor shows the page in a frame and puts the article into it. So the look, its media queries
and the author's own CSS hold for it as for the page.
"""

from typing import Any

from flask import Blueprint, Response, g, jsonify, render_template, request
from sqlalchemy.orm import Session

from publisher.base.text import whole_number
from publisher.blog.markup import markdown
from publisher.blog.slug_words import slugify, tag_slug
from publisher.blog.writing import content, posts
from publisher.blog.writing.content import Content
from publisher.storage.tables.blog import Post, Tag
from publisher.storage.tables.credentials import Author
from publisher.web.assets import FRAMED
from publisher.web.blog.lists import several_authors
from publisher.web.context import me, now, settings, site
from publisher.web.studio.editor import forms

blueprint = Blueprint("live_preview", __name__)


@blueprint.get("/preview")
def frame() -> Response:
    """The page without an article."""
    return Response(render_template("studio/preview_frame.html"), headers=FRAMED)


@blueprint.post("/preview")
def preview() -> Any:
    """The article."""
    typed = forms.from_mapping(request.form)
    number = whole_number(request.form.get("post_id", ""))
    g.tried_style = True  # as a reader sees it, without the way to edit it
    value = content.as_typed(typed.texts)
    with site().database.read() as db:
        post = _post(db, value, posts.editable(db, me(), number) if number else None)
        html = render_template("studio/preview_post.html", post=post, several=several_authors(db))
    return jsonify(html=html)


def _post(db: Session, value: Content, saved: Post | None) -> Post:
    """The content as a post, in no session."""
    anchor = f"p{saved.id}-" if saved else ""
    form, language = value.source_format, settings().language
    post = Post(**content.to_columns(value))
    post.html = markdown.html_of(value.source, form, anchor, language, value.gallery == "rows")
    post.slug = value.slug or (saved.slug if saved else slugify(value.title) or "preview")
    post.published_at = (saved and (saved.published_at or saved.scheduled_at)) or now()
    post.author = db.get(Author, saved.author_id) if saved and saved.author_id else me()
    post.tags = [Tag(name=name, slug=tag_slug(name)) for name in value.tags]
    return post
