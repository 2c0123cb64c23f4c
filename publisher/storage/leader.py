"""Which machine schedules for a site, where several share a database server: a lease in a row.

The leader renews it while its jobs make progress. TERM_SECONDS after the last time, by the server's
clock, another machine may take it, and then it has a higher number. Each transaction in which the
leader writes checks the number first. So one that was stopped and goes on later changes nothing.
"""

from contextlib import suppress
from pathlib import Path

from sqlalchemy import text
from sqlalchemy.orm import Session

from publisher.base.errors import PublisherError, StorageUnavailable
from publisher.base.system.processes import heartbeat_age_seconds
from publisher.storage.database import Database
from publisher.storage.postgresql import on_server
from publisher.storage.schema import serves

TERM_SECONDS = 30.0
_NOW = "extract(epoch FROM clock_timestamp())"
_ACQUIRE = text(
    f"INSERT INTO leaders (name, number, renewed_at) VALUES ('jobs', 1, {_NOW}) "  # noqa: S608  # nosec B608 - constants
    f"ON CONFLICT (name) DO UPDATE SET number = leaders.number + 1, renewed_at = {_NOW} "
    f"WHERE abs({_NOW} - leaders.renewed_at) > :term RETURNING number"  # the clock may go back
)
_RENEW = text(f"UPDATE leaders SET renewed_at = {_NOW} WHERE name = 'jobs' AND number = :number")  # noqa: S608  # nosec B608
_END = text("UPDATE leaders SET renewed_at = 0 WHERE name = 'jobs' AND number = :number")
_NUMBER = text("SELECT number FROM leaders WHERE name = 'jobs'")
_AGE = text(f"SELECT {_NOW} - renewed_at FROM leaders WHERE renewed_at > 0")  # noqa: S608  # nosec B608


class Lease:
    """The right of one process to schedule for all machines."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._number: int | None = None

    def held(self) -> bool:
        """Take the lease, or renew it; False while another process has it, and without a server.

        A program that is too old for the database gives it up.
        """
        try:
            if self._number is None:
                return self._acquire()
            with self._database.write_rows() as session:  # which checks the number
                session.execute(_RENEW, {"number": self._number})
                current = serves(session)
        except PublisherError:
            current = False
        if not current:
            self.give_up()
        return current

    def _acquire(self) -> bool:
        with self._database.write(quiet=True) as session:
            free = serves(session)
            self._number = session.scalar(_ACQUIRE, {"term": TERM_SECONDS}) if free else None
        if self._number is None:
            return False
        self._database.check_writer = self._check
        return True

    def _check(self, session: Session) -> None:
        if session.scalar(_NUMBER) != self._number:
            raise StorageUnavailable("another machine schedules now; nothing was changed")

    def give_up(self) -> None:
        """Let another process have it at once. From now on this one must write nothing more."""
        with suppress(PublisherError), self._database.write_rows() as session:
            session.execute(_END, {"number": self._number})
        self._number = None


def silent_seconds(session: Session, instance: Path) -> float | None:
    """Seconds since the scheduler last said that its jobs work, on whichever machine it runs; None
    while nobody serves."""
    age = session.scalar(_AGE) if on_server(session) else None
    return heartbeat_age_seconds(instance) if age is None else max(0.0, float(age))
