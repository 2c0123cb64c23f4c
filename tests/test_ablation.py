"""The ablation names parts that the decision has."""

from bench.ablation import PARTS, place


def test_each_part_is_there_and_is_replaced_by_something_else() -> None:
    for part in PARTS:
        for name, value in part.out.items():
            module, attribute = place(name)
            assert getattr(module, attribute) != value, f"{part.name}: {name}"
