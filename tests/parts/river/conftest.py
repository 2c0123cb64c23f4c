"""What the river's tests share."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from publisher.base.environment import Environment
from publisher.installation import Site, open_site
from tests.conftest import FakeClock
from tests.databases import database_url
from tests.parts.river.origin import Origin
from tests.parts.river.test_worker import River


@pytest.fixture
def river(site: Site, clock: FakeClock) -> River:
    return River(site, clock)


@pytest.fixture
def impatient(tmp_path: Path, clock: FakeClock, monkeypatch: pytest.MonkeyPatch) -> Iterator[River]:
    """A river whose database gives up waiting for a lock soon."""
    monkeypatch.setattr("publisher.storage.database.BUSY_TIMEOUT_SECONDS", 0.1)
    instance = tmp_path / "instance"
    opened = open_site(Environment(instance, database_url(instance)), clock)
    yield River(opened, clock)
    opened.database.close()


@pytest.fixture
def origin() -> Iterator[Origin]:
    server = Origin()
    yield server
    server.close()


@pytest.fixture
def everywhere() -> Iterator[Origin]:
    """Listens on every loopback address: as many machines as are wanted."""
    server = Origin("0.0.0.0")  # noqa: S104 - only loopback addresses are asked
    yield server
    server.close()
