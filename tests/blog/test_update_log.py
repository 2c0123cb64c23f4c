"""The update log and its checkpoint."""

from datetime import timedelta
from typing import cast

import pytest
from sqlalchemy import delete
from sqlalchemy.orm import Session

from publisher.blog import update_log
from publisher.dynamic_ttl.core.ttl.activity import Activity
from publisher.installation import Site
from publisher.installation.settings import Settings, store_setting
from publisher.operations.long_jobs import clean_up_at_start
from publisher.storage.tables.blog import HistogramState
from tests.conftest import FakeClock
from tests.factories import make_post


def test_the_checkpoint_equals_the_log(site: Site, clock: FakeClock) -> None:
    """Update by update, in batches or folded from the log at once: the same histogram."""
    with site.database.write() as db:
        for days in range(40):
            update_log.record(db, clock() - timedelta(days=days, minutes=7 * days), "publish")
        update_log.record_all(db, [clock() - timedelta(hours=h) for h in range(30)], "loaded")
        stored = update_log.load(db)
        db.execute(delete(HistogramState))
        folded = update_log.load(db)
    assert stored.updates == folded.updates == 70
    assert stored.decayed(clock()) == pytest.approx(folded.decayed(clock()))


def test_another_zone_moves_the_hours(site: Site, clock: FakeClock) -> None:
    """After a change of time zone the same log counts in other hours, and the checkpoint too."""
    with site.database.write() as db:
        update_log.record(db, clock(), "publish")
        store_setting(db, "timezone", "Asia/Tokyo")
        update_log.ensure_checkpoint(db)
    with site.database.read() as db:
        state = db.get(HistogramState, 1)
        assert state is not None
        assert state.values["zone"] == "Asia/Tokyo"
        assert update_log.load(db).decayed(clock())[18] == pytest.approx(1.0)


def test_a_checkpoint_of_an_older_version_is_folded_anew(site: Site, clock: FakeClock) -> None:
    """Those up to 11 remembered the worth of a poll; the log is the truth."""
    with site.database.write() as db:
        update_log.record_all(
            db, [clock() - timedelta(hours=9 * k) for k in range(40, 0, -1)], "loaded"
        )
        activity = update_log.load(db)
        state = db.get(HistogramState, 1)
        assert state is not None
        state.values = {**state.values, "format": 11, "settled": 9.5}
    with site.database.write() as db:
        assert update_log.load(db) == activity
        update_log.record(db, clock() + timedelta(hours=1), "publish")
    with site.database.read() as db:
        state = db.get(HistogramState, 1)
        assert state is not None
        assert "settled" not in state.values
        assert update_log.load(db).updates == activity.updates + 1


def test_the_past_knows_no_future(site: Site, clock: FakeClock) -> None:
    """What was known at a moment does not contain what came later."""
    with site.database.write() as db:
        update_log.record_all(db, [clock() - timedelta(hours=3), clock()], "loaded")
        assert update_log.at(db, clock() - timedelta(hours=1)).updates == 1
        assert update_log.last_update(db, clock() - timedelta(hours=4)) is None


def test_the_past_knows_the_update_that_a_document_was_made_for(
    site: Site, clock: FakeClock
) -> None:
    """An update in the middle of a second, asked for an hour and another update later."""
    posted = clock() + timedelta(milliseconds=341)
    with site.database.write() as db:
        update_log.record_all(db, [posted, clock() + timedelta(hours=1)], "publish")
        moment = posted.replace(microsecond=0)
        assert update_log.at(db, moment).last_update == moment


