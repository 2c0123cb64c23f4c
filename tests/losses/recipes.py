"""Recipes: the shortest lists of steps that lost or doubled a text before a fault was mended."""

from tests.losses.walk import Step

Recipe = tuple[Step, ...]

_SAVED: Recipe = ((0, "open_new", 0), (0, "type", 0), (0, "save", 0))

RECIPES: dict[str, Recipe] = {
    # A local copy is compared with the newest autosaved text.
    "compared-with-autosave": (
        *_SAVED,
        (0, "offline", 0),
        (0, "type", 0),
        (0, "close_tab", 0),
        (1, "open_post", 0),
        (1, "type", 0),
        (0, "online", 0),
        (0, "open_post", 0),
        (0, "type", 0),
    ),
    # A text that was not typed on the current one is apart.
    "apart": (*_SAVED, (0, "open_post", 0), (0, "type", 0), (0, "switch", 0), (0, "type", 0)),
    # Two offline tabs: each has a slot of its own.
    "slot-of-each-tab": (
        *_SAVED,
        (0, "open_post", 0),
        (0, "offline", 0),
        (0, "type", 0),
        (0, "switch", 0),
        (0, "type", 0),
    ),
    # A held key. Nothing else is sent while a request is on its way.
    "held-key": (
        (0, "open_box", 0),
        (0, "type", 0),
        (0, "held", 0),
    ),
    # An answer that was lost, of the box and of the editor.
    "names": (
        (0, "open_box", 0),
        (0, "type_on", 0),
        (0, "lost", 0),
    ),
    "names-of-drafts": (
        (0, "open_new", 0),
        (0, "lose_answer", 0),
        (0, "type", 0),
        (0, "type", 0),
    ),
    # A page that is loaded again after a lost answer sends the name that belongs to the text.
    "names-are-kept": (
        (0, "open_box", 0),
        (0, "type_on", 0),
        (0, "lose_answer", 0),
        (0, "publish", 0),
        (0, "reload", 0),
        (0, "publish", 0),
    ),
    # A save deletes only what its text was typed on.
    "a-save-leaves-others": (
        *_SAVED,
        (1, "open_post", 0),
        (1, "type", 0),
        (0, "type", 0),
        (0, "save", 0),
    ),
    # What Back brings is older than what is unsaved now.
    "back-is-older": (
        (0, "open_box", 0),
        (0, "type", 0),
        (0, "publish", 0),
        (0, "type", 0),
        (0, "back", 0),
        (0, "type", 0),
    ),
    # A save confirms what was sent, not what was typed since.
    "typed-since": (
        (0, "open_box", 0),
        (0, "type", 0),
        (0, "busy", 0),
    ),
    # Forms of the settings keep what is typed.
    "settings": ((0, "settings", 1),),
}
