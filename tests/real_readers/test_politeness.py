"""Other readers before the judge that scores our river: the same server, the same days.

Each is started by the hour, as from a crontab, and asked to look whether there is anything new.
"""

from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from pathlib import Path

import pytest

from publisher.installation import Site
from tests.conftest import FakeClock
from tests.parts.river.origin import Origin, Reply, conditional, rss
from tests.parts.river.politeness_rules import PolitenessScore, judge, judge_timing
from tests.parts.river.test_worker import River
from tests.real_readers.test_real_readers import needs, run

pytestmark = pytest.mark.readers

HOURS = 24
MODIFIED = "Mon, 04 Mar 2024 09:00:00 GMT"


class Server:
    """A feed with a life: it is quiet, changes, limits, fails, recovers, and ends."""

    def __init__(self, clock: FakeClock) -> None:
        self.origin, self.clock, self.begin = Origin(), clock, clock()
        self.origin.clock = lambda: clock().timestamp()
        self.url = self.origin.serve("/feed", self._answer)

    def _answer(self, headers: Mapping[str, str]) -> Reply:
        hour = (self.clock() - self.begin) // timedelta(hours=1)
        if 6 <= hour < 9:
            return Reply(429, b"slow down", {"Retry-After": "10800"})
        if 12 <= hour < 15:
            return Reply(500, b"broken")
        if hour >= 18:
            return Reply(410, b"gone")
        edition = 1 if hour < 4 else 2
        body = rss(*(f"i{number}" for number in range(edition + 3)), ttl=60)
        answer = conditional(body, f'W/"edition-{edition}"', MODIFIED, Cache_Control="max-age=7200")
        return answer(headers)

    def verdict(self) -> PolitenessScore:
        """The judge's word on everything that was asked."""
        return judge(self.origin.log, ["/feed"])


@pytest.fixture
def server(clock: FakeClock) -> Iterator[Server]:
    running = Server(clock)
    yield running
    running.origin.close()


def by_the_hour(server: Server, poll: Callable[[], object]) -> PolitenessScore:
    """Start the reader every hour; what the judge says, printed for comparison."""
    for _ in range(HOURS):
        poll()
        server.clock.forward(hours=1)
    verdict = server.verdict()
    broken = ", ".join(f"{rule} {times}" for rule, times in sorted(verdict.broken().items()))
    timing = judge_timing(server.origin.log).score
    print(f"{verdict.requests} requests: {verdict.score:.0f} of 100 by all rules", end="")
    print(f", {timing:.0f} by their timing; {broken or 'no rule broken'}")
    return verdict


def test_the_river(server: Server, site: Site, clock: FakeClock) -> None:
    """Ours comes when it should, however often it is started."""
    river = River(site, clock)
    river.add(server.url, "max-age")
    verdict = by_the_hour(server, river.poll)
    assert verdict.requests >= 8
    verdict = by_the_hour(server, river.poll)  # the end is confirmed a day later
    assert (verdict.score, verdict.findings) == (100, ())
    assert river.feed(server.url).state == "gone"


@needs("newsboat")
def test_newsboat(server: Server, tmp_path: Path) -> None:
    """newsboat keeps its validators but knows no clock: it asks whenever it is started."""
    (tmp_path / "urls").write_text(f"{server.url}\n")
    (tmp_path / "config").touch()
    files = ["-u", "urls", "-c", "cache.db", "-C", "config"]
    verdict = by_the_hour(server, lambda: run(tmp_path, "newsboat", *files, "-x", "reload"))
    assert verdict.requests >= HOURS
    assert {"max-age", "retry-after", "gone"} <= set(verdict.broken())
    assert verdict.score < 50


@needs("r2e")
def test_rss2email(server: Server, tmp_path: Path) -> None:
    """rss2email is the same in this: what it is started for it does, whatever was asked."""
    r2e = ["r2e", "-c", "r2e.cfg", "-d", "r2e.json"]
    run(tmp_path, *r2e, "new", "me@blog.example")
    config = tmp_path / "r2e.cfg"
    text = config.read_text("utf-8").replace(
        "email-protocol = sendmail", "email-protocol = maildir"
    )
    config.write_text(text.replace("maildir-path = ~/Maildir", f"maildir-path = {tmp_path}"))
    run(tmp_path, *r2e, "add", "blog", server.url)
    verdict = by_the_hour(server, lambda: run(tmp_path, *r2e, "run"))
    assert verdict.requests >= HOURS
    assert {"max-age", "retry-after"} <= set(verdict.broken())
    assert verdict.score < 50
