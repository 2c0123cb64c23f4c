"""The commands `post ...`: publish, list, edit, take back and delete from the command line."""

import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from publisher.base.errors import InvalidData, InvalidInput, NotFound, TooLarge
from publisher.cli.parameters import InputFile, Instant, echo_rows, json_option, on_terminal, site
from publisher.dynamic_ttl.core.specs import known

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from publisher.installation import Site
    from publisher.storage.tables.blog import Post


def _text(_context: click.Context, _option: click.Parameter, value: Any) -> Any:
    """`value` as it is; UnicodeError for bytes that are not UTF-8, else a post would drop them."""
    "".join(value or ()).encode()
    return value


@click.group()
def post() -> None:
    """Publish, list, edit, take back and delete posts."""


@post.command("add")
@click.option("--title", default="", callback=_text)
@click.option("--tag", "tags", multiple=True, callback=_text, help="can be repeated")
@click.option("--author", "author_name", help="(default: the oldest admin)")
@click.option("--at", type=Instant(), help="schedule the post for this moment, or backdate it")
@click.argument("file", type=InputFile(dash=True), default="-")
def add(
    title: str, tags: tuple[str, ...], author_name: str | None, at: datetime | None, file: Path
) -> None:
    """Publish Markdown from FILE or standard input; print the post's address.

    Front matter may give title, tags, summary, slug, date, author and kind, as for `import`;
    options win over it.
    """
    from publisher.blog.members import authors
    from publisher.blog.writing import content, posts
    from publisher.exchange import front_matter
    from publisher.installation.settings import load_settings
    from publisher.publishing.rebuild import rebuild

    fields, body = _read(file)
    blog = site()
    now = blog.clock()
    with blog.database.read() as db:
        zone = load_settings(db).zone
    draft = front_matter.typed("the text", fields, body, zone)
    own = replace(
        draft.content,
        title=title or draft.content.title,
        slug=str(fields.get("slug") or ""),
        tags=(*tags, *draft.content.tags),
    )
    value = content.checked(own)
    names = [author_name] if author_name else draft.by
    moment = at or draft.published_at or now
    with blog.database.write() as db:
        who = authors.named(db, names[0]) if names else authors.oldest_admin(db)
        new = posts.create(db, value, who.id if who else None, now)
        posts.publish_or_schedule(db, new, moment, now)
        path = posts.path(new)
    rebuild(blog)
    click.echo(blog.site_url + path)


@post.command("list")
@click.option("--state", help="draft, scheduled, published or deleted (default: all but deleted)")
@click.option("--limit", type=click.IntRange(1, 1_000_000), help="list only this many")
@json_option
def list_(state: str | None, limit: int | None, as_json: bool) -> None:
    """List posts, newest first: state, moment, address, title or first words."""
    from publisher.blog.writing import overview, posts
    from publisher.storage.tables.blog import STATUSES

    wanted = overview.Filter(state=known(state, "state", STATUSES) if state else "")
    blog = site()
    with blog.database.read() as db:
        rows = [
            {
                "state": row.status,
                "at": row.when,
                "address": blog.site_url + posts.path_of(row.kind, row.slug),
                "title": row.title or row.began,
                **({"author": row.author, "tags": list(row.tags)} if as_json else {}),
            }
            for row in overview.walk(db, wanted, limit)
        ]
    echo_rows(rows, as_json)


