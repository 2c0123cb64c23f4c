"""Poll policies: named rules for when to poll a feed again.

The rule of this folder: a policy is three scalar functions over indexable numbers (`start`,
`remember`, `decide`). The river calls them in plain Python, the simulator compiles the same
functions. No clock, randomness, input or output; all times are whole seconds since 1970.
"""

from publisher.core.polling.answer import Answer
from publisher.core.polling.policy import FOREVER, Memory, NextPoll, PollPolicy, Rule
from publisher.core.polling.registry import RULES, names, parse

__all__ = [
    "FOREVER",
    "RULES",
    "Answer",
    "Memory",
    "NextPoll",
    "PollPolicy",
    "Rule",
    "names",
    "parse",
]
