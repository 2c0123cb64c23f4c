"""Passwords as they are stored: hashes by scrypt; those by Argon2 from version 1.0 are still read.

The work is a row of the table in OWASP's Password Storage Cheat Sheet, section scrypt: N=2^15, r=8,
p=3. A check takes 32 MiB and some 0.3 s. The package argon2-cffi reads hashes by Argon2: it is
still there after an upgrade, or comes with the extra `old-passwords`. A login replaces them.
"""

from importlib.util import find_spec
from typing import NewType

from publisher.base.errors import to_install

Hash = NewType("Hash", str)  # never a password
METHOD = "scrypt:32768:8:3"
ARGON2 = "$argon2"  # how a hash by Argon2 begins
_UNREADABLE = (
    "passwords that were set under version 1.0 cannot be checked here: set a new one with "
    "`publisher author password NAME`, or install what reads the old ones, "
    + to_install("argon2-cffi")
)


def make(password: str) -> Hash:
    """What to store of a password."""
    from werkzeug.security import generate_password_hash  # late: most commands do not need it

    return Hash(generate_password_hash(password, METHOD))


def nobodys() -> Hash:
    """What no password matches."""
    return Hash(f"{METHOD}$nobody${'0' * 128}")


def matches(stored: str, password: str, old: str) -> bool:
    """Whether `stored` (of nobody: "") was made of `password`, after the same work for anybody.

    `old` is somebody's hash by Argon2, "" when nobody has one. While there is one, each check does
    the work of both kinds: the time does not tell whether a name exists or has its new hash.
    """
    from werkzeug.security import check_password_hash

    is_old = stored.startswith(ARGON2)
    good = check_password_hash(nobodys() if is_old else stored or nobodys(), password)
    if not old or not installed():
        return good
    from argon2 import PasswordHasher
    from argon2.exceptions import Argon2Error, InvalidHashError

    try:
        PasswordHasher().verify(stored if is_old else old, password)
    except (Argon2Error, InvalidHashError):
        return good and not is_old
    return good or is_old


def renewed(stored: str, password: str) -> str:
    """The hash to store in place of `stored` after a login; the same if it is of today's kind."""
    return stored if stored.startswith(f"{METHOD}$") else make(password)


def trouble(stored: str) -> str:
    """What to do where a hash cannot be read here; "" if it can, or is nobody's ("")."""
    return _UNREADABLE if stored.startswith(ARGON2) and not installed() else ""


def installed() -> bool:
    """Whether the package that reads hashes by Argon2 is there."""
    return find_spec("argon2") is not None
