"""What the river's tests share."""

from collections.abc import Iterator

import pytest

from tests.parts.river.origin import Origin


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
