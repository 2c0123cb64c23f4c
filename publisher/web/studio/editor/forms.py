"""The editor's form: its fields as typed, and their meaning as a content and an intent."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, tzinfo
from typing import Any

from flask import request
from sqlalchemy.orm import Session

from publisher.base.dates import parse_civil
from publisher.base.errors import FieldErrors, InvalidInput
from publisher.blog.slugs import made_slug
from publisher.blog.writing import autosave, content, posts, revisions
from publisher.blog.writing.content import Content
from publisher.blog.writing.content_fields import with_newlines
from publisher.blog.writing.editing import ACTIONS, Intent, PublishAction
from publisher.storage.tables.blog import Post

INTENT = ("place", "at", "zone", "minor", "base_version", "seen", "origin", "attempt")
FIELDS = (*content.INPUTS, *INTENT)
# What autosave keeps: the content and its date, but not the choice to publish.
KEPT = (*content.INPUTS, "at")
MAX_ORIGIN = 100


@dataclass(frozen=True)
class Typed:
    """The form's fields: `texts` has all inputs of the content, by name.

    `at` is civil time in the site's zone, `zone` what that was then, `base_version` the mark of the
    version that the form started from, `seen` the stamp of the unsaved text that it was typed on,
    `origin` the tab, `attempt` the name of the request that makes a post.
    """

    texts: Mapping[str, str] = field(default_factory=lambda: content.to_inputs(Content()))
    place: str = ""
    at: str = ""
    zone: str = ""
    minor: str = ""
    base_version: str = "0"
    seen: str = ""
    origin: str = ""
    attempt: str = ""

    @property
    def source(self) -> str:
        """The text itself."""
        return self.texts["source"]

    @property
    def to_keep(self) -> dict[str, str]:
        """What an autosave keeps."""
        return {**self.texts, "at": self.at}

    @property
    def sent(self) -> autosave.Sent:
        """The form as a tab sent it."""
        device = request.user_agent.string
        return autosave.Sent(self.to_keep, self.origin[:MAX_ORIGIN], self.seen, device)

    @property
    def everything(self) -> dict[str, str]:
        """Each field of the form by its name."""
        return {**self.texts, **{name: getattr(self, name) for name in INTENT}}

    def with_texts(self, texts: Mapping[str, str]) -> "Typed":
        """The form with some texts replaced."""
        return replace(self, texts={**self.texts, **texts})


def from_mapping(values: Mapping[str, str]) -> Typed:
    """The fields of a submitted form or an autosave; missing ones are as in an empty form. Its
    button is its `place`, perhaps with a moment: later:2024-03-05T08:00."""
    texts = {name: with_newlines(values[name]) for name in FIELDS if values.get(name)}
    intent: dict[str, Any] = {name: texts.pop(name) for name in INTENT if name in texts}
    place, _, hour = intent.get("place", "").partition(":")
    if hour:  # of the button that offers a better hour
        intent |= {"place": place, "at": hour}
    return Typed(**intent).with_texts(texts)


def from_post(session: Session, post: Post, zone: tzinfo) -> Typed:
    """The form of a post as it was last saved."""
    texts = content.to_inputs(posts.content(session, post))
    if made_slug(post):
        texts["slug"] = ""
    return Typed(
        texts=texts,
        place={"draft": "draft", "scheduled": "later"}.get(post.status, "keep"),
        at=civil(post.scheduled_at or post.published_at, zone),
        base_version=revisions.mark(session, post),
    )


def with_autosave(typed: Typed, values: Mapping[str, str]) -> Typed:
    """The saved form, overlaid with what was typed since and not saved."""
    texts = {name: values[name] for name in content.INPUTS if name in values}
    return replace(typed.with_texts(texts), at=values.get("at") or typed.at)


def read(typed: Typed, zone: tzinfo, present: datetime | None = None) -> tuple[Content, Intent]:
    """The content and intent of the form. Raises FieldErrors with all problems at once.

    The `present` date of a scheduled or published post changes only if the text of the field did,
    because the field shows no seconds, and not which of two equal hours at the end of summer time.
    """
    problems: dict[str, str] = {}
    at: datetime | None = None
    action: PublishAction = next((known for known in ACTIONS if known == typed.place), "keep")
    dated = action == "later" or (action == "keep" and present is not None)
    if typed.at == civil(present, zone):
        at = present
    elif dated and typed.at.strip():
        try:
            at = parse_civil(typed.at, zone)
            if typed.zone not in ("", str(zone)):
                raise InvalidInput(f"the site's time zone is {zone} now; check the date")
        except InvalidInput as error:
            problems["at"] = str(error)
    try:
        value = content.from_inputs(typed.texts)
    except FieldErrors as error:
        raise FieldErrors(error.fields | problems) from error
    if problems:
        raise FieldErrors(problems)
    return value, Intent(action, at, minor=bool(typed.minor))


def civil(at: datetime | None, zone: tzinfo) -> str:
    """A moment as the value of a date-and-time input."""
    return f"{at.astimezone(zone):%Y-%m-%dT%H:%M}" if at else ""
