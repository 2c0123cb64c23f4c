"""`/studio/people`: the people who write here, and a page for each; for admins."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from flask import Blueprint, redirect, render_template, request, url_for
from sqlalchemy import func, select

from publisher.base.encryption import hash_token
from publisher.base.errors import Conflict, FieldErrors, Forbidden
from publisher.blog.markup.markdown import render
from publisher.blog.members import authors, permissions, tokens
from publisher.installation import recall, remember
from publisher.storage.tables.blog import Post
from publisher.storage.tables.credentials import Author, Role
from publisher.web.context import done, me, need_admin, now, site
from publisher.web.studio.account_pages import account
from publisher.web.studio.shared import feeds_changed, shown_once

blueprint = Blueprint("people", __name__)

ADDED_LAST = "author_added_last"
SOON = timedelta(minutes=10)  # within it the same request again is a second press of the button


@blueprint.before_request
def admins_alone() -> Any:
    """Only an admin may see and change people; `person` sends others to their own account."""
    return None if request.endpoint == "studio.people.person" else need_admin()


@blueprint.get("/people")
def page(errors: Mapping[str, str] | None = None) -> str:
    """All authors, and the form to add one."""
    counts = select(Post.author_id, func.count()).where(Post.status != "deleted")
    with site().database.read() as db:
        rows = db.execute(counts.group_by(Post.author_id))
        return render_template(
            "settings/people.html",
            people=authors.everyone(db),
            posts={author or 0: number for author, number in rows},
            errors=errors or {},
            values=request.form,
        )


@blueprint.post("/people")
def add() -> Any:
    """Add an author with a generated password, which is shown only once: a second press of the
    button, or a request whose answer was lost, gets another one until that person logs in."""
    name = authors.login_name(request.form.get("name", ""))
    shown = request.form.get("display_name", "")
    role: Role = "admin" if request.form.get("role") == "admin" else "author"
    password = authors.made_password()
    stored = authors.hashed(password)
    sent = request.form.get("attempt", "")
    attempt = hash_token(f"{sent} {name}")
    try:
        with site().database.write() as db:
            lately = select(Author).where(Author.name == name, Author.created_at > now() - SOON)
            added = db.scalar(lately) if sent and recall(db, ADDED_LAST) == attempt else None
            if added and not authors.sessions_of(db, added, now()):  # nobody has used the first one
                authors.set_password(db, added, stored)
            else:
                added = authors.add(db, name, stored, role, now(), shown)
                remember(db, ADDED_LAST, attempt)
    except (FieldErrors, Conflict) as error:
        problems = error.fields if isinstance(error, FieldErrors) else {"name": str(error)}
        return page(problems), error.http_status
    return shown_once(f"{added.display_name} can write here", f"Password of {name}", password,
                      url_for(".person", name=name))  # fmt: skip


@blueprint.get("/people/<name>")
def person(name: str) -> Any:
    """A person's page; who is no admin has one of their own, the account."""
    if permissions.is_admin(me()):
        return _person_page(name, {})
    if name != me().name:
        raise Forbidden("only an admin may open other people's pages")
    return redirect(url_for("studio.account.page"))


@blueprint.post("/people/<name>")
def profile(name: str) -> Any:
    """Change what readers see of somebody, and their login name."""
    form = request.form
    render(form.get("bio", ""))  # refused here if it could not be shown
    with site().database.write() as db:
        writer = authors.named(db, name)
        authors.describe(db, writer, form.get("display_name", ""), form.get("bio", ""),
                         form.get("login"))  # fmt: skip
        name = writer.name
    return done("Saved.", ".person", name=name)


@blueprint.post("/people/<name>/sessions/<int:number>/end")
def end(name: str, number: int) -> Any:
    """Log a browser of somebody's out."""
    with site().database.write() as db:
        authors.end_session(db, authors.named(db, name), number)
    return done("That browser has been logged out.", ".person", name=name)


@blueprint.post("/people/<name>/tokens/<int:number>/revoke")
def revoke(name: str, number: int) -> Any:
    """End a program's right to write for somebody."""
    with site().database.write() as db:
        tokens.revoke(db, number, authors.named(db, name))
    return done("That program can no longer write here.", ".person", name=name)


@blueprint.post("/people/<name>/remove")
def remove(name: str) -> Any:
    """Delete somebody for good; their posts go to the chosen person."""
    with site().database.write() as db:
        leaver = authors.named(db, name)
        if leaver.id == me().id:
            raise FieldErrors({"heir": "another admin can remove you, not you yourself"})
        if not (chosen := request.form.get("heir", "")):
            raise FieldErrors({"heir": "choose who gets the posts"})
        heir = authors.named(db, chosen)
        authors.remove(db, leaver, heir)
        message = f"{leaver.display_name} is removed; the posts are {heir.display_name}'s now."
    feeds_changed()
    return done(message, ".page")


@blueprint.post("/people/<name>/role")
def role(name: str) -> Any:
    """Make somebody admin or author."""
    with site().database.write() as db:
        authors.set_role(db, authors.named(db, name), request.form.get("role", ""))
    return done(f"{name} is {request.form['role']} now.", ".person", name=name)


@blueprint.post("/people/<name>/password")
def password(name: str) -> Any:
    """Give an author a new password, shown only once; their tokens are revoked too if asked."""
    fresh = authors.made_password()
    stored = authors.hashed(fresh)
    with site().database.write() as db:
        writer = authors.named(db, name)
        authors.set_password(db, writer, stored)
        if request.form.get("end_tokens"):
            tokens.end_other_logins(db, writer)
    return shown_once(f"{name} has a new password", f"Password of {name}", fresh,
                      url_for(".person", name=name))  # fmt: skip


@blueprint.post("/people/<name>/disable")
def disable(name: str) -> Any:
    """Suspend an author; their posts stay."""
    with site().database.write() as db:
        authors.disable(db, authors.named(db, name), now())
    return done(f"{name} can no longer log in; their posts stay.", ".person", name=name)


@blueprint.post("/people/<name>/enable")
def enable(name: str) -> Any:
    """Let a suspended author log in again."""
    with site().database.write() as db:
        authors.enable(db, authors.named(db, name))
    return done(f"{name} can log in again.", ".person", name=name)


@blueprint.errorhandler(FieldErrors)
def refuse(error: FieldErrors) -> Any:
    """Answer an invalid form or button with the page of its person, and the problems."""
    return _person_page((request.view_args or {})["name"], error.fields), error.http_status


def _person_page(name: str, errors: dict[str, str]) -> str:
    with site().database.read() as db:
        writer = authors.named(db, name)
        counts = select(Post.status, func.count()).where(Post.author_id == writer.id)
        rows = db.execute(counts.group_by(Post.status))
        heirs = (heir for heir in authors.everyone(db) if heir.id != writer.id)
        return render_template(
            "settings/person.html",
            person=writer,
            **account.about(db, writer),
            errors=errors,
            posts={str(status): number for status, number in rows},
            heirs=[(heir.name, heir.display_name) for heir in heirs if not heir.disabled_at],
        )
