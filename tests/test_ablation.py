"""The ablation names parts that the decision has."""

import importlib

from bench.ablation import PARTS
from publisher.core.ttl import rule


def test_each_part_is_there_and_is_replaced_by_something_else() -> None:
    for part in PARTS:
        for name, value in part.out.items():
            home, _, attribute = name.partition(".")
            module = importlib.import_module(f"{rule.__package__}.{home}")
            assert getattr(module, attribute) != value, f"{part.name}: {name}"
