"""Alembic's entry: runs the steps on the connection that `storage/schema.py` hands over."""

from alembic import context

from publisher.storage.columns import Base

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Base.metadata,
    render_as_batch=True,
)
context.run_migrations()
