"""Remarks on how a document was read."""

from publisher.feed_reading.remarks import Remark, gathered


def test_remarks_of_a_kind_are_one_with_their_sum() -> None:
    """The first sentence stays: it has an example."""
    remarks = [Remark("date", "One."), Remark("base", "Two.", 3), Remark("date", "Three.", 4)]
    assert gathered(remarks) == (Remark("date", "One.", 5), Remark("base", "Two.", 3))


def test_a_remark_as_json() -> None:
    as_json = {"kind": "date", "sentence": "One.", "count": 2, "loss": True}
    assert Remark("date", "One.", 2, is_loss=True).as_json() == as_json
