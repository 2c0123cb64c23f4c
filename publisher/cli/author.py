"""The commands `author ...` and `token ...`: authors, and their API tokens."""

from datetime import datetime

import click

from publisher.base.text import LARGEST_ROW, counted
from publisher.cli.parameters import (
    Instant,
    echo_rows,
    json_option,
    password,
    password_option,
    site,
)


@click.group()
def author() -> None:
    """Add, list and remove authors; passwords and roles."""


@author.command("add")
@click.argument("name")
@click.option("--role", help="admin or author (default: author; the first is always admin)")
@password_option
def add(name: str, role: str | None, password_stdin: bool) -> None:
    """Add an author; the first one is admin."""
    from publisher.blog.members import authors

    wanted = authors.role_called(role) if role is not None else None
    blog = site()
    secret = authors.hashed(password(password_stdin))
    with blog.database.write() as db:
        new = authors.add(db, name, secret, wanted, blog.clock())
    click.echo(f"{new.name} ({new.role})")


@author.command("password")
@click.argument("name")
@password_option
@click.option("--keep-tokens", is_flag=True, help="keep the author's tokens and passkeys")
def reset(name: str, password_stdin: bool, keep_tokens: bool) -> None:
    """Set a new password; this ends the author's sessions, tokens and passkeys."""
    from publisher.blog.members import authors, tokens

    blog = site()
    with blog.database.read() as db:
        authors.named(db, name)  # an unknown name fails before a password is asked for
    secret = authors.hashed(password(password_stdin))
    with blog.database.write() as db:
        who = authors.named(db, name)
        authors.set_password(db, who, secret)
        ended = 0 if keep_tokens else tokens.end_other_logins(db, who)
    if ended:
        click.echo(f"revoked {counted(ended, 'API token')} (--keep-tokens keeps them)", err=True)


@author.command("role")
@click.argument("name")
@click.argument("role")
def set_role(name: str, role: str) -> None:
    """Make somebody an admin or an author; one admin always remains."""
    from publisher.blog.members import authors

    with site().database.write() as db:
        authors.set_role(db, authors.named(db, name), role)
    click.echo(f"{name} ({role})")


@author.command("remove")
@click.argument("name")
def remove(name: str) -> None:
    """Suspend an author: they cannot log in, and their tokens stop working. Their posts stay."""
    from publisher.blog.members import authors

    blog = site()
    with blog.database.write() as db:
        authors.disable(db, authors.named(db, name), blog.clock())
    click.echo(f"{name} can no longer log in; their posts stay")


@author.command("list")
@json_option
def list_(as_json: bool) -> None:
    """List the authors, one a line: name, role, name as readers see it, state."""
    from publisher.blog.members import authors

    with site().database.read() as db:
        rows = [
            {
                "name": person.name,
                "role": person.role,
                "display_name": person.display_name,
                "state": "removed" if person.disabled_at else "active",
            }
            for person in authors.everyone(db)
        ]
        if problem := authors.password_trouble(db):
            click.echo(f"publisher: {problem}", err=True)
    echo_rows(rows, as_json)


@click.group()
def token() -> None:
    """Create, list and revoke API tokens."""


@token.command("add")
@click.argument("name")
@click.option("--scope", help="what it may do: create update delete media river (default: all)")
@click.option("--label", default="", help="what it is for, to recognise it later")
@click.option("--until", type=Instant(), help="when it expires (default: never)")
def add_token(name: str, scope: str | None, label: str, until: datetime | None) -> None:
    """Create a token for the author NAME and print it; it is shown only once."""
    from publisher.blog.members import authors, tokens

    scopes = tokens.checked_scopes(tokens.SCOPES if scope is None else scope.split())
    blog = site()
    with blog.database.write() as db:
        who = authors.named(db, name)
        secret = tokens.create(db, who, scopes, blog.clock(), label, until)
    click.echo(secret)


@token.command("list")
@click.argument("name", required=False)
@json_option
def list_tokens(name: str | None, as_json: bool) -> None:
    """List all tokens, or those of the author NAME.

    Columns: number, author, scope, created, label, last used (to the hour), expires.
    """
    from publisher.blog.members import authors, tokens

    with site().database.read() as db:
        rows = [
            {
                "number": row.id,
                "author": row.author.name,
                "scope": row.scope,
                "made_at": row.created_at,
                "label": row.label,
                "used_at": row.used_at,
                "until": row.expires_at,
            }
            for row in tokens.listed(db, authors.named(db, name) if name else None)
        ]
    echo_rows(rows, as_json)


@token.command("revoke")
@click.argument("number", type=click.IntRange(1, LARGEST_ROW))
def revoke_token(number: int) -> None:
    """Revoke the token with this NUMBER (see `token list`)."""
    from publisher.blog.members import tokens

    with site().database.write() as db:
        tokens.revoke(db, number)
    click.echo(f"token {number} is revoked")
