"""https by the front server itself: the files that it takes, and a site served with them."""

import shutil
import signal
import socket
import ssl
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from publisher.base.environment import read_environment
from publisher.base.errors import InvalidInput
from publisher.base.tls import server_context
from tests.running_site import Server, answers, kill, serving, wait_until

OPENSSL = shutil.which("openssl")
pytestmark = [
    pytest.mark.any_database,
    pytest.mark.skipif(OPENSSL is None, reason="openssl is not installed on this machine"),
]

Files = tuple[Path, Path]


def make_files(folder: Path, name: str) -> Files:
    """A certificate for localhost that signs itself, called `name`, and its key."""
    certificate, key = folder / f"{name}.pem", folder / f"{name}.key"
    subprocess.run(
        [str(OPENSSL), "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
         "-nodes", "-keyout", str(key), "-out", str(certificate), "-days", "2",
         "-subj", f"/CN={name}", "-addext", "subjectAltName=DNS:localhost"],
        check=True, capture_output=True,
    )  # fmt: skip
    return certificate, key


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    """A good certificate and its key."""
    return make_files(tmp_path_factory.mktemp("tls"), "one")


def _missing(files: Files, folder: Path) -> Files:
    return files[0], folder / "none.key"


def _folder(files: Files, folder: Path) -> Files:
    return folder, files[1]


def _no_pem(files: Files, folder: Path) -> Files:
    file = folder / "text"
    file.write_text("certificate")
    return file, files[1]


def _damaged(files: Files, folder: Path) -> Files:
    file = folder / "damaged"
    file.write_text("-----BEGIN CERTIFICATE-----\nnothing\n-----END CERTIFICATE-----\n")
    return file, files[1]


def _another_pair(files: Files, folder: Path) -> Files:
    return files[0], make_files(folder, "other")[1]


def _with_password(files: Files, folder: Path) -> Files:
    file = folder / "locked.key"
    command = [str(OPENSSL), "ec", "-in", str(files[1]), "-aes256", "-passout", "pass:secret"]
    subprocess.run([*command, "-out", str(file)], check=True, capture_output=True)
    return files[0], file


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (_missing, "key .*none.key cannot be read: No such file"),
        (_folder, "certificate .* cannot be read: Is a directory"),
        (_no_pem, "text is no TLS certificate in PEM form"),
        (_damaged, "are not a certificate and its key"),
        (_another_pair, "other.key does not belong to the certificate"),
        (_with_password, "locked.key has a password"),
    ],
)
def test_files_that_cannot_be_used(
    files: Files, tmp_path: Path, change: Callable[[Files, Path], Files], words: str
) -> None:
    """Each is refused in words, with the file's name."""
    with pytest.raises(InvalidInput, match=words):
        server_context(*change(files, tmp_path))


def test_one_file_is_not_enough(tmp_path: Path) -> None:
    """A certificate without its key, or the other way round, stops the start."""
    for name in ("CERT", "KEY"):
        with pytest.raises(InvalidInput, match="for https the "):
            read_environment({"PUBLISHER_INSTANCE": str(tmp_path), f"PUBLISHER_TLS_{name}": "x"})


def ask(server: Server, request: bytes) -> tuple[bytes, ssl.SSLSocket]:
    """The whole answer to bytes that end their connection, and the closed connection."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.set_alpn_protocols(["h2", "http/1.1"])
    plain = socket.create_connection(("127.0.0.1", server.port), 10)
    with context.wrap_socket(plain, server_hostname="localhost") as connection:
        connection.sendall(request)
        answer = b""
        while data := connection.recv(65_536):
            answer += data
        return answer, connection


def named(server: Server) -> bytes:
    """The certificate that is served."""
    certificate = ssl.get_server_certificate(("127.0.0.1", server.port))
    return ssl.PEM_cert_to_DER_cert(certificate)


def test_a_site_with_tls(files: Files, tmp_path: Path) -> None:
    """Polls, pages and refusals over TLS; plain HTTP and half a handshake hold nothing; SIGHUP
    brings a new certificate, and a bad one changes nothing."""
    mine = tmp_path / "cert.pem", tmp_path / "key.pem"
    for source, target in zip(files, mine, strict=True):
        shutil.copy(source, target)
    words = ["--tls-cert", str(mine[0]), "--tls-key", str(mine[1])]
    host = b"Host: localhost\r\nConnection: close\r\n\r\n"
    with serving(tmp_path / "site", *words) as server:
        assert f"https://127.0.0.1:{server.port}" in server.output()
        for _ in range(2):  # the second is known by its bytes
            answer, connection = ask(server, b"GET /rss.xml HTTP/1.1\r\n" + host)
            assert answer.startswith(b"HTTP/1.1 200 OK")
            assert b"https://127.0.0.1" in answer
        assert ask(server, b"GET / HTTP/1.1\r\n" + host)[0].startswith(b"HTTP/1.1 200 OK")
        assert ask(server, b"nonsense\r\n\r\n")[0].startswith(b"HTTP/1.1 400")
        with socket.create_connection(("127.0.0.1", server.port), 10) as plain:
            plain.sendall(b"GET / HTTP/1.1\r\n" + host)
            assert not plain.recv(100).startswith(b"HTTP")
        before = named(server)
        mine[1].write_text("rubbish")
        server.process.send_signal(signal.SIGHUP)
        wait_until(lambda: "the workers stay" in server.output(), 60, server)
        for worker in filter(is_worker, server.children()):
            kill(worker)
        wait_until(lambda: answers(server), 60, server)
        assert named(server) == before
        assert "Traceback" not in server.output()
        for source, target in zip(make_files(tmp_path, "two"), mine, strict=True):
            shutil.copy(source, target)
        server.process.send_signal(signal.SIGHUP)
        wait_until(lambda: named(server) != before, 60, server)
    assert connection.version() in (None, "TLSv1.3")


def test_each_worker_knows_the_sessions_of_the_others(files: Files, tmp_path: Path) -> None:
    """A reader that comes again needs no whole handshake, whichever worker takes its connection."""
    words = ["--tls-cert", str(files[0]), "--tls-key", str(files[1]), "--workers", "3"]
    context = ssl.create_default_context(cafile=str(files[0]))
    context.maximum_version = ssl.TLSVersion.TLSv1_2  # its session is there after the handshake
    with serving(tmp_path, *words) as server:
        wait_until(lambda: len([*filter(is_worker, server.children())]) == 3, 60, server)

        def reused(session: ssl.SSLSession | None) -> tuple[bool, ssl.SSLSession | None]:
            with socket.create_connection(("127.0.0.1", server.port), 10) as plain:
                secure = context.wrap_socket(plain, server_hostname="localhost", session=session)
                with secure:
                    return bool(secure.session_reused), secure.session

        reused_session, session = reused(None)
        assert not reused_session
        assert all(reused(session)[0] for _ in range(40))


def is_worker(pid: int) -> bool:
    return Path(f"/proc/{pid}/comm").read_text() == "publisher-web\n"
