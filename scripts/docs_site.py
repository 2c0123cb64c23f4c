"""Hooks of mkdocs: the pages that stand outside `docs/`, and links as the site needs them."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files

ROOT = Path(__file__).parent.parent
OUTSIDE = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md"}
OUTSIDE["CHANGELOG.md"] = "changelog.md"
API = """\
# Interface of `dynamic_ttl`

::: publisher.dynamic_ttl

::: publisher.dynamic_ttl.wsgi

::: publisher.dynamic_ttl.asgi
"""


def on_files(files: "Files", config: "MkDocsConfig") -> "Files":
    """Add the README as the first page, and the other pages that have no file in `docs/`."""
    from mkdocs.structure.files import File

    pages = {page: (ROOT / name).read_text("utf-8") for name, page in OUTSIDE.items()}
    for page, text in {**pages, "api.md": API}.items():
        files.append(File.generated(config, page, content=text))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Links between pages; one to a file of the source becomes its name."""
    for name, page in OUTSIDE.items():
        markdown = re.sub(rf"\]\((\.\./)?{name}", f"]({page}", markdown)
    markdown = markdown.replace("](docs/", "](")
    return re.sub(r"\[([^]]+)\]\(\.\./(?!docs)[^)]+\)", r"\1", markdown)
