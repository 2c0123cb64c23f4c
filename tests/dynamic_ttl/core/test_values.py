"""What rules and documents are made of: values that nobody can change."""

import inspect
import pkgutil
from collections.abc import Iterator
from dataclasses import is_dataclass
from importlib import import_module
from typing import Any

import publisher.dynamic_ttl.core
import publisher.feeds


def values(room: Any) -> Iterator[Any]:
    """The dataclasses of a package and all below it."""
    for module in pkgutil.walk_packages(room.__path__, f"{room.__name__}."):
        for _, kind in inspect.getmembers(import_module(module.name), is_dataclass):
            if kind.__module__ == module.name:
                yield kind


def test_values_stay_as_they_were_made() -> None:
    """Whoever holds a decision, an answer or a document may keep it, compare it and share it."""
    kinds = [*values(publisher.dynamic_ttl.core), *values(publisher.feeds)]
    assert len(kinds) > 25
    assert [kind for kind in kinds if not kind.__dataclass_params__.frozen] == []
