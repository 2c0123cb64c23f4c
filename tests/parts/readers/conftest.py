"""A site that counts its polls."""

import pytest

from publisher.installation import Site
from tests.parts.readers.polls import Counting


@pytest.fixture
def counting(site: Site) -> Counting:
    """An empty site with its poll counter."""
    return Counting(site)
