"""Our own river before the judge of the reader test: it scores 100."""

from datetime import timedelta
from functools import partial

import pytest
from sqlalchemy import select

from publisher.feed_fetching import fetch
from publisher.installation import Site
from publisher.parts.river.tables import RiverFeed
from publisher.reader_test.scorecard import lines, score
from publisher.reader_test.script import WEEK_HOURS
from publisher.reader_test.tester_server import serving
from publisher.reader_test.tester_trace import FROM_AFAR
from publisher.reader_test.testers import RunDesk
from tests.conftest import FakeClock
from tests.parts.river.test_worker import OPTIONS, River
from tests.reader_test.invented import MONDAY


@pytest.mark.parametrize("policy", ["attentive", "ttl"])
def test_the_river_scores_100(
    policy: str, site: Site, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The scheduler looks every five minutes what is due, a week long, over real connections."""
    monkeypatch.setattr(fetch, "FetchLimits", partial(fetch.FetchLimits, total_seconds=2.0))
    clock.moment = MONDAY
    desk = RunDesk(MONDAY, FROM_AFAR)
    river = River(site, clock, OPTIONS)
    with serving(desk, "127.0.0.1", 0) as base:
        river.add(f"{base}/{desk.word}/feed.xml", policy)
        for step in range(int(WEEK_HOURS * 12)):
            clock.moment = MONDAY + timedelta(minutes=5 * step, seconds=7)
            desk.jump(300.0 * step + 7)
            if river_is_due(river, clock):
                river.poll()
    desk.recorded.ran = WEEK_HOURS * 3600
    card = score(desk.recorded)
    text = "\n".join(lines(card))
    assert card.score == 100, text
    unseen = {verdict.what.id for verdict in card.verdicts if verdict.state == "not-seen"}
    assert len(unseen) < 8, text


def river_is_due(river: River, clock: FakeClock) -> bool:
    """Whether any feed's next poll has come; asked first, as most steps have none."""
    with river.site.database.read() as db:
        due = db.scalars(select(RiverFeed.next_poll_at)).all()
    return any(at is None or at <= clock() for at in due)
