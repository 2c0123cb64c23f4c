"""What the river's tests share."""

from collections.abc import Iterator

import pytest

from tests.river.origin import Origin


@pytest.fixture
def origin() -> Iterator[Origin]:
    server = Origin()
    yield server
    server.close()
