"""Passkeys (WebAuthn): logging in with a key that a device keeps, instead of a password.

The device checks who its owner is and then signs a challenge that is valid for this site only. The
database holds public keys alone, with which nobody can log in. The library is the extra `passkeys`;
without it, passkeys are not offered.

A passkey belongs to the site's host name: browsers refuse it at another address, and at an IP
address.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from importlib.util import find_spec
from typing import Any
from urllib.parse import urlsplit

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from publisher.base.errors import FieldErrors, Forbidden, InvalidInput, NotFound, to_install
from publisher.base.net import ip_of
from publisher.base.text import clean
from publisher.blog.members import permissions
from publisher.parts.passkeys.tables import Passkey
from publisher.storage.tables.credentials import Author

MAX_LABEL, MOST = 80, 20  # characters; passkeys of one author
MISSING = (
    "passkeys need a library that is not installed: run `make passkeys` in a "
    f"checkout, else {to_install('webauthn')}; then start again"
)
REFUSED = "this passkey is not known here"


@dataclass(frozen=True)
class Place:
    """Where passkeys are valid: the site's host, its origin, and the name that devices show."""

    host: str
    origin: str
    name: str


def place_of(site_url: str, title: str) -> Place | None:
    """The `Place` of a site; None where browsers allow no passkeys: no host name, or no TLS."""
    parts = urlsplit(site_url)
    host = parts.hostname or ""
    if ip_of(host) is not None or (parts.scheme != "https" and host != "localhost"):
        return None
    return Place(host, f"{parts.scheme}://{parts.netloc}", title or host)


def installed() -> bool:
    """Whether the library is installed."""
    return find_spec("webauthn") is not None


def in_use(session: Session) -> bool:
    """Whether anybody has a passkey."""
    return session.scalar(select(Passkey.id).limit(1)) is not None


def ask_to_make(session: Session, place: Place, author: Author) -> tuple[str, bytes]:
    """The options for a device to create a passkey for `author`, as JSON, and their challenge."""
    from webauthn import generate_registration_options, options_to_json
    from webauthn.helpers import structs

    options = generate_registration_options(
        rp_id=place.host,
        rp_name=place.name,
        user_id=f"author-{author.id}".encode(),
        user_name=author.name,
        user_display_name=author.display_name,
        authenticator_selection=structs.AuthenticatorSelectionCriteria(
            resident_key=structs.ResidentKeyRequirement.REQUIRED,
            user_verification=structs.UserVerificationRequirement.REQUIRED,
        ),
        exclude_credentials=[
            structs.PublicKeyCredentialDescriptor(id=row.credential_id)
            for row in listed(session, author)
        ],
    )
    return options_to_json(options), options.challenge


def add(
    session: Session,
    place: Place,
    author: Author,
    challenge: bytes,
    credential: Any,
    label: str,
    now: datetime,
) -> Passkey:
    """Store the passkey that a device created; FieldErrors when its answer is not valid."""
    from webauthn import verify_registration_response
    from webauthn.helpers.exceptions import WebAuthnException

    name = _label(label)
    if len(listed(session, author)) >= MOST:
        raise FieldErrors({"passkey": f"you have {MOST} passkeys already: remove one first"})
    try:
        made = verify_registration_response(
            credential=credential,
            expected_challenge=challenge,
            expected_rp_id=place.host,
            expected_origin=place.origin,
            require_user_verification=True,
        )
    except (WebAuthnException, ValueError, TypeError, KeyError) as error:
        raise FieldErrors({"passkey": "the device's answer is not valid; try again"}) from error
    if _with_id(session, made.credential_id) is not None:
        raise FieldErrors({"passkey": "this passkey has been added already"})
    row = Passkey(
        author_id=author.id,
        credential_id=made.credential_id,
        public_key=made.credential_public_key,
        sign_count=made.sign_count,
        label=name,
        created_at=now,
    )
    session.add(row)
    session.flush()
    return row


def ask_to_log_in(place: Place) -> tuple[str, bytes]:
    """The same to log somebody in; the device itself knows whom."""
    from webauthn import generate_authentication_options, options_to_json
    from webauthn.helpers import structs

    options = generate_authentication_options(
        rp_id=place.host, user_verification=structs.UserVerificationRequirement.REQUIRED
    )
    return options_to_json(options), options.challenge


def log_in(
    session: Session,
    place: Place,
    challenge: bytes,
    credential: Any,
    asked_at: datetime,
    now: datetime,
) -> Author:
    """The author whose passkey signed the challenge of `asked_at`; stores when it was used.

    Raises Forbidden when the passkey is unknown, its signature is wrong, its counter went back (it
    was copied), it was used after `asked_at` (a replayed answer), or its author is disabled.
    """
    from webauthn import verify_authentication_response
    from webauthn.helpers import base64url_to_bytes
    from webauthn.helpers.exceptions import WebAuthnException

    try:
        row = _with_id(session, base64url_to_bytes(str(credential["rawId"])))
        if row is None or row.author.disabled_at is not None:
            raise Forbidden(REFUSED)
        if row.used_at is not None and row.used_at > asked_at:  # many devices keep no counter
            raise Forbidden("this passkey has been used meanwhile; try again")
        proved = verify_authentication_response(
            credential=credential,
            expected_challenge=challenge,
            expected_rp_id=place.host,
            expected_origin=place.origin,
            credential_public_key=row.public_key,
            credential_current_sign_count=row.sign_count,
            require_user_verification=True,
        )
    except (WebAuthnException, ValueError, TypeError, KeyError) as error:
        raise Forbidden(REFUSED) from error
    row.sign_count, row.used_at = proved.new_sign_count, now
    return row.author


def credential_in(text: str) -> Any:
    """A device's answer, parsed; InvalidInput unless it is a JSON object."""
    try:
        credential = json.loads(text)
    except (ValueError, RecursionError):
        credential = None
    if not isinstance(credential, dict):
        raise InvalidInput("a passkey's answer is a JSON object")
    return credential


def listed(session: Session, author: Author) -> Sequence[Passkey]:
    """The passkeys of an author, oldest first."""
    mine = select(Passkey).where(Passkey.author_id == author.id)
    return session.scalars(mine.order_by(Passkey.id)).all()


def rename(session: Session, author: Author, number: int, label: str) -> None:
    """Rename one of the author's own passkeys; NotFound for any other."""
    _own(session, author, number).label = _label(label)


def remove(session: Session, author: Author, number: int) -> None:
    """Delete one of the author's own passkeys; NotFound for any other."""
    session.delete(_own(session, author, number))


def remove_all(session: Session, author: Author) -> None:
    """Delete all passkeys of an author."""
    session.execute(delete(Passkey).where(Passkey.author_id == author.id))


def _own(session: Session, author: Author, number: int) -> Passkey:
    row = session.get(Passkey, number)
    if row is None or not permissions.owns(author, row.author_id):
        raise NotFound("there is no such passkey")
    return row


def _with_id(session: Session, credential_id: bytes) -> Passkey | None:
    return session.scalar(select(Passkey).where(Passkey.credential_id == credential_id))


def _label(text: str) -> str:
    line = " ".join(clean(text).split()) or "Passkey"
    if len(line) > MAX_LABEL:
        raise FieldErrors({"passkey_label": f"at most {MAX_LABEL} characters"})
    return line
