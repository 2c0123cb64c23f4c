"""Vaults that Quartz publishes: addresses, names, and what is public."""

from datetime import UTC, datetime
from typing import Any

import pytest

from publisher.parts.importing.sites.generators.generator import Text
from publisher.parts.importing.sites.generators.vault import Quartz
from tests.parts.importing.conftest import folder


def site(program: str = "") -> Quartz:
    return Quartz(folder({"quartz.config.ts": program, "x": ""}), "", UTC)


@pytest.mark.parametrize(
    ("place", "path"),
    [("Hot Tea.md", "/Hot-Tea"), ("a/index.md", "/a/"), ("index.md", "/"),
    ("a/b & c.md", "/a/b--and--c"),
     ("10%.md", "/10-percent"), ("why?#.md", "/why")],
)  # fmt: skip
def test_the_path_of_a_text(place: str, path: str) -> None:
    assert site().path(Text(f"content/{place}")) == path


def test_a_pattern_that_the_person_gives() -> None:
    found = site()
    found.set_pattern("/:year/:title/")
    assert found.path(Text("content/a.md", {}, datetime(2021, 2, 3, tzinfo=UTC))) == "/2021/a/"


@pytest.mark.parametrize(
    ("program", "place", "fields", "draft"),
    [
        ("", "a.md", {}, False), ("", "private/a.md", {}, True), ("", "templates/a.md", {}, True),
        ("ignorePatterns: ['x']", "private/a.md", {}, False),
        ("ignorePatterns: ['x']", "x/a.md", {}, True),
        ("Plugin.ExplicitPublish()", "a.md", {}, True),
        ("Plugin.ExplicitPublish()", "a.md", {"publish": True}, False),
        ("Plugin.ExplicitPublish()", "a.md", {"publish": "Yes"}, True),
        ("// Plugin.ExplicitPublish()", "a.md", {}, False), ("", "a.md", {"draft": True}, True),
        ("Plugin.ExplicitPublish()", "a.md", {"publish": "Zoo"}, True),
    ],
)  # fmt: skip
def test_what_is_public(program: str, place: str, fields: dict[str, Any], draft: bool) -> None:
    assert site(program).is_draft(Text(f"content/{place}", fields)) == draft


def test_other_settings() -> None:
    assert (site('baseUrl: "a.example/b"').base, site().base) == ("https://a.example/b", "")
    assert (site().title(Text("content/my-note.md")), site().feeds) == ("my-note", ["/index.xml"])
    assert (site().takes("content/a.md"), site().takes("a.md")) == (True, False)
