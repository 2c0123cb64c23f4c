"""Poll policies: when to ask a feed again, each known rule by its name.

The rule of this folder: a policy is three scalar functions over indexable numbers (`start`,
`remember`, `decide`). The river calls them as they are, the simulator compiles the very same
objects. No clock, no randomness, no input or output; all times are whole seconds since 1970.
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
