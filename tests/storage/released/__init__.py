"""Sites as released versions have left them: how they were made is in README.md beside this."""

import gzip
from pathlib import Path

HERE = Path(__file__).parent
KEY = "the key of the released sites in the tests"
PASSWORDS = {"ada": "correct horse battery", "ben": "staple in the stable"}


def put_file(path: Path, version: str = "1.0.0") -> str:
    """Write the SQLite file of a version to `path`; its URL."""
    path.write_bytes(gzip.decompress((HERE / f"{version}.db.gz").read_bytes()))
    return f"sqlite:///{path}"


def load_dump(url: str, version: str = "1.0.0") -> str:
    """Load the dump of a version into an empty database of a server; its URL."""
    import psycopg  # of an extra; without it nothing comes here

    dump = gzip.decompress((HERE / f"{version}.sql.gz").read_bytes()).decode()
    with psycopg.connect(url.replace("+psycopg", ""), autocommit=True) as connection:
        connection.execute(dump.encode())
    return url