@post.command("edit")
@click.option("--title", callback=_text, help="a new title")
@click.option(
    "--tag", "tags", multiple=True, callback=_text, help="replace the tags; can be repeated"
)
@click.option("--minor", is_flag=True, help="a minor edit: not announced as an update")
@click.argument("address")
@click.argument("file", type=InputFile(dash=True), default="-")
def edit(title: str | None, tags: tuple[str, ...], minor: bool, address: str, file: Path) -> None:
    """Replace the text of the post at ADDRESS with FILE or standard input; print its address.

    Front matter replaces the fields it names, options win over it, and the rest stays as it is.
    ADDRESS is a post's full address, its path or its slug, current or former. On a terminal,
    without FILE, your editor opens.
    """
    from publisher.blog.writing import content, posts
    from publisher.exchange import front_matter
    from publisher.publishing.rebuild import rebuild

    blog = site()
    now = blog.clock()
    with blog.database.read() as db:
        before = _at(db, blog, address)
        old, number, version = posts.content(db, before), before.id, before.version
    fields, body = _typed(old.source) if str(file) == "-" and on_terminal() else _read(file)
    if not body.strip():
        raise InvalidInput("the new text is empty; the post is as it was")
    options: dict[str, Any] = {"title": title, "tags": tags}
    chosen = {name: value for name, value in options.items() if value}
    changes = front_matter.content_fields(fields) | chosen
    value = content.checked(replace(old, **changes, source=body))
    with blog.database.write() as db:
        saved = posts.save(db, number, value, version, before.author_id, now, minor)
        path = posts.path(saved)
    rebuild(blog)
    click.echo(blog.site_url + path)


@post.command("unpublish")
@click.option("--as-if-never", is_flag=True, help="the address answers 404, not 410 (gone)")
@click.argument("address")
def unpublish(address: str, as_if_never: bool) -> None:
    """Make the published or scheduled post at ADDRESS a draft again.

    It leaves the site and the feeds; who has it already may keep it. This counts as no update.
    Published again, it is the same post: same guid, same mentions.
    """
    from publisher.blog.writing.posts import unpublish

    _change(address, partial(unpublish, as_if_never=as_if_never), "a draft again:")


@post.command("delete")
@click.argument("address")
def delete(address: str) -> None:
    """Delete the post at ADDRESS; the studio's list of deleted posts can restore it."""
    from publisher.blog.writing.posts import delete

    _change(address, delete, "deleted")


def _change(address: str, change: Callable[..., object], words: str) -> None:
    """Change the post at an address, and print the words with its full address."""
    from publisher.blog.writing.posts import path
    from publisher.publishing.rebuild import rebuild

    blog = site()
    with blog.database.write() as db:
        target = _at(db, blog, address)
        change(db, target, blog.clock())
        its_path = path(target)
    rebuild(blog)
    click.echo(f"{words} {blog.site_url}{its_path}")


def _at(db: "Session", blog: "Site", address: str) -> "Post":
    """The post with this address, path or slug; NotFound when there is none."""
    from publisher.blog.post_addresses import post_at
    from publisher.blog.writing.posts import path_of

    spellings = [address]
    if "/" not in address:
        spellings = [path_of(kind, address) for kind in ("post", "page")]
    for spelling in spellings:
        if post := post_at(db, blog.site_url, spelling):
            return post
    raise NotFound(f"there is no post at {address[:200]!r} (see `publisher post list`)")


def _typed(text: str) -> tuple[dict[str, Any], str]:
    """Front matter and text after a person edited `text` in their editor."""
    written = click.edit(text, extension=".md")
    if written is None:
        raise InvalidInput("the editor saved nothing; the post is as it was")
    return {}, written


def _read(file: Path) -> tuple[dict[str, Any], str]:
    """Front matter and text of a file or standard input; InvalidData when it is not text."""
    from publisher.exchange.front_matter import MAX_FILE_BYTES, split

    name = "the text" if str(file) == "-" else str(file)
    if str(file) == "-":
        data = sys.stdin.buffer.read(MAX_FILE_BYTES + 1)
    else:
        with file.open("rb") as stream:
            data = stream.read(MAX_FILE_BYTES + 1)
    if len(data) > MAX_FILE_BYTES:
        raise TooLarge(f"more than {MAX_FILE_BYTES:,} bytes are too much for one post")
    if b"\0" in data:
        raise InvalidData("this is not text: it contains null bytes; nothing was published")
    return split(name, data)
