"""Quarto: its files, and the code of a text with what it printed."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from publisher.parts.importing.sites.generators.generator import Text
from publisher.parts.importing.sites.generators.quarto import Quarto
from tests.parts.importing.conftest import folder

RUNS = ["what its code prints and draws is not in the source"]


def site(settings: str = "", files: dict[str, str] | None = None) -> Quarto:
    return Quarto(folder({"_quarto.yml": settings, "x": ""} | (files or {})), "", UTC)


@pytest.mark.parametrize(
    ("place", "path", "kind"),
    [
        ("posts/a.qmd", "/posts/a.html", "post"),
        ("posts/a/index.qmd", "/posts/a/", "post"),
        ("about.qmd", "/about.html", "page"),
        ("index.md", "/", "page"),
    ],
)
def test_addresses_and_kinds(place: str, path: str, kind: str) -> None:
    assert (site().path(Text(place)), site().kind(Text(place))) == (path, kind)


def test_a_pattern_that_the_person_gives() -> None:
    found = site()
    found.set_pattern("/:year/:title/")
    assert found.path(Text("a/b.qmd", {}, datetime(2021, 2, 3, tzinfo=UTC))) == "/2021/b/"
    assert (found.also("/a/"), found.also("/a.html")) == (("/a/index.html",), ())


@pytest.mark.parametrize(
    ("settings", "place", "taken"),
    [
        ("", "a.qmd", True), ("", "_site/a.md", False),
        ("project: {output-dir: docs/}", "docs/a.md", False),
        ("project: {output-dir: docs}", "docsx/a.md", True),
        ("", "docs/a.md", True), ("", "_a.qmd", False), ("", "a/_b.qmd", False),
        ("", "a_b.qmd", True),
    ],
)  # fmt: skip
def test_which_files_it_takes(settings: str, place: str, taken: bool) -> None:
    assert site(settings).takes(place) == taken


@pytest.mark.parametrize(
    ("settings", "place", "draft"),
    [
        ("", "posts/a.qmd", False), ("project: {render: ['*.qmd']}", "a.qmd", False),
        ("project: {render: ['*.qmd']}", "a.md", True),
        ("project: {render: [a.qmd]}", "a.qmd", False),
        ("project: {render: [a.qmd]}", "b/a.qmd", True),
        ("project: {render: ['!a.qmd']}", "a.qmd", True),
        ("project: {render: ['!a.qmd']}", "b.qmd", False),
        ("project: {render: ['*.qmd', '!/b/']}", "b/a.qmd", True),
        ("website: {drafts: [a.qmd]}", "a.qmd", True),
    ],
)  # fmt: skip
def test_what_is_rendered(settings: str, place: str, draft: bool) -> None:
    assert site(settings).is_draft(Text(place)) == draft


def test_settings_of_a_folder_and_the_site() -> None:
    files = {
        "posts/_metadata.yml": "author: Ada\ntitle: F",
        "_metadata.yml": "author: Bo\nlang: en",
    }
    found = site("website: {site-url: 'https://a.example/b/'}", files)
    assert found.fields({"title": "T"}, "posts/a.qmd") == {
        "author": "Ada",
        "lang": "en",
        "title": "T",
    }
    assert (found.base, found.feeds) == ("https://a.example/b", ["/index.xml"])


@pytest.mark.parametrize(
    ("body", "made", "runs"),
    [
        ("a\n", "a\n", False), ("```\na\n```\n", "```\na\n```\n", False),
        ("```py\na\n```\n", "```py\na\n```\n", False),
        ("```{python}\na\n```\n", "```python\na\n```\n", True),
        ("```{.python}\na\n```\n", "```python\na\n```\n", False),
        ("```{r, x=1}\na\n```\n", "```r\na\n```\n", True),
        ("```{r, echo=FALSE}\na\n```\nb\n", "\nb\n", True),
        ("```{r include=F}\na\n```\n", "\n", True),
        ("```{r}\n#| echo: false\na\n```\n", "\n", True),
        ("```{r}\n#| label: x\na\n```\n", "```r\na\n```\n", True),
        ("```{js}\n//| include: false\na\n```\n", "\n", True),
        ("```{r}\n# | x\n```\n", "```r\n# | x\n```\n", True),
        ("```{=html}\n<b>a</b>\n```\n", "<b>a</b>\n", False),
        ("```{=latex}\na\n```\n", "```{=latex}\na\n```\n", False),
        ("```{=htmk}\na\n```\n", "```{=htmk}\na\n```\n", False),
        ("~~~{r}\na\n~~~\n", "~~~r\na\n~~~\n", True),
        ("````{r}\n```\n````\n", "````r\n```\n````\n", True),
        ("  ```{r}\n  a\n  ```\n", "  ```r\n  a\n  ```\n", True),
        ("```{r}\na\n", "```r\na\n", False),
        ("```{.x echo=FALSE}\na\n```\n", "```x\na\n```\n", False),
        ("```{r}\na\n```\nb\n```{.c}\nd\n```\n", "```r\na\n```\nb\n```c\nd\n```\n", True),
        ("```{r, eval=FALSE}\na\n```\n", "```r\na\n```\n", True),
    ],
)  # fmt: skip
def test_code(body: str, made: str, runs: bool) -> None:
    """It is shown with its language, but for what is hidden; HTML that is meant as such is so."""
    assert site().body("a.qmd", body) == (made, RUNS if runs else [])
    assert site().body("a.md", body) == (made, [])


def frozen(text: Any) -> dict[str, str]:
    return {"_freeze/posts/a/execute-results/html.json": json.dumps(text)}


@pytest.mark.parametrize(
    ("text", "made", "needs"),
    [
        ({"result": {"markdown": "---\ntitle: T\n---\nb\r\nc"}}, "b\nc", []),
        ({"result": {}}, "```r\na\n```", RUNS), ({}, "```r\na\n```", RUNS),
        ([], "```r\na\n```", RUNS), (5, "```r\na\n```", RUNS),
        ({"result": {"markdown": "```{r}\nx\n```"}}, "```r\nx\n```", []),
    ],
)  # fmt: skip
def test_what_the_code_printed(text: Any, made: str, needs: list[str]) -> None:
    """Where it was kept; else the report says that it is missing."""
    assert site("", frozen(text)).body("posts/a.qmd", "```{r}\na\n```") == (made, needs)


@pytest.mark.parametrize(
    ("place", "files", "shown"),
    [
        ("posts/a.qmd", ["_freeze/posts/a/figure-html/1.png"], "../_freeze/posts/a/1.png"),
        ("a.qmd", ["_freeze/a/figure-html/1.png"], "_freeze/a/1.png"),
        ("posts/a.qmd", ["_freeze/posts/a/figure-html/1.png", "posts/a_files/1.png"],
         "a_files/1.png"), ("posts/a.qmd", [], "a_files/1.png"),
        ("x/y/a.qmd", ["_freeze/x/y/a/figure-html/1.png"], "../../_freeze/x/y/a/1.png"),
    ],
)  # fmt: skip
def test_where_the_pictures_are_that_the_code_drew(
    place: str, files: list[str], shown: str
) -> None:
    found = site("", dict.fromkeys(files, ""))
    assert found.body(place, "![](a_files/1.png)") == (f"![]({shown})", [])


def test_works_that_are_cited_are_told() -> None:
    told = ["the list of the works that it cites is not made"]
    assert [site().body("a.md", body)[1] for body in ("[@a]", "[-@a]", "[x @a]", "a@b")] == [
        told,
        told,
        [],
        [],
    ]
