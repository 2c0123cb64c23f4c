"""The process environment (`PUBLISHER_*`), read and checked: folders, addresses, trusted proxies.

What the author decides (title, zone, menu, ...) is in the database: `installation/settings.py`.
"""

import contextlib
import ipaddress
import os
import re
import secrets
import stat
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlsplit

from publisher.base.clock import ShiftedClock, clock_from_text
from publisher.base.errors import InvalidInput, StorageUnavailable
from publisher.base.media_files import Bucket, MediaFiles, MediaFolder, bucket_url
from publisher.base.system import whole_files

_HOST = r"[0-9a-z]([0-9a-z._-]*[0-9a-z])?\.?|[0-9a-f:.]*:[0-9a-f:.]*"  # a name, or IPv6

LEAST_KEY = 16  # characters of a secret key

T = TypeVar("T")
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

# Every known variable with its meaning, as in the docs; any other PUBLISHER_* stops the start.
KNOWN = {
    "PUBLISHER_INSTANCE": "the folder of database, media and secret key (default instance/)",
    "PUBLISHER_DATABASE_URL": "an SQLAlchemy URL (default: SQLite in the instance folder)",
    "PUBLISHER_LISTEN_URL": "the database server itself, where PUBLISHER_DATABASE_URL is a pooler",
    "PUBLISHER_MEDIA_URL": "a bucket for the uploads, s3://BUCKET/FOLDER (default media/)",
    "PUBLISHER_SITE_URL": "the site's public address, http(s) (default: as set in the studio)",
    "PUBLISHER_SECRET_KEY": "signs cookies, 16 characters or more (default: made once and kept)",
    "PUBLISHER_TRUSTED_PROXIES": "addresses whose forwarded headers count (default none)",
    "PUBLISHER_TLS_CERT": "the certificate chain (PEM) with which `serve` speaks https",
    "PUBLISHER_TLS_KEY": "the key of that certificate (PEM, without a password)",
    "PUBLISHER_PURGE_URL": "the address of a CDN that is called when a feed has changed",
    "PUBLISHER_PURGE_HEADER": "the header with its secret, as `Authorization: Bearer ...`",
    "PUBLISHER_PARTS": "the parts to load, with commas between, or none (default all)",
    "PUBLISHER_ALLOW_PRIVATE": "1: outgoing requests may reach private and loopback addresses",
    "PUBLISHER_CLOCK": "set by `serve --clock-start` for the processes it starts",
}


# Where the workers of a served site keep their counts; prometheus_client reads it when imported.
METRICS_FOLDER = "PROMETHEUS_MULTIPROC_DIR"


@dataclass(frozen=True)
class Purge:
    """The request that purges a CDN: its address as a template, and a header with a secret."""

    template: str
    header: str
    secret: str = field(repr=False)


@dataclass(frozen=True)
class Environment:
    """The environment, read and checked once."""

    instance: Path
    database_url: str
    site_url: str | None = None
    secret_key: str | None = None
    trusted_proxies: tuple[Network, ...] = ()
    allow_private: bool = False
    clock: ShiftedClock | None = None
    listen_url: str | None = None
    media_url: str | None = None
    tls: tuple[Path, Path] | None = None  # certificate and key
    purge: Purge | None = None
    parts: str = ""  # as written; `publisher.part.chosen` reads it

    @property
    def media(self) -> MediaFiles:
        """Where uploaded pictures and sounds are kept."""
        return Bucket(self.media_url) if self.media_url else MediaFolder(self.instance / "media")

    def variables(self) -> dict[str, str]:
        """The environment variables for a child process that works on this installation."""
        return {
            **os.environ,
            "PUBLISHER_INSTANCE": str(self.instance),
            "PUBLISHER_DATABASE_URL": self.database_url,
            "PUBLISHER_SITE_URL": self.site_url or "",
            "PUBLISHER_ALLOW_PRIVATE": "1" if self.allow_private else "0",
            "PUBLISHER_PARTS": self.parts,
        }


def read_environment(environ: Mapping[str, str] = os.environ) -> Environment:
    """The environment from `PUBLISHER_*` variables.

    Raises InvalidInput, naming the variable, for an unknown name or a bad value.
    """
    unknown = sorted(n for n in environ if n.startswith("PUBLISHER_") and n not in KNOWN)
    if unknown:
        near = get_close_matches(unknown[0], KNOWN, n=1)
        meant = f"; did you mean {near[0]}?" if near else ""
        raise InvalidInput(f"unknown setting {unknown[0]}{meant} (known: {', '.join(KNOWN)})")

    def value(name: str, read: Callable[[str], T]) -> T | None:
        """A variable as `read` makes it, None for an empty one; InvalidInput names it."""
        try:
            return read(text) if (text := environ.get(f"PUBLISHER_{name}")) else None
        except (ValueError, RuntimeError) as error:
            raise InvalidInput(f"PUBLISHER_{name}: {error}") from error

    instance = value("INSTANCE", _folder) or _folder("instance")
    return Environment(
        instance=instance,
        database_url=value("DATABASE_URL", str) or f"sqlite:///{instance}/publisher.db",
        listen_url=value("LISTEN_URL", str),
        media_url=value("MEDIA_URL", bucket_url),
        site_url=value("SITE_URL", site_address),
        secret_key=value("SECRET_KEY", str),
        trusted_proxies=value("TRUSTED_PROXIES", _networks) or (),
        allow_private=value("ALLOW_PRIVATE", _flag) or False,
        clock=value("CLOCK", clock_from_text),
        tls=tls_files(value("TLS_CERT", str), value("TLS_KEY", str)),
        purge=_purge(value("PURGE_URL", str) or "", value("PURGE_HEADER", str) or ""),
        parts=value("PARTS", str) or "",
    )


