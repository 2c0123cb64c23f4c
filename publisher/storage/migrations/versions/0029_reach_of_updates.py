"""What each update of a post reached, by program and in people; polls wait in a table of their own.

Only adds, since machines with 1.0.0 serve on meanwhile: they keep `post_reach` and `poll_batches`,
whose forms they know. A later release drops both.

In `post_reach` one row a post has the delays of its readers (programs), and of each program how
many and the first one's seconds. So the first reader of each program keeps its name, and all others
become one program without a name; each is one person.
"""

from collections import Counter

import sqlalchemy as sa
from alembic import op

from publisher.storage.columns import UtcDateTime

revision = "0029_reach_of_updates"
down_revision = "0028_link_cards"


def upgrade() -> None:
    """Make the tables, and fill them with what there is."""
    op.create_table(
        "poll_flushes",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("payload", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_poll_flushes")),
    )
    reach = op.create_table(
        "update_reach",
        sa.Column("post_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("at", UtcDateTime(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("programs", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(
            ["post_id"],
            ["posts.id"],
            name=op.f("fk_update_reach_post_id_posts"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("post_id", "at", name=op.f("pk_update_reach")),
    )
    op.create_index(op.f("ix_update_reach_at"), "update_reach", ["at"])
    old = op.get_bind().execute(
        sa.text("SELECT post_id, published_at, delays, programs FROM post_reach")
        .columns(published_at=UtcDateTime(), delays=sa.JSON(), programs=sa.JSON())
    )  # fmt: skip
    rows = [
        {"post_id": row.post_id, "at": row.published_at, "kind": "publish",
         "programs": _by_program(row.delays, row.programs)}
        for row in old
    ]  # fmt: skip
    if rows:
        op.bulk_insert(reach, rows)


def _by_program(
    delays: dict[str, int], programs: dict[str, list[float]]
) -> dict[str, dict[str, int]]:
    left = Counter({int(span): count for span, count in delays.items()})
    named: dict[str, dict[str, int]] = {}
    for name, (_count, first) in programs.items():
        there = [span for span, count in left.items() if count > 0]
        if there:
            span = min(there, key=lambda span: abs(span - first))
            named[name] = {str(span): 1}
            left[span] -= 1
    rest = {str(span): count for span, count in sorted(left.items()) if count > 0}
    return {**named, "": rest} if rest else named
