"""Unsaved form data: kept when saving fails, carried through the login, shown again."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from flask import render_template, request

from publisher.base.errors import PublisherError
from publisher.base.text import whole_number
from publisher.web.studio.editor import post_editor
from publisher.web.studio.editor.forms import FIELDS, Typed, from_mapping

PREFIX = "held_"
SETTINGS = (
    "/studio/look", "/studio/settings", "/studio/settings/visits", "/studio/settings/technical",
    "/studio/navigation", "/studio/account/profile",
)  # fmt: skip


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


@dataclass(frozen=True)
class SettingsForm:
    """A form of the settings that was sent by a browser without our script, which would keep it."""

    path: str
    texts: Mapping[str, str]

    @property
    def fields(self) -> dict[str, str]:
        """Names and values for the login form to carry along."""
        return {f"{PREFIX}path": self.path} | {PREFIX + n: text for n, text in self.texts.items()}


def in_request() -> UnsavedForm | SettingsForm | None:
    """The form in the present request, if it has one."""
    if request.path in SETTINGS and request.method == "POST" and "kept_here" not in request.form:
        texts = {name: text for name, text in request.form.items() if name != "csrf_token"}
        return SettingsForm(request.path, texts)
    if "source" not in request.form:
        return None
    post_id = (request.view_args or {}).get("post_id", 0)
    return UnsavedForm(post_id, from_mapping(request.form))


def carried_by_login() -> UnsavedForm | SettingsForm | None:
    """The form that the login form carried along, if any."""
    if (path := request.form.get(f"{PREFIX}path", "")) in SETTINGS:
        named = {name.removeprefix(PREFIX): text for name, text in request.form.items()
                 if name.startswith(PREFIX) and name != f"{PREFIX}path"}  # fmt: skip
        return SettingsForm(path, named)
    if f"{PREFIX}post_id" not in request.form:
        return None
    fields = {name: request.form.get(PREFIX + name, "") for name in FIELDS}
    post_id = whole_number(request.form[f"{PREFIX}post_id"]) or 0
    return UnsavedForm(post_id, from_mapping(fields))


def page(held: UnsavedForm | SettingsForm, notice: str) -> str:
    """The editor with the unsaved text, as a new post if its post cannot be opened; a form of the
    settings as plain fields."""
    if isinstance(held, SettingsForm):
        return render_template("settings/held.html", held=held)
    notice = f"{notice} Nothing has been saved yet."
    try:
        return post_editor.show(held.typed, held.post_id, notice=notice)
    except PublisherError:
        return post_editor.show(replace(held.typed, base_version="0"), 0, notice=notice)
