"""Pagination of a list of posts, as the home page, a tag and an author show it."""

from collections.abc import Callable, Sequence
from typing import Any

from flask import render_template
from sqlalchemy.orm import Session

from publisher.blog.members import authors
from publisher.storage.tables.blog import Post
from publisher.web.context import page_start
from publisher.web.rendering import settings

More = Callable[[int, Post | None], Sequence[Post]]


def post_list(db: Session, template: str, more: More, **values: Any) -> str:
    """A page of posts, from `?before=` on, with a link to older ones if there are any."""
    start = page_start(db)
    number = settings().home_items
    found = more(number + 1, start)
    return render_template(
        template,
        posts=found[:number],
        older=found[number - 1].id if len(found) > number else None,
        first=start is None,
        several=several_authors(db),
        **values,
    )


def several_authors(db: Session) -> bool:
    """Whether posts name their author: only on a blog with several authors."""
    return len(authors.everyone(db)) > 1
