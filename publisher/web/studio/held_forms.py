"""Forms that were sent without a login: the login form carries their texts along, and the next page
has them again."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from flask import render_template, request

from publisher.base.errors import PublisherError
from publisher.base.text import whole_number
from publisher.blog.writing.content import MAX_SOURCE
from publisher.web.studio.editor import post_editor
from publisher.web.studio.editor.forms import from_mapping

CARRIED = "held_"
SETTINGS = (
    "/studio/look", "/studio/settings", "/studio/settings/visits", "/studio/settings/technical",
    "/studio/navigation", "/studio/account/profile",
)  # fmt: skip


@dataclass(frozen=True)
class HeldForm:
    """A form that was sent without a login: of the settings at `path` (sent by a browser without
    our script, which would keep it), or else of the post with this number (0: a new one)."""

    texts: Mapping[str, str]
    path: str = ""
    post_id: int = 0

    @property
    def fields(self) -> dict[str, str]:
        """Names and values for the login form to carry along."""
        place = {"path": self.path} if self.path else {"post_id": str(self.post_id)}
        return {CARRIED + name: text for name, text in {**self.texts, **place}.items()}


def in_request() -> HeldForm | None:
    """The form in the present request, if it has one."""
    if request.path in SETTINGS and request.method == "POST" and "kept_here" not in request.form:
        texts = {name: text for name, text in request.form.items() if name != "csrf_token"}
        return _fitting(HeldForm(texts, request.path))
    if "source" not in request.form:
        return None
    typed = {name: text for name, text in from_mapping(request.form).everything.items() if text}
    return _fitting(HeldForm(typed, post_id=(request.view_args or {}).get("post_id", 0)))


def _fitting(form: HeldForm) -> HeldForm | None:
    """The form, or None for more than a post has: anybody may send one, and gets it back five times
    as long where all of it is escaped."""
    return form if sum(map(len, form.texts.values())) <= 1.1 * MAX_SOURCE else None


def carried_by_login() -> HeldForm | None:
    """The form that the login form carried along, if any."""
    named = {name.removeprefix(CARRIED): text for name, text in request.form.items()
             if name.startswith(CARRIED)}  # fmt: skip
    path, number = named.pop("path", ""), named.pop("post_id", None)
    if path in SETTINGS:
        return _fitting(HeldForm(named, path))
    return None if number is None else _fitting(HeldForm(named, post_id=whole_number(number) or 0))


def page(held: HeldForm, notice: str) -> str:
    """The editor with the unsaved text, as a new post if its post cannot be opened; a form of the
    settings as plain fields."""
    if held.path:
        return render_template("settings/held.html", held=held)
    notice, typed = f"{notice} Save or publish it once more.", from_mapping(held.texts)
    try:
        return post_editor.show(typed, held.post_id, notice=notice)
    except PublisherError:
        return post_editor.show(replace(typed, base_version="0"), 0, notice=notice)
