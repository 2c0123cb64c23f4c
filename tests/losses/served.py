"""The blog that the devices write on: a server that can be killed, and all texts that it keeps."""

import io
import subprocess
from contextlib import closing
from pathlib import Path
from typing import Any

from PIL import Image
from sqlalchemy import create_engine, text

from publisher.base.environment import Environment
from publisher.blog.post_files import media
from publisher.installation import open_site
from tests.databases import database_url
from tests.factories import PASSWORD
from tests.running_site import START_SECONDS, Server, answers, descendants, kill, wait_until

# Where a post's text is kept: a table and its column.
KEPT_IN = {
    "posts": "source", "revisions": "content", "unsaved_texts": "fields", "preferences": "value",
}  # fmt: skip


class Blog:
    """A served blog with one author, ada."""

    def __init__(self, server: Server) -> None:
        self.server, self.url, self.instance = server, server.url, server.instance
        made = server.command("author", "add", "ada", text=f"{PASSWORD}\n{PASSWORD}\n")
        assert made.returncode == 0, made.stderr
        self.engine = create_engine(database_url(self.instance))
        self.add_pictures()
        self.sessions: dict[int, Any] = {}  # the cookies of each device, once it has logged in

    def add_pictures(self) -> None:
        """Two pictures for its library."""
        site = open_site(Environment(self.instance, database_url(self.instance), self.url, "key"))
        with closing(site.database), site.database.write() as db:
            for colour in ("teal", "gold"):
                out = io.BytesIO()
                Image.new("RGB", (60, 40), colour).save(out, "PNG")
                accepted = media.accept(out.getvalue())
                media.store(site.environment.media, accepted)
                media.record(db, accepted, f"{colour}.png", 1, site.clock())

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

    def rows(self, statement: str, **values: object) -> list[Any]:
        """What a query finds in the blog's database, past the product."""
        with self.engine.connect() as connection:
            return [tuple(row) for row in connection.execute(text(statement), values)]

    def texts(self, name: str) -> list[str]:
        """Every text kept of an episode: its posts, their revisions, what is not saved yet."""
        every = " UNION ALL ".join(
            f"SELECT CAST({column} AS TEXT) AS words FROM {table}"  # noqa: S608 - a table of ours
            for table, column in KEPT_IN.items()
        )
        query = f"SELECT words FROM ({every}) AS kept WHERE words LIKE :name"  # noqa: S608 - as above
        return [row[0] for row in self.rows(query, name=f"%{name}w%")]

    def forget_unsaved(self) -> None:
        """An episode begins with an empty box."""
        with self.engine.begin() as connection:
            connection.execute(text("DELETE FROM unsaved_texts"))

    def close(self) -> None:
        """Leave the database."""
        self.engine.dispose()
