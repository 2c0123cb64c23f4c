"""Specs, which name a rule and its options on the command line and in settings:
``name[:key=value,...]``."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from math import isfinite


class SpecError(ValueError):
    """An unknown name or option, or an invalid value."""


@dataclass(frozen=True)
class Option:
    """One numeric option of a rule, from `low` to `high`.

    ``words``: texts that stand for a number (``factor=adaptive``). ``whole``: integers only.
    """

    name: str
    default: float
    low: float
    high: float
    meaning: str
    whole: bool = False
    words: dict[str, float] = field(default_factory=dict)

    def parse(self, text: str) -> float:
        """The number that `text` stands for; SpecError for no number or one out of range."""
        if text in self.words:
            return self.words[text]
        try:
            value = float(text)
        except ValueError:
            value = float("nan")
        if not isfinite(value) or (self.whole and value != int(value)):
            kinds = ["a whole number" if self.whole else "a number", *self.words]
            raise SpecError(f"{self.name}={text}: expected {' or '.join(kinds)}")
        if not self.low <= value <= self.high:
            raise SpecError(f"{self.name}={text}: expected {self.low:g} to {self.high:g}")
        return value


def split_spec(spec: str) -> tuple[str, dict[str, str]]:
    """``"a:b=1,c=2"`` -> ``("a", {"b": "1", "c": "2"})``.

    Only the first value may come without a key (``"fixed:60"``); its key is then ``""``.
    """
    name, _, rest = spec.strip().partition(":")
    values: dict[str, str] = {}
    for position, part in enumerate(rest.split(",") if rest.strip() else []):
        key, equals, value = part.partition("=")
        if not equals:
            key, value = "", key
        key, value = key.strip(), value.strip()
        if not value or (key == "" and position > 0):
            raise SpecError(f"{spec}: expected name:key=value,..., not {part.strip()!r}")
        if key in values:
            raise SpecError(f"{spec}: {key} is given twice")
        values[key] = value
    return name, values


def known(name: str, kind: str, names: Iterable[str]) -> str:
    """`name` if it is among `names`; else a SpecError that suggests the nearest and lists all."""
    listed = list(names)
    if name not in listed:
        near = get_close_matches(name, listed, n=1)
        meant = f"; did you mean {near[0]!r}?" if near else ""
        raise SpecError(f"unknown {kind} {name!r}{meant or ';'} known: {', '.join(listed)}")
    return name


def read_options(spec: str, options: Sequence[Option]) -> tuple[float, ...]:
    """The option values in `spec`, in the order of `options`; the default for each one left out."""
    name, values = split_spec(spec)
    if "" in values:
        if not options:
            raise SpecError(f"{spec}: {name} takes no options")
        values = {options[0].name: values.pop(""), **values}
    for key in values:
        known(key, f"option of {name}", [option.name for option in options] or ["(none)"])
    try:
        return tuple(o.parse(values[o.name]) if o.name in values else o.default for o in options)
    except SpecError as error:
        raise SpecError(f"{spec}: {error}") from None
