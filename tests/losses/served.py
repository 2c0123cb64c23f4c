"""The blog that the devices write on: a server that can be killed, and all texts that it keeps."""

import subprocess
from pathlib import Path

from sqlalchemy import create_engine, inspect, text

from tests.databases import database_url, rows_of
from tests.factories import PASSWORD
from tests.serving import START_SECONDS, Server, answers, descendants, kill, wait_until


class Blog:
    """A served blog with one author, ada."""

    def __init__(self, server: Server) -> None:
        self.server, self.url, self.instance = server, server.url, server.instance
        made = server.command("author", "add", "ada", text=f"{PASSWORD}\n{PASSWORD}\n")
        assert made.returncode == 0, made.stderr

    def kill(self) -> None:
        """kill -9 all of its processes, and start it again at the same address."""
        old = self.server.process
        for pid in [old.pid, *descendants(old.pid)]:
            kill(pid)
        old.wait()
        with (Path(self.instance) / "server.log").open("ab") as log:
            self.server.process = subprocess.Popen(
                old.args, env=self.server.environment, stdout=log, stderr=subprocess.STDOUT
            )
        wait_until(lambda: answers(self.server), START_SECONDS, self.server)

    def texts(self) -> list[str]:
        """Everything kept of posts: the posts, their revisions, what is not saved yet."""
        engine = create_engine(database_url(self.instance))
        unsaved = [name for name in inspect(engine).get_table_names() if "unsaved" in name]
        engine.dispose()
        found = rows_of(self.instance, "SELECT source FROM posts")
        found += rows_of(self.instance, "SELECT content FROM revisions")
        for table in ["autosaves", *unsaved]:
            found += rows_of(self.instance, f"SELECT fields FROM {table}")  # noqa: S608 - a table
        return [str(row[0]) for row in found]

    def forget_unsaved(self) -> None:
        """An episode begins with an empty box."""
        engine = create_engine(database_url(self.instance))
        with engine.begin() as connection:
            connection.execute(text("DELETE FROM autosaves"))
        engine.dispose()
