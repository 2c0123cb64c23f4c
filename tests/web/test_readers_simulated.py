"""The author's question: what would my readers have had?"""

from datetime import timedelta

import pytest

from publisher.base.clock import utc_now
from publisher.base.environment import Environment
from publisher.base.errors import PublisherError
from publisher.blog import update_log
from publisher.installation import open_site
from publisher.web.readers.simulated import simulate


def test_fixed_ttls_and_mine_from_the_blog_s_own_log(environment: Environment) -> None:
    """A month of mornings: the fixed ttls cost what they must, the learned day costs less."""
    site = open_site(environment)
    now = utc_now().replace(minute=0, second=0, microsecond=0)
    morning = now.replace(hour=8) - timedelta(days=1)
    log = [
        morning - timedelta(days=day, minutes=-17 * post) for day in range(60) for post in range(9)
    ]
    with site.database.write() as db:
        update_log.record_all(db, sorted(log), "loaded")
    outcomes = {row.publisher: row for row in simulate(site)}
    site.database.close()
    assert outcomes["fixed:60"].polls_per_day == pytest.approx(24, rel=0.02)
    assert outcomes["fixed:60"].delay_mean_minutes == pytest.approx(30, rel=0.15)
    (mine,) = (row for row in outcomes.values() if row.mine)
    assert mine.efficiency < 0.8


def test_no_updates_is_said_in_the_simulator_s_words(environment: Environment) -> None:
    """A blog without a log gets a sentence, not a traceback."""
    site = open_site(environment)
    with pytest.raises(PublisherError, match="no updates"):
        simulate(site)
    site.database.close()
