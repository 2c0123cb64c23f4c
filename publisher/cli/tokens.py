"""The commands `token ...`: API tokens."""

import click

from publisher.cli.parameters import echo_rows, json_option, site


@click.group()
def token() -> None:
    """Make, list and revoke API tokens."""


@token.command("add")
@click.argument("name")
@click.option("--scope", help="what it may be used for: some of create update delete media (all)")
def add(name: str, scope: str | None) -> None:
    """Print a new token for the author NAME; it is shown this once."""
    from publisher.blog import authors, tokens

    scopes = tokens.checked_scopes(tokens.SCOPES if scope is None else scope.split())
    here = site()
    with here.database.write() as db:
        secret = tokens.create(db, authors.named(db, name), scopes, here.clock())
    click.echo(secret)


@token.command("list")
@click.argument("name", required=False)
@json_option
def list_(name: str | None, as_json: bool) -> None:
    """List all tokens, or those of the author NAME: number, author, scope, made at."""
    from publisher.blog import authors, tokens

    with site().database.read() as db:
        rows = [
            {
                "number": row.id,
                "author": row.author.name,
                "scope": row.scope,
                "made_at": row.created_at,
            }
            for row in tokens.listed(db, authors.named(db, name) if name else None)
        ]
    echo_rows(rows, as_json)


@token.command("revoke")
@click.argument("number", type=int)
def revoke(number: int) -> None:
    """End the token with this NUMBER (see `token list`) at once."""
    from publisher.blog import tokens

    with site().database.write() as db:
        tokens.revoke(db, number)
    click.echo(f"token {number} is revoked")
