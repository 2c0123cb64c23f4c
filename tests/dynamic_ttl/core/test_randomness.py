"""Pseudo-random bits: those of the published function, whatever computes them."""

import numpy as np

from publisher.dynamic_ttl.core.randomness import GOLDEN_BITS, MASK, mixed

# The first numbers that splitmix64 gives from the state 1234567, as its authors publish it.
STATE, PUBLISHED = 1234567, (6457827717110365317, 3203168211198807973, 9817491932198370423)


def test_the_bits_are_those_of_splitmix64() -> None:
    """In plain Python and in numpy."""
    states = [(STATE + GOLDEN_BITS * step) & MASK for step in (1, 2, 3)]
    assert tuple(map(mixed, states)) == PUBLISHED
    assert tuple(int(bits) for bits in mixed(np.array(states, np.uint64))) == PUBLISHED
