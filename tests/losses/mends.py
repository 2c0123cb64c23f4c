"""What protects texts, and how to take each part of it out of a copy of the program.

The fuzzer has to find a fault in each copy: a mend that it does not miss is not needed, or it
looks in the wrong place.
"""

import shutil
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
TEXTS = "publisher/blog/writing/autosave.py"
STUDIO = "publisher/web/static/studio/"
Change = tuple[str, str, str]  # a file, a text in it, and what replaces it

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
    ("publisher/blog/writing/attempts.py", "if name else None\n", "if not name else None\n"),
)
# The faults of the second review, and others that were found on the way.
MENDS: dict[str, tuple[Change, ...]] = {
    # H1: a local copy is compared with the newest autosaved text.
    "compared-with-autosave": (
        *_NO_TRACE,
        (f"{STUDIO}recovery.js", "newest: kept.version === this.version &&", "newest: true ||"),
    ),
    # H1, two tabs: a text that was not typed on the current one is apart.
    "apart": (
        *_NO_TRACE,
        (
            TEXTS,
            "known = top is own or sent.seen == stamp(top)", "known = True",
        ),
    ),
    # Two offline tabs: each has a slot of its own.
    "slot-of-each-tab": (
        (f"{STUDIO}recovery.js", "return `${this.prefix}-${this.name}`", "return this.prefix"),
    ),
    # H2 a: a held key. The button is disabled while a request is on its way.
    "held-key": (
        *_NO_NAMES, (f"{STUDIO}form.js", "  if (button.disabled) return;\n", ""),
    ),
    # H2 b, c: an answer that was lost.
    "names": _NO_NAMES,
    # A reload after a lost answer sends the name that belongs to the text.
    "names-are-kept": (
        (f"{STUDIO}recovery.js", "    recovery.attempt = kept.attempt;\n", ""),
        (f"{STUDIO}recovery.js", "      if (values.source) this.attempt = attempt;\n", ""),
    ),
    # A save deletes only what its text was typed on.
    "a-save-leaves-others": (
        (TEXTS, "if same or part or", "if same or part or row or"),
    ),
    # What Back brings is older than what is unsaved now.
    "back-is-older": (
        *_NO_TRACE,
        (f"{STUDIO}recovery.js", "if (cameBack() && this.differs()) this.seen = APART;", ""),
        (TEXTS, "known = top is own or", "known = top is own or not own or"),
    ),
    # M3: forms of the settings keep what is typed.
    "settings": ((f"{STUDIO}keep.js", "recovery.keepSoon()", "undefined"),),
}  # fmt: skip


def program(without: str, folder: Path) -> dict[str, str]:
    """The environment in which a copy of the program runs that lacks a mend; {} for the program."""
    if not without:
        return {}
    copy = folder / "program"
    for part in ("publisher", "templates", "tests"):
        shutil.copytree(ROOT / part, copy / part, ignore=shutil.ignore_patterns("__pycache__"))
    for name, old, new in MENDS[without]:
        path = copy / name
        text = path.read_text("utf-8")
        if text.count(old) != 1:
            raise ValueError(f"{without}: {old!r} is {text.count(old)} times in {name}")
        path.write_text(text.replace(old, new), "utf-8")
    return {"PYTHONPATH": str(copy)}
