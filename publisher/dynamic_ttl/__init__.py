"""The ttl for any feed: the decision as one call, an editor of a feed's head, two middlewares.

The rule of this package: it imports the standard library and `core` only. With the parts of `core`
that it needs it is built into a wheel of its own (`scripts/build_wheels.py`), for blogs that
run on other software.
"""

from publisher.dynamic_ttl.advice import Advice, ttl_for

__all__ = ["Advice", "ttl_for"]
