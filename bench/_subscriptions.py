"""Sites with many subscriptions, inserted by two statements, and options of their worker."""

from datetime import datetime
from pathlib import Path

from publisher.base.environment import Environment
from publisher.installation import Site, open_site
from publisher.parts.river.following import subscriptions
from publisher.parts.river.options import RiverOptions
from publisher.parts.river.tables import RiverFeed, RiverHost

OPTIONS = RiverOptions(
    policy="fixed:60",
    allow_private=True,
    host_delay_seconds=0.0,
    in_flight=64,
    per_address=64,
    starts_per_real_second=1e9,
)
_NUMBERS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < {0}) "


def open_river(folder: Path) -> Site:
    """A site on the real clock in `folder`."""
    return open_site(Environment(folder, f"sqlite:///{folder}/publisher.db", allow_private=True))


def follow(site: Site, number: int, hosts: int, port: int, due: datetime) -> None:
    """Subscribe to `number` feeds on `hosts` sites, all due at `due`.

    The first is added by the use-case of the program; the others are copies of its rows.
    """
    with site.database.write() as db:
        subscriptions.subscribe(db, f"http://feed.h0.bench:{port}/0", due, due)
        host = f"'h' || (i % {hosts}) || '.bench'"
        made = {"url": f"'http://feed.' || {host} || ':{port}/' || i", "host": host}
        connection = db.connection()
        connection.exec_driver_sql(_copies(RiverFeed, made, number))
        connection.exec_driver_sql(_copies(RiverHost, {"name": host}, hosts))


def _copies(table: type[RiverFeed] | type[RiverHost], made: dict[str, str], number: int) -> str:
    """The statement that copies the only row of a table, with the values of `made` anew."""
    names = [f'"{column.name}"' for column in table.__table__.columns if column.name != "id"]
    values = [made.get(name.strip('"'), f"row.{name}") for name in names]
    name = table.__tablename__
    return (
        f"INSERT INTO {name} ({', '.join(names)}) {_NUMBERS.format(number)}"  # noqa: S608 - ours
        f"SELECT {', '.join(values)} FROM n, (SELECT * FROM {name} LIMIT 1) AS row"
    )