def _folder(name: str) -> Path:
    """The whole path; `~`, which no shell has replaced in a unit file, is the user's own folder."""
    return Path(name).expanduser().absolute()


def _purge(template: str, header: str) -> Purge | None:
    """The purge request, None if neither is set; InvalidInput, which never shows the secret."""
    if not template and not header:
        return None
    parts = urlsplit(template)
    if parts.scheme != "https" and parts.hostname not in ("localhost", "127.0.0.1"):
        raise InvalidInput("PUBLISHER_PURGE_URL: an https address is needed: it gets a secret")
    match = re.fullmatch(r"([A-Za-z0-9-]{1,60}): *([!-~][ -~]*)", header.strip())
    if match is None:
        raise InvalidInput("PUBLISHER_PURGE_HEADER: a header such as Authorization: Bearer ...")
    return Purge(template, match[1], match[2])


def tls_files(certificate: str | None, key: str | None) -> tuple[Path, Path] | None:
    """Certificate and key, None where there is neither; InvalidInput for one without the other."""
    if not certificate and not key:
        return None
    if not certificate or not key:
        missing = "key (PUBLISHER_TLS_KEY)" if certificate else "certificate (PUBLISHER_TLS_CERT)"
        raise InvalidInput(f"for https the {missing} is missing")
    return Path(certificate).absolute(), Path(key).absolute()


def prepare_instance(environment: Environment) -> None:
    """Make the instance folder where it is missing; StorageUnavailable if that fails.

    Folders and files are their owner's alone: there are password hashes and drafts in them.
    """
    try:
        environment.instance.mkdir(parents=True, exist_ok=True, mode=0o700)
        _close_to_others(environment.instance)
        media = environment.instance / "media"
        if not media.exists():
            media.mkdir(exist_ok=True, mode=0o700)
            with whole_files.in_use(media) as made:
                whole_files.give(made, environment.instance)
    except OSError as error:
        raise _unwritable(environment, error) from error


def try_write(environment: Environment) -> None:
    """StorageUnavailable, saying why, when the instance folder does not take 64 kB more."""
    try:
        with tempfile.TemporaryFile(dir=environment.instance) as file:  # no name: nothing is left
            file.write(bytes(65_536))
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise _unwritable(environment, error) from error


def _unwritable(environment: Environment, error: OSError) -> StorageUnavailable:
    return StorageUnavailable(
        f"the instance folder {environment.instance} cannot be written: {error.strerror}"
    )


def _close_to_others(instance: Path) -> None:
    """Remove other users' access, which older versions allowed, to the folder and its contents.

    Files of other owners stay as they are, and so does a folder that all users share (/tmp).
    """
    if instance.stat().st_mode & stat.S_ISVTX:
        return
    for path in (instance, *instance.iterdir()):
        mode = path.lstat().st_mode
        if mode & 0o077 and not stat.S_ISLNK(mode):
            with contextlib.suppress(OSError):  # it is another user's, gone or read-only
                path.chmod(stat.S_IMODE(mode) & 0o700)


def secret_key(environment: Environment) -> str:
    """The key that signs cookies: from the environment, else made once and kept with mode 600.

    Raises InvalidInput for a short one, which can be guessed, and for one that cannot be read.
    """
    path = environment.instance / "secret_key"
    key, place = environment.secret_key or "", "PUBLISHER_SECRET_KEY"
    if not key:
        try:
            if not path.exists():
                # Of two processes that make one at once, the first one wins.
                with whole_files.whole_file(path, replace=False) as file:
                    file.write(secrets.token_urlsafe(48).encode())
            key, place = path.read_text("ascii").strip(), str(path)
        except (OSError, UnicodeError) as error:
            raise InvalidInput(f"the secret key {path} cannot be read: {error}") from error
    if len(key) < LEAST_KEY or len(set(key)) < LEAST_KEY // 4:
        mend = "not all alike; `openssl rand -hex 32` makes one"
        raise InvalidInput(f"{place}: a secret key has {LEAST_KEY} characters or more, {mend}")
    return key


def site_address(text: str) -> str:
    """The public address of a site as it is kept: scheme, host, port and path, no slash at its end.

    Raises InvalidInput for anything else: another scheme, a password in it, a query, a bad port.
    """
    address = text.strip()
    try:
        parts = urlsplit(address)
        port = "" if parts.port is None else f":{parts.port}"
        host = (parts.hostname or "").encode("idna").decode("ascii")
    except ValueError as error:  # a bad port, an unclosed bracket, a label of 64 letters
        raise InvalidInput(f"not a web address: {address[:100]!r}") from error
    odd = parts.query or parts.fragment or "@" in parts.netloc or "?" in address or "#" in address
    odd = odd or not address.isprintable()
    if parts.scheme not in ("http", "https") or not re.fullmatch(_HOST, host) or odd:
        raise InvalidInput(f"an address such as https://example.com, not {address[:100]!r}")
    if not re.fullmatch(r"[!-~]*", parts.path) or set(parts.path) & set('<>"\\^`{|}'):
        raise InvalidInput(f"the path of an address is plain ASCII: {address[:100]!r}")
    host = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{host}{port}{parts.path}".rstrip("/")


def _networks(text: str) -> tuple[Network, ...]:
    return tuple(ipaddress.ip_network(part) for part in text.replace(",", " ").split())


def _flag(text: str) -> bool:
    if text not in ("0", "1"):
        raise InvalidInput(f"0 or 1 is needed, not {text!r}")
    return text == "1"
