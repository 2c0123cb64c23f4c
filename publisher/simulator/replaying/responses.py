"""The server's response to a poll, and the random jitter of the wait that follows.

Plain scalar Python, compiled into the kernel.
"""

from publisher.core.polling.policy import ABSENT, NOT_MODIFIED
from publisher.core.replay.announcements import ALL_HOURS

PHASE_SALT = 1_000_003  # makes the jitter of a feed's clients differ
PRIME = 2_147_483_647  # its square fits into 64 bits


def answered(
    document_sent: bool, new_items: int, ttl: int, skip: int, newest: int, max_age: int
) -> tuple[int, ...]:
    """The columns of a response: a 200 with the document, or a 304 with the headers only."""
    status = 200 if document_sent else NOT_MODIFIED
    changed = 1 if new_items > 0 else 0
    said = ttl if document_sent else ABSENT
    hours = skip & ALL_HOURS if document_sent else ABSENT
    days = skip >> 24 if document_sent else ABSENT
    # The columns of `publisher.core.polling.policy`, in their order.
    return (
        status, new_items, changed, said, max_age,
        ABSENT, ABSENT, ABSENT, hours, days, 1, newest, 0,
    )  # fmt: skip


def jittered(wait: int, jitter: int, salt: int, now: int) -> int:
    """`wait` changed by up to `jitter` per cent either way, uniformly; determined by `salt` and
    `now`."""
    number = (now + salt) % PRIME
    for _ in range(3):
        number = (number * number + 48_271 * number + 1) % PRIME
    return max(wait + int((2.0 * number / PRIME - 1.0) * wait * jitter / 100.0), 1)
