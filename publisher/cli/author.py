"""The commands `author ...`: who writes here."""

import click

from publisher.base.plurals import counted
from publisher.cli.parameters import echo_rows, json_option, password, password_option, site


@click.group()
def author() -> None:
    """Add, list and remove authors; passwords and roles."""


@author.command("add")
@click.argument("name")
@click.option("--role", help="admin or author (default: author; the first is always admin)")
@password_option
def add(name: str, role: str | None, password_stdin: bool) -> None:
    """Add an author; the first one is admin."""
    from publisher.blog import accounts, authors

    wanted = accounts.role_called(role) if role is not None else None
    here = site()
    secret = password(password_stdin)
    with here.database.write() as db:
        new = authors.add(db, name, secret, wanted, here.clock())
    click.echo(f"{new.name} ({new.role})")


@author.command("password")
@click.argument("name")
@password_option
@click.option("--keep-tokens", is_flag=True, help="keep the author's tokens and passkeys")
def reset(name: str, password_stdin: bool, keep_tokens: bool) -> None:
    """Set a new password; this ends the author's sessions, tokens and passkeys."""
    from publisher.blog import authors, passkeys, tokens

    here = site()
    with here.database.read() as db:
        authors.named(db, name)  # an unknown name fails before a password is asked for
    secret = password(password_stdin)
    with here.database.write() as db:
        who = authors.named(db, name)
        authors.set_password(db, who, secret)
        ended = 0 if keep_tokens else tokens.revoke_all(db, who)
        if not keep_tokens:
            passkeys.remove_all(db, who)
    if ended:
        click.echo(f"revoked {counted(ended, 'API token')} (--keep-tokens keeps them)", err=True)


@author.command("role")
@click.argument("name")
@click.argument("role")
def set_role(name: str, role: str) -> None:
    """Make somebody an admin or an author; one admin always remains."""
    from publisher.blog import accounts, authors

    with site().database.write() as db:
        accounts.set_role(db, authors.named(db, name), role)
    click.echo(f"{name} ({role})")


@author.command("remove")
@click.argument("name")
def remove(name: str) -> None:
    """Suspend an author: they cannot log in, and their tokens stop working. Their posts stay."""
    from publisher.blog import accounts, authors

    here = site()
    with here.database.write() as db:
        accounts.disable(db, authors.named(db, name), here.clock())
    click.echo(f"{name} can no longer log in; their posts stay")


@author.command("list")
@json_option
def list_(as_json: bool) -> None:
    """List the authors, one a line: name, role, name as readers see it, state."""
    from publisher.blog import authors

    with site().database.read() as db:
        rows = [
            {
                "name": one.name,
                "role": one.role,
                "display_name": one.display_name,
                "state": "removed" if one.disabled_at else "active",
            }
            for one in authors.everyone(db)
        ]
    echo_rows(rows, as_json)