def test_a_long_history_is_loaded_while_others_save(
    site: Site, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Earlier updates come in some at a time; in the end the checkpoint is the log's."""
    database, saved = site.database, list[int]()

    def save() -> None:
        saved.append(len(saved))
        with database.write() as db:
            update_log.record(db, clock() + timedelta(minutes=len(saved)), "publish")

    monkeypatch.setattr(update_log, "_ROWS_AT_ONCE", 10)
    monkeypatch.setattr(database, "give_way", save)
    past = [clock() - timedelta(hours=hours) for hours in range(40, 0, -1)]
    update_log.record_history(database, [(at, "loaded", None) for at in past])
    assert saved == [0, 1, 2, 3]
    with database.write() as db:
        stored = update_log.load(db)
        db.execute(delete(HistogramState))
        assert update_log.load(db) == stored
    assert stored.updates == 44


def test_a_history_that_was_cut_off_is_folded_later(site: Site, clock: FakeClock) -> None:
    """Between two parts of a history the checkpoint is near; whoever starts next makes it exact."""
    with site.database.write() as db:
        update_log.record(db, clock(), "publish")
        past = [clock() - timedelta(hours=hours) for hours in (9, 8, 7)]
        update_log.record_rows(db, [(at, "loaded", None) for at in past])
        near = update_log.load(db)
        update_log.record(db, clock() + timedelta(hours=1), "publish")
    clean_up_at_start(site)
    with site.database.write() as db:
        exact = update_log.load(db)
        db.execute(delete(HistogramState))
        assert update_log.load(db) == exact
    assert (near.updates, exact.updates) == (4, 5)


def test_updates_in_order_need_no_second_look(site: Site, clock: FakeClock) -> None:
    """The checkpoint is exact as long as each comes after the ones before it, or alone."""
    minute = timedelta(minutes=1)
    now = clock()

    def exact(*minutes: int) -> bool:
        with site.database.write() as db:
            update_log.record_rows(db, [(now + n * minute, "loaded", None) for n in minutes])
            return update_log._is_exact(db)

    assert [exact(), exact(0), exact(1, 1, 2), exact(2, 3)] == [True] * 4
    with site.database.write() as db:
        update_log.record(db, now + minute, "publish")
        assert update_log._is_exact(db)
    assert not exact(4, 3)
    assert not exact(5)
    with site.database.write() as db:
        update_log.record(db, now + 6 * minute, "publish")
        assert not update_log._is_exact(db)
        update_log.fold_again(db)
        assert update_log._is_exact(db)
    assert not exact(1)
    with site.database.write() as db:
        update_log.record_all(db, [now + 7 * minute], "loaded")
        assert update_log._is_exact(db)
        assert update_log.since(db, now + 5 * minute) == [now + n * minute for n in (5, 6, 7)]
        assert update_log.last_update(db, now + 7 * minute - minute / 60) == now + 6 * minute
        assert update_log.last_update(db, now) == now
        assert update_log.at(db, now + 5 * minute).updates == 11


@pytest.mark.parametrize("change", ["another update", "another zone", "nothing"])
def test_what_is_saved_while_the_log_is_folded_is_in_it(
    site: Site, clock: FakeClock, change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then it is folded again."""
    with site.database.write() as db:
        rows = [(clock() - timedelta(hours=hours), "loaded", None) for hours in (1, 3, 2)]
        update_log.record_rows(db, cast("list[update_log.Row]", rows))
    folded = 0
    fold_log = update_log._fold_log

    def fold(session: Session, settings: Settings) -> Activity:
        nonlocal folded
        folded += 1
        if folded == 1 and change != "nothing":
            with site.database.write() as db:
                if change == "another update":
                    update_log.record(db, clock(), "publish")
                else:
                    store_setting(db, "timezone", "Asia/Tokyo")
        return fold_log(session, settings)

    monkeypatch.setattr(update_log, "_fold_log", fold)
    update_log.fold_anew(site.database)
    update_log.fold_anew(site.database)
    assert folded == (1 if change == "nothing" else 2)
    with site.database.write() as db:
        stored = update_log.load(db)
        db.execute(delete(HistogramState))
        assert update_log.load(db) == stored
        assert stored.updates == (4 if change == "another update" else 3)


def test_what_is_scheduled(site: Site, clock: FakeClock) -> None:
    """The posts that will enter the feed, soonest first: no page, no draft, nothing that is due."""
    hour = timedelta(hours=1)
    for hours in (2, 1, 3):
        make_post(site, at=clock() + hours * hour)
    make_post(site, at=clock() + hour, kind="page")
    make_post(site)
    with site.database.read() as db:
        for after, found in ((0, [1, 2, 3]), (1, [2, 3]), (2, [3]), (3, [])):
            moments = update_log.scheduled(db, clock() + after * hour)
            assert moments == [clock() + hours * hour for hours in found]
