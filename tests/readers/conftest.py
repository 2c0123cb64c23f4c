"""A site that counts its polls."""

import pytest

from publisher.site import Site
from tests.readers.polls import Counting


@pytest.fixture
def counting(site: Site) -> Counting:
    """An empty site with its poll counter."""
    return Counting(site)
