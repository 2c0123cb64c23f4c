"""`/reader-test` of a site: off by default, then a stranger's way from the form to the score."""

import json
import re
from datetime import timedelta

import pytest
from flask.testing import FlaskClient

from publisher.installation import Site
from publisher.installation.settings import store_settings
from publisher.parts.reader_test_page import pages
from publisher.reader_test.scorecard import Scorecard, score
from publisher.reader_test.tester_trace import Trace
from publisher.web.request_checks import Pace
from tests.conftest import SITE_URL, FakeClock

PATHS = ("/reader-test", f"/reader-test/{'x' * 22}/feed.xml", f"/reader-test/{'x' * 22}/score")


@pytest.fixture
def word(site: Site, client: FlaskClient, monkeypatch: pytest.MonkeyPatch) -> str:
    """A test that was begun by the form."""
    monkeypatch.setattr(pages, "_pace", Pace(5, timedelta(hours=1)))
    with site.database.write() as db:
        store_settings(db, {"reader_test": "on"})
    form = client.get("/reader-test").data.decode()
    assert client.post("/reader-test", headers={"Origin": SITE_URL}).status_code == 400  # no key
    client.application.config["FORM_KEYS"] = False
    assert "csrf_token" in form
    assert b"Begin a test" in client.get("/reader-test").data
    answer = client.post("/reader-test", data={"speed": "168"}, headers={"Origin": SITE_URL})
    match = re.fullmatch(r"/reader-test/([\w-]{22})/score", answer.headers["Location"])
    assert answer.status_code == 303
    assert match is not None
    return match[1]


def test_it_is_off_by_default(client: FlaskClient) -> None:
    """All its addresses are 404."""
    assert [client.get(path).status_code for path in PATHS] == [404, 404, 404]


def test_from_the_form_to_the_score(word: str, client: FlaskClient, clock: FakeClock) -> None:
    """The feed answers as the week says, without a cookie; the page shows what was asked."""
    feed = f"/reader-test/{word}/feed.xml"
    first = client.get(feed, headers={"User-Agent": "<script>evil()</script>"})
    assert (first.status_code, first.headers["Cache-Control"]) == (200, "max-age=3600")
    assert "Set-Cookie" not in first.headers
    same = client.get(feed, headers={"If-None-Match": first.headers["ETag"]})
    assert (same.status_code, same.data, same.headers["ETag"]) == (304, b"", first.headers["ETag"])
    clock.forward(minutes=50)  # 140 hours of the test
    assert client.get(feed).status_code == 301
    clock.forward(minutes=5)
    assert client.get(feed).status_code == 410
    page = client.get(f"/reader-test/{word}/score")
    assert f"{SITE_URL}{feed}".encode() in page.data
    assert b"evil()" in page.data
    assert b"<script>evil" not in page.data
    assert json.loads(client.get(f"/reader-test/{word}/score.json").data)["requests"] == 4
    assert client.get(f"/reader-test/{word}/badge.svg").content_type.startswith("image/svg")


def test_faults_of_the_connection_are_504(word: str, client: FlaskClient, clock: FakeClock) -> None:
    """A web server cannot break off; and it sends nothing to the address of a subscription."""
    clock.forward(minutes=48.35)  # hour 135.9
    assert client.get(f"/reader-test/{word}/last.xml").status_code == 504
    clock.forward(minutes=3.8)  # silence
    assert client.get(f"/reader-test/{word}/last.xml").status_code == 504
    fields = {"hub.mode": "subscribe", "hub.callback": "http://10.0.0.1/"}
    hub = client.post(f"/reader-test/{word}/hub", data=fields)
    assert (hub.status_code, hub.data) == (400, b"missing or wrong: hub.topic\n")
    fields["hub.topic"] = f"{SITE_URL}/reader-test/{word}/feed.xml"
    assert client.post(f"/reader-test/{word}/hub", data=fields).status_code == 202
    assert client.put(f"/reader-test/{word}/feed.xml").status_code == 405
    assert client.get(f"/reader-test/{word}/%2e%2e/%00?a=%ff").status_code == 404


def test_beginning_is_limited_and_guarded(word: str, client: FlaskClient, clock: FakeClock) -> None:
    """Five an hour from one network; no other speed; not from another site; it expires."""
    headers = {"Origin": SITE_URL}
    assert client.post("/reader-test", data={"speed": "9999"}, headers=headers).status_code == 400
    assert (
        client.post("/reader-test", headers={"Origin": "https://evil.example"}).status_code == 403
    )
    codes = [client.post("/reader-test", headers=headers).status_code for _ in range(5)]
    assert codes[-1] == 429
    clock.moment += timedelta(days=4)
    assert client.get(f"/reader-test/{word}/score").status_code == 404


def test_requests_are_limited(word: str, client: FlaskClient, clock: FakeClock) -> None:
    """Twenty a second for one test, also where each request is served anew."""
    feed = f"/reader-test/{word}/feed.xml"
    codes = [client.get(feed).status_code for _ in range(21)]
    assert codes == [200] * 20 + [429]
    clock.forward(seconds=2)
    assert client.get(feed).status_code == 200


def test_scores_are_not_computed_at_each_request(
    word: str, client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A score that took long is kept for a while."""
    judged: list[object] = []

    def judge(trace: Trace) -> Scorecard:
        judged.append(trace)
        return score(trace)

    monkeypatch.setattr("publisher.reader_test.testers.QUICK_SECONDS", -1.0)
    monkeypatch.setattr("publisher.reader_test.testers.SCORE_KEPT", 1e6)
    monkeypatch.setattr("publisher.reader_test.testers.score", judge)
    for _ in range(3):
        for form in ("score", "score.json", "badge.svg"):
            assert client.get(f"/reader-test/{word}/{form}").status_code == 200
    assert len(judged) == 1
