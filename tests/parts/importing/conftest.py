"""A site to import into, the short way."""

import io
import zipfile
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC
from typing import Any, Protocol

import pytest

from publisher.base.system import confined
from publisher.base.system.plain_values import from_bytes, to_bytes
from publisher.blog import update_log
from publisher.blog.members import authors
from publisher.installation import Site
from publisher.parts.importing import confined_reading, planning, writer
from publisher.parts.importing.formats import recognition
from publisher.parts.importing.imported import Batch, ImportedPost
from publisher.parts.importing.planning import Plan
from publisher.parts.importing.sources import Document, Folder, located, opened


def document(text: str | bytes, name: str = "a file") -> Document:
    """A document as it would come from a file."""
    return Document(name, io.BytesIO(text.encode() if isinstance(text, str) else text))


def read(text: str | bytes, format_: str | None = None, name: str = "a file") -> Batch:
    """What the adapter for a text makes of it, read to its end."""
    batch = recognition.read(document(text, name), format_, UTC)
    batch.posts = list(batch.posts)
    return batch


def one(text: str, format_: str | None = None, name: str = "a file") -> ImportedPost:
    """The only post of a text."""
    (post,) = read(text, format_, name).posts
    return post


def zipped(files: Mapping[str, str | bytes]) -> bytes:
    """A zip with these files."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return held.getvalue()


def folder(files: Mapping[str, str | bytes]) -> Folder:
    """A zip, opened."""
    with opened(located("-", io.BytesIO(zipped(files)), allow_private=False)) as source:
        assert isinstance(source, Folder)
        return source


def batch_of(files: Mapping[str, str | bytes], permalink: str = "") -> Batch:
    """What a folder has, read to its end."""
    batch = recognition.read(folder(files), None, UTC, permalink)
    batch.posts = list(batch.posts)
    return batch


@pytest.fixture
def read_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Exports and their pictures are read in this process: nothing there is a stranger's, and
    another process takes a second to start. What it would send is read back as the same types."""

    def copied(task: Callable[..., Any], value: Any) -> Any:
        return from_bytes(to_bytes(value), confined._result_of(task))

    def stream(task: Callable[..., Any], _: confined.Limits, *values: Any) -> Iterator[Any]:
        return (copied(task, value) for value in task(*values))

    monkeypatch.setattr(confined_reading, "stream", stream)
    monkeypatch.setattr(confined, "read", lambda task, _, *values: copied(task, task(*values)))


class Importer(Protocol):
    """Imports a batch; `heir` gets the posts of authors that are not known."""

    def __call__(self, batch: Batch, heir: str = "") -> Plan: ...


@pytest.fixture
def importer(site: Site) -> Importer:
    """Imports a batch into `site` at its clock's now, as the command does."""

    def do(batch: Batch, heir: str = "") -> Plan:
        prepared = list(planning.prepare(batch, site.clock()))
        with site.database.write() as db:
            planned = planning.make_plan(db, prepared, authors.named(db, heir) if heir else None)
            writer.store(db, planned, site.clock())
        update_log.fold_anew(site.database)
        return planned

    return do
