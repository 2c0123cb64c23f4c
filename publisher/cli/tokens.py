"""The commands `token ...`: API tokens."""

import click

from publisher.base.dates import format_rfc3339
from publisher.blog import authors, tokens
from publisher.cli.parameters import site


@click.group()
def token() -> None:
    """Make, list and revoke API tokens."""


@token.command("add")
@click.argument("name")
@click.option(
    "--scope", default=" ".join(tokens.SCOPES), show_default=True, help="what it may be used for"
)
def add_token(name: str, scope: str) -> None:
    """Print a new token for the author NAME; it is shown this once."""
    here = site()
    with here.database.write() as db:
        secret = tokens.create(db, authors.named(db, name), scope.split(), here.clock())
    click.echo(secret)


@token.command("list")
@click.argument("name", required=False)
def list_tokens(name: str | None) -> None:
    """List all tokens, or those of the author NAME: number, author, scope, made at."""
    with site().database.read() as db:
        rows = tokens.listed(db, authors.named(db, name) if name else None)
        for row in rows:
            made = format_rfc3339(row.created_at.replace(microsecond=0))
            click.echo(f"{row.id}\t{row.author.name}\t{row.scope}\t{made}")


@token.command("revoke")
@click.argument("number", type=int)
def revoke_token(number: int) -> None:
    """End the token with this NUMBER (see `token list`) at once."""
    with site().database.write() as db:
        tokens.revoke(db, number)
    click.echo(f"token {number} is revoked")
