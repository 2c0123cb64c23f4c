"""The clients that poll: every policy of `core`, real readers, the oracle, and populations."""

from pathlib import Path

from publisher.base.errors import InvalidData
from publisher.dynamic_ttl.core.polling import FOREVER, RULES, PollPolicy, Rule
from publisher.dynamic_ttl.core.polling.hints import decide_by_headers
from publisher.dynamic_ttl.core.polling.policy import Ints, Numbers, State
from publisher.dynamic_ttl.core.specs import SpecError, known, read_options, split_spec
from publisher.simulator.real_readers import READERS

ORACLE = "oracle"
NEXT_UPDATE = 0  # the oracle's only slot


def foresee(
    state: State, options: Numbers, answer: Ints, dates: Ints, first: int, last: int, now: int
) -> None:
    """Store the date of the update after the new items, which no real client knows; without new
    items 0, so that the next poll follows at once."""
    state[NEXT_UPDATE] = FOREVER if len(dates) > 0 else 0
    if last < len(dates):
        state[NEXT_UPDATE] = dates[last]


def come_with_the_update(state: State, options: Numbers, now: int) -> tuple[int, int, int]:
    """Poll in the very second of the next update."""
    return max(int(state[NEXT_UPDATE]) - now, 1), now, 0


def _explain(state: Numbers, options: Numbers, now: int, wait: int, reason: int) -> list[str]:
    return ["knows the next update"]


ORACLE_RULE = Rule(
    name=ORACLE,
    summary="one poll with each update: the limit, for the simulator only",
    options=(),
    size=lambda options: 1,
    remember=foresee,
    decide=come_with_the_update,
    explain=_explain,
)


def headers_only(policy: PollPolicy) -> bool:
    """Whether the client never reads the element: of a document without news it is then told
    nothing but the headers."""
    return policy.rule.decide is decide_by_headers


# All clients that can be simulated.
CLIENTS: dict[str, Rule] = {**RULES, **READERS, ORACLE: ORACLE_RULE}


def parse_client(spec: str) -> PollPolicy:
    """The client that `spec` names; SpecError lists the known ones."""
    rule = CLIENTS[known(split_spec(spec)[0], "client", CLIENTS)]
    return PollPolicy(spec, rule, read_options(spec, rule.options))


def read_population(path: Path) -> dict[str, float]:
    """The share of each kind of client, from lines of ``share client``; scaled to add up to 1. #
    begins a comment."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise InvalidData(f"{path}: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise InvalidData(f"{path}: not a text in UTF-8") from None
    shares: dict[str, float] = {}
    for number, line in enumerate(lines, 1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        try:
            share, client = words
            weight = float(share.rstrip("%"))
            shares[client] = shares.get(parse_client(client).spec, 0.0) + weight
        except ValueError as error:
            problem = str(error) if isinstance(error, SpecError) else "expected: share client"
            raise InvalidData(f"{path}, line {number}: {problem}") from None
        if not 0 < weight < float("inf"):
            raise InvalidData(f"{path}, line {number}: a share is a number above 0")
    if not shares:
        raise InvalidData(f"{path}: no clients (one a line: share client)")
    total = sum(shares.values())
    return {client: share / total for client, share in shares.items()}
