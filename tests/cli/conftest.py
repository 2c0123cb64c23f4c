"""What a command finds in a process of its own."""

import logging

import pytest

from publisher.base.system import logs


@pytest.fixture(autouse=True)
def _a_commands_log() -> None:
    """As `logs.get_logger` sets it up where nothing else has."""
    logs.configure(logging.WARNING)
