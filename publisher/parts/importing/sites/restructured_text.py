"""reStructuredText as HTML, by docutils (the extra `rst`), which reads no files and passes no raw
HTML on."""

import html as html_module
import re

from publisher.base.errors import to_install

# How a reason begins for which a post is a draft.
UNREADABLE = "it became a draft, as its file is not as it should be:"
_DIRECTIVE = re.compile(r"^\.\.[ \t]+([\w-]+)::", re.MULTILINE)
_SETTINGS = {
    "file_insertion_enabled": False, "raw_enabled": False, "_disable_config": True,
    "report_level": 5, "halt_level": 5, "initial_header_level": 2, "doctitle_xform": False,
    "syntax_highlight": "none", "embed_stylesheet": False, "math_output": "LaTeX",
}  # fmt: skip
_KNOWN = frozenset("""
    attention caution danger error hint important note tip warning admonition image figure topic
    sidebar code code-block sourcecode math parsed-literal epigraph highlights pull-quote compound
    container table csv-table list-table contents sectnum replace unicode date class role
    default-role title footer header rubric line-block meta
""".split())  # noqa: SIM905  # fmt: skip


def html(text: str) -> tuple[str, list[str]]:
    """The HTML of a text, and what a person has to put right."""
    try:
        from docutils.core import publish_parts
        from docutils.writers.html5_polyglot import Writer
    except ImportError:
        return _unread(text, f"it needs a package: {to_install('docutils')}")
    names = (name.lower() for name in _DIRECTIVE.findall(text))
    unknown = dict.fromkeys(name for name in names if name not in _KNOWN)
    try:
        parts = publish_parts(text, writer=Writer(), settings_overrides=_SETTINGS)
    except Exception as error:  # docutils raises what its parts raise
        return _unread(text, f"docutils cannot read it: {type(error).__name__}")
    return str(parts["body"]), [f"the directive {name}" for name in unknown]


def _unread(text: str, reason: str) -> tuple[str, list[str]]:
    """The text as it is, for a draft."""
    escaped = html_module.escape(text, quote=False)
    return f"<pre>{escaped}</pre>", [f"{UNREADABLE} it is reStructuredText, and {reason}"]
