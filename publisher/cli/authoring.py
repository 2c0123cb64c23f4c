"""The commands `settings`, `author` and `post`."""

import sys
from dataclasses import asdict, replace
from datetime import datetime, tzinfo
from typing import IO

import click

from publisher.base.errors import InvalidData, InvalidInput, TooLarge
from publisher.blog import authors, content, posts
from publisher.cli.parameters import Instant, site
from publisher.exchange.importing import markdown_files
from publisher.exchange.importing.imported import ImportedPost
from publisher.exchange.importing.sources import MAX_FILE_BYTES
from publisher.installation import public_address
from publisher.publishing.rebuild import rebuild
from publisher.settings import load_settings, store_setting
from publisher.storage.tables.blog import ROLES, Role


@click.command()
@click.argument("key", required=False)
@click.argument("value", required=False)
def settings(key: str | None, value: str | None) -> None:
    """List the site's settings, show one, or set one."""
    here = site()
    if key is not None and value is not None:
        if key == "site_url" and here.environment.site_url:
            raise InvalidInput("site_url is fixed by PUBLISHER_SITE_URL; change it there")
        with here.database.write() as db:
            store_setting(db, key, value)
        rebuild(here, here.clock())
    with here.database.read() as db:
        values = asdict(load_settings(db)) | {"site_url": public_address(db, here.environment)}
    if key is None:
        for name, current in values.items():
            click.echo(f"{name} = {current}")
    elif key in values:
        click.echo(values[key])
    else:
        raise InvalidInput(f"no setting is called {key!r} (known: {', '.join(values)})")


@click.group()
def author() -> None:
    """Add and list authors, reset passwords."""


@author.command("add")
@click.argument("name")
@click.option("--password-stdin", is_flag=True, required=True, help="read it from standard input")
@click.option("--role", type=click.Choice(ROLES))
def add_author(name: str, password_stdin: bool, role: Role | None) -> None:
    """Add an author; the first one is admin."""
    here = site()
    with here.database.write() as db:
        new = authors.add(db, name, sys.stdin.readline().rstrip("\r\n"), role, here.clock())
    click.echo(f"{new.name} ({new.role})")


@author.command("password")
@click.argument("name")
def reset_password(name: str) -> None:
    """Set a new password, read from standard input; ends the author's sessions."""
    here = site()
    if sys.stdin.isatty():
        password = click.prompt("New password", hide_input=True, confirmation_prompt=True)
    else:
        password = sys.stdin.readline().rstrip("\r\n")
    with here.database.write() as db:
        authors.set_password(db, authors.named(db, name), password)


@author.command("list")
def list_authors() -> None:
    """List the authors, one a line."""
    with site().database.read() as db:
        for row in authors.everyone(db):
            click.echo(f"{row.name}\t{row.role}\t{row.display_name}")


@click.group()
def post() -> None:
    """Publish from the command line."""


@post.command("add")
@click.option("--title", default="")
@click.option("--tag", "tags", multiple=True)
@click.option("--author", "author_name", help="default: the oldest admin, if there is one")
@click.option("--at", type=Instant(), help="schedules, or backdates")
@click.argument("file", type=click.File("rb"), default="-")
def add_post(
    title: str,
    tags: tuple[str, ...],
    author_name: str | None,
    at: datetime | None,
    file: IO[bytes],
) -> None:
    """Publish Markdown from FILE or standard input; prints its address.

    Front matter, as `import` takes it, may say title, tags, summary, slug, date, author and kind;
    what is given as an option wins.
    """
    here = site()
    now = here.clock()
    with here.database.read() as db:
        zone = load_settings(db).zone
    found = _read(file, zone)
    own = content.of(found)
    value = content.checked(replace(own, title=title or own.title, tags=(*tags, *own.tags)))
    names = [author_name] if author_name else found.by
    moment = at or found.published_at or now
    with here.database.write() as db:
        who = authors.named(db, names[0]) if names else authors.oldest_admin(db)
        new = posts.create(db, value, who.id if who else None, now)
        posts.publish(db, new, moment, now)
        path = posts.path(new)
    rebuild(here, now)
    click.echo(here.site_url + path)


def _read(file: IO[bytes], zone: tzinfo) -> ImportedPost:
    """The text and its front matter; InvalidData for what is no text."""
    data = file.read(MAX_FILE_BYTES + 1)
    if len(data) > MAX_FILE_BYTES:
        raise TooLarge(f"more than {MAX_FILE_BYTES:,} bytes are no post")
    if b"\0" in data:
        raise InvalidData("this is no text: it contains zero bytes; nothing was published")
    fields, body = markdown_files.split("the text", data)
    found = markdown_files.post("the text", fields, body, zone)
    title = (
        found.title if fields else ""
    )  # a heading is a heading unless the front matter says more
    return replace(found, title=title, source=body, slug=str(fields.get("slug") or ""))
