"""The commands `token ...`: API tokens."""

from datetime import datetime

import click

from publisher.base.digits import LARGEST_ROW
from publisher.cli.parameters import Instant, echo_rows, json_option, site


@click.group()
def token() -> None:
    """Create, list and revoke API tokens."""


@token.command("add")
@click.argument("name")
@click.option("--scope", help="what it may do: create update delete media river (default: all)")
@click.option("--label", default="", help="what it is for, to recognise it later")
@click.option("--until", type=Instant(), help="when it expires (default: never)")
def add(name: str, scope: str | None, label: str, until: datetime | None) -> None:
    """Create a token for the author NAME and print it; it is shown only once."""
    from publisher.blog import authors, tokens

    scopes = tokens.checked_scopes(tokens.SCOPES if scope is None else scope.split())
    here = site()
    with here.database.write() as db:
        who = authors.named(db, name)
        secret = tokens.create(db, who, scopes, here.clock(), label, until)
    click.echo(secret)


@token.command("list")
@click.argument("name", required=False)
@json_option
def list_(name: str | None, as_json: bool) -> None:
    """List all tokens, or those of the author NAME.

    Columns: number, author, scope, created, label, last used (to the hour), expires.
    """
    from publisher.blog import authors, tokens

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
def revoke(number: int) -> None:
    """Revoke the token with this NUMBER (see `token list`)."""
    from publisher.blog import tokens

    with site().database.write() as db:
        tokens.revoke(db, number)
    click.echo(f"token {number} is revoked")
