"""Tags have former addresses, and "c++" is told apart from "c"."""

import re
import unicodedata

import sqlalchemy as sa
from alembic import op

revision = "0011_tag_addresses"
down_revision = "0010_readers_told_apart"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """A tag whose name has signs that count gets an address of its own; the old one leads there."""
    op.create_table(
        "tag_redirects",
        sa.Column("slug", sa.String(), nullable=False),
        sa.Column("tag_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["tag_id"], ["tags.id"], name="fk_tag_redirects_tag_id_tags", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("slug", name="pk_tag_redirects"),
    )
    op.create_index("ix_tag_redirects_tag_id", "tag_redirects", ["tag_id"])
    connection = op.get_bind()
    tags = sa.table("tags", sa.column("id"), sa.column("slug"), sa.column("name"))
    redirects = sa.table("tag_redirects", sa.column("slug"), sa.column("tag_id"))
    rows = connection.execute(sa.select(tags.c.id, tags.c.slug, tags.c.name)).all()
    taken = {row.slug for row in rows}
    for row in rows:
        wanted = _slug(row.name)
        if _slug_before(row.name) == row.slug and wanted not in {*taken, ""}:
            taken.add(wanted)
            connection.execute(sa.update(tags).where(tags.c.id == row.id).values(slug=wanted))
            connection.execute(sa.insert(redirects).values(slug=row.slug, tag_id=row.id))


def _slug(name: str) -> str:
    spoken = re.sub(r"(?<=\w)\++", lambda signs: " plus " * len(signs[0]), name)
    spoken = re.sub(r"(?<=\w)#(?!\w)", " sharp ", spoken)
    return _slug_before(re.sub(r"(?:^|(?<=\s))\.(?=\w)", "dot ", spoken))


def _slug_before(text: str) -> str:
    plain = unicodedata.normalize("NFKD", text.casefold())
    plain = "".join(char for char in plain if not unicodedata.combining(char))
    words = re.findall(r"\w+", unicodedata.normalize("NFC", plain).replace("_", " "))
    return "-".join(words)[:80].strip("-")
