"""Uploads in a bucket of an S3-compatible store: moto's server, asked over HTTP."""

import io
import secrets
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from http.client import HTTPConnection
from pathlib import Path
from urllib.request import Request, urlopen

import pytest
from flask import Flask
from flask.testing import FlaskClient

from publisher.base import media_files
from publisher.base.environment import Environment
from publisher.base.errors import InvalidInput, StorageUnavailable
from publisher.base.media_files import Bucket
from publisher.blog.members import authors, tokens
from publisher.blog.post_files import media
from publisher.installation import Site, open_site
from publisher.operations import doctor
from publisher.operations.backup import backup, restore
from publisher.operations.database_copy import copy_site
from publisher.web.application import close_app, create_app
from tests.conftest import SITE_URL, FakeClock
from tests.factories import PASSWORD, make_mp3
from tests.postgres import Server
from tests.running_site import free_port, serving, wait_until
from tests.storage.test_postgresql import listens

pytestmark = pytest.mark.any_database

pytest.importorskip("obstore", reason="the extra s3 is not installed")

KEYS = {"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b", "AWS_DEFAULT_REGION": "us-east-1"}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a store that is running."""
    program = shutil.which("moto_server")
    if program is None:
        pytest.skip("moto's server is not installed (pip install moto[s3] flask flask-cors)")
    port = free_port()
    log = tmp_path_factory.mktemp("store") / "log"
    with log.open("wb") as out, subprocess.Popen(
        [program, "-H", "127.0.0.1", "-p", str(port)], stdout=out, stderr=out
    ) as process:  # fmt: skip
        try:
            wait_until(lambda: listens(port), 60, log)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()


@pytest.fixture
def settings(store: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, str]]:
    """What a machine's environment says, with a bucket of this test's own."""
    variables = KEYS | {"AWS_ENDPOINT_URL": store}
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    bucket = f"test-{secrets.token_hex(6)}"
    urlopen(Request(f"{store}/{bucket}", method="PUT")).close()
    media_files._store.cache_clear()
    yield variables | {"PUBLISHER_MEDIA_URL": f"s3://{bucket}/blog"}
    media_files._store.cache_clear()


@pytest.fixture
def bucketed(environment: Environment, settings: dict[str, str]) -> Environment:
    """An instance whose uploads are in the bucket."""
    return replace(environment, media_url=settings["PUBLISHER_MEDIA_URL"])


@pytest.fixture
def client(bucketed: Environment, clock: FakeClock) -> Iterator[FlaskClient]:
    app: Flask = create_app(bucketed, clock)
    yield app.test_client()
    close_app(app)


def test_a_file_is_kept_read_in_parts_and_erased(
    bucketed: Environment, client: FlaskClient
) -> None:
    """As from a folder: ranges, conditions, 416, 404; nothing lies on the machine."""
    accepted = media.accept(make_mp3())
    media.store(bucketed.media, accepted)
    media.store(bucketed.media, accepted)
    assert bucketed.media.names() == list(accepted.files)
    assert list((bucketed.instance / "media").glob("*")) == []
    with client.get(accepted.path) as whole:
        assert (whole.status_code, whole.headers["Content-Type"]) == (200, "audio/mpeg")
        assert whole.content_length == len(whole.data)
        assert "immutable" in whole.headers["Cache-Control"]
        body, tag = whole.data, whole.headers["ETag"]
    assert body == accepted.files[accepted.path.removeprefix("/media/")]
    for wanted, status, data in (
        ("bytes=10-19", 206, body[10:20]),
        ("bytes=-5", 206, body[-5:]),
        (f"bytes={len(body) - 3}-", 206, body[-3:]),
        ("bytes=-99999999", 206, body),
        ("bytes=99999999-", 416, None),
        ("lines=1-2", 200, body),
    ):
        with client.get(accepted.path, headers={"Range": wanted}) as part:
            assert part.status_code == status, wanted
            assert data is None or part.data == data, wanted
    with client.head(accepted.path) as head:
        assert (head.status_code, head.content_length, head.data) == (200, len(body), b"")
    with client.get(accepted.path, headers={"If-None-Match": tag}) as again:
        assert again.status_code == 304
    media.erase(bucketed.media, accepted.files)
    media.erase(bucketed.media, accepted.files)
    assert client.get(accepted.path).status_code == 404
    assert client.get("/media/..%2f..%2fsecret").status_code == 404


def test_backup_restore_and_copy_take_the_uploads_along(
    bucketed: Environment, clock: FakeClock, tmp_path: Path
) -> None:
    """A backup holds the bucket's files; a restore elsewhere puts them into a folder, or back."""
    accepted = media.accept(make_mp3())
    open_site(bucketed, clock).database.close()
    media.store(bucketed.media, accepted)
    if bucketed.database_url.startswith("sqlite"):
        archive = tmp_path / "b.tar.gz"
        backup(bucketed, archive)
        media.erase(bucketed.media, accepted.files)
        elsewhere = tmp_path / "elsewhere"
        plain = Environment(elsewhere, f"sqlite:///{elsewhere}/publisher.db", SITE_URL, "key")
        restore(plain, archive)
        assert plain.media.names() == list(accepted.files)
        restore(bucketed, archive)
    assert bucketed.media.names() == list(accepted.files)
    copied = tmp_path / "copied.db"
    copy_site(bucketed, f"sqlite:///{copied}", lambda _: None)
    assert bucketed.media.names() == list(accepted.files)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"PUBLISHER_MEDIA_URL": "s3://nosuch/x"}, "no such bucket: make it"),
        ({"AWS_ENDPOINT_URL": "http://127.0.0.1:9"}, "does not answer"),
        ({"AWS_ENDPOINT_URL": "nonsense"}, "an address such as"),
        ({"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": ""}, "set AWS_ACCESS_KEY_ID"),
    ],
    ids=["bucket", "port", "address", "key"],
)
def test_what_is_wrong_is_said(
    environment: Environment,
    settings: dict[str, str],
    change: dict[str, str],
    words: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One sentence for an upload, and for doctor."""
    for name, value in change.items():
        monkeypatch.setenv(name, value) if value else monkeypatch.delenv(name)
    wrong = replace(environment, media_url=(settings | change)["PUBLISHER_MEDIA_URL"])
    with pytest.raises((StorageUnavailable, InvalidInput), match=words) as failure:
        media.store(wrong.media, media.accept(make_mp3()))
    assert "\n" not in str(failure.value)
    (finding,) = doctor.examine_bucket(wrong)
    assert not finding.good
    assert words in finding.detail


@pytest.mark.parametrize("url", ["s3:blog", "s3://", "https://s3.example/b", "s3://a:b@c/d"])
def test_an_address_that_names_no_bucket(url: str) -> None:
    """It stops the start, without showing a password."""
    with pytest.raises(InvalidInput, match="an address such as s3://"):
        media_files.bucket_url(url)


def test_two_machines_share_a_bucket(
    server: Server, settings: dict[str, str], tmp_path: Path
) -> None:
    """What is uploaded on one is served by the other at once; gone here is gone there."""
    url = server.make_database("bucket")
    both = settings | {
        "PUBLISHER_DATABASE_URL": url,
        "PUBLISHER_SECRET_KEY": "the same on all machines",
    }
    with (
        serving(tmp_path / "one", env=both) as first,
        serving(tmp_path / "two", env=both) as second,
    ):
        assert first.threads() == 1  # see test_serve.py
        token = _token(first.instance, url)
        sent = _upload(first.port, token)
        name = sent.rpartition("/")[2]
        answers = [machine.get(f"/media/{name}") for machine in (first, second)]
        assert [status for status, _, _ in answers] == [200, 200]
        assert answers[0][2] == answers[1][2]
        Bucket(settings["PUBLISHER_MEDIA_URL"]).erase(name)
        assert [machine.get(f"/media/{name}")[0] for machine in (first, second)] == [404, 404]
        checked = first.command("doctor")
        assert "takes what is written" in checked.stdout
        assert not list((first.instance / "media").iterdir())
    shutil.rmtree(tmp_path / "two")


def _token(instance: Path, url: str) -> str:
    """An author's token of a site that is being served."""
    site: Site = open_site(Environment(instance, url, SITE_URL, "the same on all machines"))
    with site.database.write() as db:
        author = authors.add(db, "ada", authors.hashed(PASSWORD), None, site.clock())
        token = tokens.create(db, author, tokens.SCOPES, site.clock())
    site.database.close()
    return token


def _upload(port: int, token: str) -> str:
    """Send a sound to the media endpoint; its address."""
    body = io.BytesIO()
    body.write(b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.mp3"\r\n')
    body.write(b"Content-Type: audio/mpeg\r\n\r\n" + make_mp3() + b"\r\n--x--\r\n")
    connection = HTTPConnection("127.0.0.1", port, timeout=30)
    headers = {
        "Authorization": f"Bearer {token}",
        "Content-Type": "multipart/form-data; boundary=x",
    }
    connection.request("POST", "/micropub/media", body.getvalue(), headers)
    answer = connection.getresponse()
    address = answer.getheader("Location", "")
    connection.close()
    assert answer.status == 201
    return address
