"""Unsaved form data: kept when saving fails, carried through the login, shown again."""

from dataclasses import dataclass, replace

from flask import request

from publisher.base.errors import PublisherError
from publisher.base.numerals import whole_number
from publisher.web.studio.editor import post_editor
from publisher.web.studio.editor.forms import FIELDS, Typed, from_mapping

PREFIX = "held_"


@dataclass(frozen=True)
class UnsavedForm:
    """A form that was sent, and the post it belongs to (0: a new one)."""

    post_id: int
    typed: Typed

    @property
    def fields(self) -> dict[str, str]:
        """Names and values for the login form to carry along."""
        named = {PREFIX + name: value for name, value in self.typed.everything.items() if value}
        return {**named, f"{PREFIX}post_id": str(self.post_id)}


def in_request() -> UnsavedForm | None:
    """The form in the present request, if it has one."""
    if "source" not in request.form:
        return None
    post_id = (request.view_args or {}).get("post_id", 0)
    return UnsavedForm(post_id, from_mapping(request.form))


def carried_by_login() -> UnsavedForm | None:
    """The form that the login form carried along, if any."""
    if f"{PREFIX}post_id" not in request.form:
        return None
    fields = {name: request.form.get(PREFIX + name, "") for name in FIELDS}
    post_id = whole_number(request.form[f"{PREFIX}post_id"]) or 0
    return UnsavedForm(post_id, from_mapping(fields))


def editor_page(held: UnsavedForm, notice: str) -> str:
    """The editor with the unsaved text; as a new post if its post cannot be opened."""
    notice = f"{notice} Nothing has been saved yet."
    try:
        return post_editor.show(held.typed, held.post_id, notice=notice)
    except PublisherError:
        return post_editor.show(replace(held.typed, base_version="0"), 0, notice=notice)
