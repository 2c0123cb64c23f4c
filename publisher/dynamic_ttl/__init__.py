"""The ttl for any feed: the decision as one call, an editor of a feed's head, two middlewares.

The rule of this room: the standard library and `core`, nothing else. With what it needs of `core`
it is built into a wheel of its own (`scripts/build_dynamic_ttl.py`), for programs that keep their
blog elsewhere.
"""

from publisher.dynamic_ttl.advice import Advice, ttl_for

__all__ = ["Advice", "ttl_for"]
