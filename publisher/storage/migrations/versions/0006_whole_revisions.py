"""Revisions keep the whole content of a post; the search finds summaries too."""

from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0006_whole_revisions"
down_revision = "0005_river_gaps"
branch_labels = None
depends_on = None

_AT_ONCE = 1_000


def upgrade() -> None:
    """What older revisions have is carried over; a field they did not keep stays missing."""
    # Not in batch mode: the table may be large, and SQLite can do both steps in place.
    op.add_column("revisions", sa.Column("content", sa.JSON(), nullable=False, server_default="{}"))
    rows = sa.table(
        "revisions",
        sa.column("id", sa.Integer()),
        sa.column("title", sa.String()),
        sa.column("source", sa.String()),
        sa.column("summary", sa.String()),
        sa.column("tags", sa.String()),
        sa.column("content", sa.JSON()),
    )
    for some in _batches(rows):
        op.get_bind().execute(
            sa.update(rows)
            .where(rows.c.id == sa.bindparam("row_id"))
            .values(content=sa.bindparam("value")),
            [{"row_id": row.id, "value": _content(row)} for row in some],
        )
    for name in ("title", "source", "summary", "tags"):
        op.drop_column("revisions", name)
    if op.get_bind().dialect.name == "sqlite":
        op.execute(
            "UPDATE post_search SET body = body || char(10) || posts.summary FROM posts"
            " WHERE posts.id = post_search.rowid AND posts.summary <> ''"
        )


def _batches(rows: sa.TableClause) -> Iterator[list[sa.Row[Any]]]:
    last = 0
    while some := list(
        op.get_bind().execute(
            sa.select(rows).where(rows.c.id > last).order_by(rows.c.id).limit(_AT_ONCE)
        )
    ):
        yield some
        last = some[-1].id


def _content(row: sa.Row[Any]) -> dict[str, Any]:
    return {
        "title": row.title,
        "source": row.source,
        "summary": row.summary,
        "tags": [name for name in row.tags.split(", ") if name],
    }
