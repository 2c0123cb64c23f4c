"""A library: the ttl for any feed, from the times of its updates.

`ttl_for` gives the ttl and the headers for a feed now; beside it stand an editor of a feed's head
and two middlewares. `core` has the rules as pure functions; it imports nothing else of ours. The
rule of this package: it imports the standard library and itself only, by relative imports, so that
its files are a wheel of their own (`scripts/build_wheels.py`) for blogs that run on other software.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .advice import Advice, ttl_for

__all__ = ["Advice", "ttl_for"]


def __getattr__(name: str) -> Any:
    """`Advice` and `ttl_for`, loaded at their first use: whoever needs one rule of `core` does not
    load the decision. Raises AttributeError for other names."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import advice

    return getattr(advice, name)
