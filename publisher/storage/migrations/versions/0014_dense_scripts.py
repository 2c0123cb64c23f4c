"""The search finds words inside sentences of scripts that write no spaces."""

import re

import sqlalchemy as sa
from alembic import op

revision = "0014_dense_scripts"
down_revision = "0013_mirrors"
branch_labels = None
depends_on = None

_GAP = "\u200b"
_DENSE = re.compile(
    "[\u0e01-\u0e30\u0e32\u0e33\u0e40-\u0e46\u0e81-\u0eb0\u1000-\u102a\u1780-\u17b3\u3040-\u30ff"
    "\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003134f]"
)
_AT_ONCE = 200


def upgrade() -> None:
    """Posts with such characters are indexed anew, character by character."""
    connection = op.get_bind()
    if connection.dialect.name != "sqlite":
        return
    last = 0
    some = sa.text(
        "SELECT rowid, title, body FROM post_search WHERE rowid > :last ORDER BY rowid LIMIT :most"
    )
    change = sa.text("UPDATE post_search SET title = :title, body = :body WHERE rowid = :id")
    while rows := connection.execute(some, {"last": last, "most": _AT_ONCE}).all():
        for row in rows:
            last = row.rowid
            if _DENSE.search(row.title) or _DENSE.search(row.body):
                values = {"id": row.rowid, "title": _spaced(row.title), "body": _spaced(row.body)}
                connection.execute(change, values)


def _spaced(words: str) -> str:
    return _DENSE.sub(lambda found: f"{_GAP}{found[0]}{_GAP}", words)
