"""Alembic's entry: runs the steps on the connection that `storage/schema.py` hands over."""

from alembic import context

from publisher.storage.tables import all_rooms

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=all_rooms(),
    render_as_batch=True,
)
context.run_migrations()
