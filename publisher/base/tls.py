"""The port's TLS, made from a certificate chain and its key in PEM files."""

import ssl
from pathlib import Path

from publisher.base.errors import InvalidInput


def server_context(certificate: Path, key: Path) -> ssl.SSLContext:
    """TLS 1.2 and 1.3, for HTTP/1.1, with the system's ciphers.

    `certificate` is the whole chain, both files are PEM. Raises InvalidInput when a file is
    missing, unreadable or not PEM, and when the two do not belong together.
    """
    for file, what in ((certificate, "certificate"), (key, "key")):
        try:
            text = file.read_bytes()
        except OSError as error:
            raise InvalidInput(f"the TLS {what} {file} cannot be read: {error.strerror}") from error
        if b"-----BEGIN " not in text:
            raise InvalidInput(f"{file} is no TLS {what} in PEM form (-----BEGIN ...)")
        if b"ENCRYPTED" in text:
            raise InvalidInput(f"the TLS {what} {file} has a password: remove it for a server")
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    try:
        context.load_cert_chain(certificate, key)
    except ssl.SSLError as error:
        if error.reason == "KEY_VALUES_MISMATCH":
            problem = f"the TLS key {key} does not belong to the certificate {certificate}"
        else:
            why = error.reason or "a part of one is missing"
            problem = f"{certificate} and {key} are not a certificate and its key: {why}"
        raise InvalidInput(problem) from error
    return context
