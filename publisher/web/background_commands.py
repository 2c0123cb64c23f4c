"""Long computations for a page, done by a command of ours in another process.

Result and state are stored in the database, so that all workers share them and each is run once.
"""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy.orm import Session

from publisher.base.clock import real_seconds
from publisher.base.dates import format_rfc3339, parse_rfc3339
from publisher.base.errors import InvalidData, PublisherError
from publisher.installation import Site
from publisher.storage.tables.blog import Meta
from publisher.web.context import site

LONGEST_SECONDS = 600
NICE = 5  # a lower place in the queue for processors

Rows = list[dict[str, Any]]


@dataclass(frozen=True)
class State:
    """The stored state of a computation: its name, the key of its input, when it began, and its
    rows or problem."""

    name: str
    key: str = ""
    began_at: str = ""
    rows: Sequence[dict[str, Any]] | None = None
    problem: str = ""

    @property
    def done(self) -> bool:
        """Whether it has ended, with rows or a problem."""
        return self.rows is not None or bool(self.problem)

    def waited_seconds(self, moment: datetime) -> float:
        """How long it has been running, in real seconds even if the site's clock runs faster."""
        if not self.began_at:
            return 0.0
        waited = (moment - parse_rfc3339(self.began_at)).total_seconds()
        return real_seconds(site().clock, waited)

    def at_work(self, moment: datetime) -> bool:
        """Whether a process is working on it now; False after `LONGEST_SECONDS`, if it died."""
        if not self.began_at or self.done:
            return False
        return 0.0 <= self.waited_seconds(moment) < LONGEST_SECONDS + 30


def load(session: Session, name: str) -> State:
    """The stored state of an answer."""
    row = session.get(Meta, name)
    if row is None:
        return State(name)
    return State(name, **json.loads(row.value))


def save(served: Site, state: State) -> None:
    """Store the state of an answer."""
    with served.database.write() as session:
        _store(session, state)


def _store(session: Session, state: State) -> None:
    values = {name: value for name, value in asdict(state).items() if name != "name"}
    session.merge(Meta(name=state.name, value=json.dumps(values)))


def answered(
    served: Site, state: State, key: str, moment: datetime, ask: Callable[[], Rows]
) -> State:
    """The state for `key`; the computation is started if it was not yet."""
    if _stands(state, key, moment):
        return state
    begun = State(state.name, key, format_rfc3339(moment))
    with served.database.write() as session:  # another worker may have started it since
        state = load(session, state.name)
        if _stands(state, key, moment):
            return state
        _store(session, begun)
    begin(served, begun, ask)
    return begun


def _stands(state: State, key: str, moment: datetime) -> bool:
    return state.key == key and (state.done or state.at_work(moment))


def begin(served: Site, state: State, ask: Callable[[], Rows]) -> threading.Thread:
    """Run the computation in a thread, and store its result."""

    def work() -> None:
        try:
            ended = replace(state, rows=ask())
        except PublisherError as error:
            ended = replace(state, problem=str(error))
        save(served, ended)

    thread = threading.Thread(target=work, name=state.name, daemon=True)
    thread.start()
    return thread


def run(
    served: Site,
    *arguments: str,
    seconds: float = LONGEST_SECONDS,
    late: str = "it took too long; it is tried again tomorrow",
) -> Any:
    """The JSON that a command of ours prints; InvalidData with the command's own message."""
    command = [sys.executable, "-m", "publisher", *arguments]
    # A page's replays are short: interpreted they take seconds, compiling alone takes a minute.
    own = {"PUBLISHER_SITE_URL": served.site_url, "NUMBA_DISABLE_JIT": "1"}
    with subprocess.Popen(
        command, env=served.environment.variables() | own, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as child:  # fmt: skip
        os.setpriority(os.PRIO_PROCESS, child.pid, NICE)
        try:
            printed, complaint = child.communicate(timeout=seconds)
        except subprocess.TimeoutExpired as error:
            child.kill()
            raise PublisherError(late) from error
    if child.returncode != 0:
        last_line = (complaint.strip().splitlines() or ["no answer"])[-1]
        raise InvalidData(last_line.removeprefix("publisher: "))
    return json.loads(printed)
