"""What the server sends at a poll, and what chance does to the wait that follows.

Plain scalar Python, compiled into the kernel.
"""

from publisher.core.polling.answer import ABSENT, NOT_MODIFIED
from publisher.core.ttl.served import ALL_HOURS

PHASE_SALT = 1_000_003  # so that the clients of one feed do not move alike
PRIME = 2_147_483_647  # its square fits into 64 bits


def answered(
    document_sent: bool, new_items: int, ttl: int, skip: int, newest: int, max_age: int
) -> tuple[int, ...]:
    """What the server sends: the document, or a 304 that repeats only the headers."""
    status = 200 if document_sent else NOT_MODIFIED
    changed = 1 if new_items > 0 else 0
    said = ttl if document_sent else ABSENT
    hours = skip & ALL_HOURS if document_sent else ABSENT
    days = skip >> 24 if document_sent else ABSENT
    # The columns of `publisher.core.polling.answer`, in their order.
    return (
        status, new_items, changed, said, max_age,
        ABSENT, ABSENT, ABSENT, hours, days, 1, newest, 0,
    )  # fmt: skip


def jittered(wait: int, jitter: int, salt: int, now: int) -> int:
    """`wait` moved by up to `jitter` per cent either way, evenly; by `salt` and `now` alone."""
    number = (now + salt) % PRIME
    for _ in range(3):
        number = (number * number + 48_271 * number + 1) % PRIME
    return max(wait + int((2.0 * number / PRIME - 1.0) * wait * jitter / 100.0), 1)
