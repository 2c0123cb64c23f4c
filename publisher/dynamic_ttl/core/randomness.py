"""The mixing function of splitmix64 (Steele, Lea, Flood, 2014): pseudo-random bits of a number.

The same input gives the same bits however work is split into jobs, in plain Python, numpy and
compiled code.
"""

from typing import Any

MASK = 2**64 - 1
GOLDEN_BITS = 0x9E3779B97F4A7C15  # 2**64 over the golden ratio


def mixed(number: Any) -> Any:
    """64 pseudo-random bits of `number`, or of each element of a uint64 array."""
    number = ((number ^ (number >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    number = ((number ^ (number >> 27)) * 0x94D049BB133111EB) & MASK
    return number ^ (number >> 31)
