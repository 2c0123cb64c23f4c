"""Poll policies: named rules for when to poll a feed again.

The rule of this folder: a policy is three scalar functions over indexable numbers (`start`,
`remember`, `decide`). The river calls them in plain Python, the simulator compiles the same
functions. No clock, randomness, input or output; all times are whole seconds since 1970.
"""

from functools import lru_cache

from ..specs import known, read_options, split_spec
from .adaptive import ADAPTIVE
from .attentive import ATTENTIVE
from .cho import CHO_CHANGES, CHO_NOCHANGES
from .doubling import DOUBLING
from .fixed import DELAY_SKIP, FIXED
from .hints import MAX_AGE_RULE, MINIFLUX, TTL_RULE
from .histogram import HISTOGRAM
from .policy import FOREVER, Answer, Memory, NextPoll, PollPolicy, Rule
from .weekly import ENTRY_FREQUENCY, WEEKLY_AVERAGE

__all__ = [
    "FOREVER",
    "RULES",
    "Answer",
    "Memory",
    "NextPoll",
    "PollPolicy",
    "Rule",
    "parse",
]

RULES: dict[str, Rule] = {
    rule.name: rule
    for rule in (
        TTL_RULE,
        FIXED,
        MINIFLUX,
        MAX_AGE_RULE,
        WEEKLY_AVERAGE,
        DOUBLING,
        DELAY_SKIP,
        CHO_CHANGES,
        CHO_NOCHANGES,
        ADAPTIVE,
        ENTRY_FREQUENCY,
        HISTOGRAM,
        ATTENTIVE,
    )
}


@lru_cache(1024)
def parse(spec: str) -> PollPolicy:
    """The policy that `spec` names, such as ``fixed:60`` or ``doubling:factor=1.5``.

    Raises SpecError, with the known names or options, for anything else.
    """
    rule = RULES[known(split_spec(spec)[0], "policy", RULES)]
    return PollPolicy(spec, rule, read_options(spec, rule.options))
