"""Our own export, file by file: what each says, and what is refused by its name."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest

from publisher.base.errors import InvalidData
from publisher.parts.importing.formats import own_export
from publisher.parts.importing.imported import Batch, ImportedPost
from tests.conftest import MONDAY_MORNING
from tests.parts.importing.conftest import folder

POST = "---\ntitle: T\ndate: 2020-03-04T00:00:00Z\nslug: tea\nguid: g\nversion: 3\n{}---\nx"
REVISION = {
    "version": "2", "saved_at": "2020-03-05T00:00:00Z", "author": "ada", "minor": True,
    "source": "old", "title": "Old",
}  # fmt: skip


def read(files: Mapping[str, Any], top: str = "", **manifest: Any) -> Batch:
    held = {"publisher.json": json.dumps({"format": 1} | manifest), **files}
    texts = {
        top + name: text if isinstance(text, str) else json.dumps(text)
        for name, text in held.items()
    }
    batch = own_export.read(folder(texts))
    assert batch is not None
    batch.posts = [*batch.posts]
    return batch


def only(files: Mapping[str, Any]) -> ImportedPost:
    (post,) = read(files).posts
    return post


@pytest.mark.parametrize(
    ("names", "whether"),
    [
        (["publisher.json"], True), (["a/publisher.json"], True), (["a/b/publisher.json"], False),
        (["xpublisher.json"], False), (["a/publisher.json", "publisher.json"], True),
        (["x"], False),
    ],
)  # fmt: skip
def test_where_the_manifest_lies(names: list[str], whether: bool) -> None:
    """At the top, or in one folder."""
    found = own_export.read(folder(dict.fromkeys(names, '{"format": 1}')))
    assert (found is not None) == whether


@pytest.mark.parametrize("text", ['{"format": 2}', '{"format": 0}', "{}", "[]", '{"format": "1"}'])
def test_other_manifests_are_refused(text: str) -> None:
    with pytest.raises(InvalidData, match=r"publisher.json: not an export"):
        own_export.read(folder({"publisher.json": text}))
    with pytest.raises(InvalidData, match=r"publisher.json: the JSON cannot be read"):
        own_export.read(folder({"publisher.json": text[:-1]}))


def test_posts_of_each_folder_and_no_other() -> None:
    names = [f"{name}/a.md" for name in ("posts", "pages", "scheduled", "drafts", "deleted")]
    files = dict.fromkeys([*names, "other/a.md", "posts.md", "media/a.md"], POST.format(""))
    for top in ("", "export/"):
        assert sorted(post.where for post in read(files, top).posts) == sorted(names)


def test_a_post_without_revisions() -> None:
    post = only({"posts/tea.md": POST.format("")})
    assert (post.guid, post.version, post.revisions, post.needs) == ("g", 3, (), ())


def test_revisions_of_a_post() -> None:
    """The older ones of their file, the newest as the text says it was saved."""
    head = "saved: 2020-03-06T00:00:00Z\nsaved_by: bo\nsaved_minor: {}\n"
    files = {"posts/tea.md": POST.format(head.format("true")), "revisions/tea.json": [REVISION]}
    first, last = only(files).revisions
    assert (first.version, first.author, first.minor) == (2, "ada", True)
    assert first.saved_at == datetime(2020, 3, 5, tzinfo=UTC)
    assert first.content == {"source": "old", "title": "Old"}
    assert (last.version, last.author, last.minor) == (3, "bo", True)
    assert last.saved_at == datetime(2020, 3, 6, tzinfo=UTC)
    assert (last.content["source"], last.content["title"]) == ("x", "T")
    for other in ("false", "", "True"):
        assert not only({"posts/tea.md": POST.format(head.format(other))}).revisions[0].minor
    assert only({**files, "posts/tea.md": POST.format("")}).revisions == (first,)


@pytest.mark.parametrize(
    "change",
    [{"version": "x"}, {"version": None}, {"saved_at": "soon"}, {"author": ...}, {"minor": ...},
     {"source": 5}, {"source": ...}, {"saved_at": ...}],
)  # fmt: skip
def test_a_revision_that_is_none(change: dict[str, Any]) -> None:
    """Its file is named."""
    row = {name: value for name, value in {**REVISION, **change}.items() if value is not ...}
    with pytest.raises(InvalidData, match=r"^revisions/tea.json: "):
        only({"posts/tea.md": POST.format(""), "revisions/tea.json": [row]})


def test_a_revision_that_was_no_minor_edit() -> None:
    for minor in (False, 1, "true", None):
        files = {
            "posts/tea.md": POST.format(""),
            "revisions/tea.json": [REVISION | {"minor": minor}],
        }
        assert not only(files).revisions[0].minor
    with pytest.raises(InvalidData, match=r"^revisions/tea.json: "):
        only({"posts/tea.md": POST.format(""), "revisions/tea.json": 5})


def test_a_wrong_time_of_saving_names_its_file() -> None:
    with pytest.raises(InvalidData, match=r"^posts/tea.md: "):
        only({"posts/tea.md": POST.format("saved: soon\n")})


MEDIUM = {
    "digest": "a" * 64, "extension": "png", "created_at": "2020-03-04T05:06:07Z", "widths": [480],
    "bytes": 5, "width": 640, "height": 0, "name": "n",
}  # fmt: skip


def test_the_site_around_the_posts() -> None:
    """Settings, people and files; lists that moved."""
    files = {"media/a.png": "", "other/b.png": ""}
    for top in ("", "export/"):
        people = [{"name": "ada"}]
        batch = read(
            files,
            top,
            preferences={"title": 5},
            authors=people,
            media=[MEDIUM],
            moved_lists={"/a": 1},
        )
        site = batch.site
        assert site is not None
        assert (site.preferences, site.authors) == ({"title": "5"}, ({"name": "ada"},))
        assert (site.media, site.files) == ((MEDIUM,), (f"{top}media/a.png",))
        assert batch.moved == {"/a": "1"}
    batch = read({}, moved_lists=[])
    assert (batch.moved, batch.site and batch.site.media) == ({}, ())


@pytest.mark.parametrize(
    "manifest",
    [
        {"preferences": []}, {"authors": [5]}, {"media": 5}, {"media": [5]},
        *({"media": [MEDIUM | change]} for change in (
            {"extension": "exe"}, {"digest": "a" * 63}, {"digest": "A" * 64},
             {"created_at": "soon"},
            {"widths": [-1]}, {"widths": 5}, {"bytes": "5"}, {"height": 2**31}, {"width": 1.5},
        )),
        {"media": [{"digest": "a" * 64}]},
    ],
)  # fmt: skip
def test_a_manifest_with_wrong_values(manifest: dict[str, Any]) -> None:
    with pytest.raises(InvalidData, match=r"^publisher.json: "):
        read({}, **manifest)


def test_numbers_up_to_the_largest() -> None:
    site = read({}, media=[MEDIUM | {"bytes": 2**31 - 1, "width": 0}]).site
    assert site is not None
    assert (site.media[0]["bytes"], site.media[0]["width"]) == (2**31 - 1, 0)


# -- the update log

ROW = "2020-03-04T05:06:07Z,publish,g"


def updates(text: str, top: str = "") -> list[tuple[datetime, str, str]]:
    files = {f"{top}publisher.json": "{}", f"{top}updates.csv": text}
    return [*own_export.updates(folder(files), MONDAY_MORNING)]


@pytest.mark.parametrize("top", ["", "export/"])
def test_rows_of_the_log(top: str) -> None:
    text = f"updated_at,kind,guid\n{ROW}\n2020-03-05T05:06:07Z,loaded,\n"
    at = datetime(2020, 3, 4, 5, 6, 7, tzinfo=UTC)
    assert updates(text, top) == [(at, "publish", "g"), (at.replace(day=5), "loaded", "")]
    assert [*own_export.updates(folder({"publisher.json": "{}"}), MONDAY_MORNING)] == []


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ("soon,publish,g", "line 2"),
        ("2020-03-04T05:06:07Z,zoo,g", "'zoo' is not a kind of update"),
        ("2020-03-04T05:06:07Z,a,g", "'a' is not a kind"),
        ("2024-03-04T09:30:01Z,publish,g", "is in the future"),
        (f"{ROW}\n{ROW}\nsoon,publish,g", "line 4"),
    ],
)  # fmt: skip
def test_a_row_that_is_wrong_is_named_by_its_line(row: str, why: str) -> None:
    with pytest.raises(InvalidData, match=rf"^updates.csv: line.*{why}|^updates.csv: {why}"):
        updates(f"updated_at,kind,guid\n{row}\n")


def test_a_log_without_its_columns() -> None:
    with pytest.raises(InvalidData, match=r"^updates.csv: line 2: 'kind'"):
        updates("updated_at,guid\n2020-03-04T05:06:07Z,g\n")
    assert len(updates("updated_at,kind,guid\n2024-03-04T09:30:00Z,publish,g\n")) == 1
