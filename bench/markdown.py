"""Hostile Markdown: the cost of each kind in the longest text (`SHORT`) that is rendered in the
process that serves the site.
"""

import time

from bench.table import Table
from publisher.blog.markup import markdown
from publisher.blog.markup.markdown import SHORT

ROUNDS = 5
# Repeated until the text has `SHORT` characters.
REPEATED = {
    "brackets": "[", "pictures": "![", "inline notes": "^[", "links": "[a](", "link parts": "[a][",
    "link definitions": "[a]: ", "definitions on lines": "[a]:\n", "titles": '[a]: /x "',
    "stars": "*a **b ", "bold": "**", "underscores": "_a", "tildes": "~~a ", "marks": "==a ",
    "autolinks": "<http://", "bare addresses": "www.a.b ", "mailto": "mailto:a@", "mails": "a@b.c ",
    "comments": "<!--", "tags": "<a b=c", "entities": "&amp;", "quotation marks": '"a" ',
    "headings": "# a\n", "underlined headings": "a\n=\n", "quotes": "> ", "lists in lists": "- ",
    "definition lists": "a\n: b\n", "colons": ": ", "footnotes": "[^a]", "table rows": "|x\n",
    "paragraphs": "a\n\n", "code": "```\n", "listing": '"', "tasks": "- [ ] a\n",
}  # fmt: skip
BEGUN = {"table rows": "|a|b|\n|-|-|\n", "listing": "```python\n"}


def run() -> list[Table]:
    """The ten slowest kinds, of those that `tests/fuzz` found and others report of such parsers."""
    ticks = ("`" * number + "a" for number in range(1, SHORT))
    texts = {name: BEGUN.get(name, "") + part * SHORT for name, part in REPEATED.items()}
    texts["runs of backticks"] = "".join(ticks)
    texts["indented lists"] = "".join(f"{'  ' * depth}- a\n" for depth in range(SHORT))
    slowest = sorted(((_seconds(text[:SHORT]), name) for name, text in texts.items()), reverse=True)
    table = Table(
        f"Rendering {SHORT:,} characters of hostile Markdown",
        ["what is repeated", "ms of processor time"],
        notes=f"The shortest of {ROUNDS} runs; the slowest of {len(slowest)} kinds.",
    )
    for seconds, name in slowest[:10]:
        table.add(name, f"{seconds * 1000:.0f}")
    return [table]


def _seconds(text: str) -> float:
    best = float("inf")
    for _ in range(ROUNDS):
        begun = time.thread_time()
        markdown.render(text)
        best = min(best, time.thread_time() - begun)
    return best
