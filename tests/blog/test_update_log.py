"""The update log and its checkpoint."""

from datetime import timedelta

import pytest
from sqlalchemy import delete

from publisher.blog import update_log
from publisher.installation import Site
from publisher.installation.settings import store_setting
from publisher.operations.long_jobs import clean_up_at_start
from publisher.storage.tables.blog import HistogramState
from tests.conftest import FakeClock


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
