"""The types of the columns: instants and secrets."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from sqlalchemy import make_url
from sqlalchemy.dialects import sqlite

from publisher.base.encryption import Cipher, is_encrypted
from publisher.storage.columns import EncryptedText, UtcDateTime, encrypt_with

pytestmark = pytest.mark.any_database

NOON = datetime(2026, 12, 1, 12, 0, 0, 5, tzinfo=UTC)
SERVER = make_url("postgresql+psycopg://").get_dialect()()


def test_an_instant_is_stored_in_utc_and_read_with_it() -> None:
    elsewhere = NOON.astimezone(timezone(timedelta(hours=5, minutes=45)))
    to_file = UtcDateTime().bind_processor(sqlite.dialect())
    from_file = UtcDateTime().result_processor(sqlite.dialect(), None)
    assert to_file is not None
    assert from_file is not None
    assert to_file(elsewhere) == "2026-12-01 12:00:00.000005"
    assert from_file("2026-12-01 12:00:00.000005") == NOON
    assert to_file(None) is None
    assert from_file(None) is None


def test_a_server_stores_the_same_instant() -> None:
    elsewhere = NOON.astimezone(timezone(timedelta(hours=-8)))
    to_server = UtcDateTime().bind_processor(SERVER)
    from_server = UtcDateTime().result_processor(SERVER, None)
    assert to_server is not None
    assert from_server is not None
    assert to_server(elsewhere) == NOON.replace(tzinfo=None)
    assert from_server(NOON.replace(tzinfo=None)) == NOON
    assert to_server(None) is None
    assert from_server(None) is None


def test_an_instant_without_a_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="must be aware"):
        UtcDateTime().process_bind_param(NOON.replace(tzinfo=None), sqlite.dialect())


def test_a_secret_is_encrypted_where_there_is_a_cipher() -> None:
    """Without one, to be copied or checked, it is moved as it is stored."""
    dialect, column = sqlite.dialect(), EncryptedText()
    assert column.process_bind_param("secret", dialect) == "secret"
    encrypt_with(dialect, Cipher(lambda: "key"))
    stored = column.process_bind_param("secret", dialect)
    assert stored is not None
    assert is_encrypted(stored)
    assert column.process_result_value(stored, dialect) == "secret"
    assert column.process_bind_param(None, dialect) is None
    assert column.process_result_value(None, dialect) is None
    assert column.process_result_value(stored, sqlite.dialect()) == stored
