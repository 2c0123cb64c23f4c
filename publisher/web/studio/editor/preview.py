"""`/studio/preview`: the text in the editor as readers will get it."""

from typing import Any

from flask import Blueprint, jsonify, request

from publisher.base.numerals import whole_number
from publisher.blog.markup import markdown
from publisher.blog.markup.formulas import drawn
from publisher.web.context import login_required
from publisher.web.rendering import settings
from publisher.web.studio.editor import forms

blueprint = Blueprint("preview", __name__)


@blueprint.post("/preview")
@login_required
def preview() -> Any:
    """The text as readers will get it."""
    typed = forms.from_mapping(request.form)
    number = whole_number(request.form.get("post_id", ""))
    anchor = f"p{number}-" if number else ""
    form, language = typed.texts["source_format"], settings().language
    return jsonify(html=drawn(markdown.html_of(typed.source, form, anchor, language)))
