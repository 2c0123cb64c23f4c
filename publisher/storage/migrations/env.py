"""Alembic's entry: runs the steps on the connection that `storage/schema.py` hands over."""

from alembic import context

from publisher.storage.tables import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    render_as_batch=True,
)
context.run_migrations()
