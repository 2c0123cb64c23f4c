"""What protects texts, and how to take each part of it out of a copy of the program.

The fuzzer has to find a fault in each copy: a mend that it does not miss is not needed, or it
looks in the wrong place.
"""

import shutil
from dataclasses import dataclass
from pathlib import Path

from tests.losses.walk import Step

ROOT = Path(__file__).parent.parent.parent
TEXTS = "publisher/blog/writing/autosave.py"
STUDIO = "publisher/web/static/studio/"
Change = tuple[str, str, str]  # a file, a text in it, and what replaces it
Recipe = tuple[Step, ...]

# An autosave that replaces another text keeps that one.
_NO_TRACE: tuple[Change, ...] = (
    (
        TEXTS,
        'top.state = "replaced"\n    if',
        "session.delete(top)\n    if",
    ),
    (
        TEXTS,
        ", None  # a text of its own",
        ", own  # a text of its own",
    ),
)
_NO_NAMES: tuple[Change, ...] = (
    ("publisher/blog/writing/editing.py", "if name else None\n", "if not name else None\n"),
)
_SAVED: Recipe = ((0, "open_new", 0), (0, "type", 0), (0, "save", 0))
_BACK: tuple[Change, ...] = (
    (
        f"{STUDIO}recovery.js",
        "else if (back) this.seen = APART;",
        "",
    ),
)


@dataclass(frozen=True)
class Mend:
    """A mend: what takes it out, and the shortest recipe that then loses or doubles a text."""

    fault: str
    changes: tuple[Change, ...]
    recipe: Recipe


# The faults of the second review (H1, H2, M3), and others that were found on the way.
MENDS = {
    # H1: a local copy is compared with the newest autosaved text.
    "compared-with-autosave": Mend(
        "lost",
        (
            *_NO_TRACE,
            (f"{STUDIO}recovery.js", "(kept.version === this.version &&", "(true ||"),
        ),
        (
            *_SAVED, (0, "offline", 0), (0, "type", 0), (0, "close_tab", 0), (1, "open_post", 0),
            (1, "type", 0), (0, "online", 0), (0, "open_post", 0), (0, "type", 0),
        ),
    ),
    # H1, two tabs: a text that was not typed on the current one is apart.
    "apart": Mend(
        "lost",
        (*_NO_TRACE, (TEXTS, "known = top is own or sent.seen == stamp(top)", "known = True")),
        (*_SAVED, (0, "open_post", 0), (0, "type", 0), (0, "switch", 0), (0, "type", 0)),
    ),
    # Two offline tabs: each has a slot of its own.
    "slot-of-each-tab": Mend(
        "lost",
        ((f"{STUDIO}recovery.js", "return `${this.prefix}-${this.name}`", "return this.prefix"),),
        (
            *_SAVED, (0, "open_post", 0), (0, "offline", 0), (0, "type", 0), (0, "switch", 0),
            (0, "type", 0),
        ),
    ),
    # H2 a: a held key. Nothing else is sent while a request is on its way.
    "held-key": Mend(
        "twice",
        (
            *_NO_NAMES,
            (f"{STUDIO}publish.js", " && !event.repeat", ""),
            (f"{STUDIO}form.js", "if (autosave.stopped) {", "if (false) {"),
        ),
        ((0, "open_box", 0), (0, "type", 0), (0, "held", 0)),
    ),
    # H2 b, c: an answer that was lost, of the box and of the editor.
    "names": Mend(
        "twice", _NO_NAMES, ((0, "open_box", 0), (0, "type_on", 0), (0, "lost", 0))
    ),
    "names-of-drafts": Mend(
        "twice",
        _NO_NAMES,
        ((0, "open_new", 0), (0, "lose_answer", 0), (0, "type", 0), (0, "type", 0)),
    ),
    # A page that is loaded again after a lost answer sends the name that belongs to the text.
    "names-are-kept": Mend(
        "twice",
        (
            (f"{STUDIO}autosave.js", "    recovery.attempt = kept.attempt;\n", ""),
            (f"{STUDIO}recovery.js", "      if (values.source) this.attempt = attempt;\n", ""),
        ),
        (
            (0, "open_box", 0), (0, "type_on", 0), (0, "lose_answer", 0), (0, "publish", 0),
            (0, "reload", 0), (0, "publish", 0),
        ),
    ),
    # A save deletes only what its text was typed on.
    "a-save-leaves-others": Mend(
        "lost",
        ((TEXTS, "if same or part or", "if same or part or row or"),),
        (*_SAVED, (1, "open_post", 0), (1, "type", 0), (0, "type", 0), (0, "save", 0)),
    ),
    # What Back brings is older than what is unsaved now.
    "back-is-older": Mend(
        "lost",
        (*_NO_TRACE, *_BACK),
        (
            (0, "open_box", 0), (0, "type", 0), (0, "publish", 0), (0, "type", 0), (0, "back", 0),
            (0, "type", 0),
        ),
    ),
    # A save confirms what was sent, not what was typed since.
    "typed-since": Mend(
        "lost",
        ((f"{STUDIO}recovery.js", "if (kept && wasSent(kept)) drop(key);", "drop(key);"),),
        ((0, "open_box", 0), (0, "type", 0), (0, "busy", 0)),
    ),
    # M3: forms of the settings keep what is typed.
    "settings": Mend(
        "lost", ((f"{STUDIO}keep.js", "recovery.keepSoon()", "undefined"),), ((0, "settings", 1),)
    ),
}  # fmt: skip


def program(without: str, folder: Path) -> dict[str, str]:
    """The environment in which a copy of the program runs that lacks a mend; {} for the program."""
    if not without:
        return {}
    copy = folder / "program"
    for part in ("publisher", "templates"):  # with what is compiled, so that a start is quick
        shutil.copytree(ROOT / part, copy / part)
    for name, old, new in MENDS[without].changes:
        path = copy / name
        text = path.read_text("utf-8")
        if text.count(old) != 1:
            raise ValueError(f"{without}: {old!r} is {text.count(old)} times in {name}")
        path.write_text(text.replace(old, new), "utf-8")
    return {"PYTHONPATH": str(copy), "PYTHONSAFEPATH": "1"}
