"""What was stored by former rules of reading is put right, and nothing comes back as new."""

from datetime import timedelta

import pytest
from sqlalchemy import select, update

from publisher.feed_reading import RULES
from publisher.feed_reading.feed_document import digest
from publisher.installation import Site
from publisher.parts.river.tables import RiverFeed, RiverItem, RiverVisit
from tests.conftest import FakeClock
from tests.parts.river.origin import Origin, Reply
from tests.parts.river.stored.test_identity import Entry, document
from tests.parts.river.test_worker import XML, River

ONE = ("https://blog.example/1", "https://blog.example/1", "One", 3)
TWO = ("https://blog.example/2", "https://blog.example/2", "Two", 2)
THREE = ("https://blog.example/3", "https://blog.example/3", "Three", 0)


class Former:
    """A feed whose items a former version has stored."""

    def __init__(self, site: Site, clock: FakeClock, origin: Origin) -> None:
        self.river, self.origin, self.began = River(site, clock), origin, clock()
        self.show(ONE, TWO)
        self.river.add(f"{origin.url}/f", "fixed:60")
        self.river.poll()

    def show(self, *entries: Entry) -> None:
        self.origin.serve("/f", Reply(200, document(entries, self.began), XML))

    def wrong(self, title: str, /, **values: object) -> None:
        """A former version stored an item so."""
        with self.river.site.database.write() as db:
            db.execute(update(RiverItem).where(RiverItem.title == title).values(**values))
            db.execute(update(RiverFeed).values(rules=0))

    def items(self) -> list[RiverItem]:
        with self.river.site.database.read() as db:
            items = list(db.scalars(select(RiverItem).order_by(RiverItem.id)))
            db.expunge_all()
        return items

    def brought(self) -> int:
        """How many new items the last poll brought."""
        with self.river.site.database.read() as db:
            newest = select(RiverVisit.new_items).order_by(RiverVisit.id.desc()).limit(1)
            return db.scalar(newest) or 0


@pytest.fixture
def former(site: Site, clock: FakeClock, origin: Origin) -> Former:
    return Former(site, clock, origin)


def test_wrong_texts_and_dates_are_put_right_at_the_next_change(former: Former) -> None:
    """The same rows, so what is read stays read; an unchanged answer changes nothing."""
    before = former.items()
    former.wrong(
        "One", html="<p>A caption</p>", url="https://cdn.example/1", fingerprint=digest("other"),
        published_at=former.began - timedelta(days=90),
        shown_at=former.began - timedelta(days=90),
    )  # fmt: skip
    former.river.later(hours=1)
    assert former.items()[-1].html == "<p>A caption</p>"
    former.show(ONE, TWO, THREE)
    former.river.later(hours=1)
    after = former.items()
    assert former.brought() == 1
    assert [item.title for item in after] == [*(item.title for item in before), "Three"]
    for old, new in zip(before, after, strict=False):
        unchanged = ("id", "html", "url", "published_at", "shown_at", "seen_at", "fingerprint")
        assert {n: getattr(new, n) for n in unchanged} == {n: getattr(old, n) for n in unchanged}
    assert former.river.feed(f"{former.origin.url}/f").rules == RULES


def test_files_and_dates_are_put_right_where_the_text_was_right(former: Former) -> None:
    """A fingerprint says nothing of them. The item does not count as edited."""
    (old,) = (item for item in former.items() if item.title == "Two")
    former.wrong(
        "Two", enclosures=[["https://a.example/wrong.mp3", "audio/mpeg", 1]], published_at=None,
        shown_at=former.began,
    )  # fmt: skip
    former.show(ONE, TWO, THREE)
    former.river.later(hours=1)
    (new,) = (item for item in former.items() if item.title == "Two")
    assert (new.enclosures, new.published_at, new.shown_at) == ([], old.published_at, old.shown_at)
    assert new.changed_at is None


@pytest.mark.parametrize("understood", [True, False])
def test_an_item_without_an_id_whose_address_was_read_otherwise(
    former: Former, understood: bool
) -> None:
    """Its key differs, but the title is that of one item, whose date is no other."""
    before = former.items()
    dates = {} if understood else {"published_at": None, "shown_at": former.began}
    former.wrong("One", key=b"other---", fingerprint=b"other---", **dates)
    former.show(ONE, TWO, THREE)
    former.river.later(hours=1)
    assert former.brought() == 1
    after = former.items()[: len(before)]
    assert [(item.id, item.key, item.published_at) for item in after] == [
        (item.id, item.key, item.published_at) for item in before
    ]


def test_an_item_whose_title_and_id_were_read_otherwise(former: Former) -> None:
    """As in a damaged document: address and date show which it is."""
    number = former.items()[1].id
    former.wrong("One", key=b"other---", fingerprint=b"other---", title="On&e")
    former.show(ONE, TWO, THREE)
    former.river.later(hours=1)
    assert (former.brought(), former.items()[1].id) == (1, number)
    assert former.items()[1].title == "One"


def test_another_item_of_the_same_title_is_new(former: Former) -> None:
    """Its date contradicts."""
    former.wrong("One", key=b"other---", fingerprint=b"other---")
    former.show((*THREE[:2], "One", 0), TWO)
    former.river.later(hours=1)
    assert former.brought() == 1
    assert [item.title for item in former.items()] == ["Two", "One", "One"]


def test_it_is_done_once(former: Former) -> None:
    """Afterwards known bytes are not read again, and an edit does not move an item."""
    former.wrong("One", html="<p>A caption</p>")
    former.show(ONE, TWO, THREE)
    former.river.later(hours=1)
    with former.river.site.database.write() as db:
        db.execute(update(RiverItem).where(RiverItem.title == "One").values(html="kept"))
    former.show(TWO, ONE, THREE, (*THREE[:2], "Four", 0))
    former.river.later(hours=1)
    assert next(item for item in former.items() if item.title == "One").html == "kept"
