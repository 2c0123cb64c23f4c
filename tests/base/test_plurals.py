"""Numbers with their nouns."""

from publisher.base.plurals import counted


def test_each_number_has_the_form_it_needs() -> None:
    """None, one, two, many; a form of its own where an s does not make the plural."""
    assert [counted(number, "reader") for number in (0, 1, 2, 1200)] == [
        "0 readers", "1 reader", "2 readers", "1,200 readers",
    ]  # fmt: skip
    assert [counted(number, "fetch", "fetches") for number in (1, 2)] == ["1 fetch", "2 fetches"]
