"""The schema of version 1.0.0, where the chain begins: a database of that version has it.

A new database is made from the tables themselves (`storage/schema.py`), an older one is refused.
"""

revision = "0028_link_cards"
down_revision = None


def upgrade() -> None:
    """Nothing to do."""
