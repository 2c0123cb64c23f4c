"""What watches the site: health, metrics, the doctor."""

import shutil
from datetime import timedelta
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from publisher.base.environment import Environment
from publisher.base.errors import StorageUnavailable
from publisher.blog.members import authors, tokens
from publisher.installation import Site
from publisher.operations.doctor import ask_app, examine_http, examine_processes
from publisher.parts.river.following.subscriptions import subscribe
from publisher.publishing.rebuild import rebuild
from publisher.storage.schema import newest_revision
from publisher.storage.tables.publishing import Delivery
from tests.conftest import FakeClock
from tests.factories import make_author, make_post


def test_health_follows_the_hourly_job(client: FlaskClient, site: Site, clock: FakeClock) -> None:
    """No feed yet: 503. Fresh: 200. An hour begun and no rebuild: 503 soon after."""
    assert client.get("/healthz").status_code == 503
    rebuild(site)
    answer = client.get("/healthz")
    facts = {"leader_age_seconds": None, "schema": newest_revision()}
    assert answer.status_code == 200
    assert answer.json == {"status": "ok", "snapshot_age_seconds": 0, **facts}
    clock.forward(minutes=31)  # 10:01
    assert client.get("/healthz").status_code == 200
    clock.forward(minutes=3)
    answer = client.get("/healthz")
    assert answer.status_code == 503
    assert answer.json == {"status": "stale", "snapshot_age_seconds": 34 * 60, **facts}
    clock.forward(days=-1)
    assert client.get("/healthz").status_code == 503  # it is of the future


@pytest.mark.sqlite("its file can be replaced while it is open")
def test_a_database_that_was_replaced_while_it_is_served(
    client: FlaskClient, site: Site, tmp_path: Path
) -> None:
    """By another file, or by none: posts are refused instead of written where nobody finds them."""
    rebuild(site)
    assert client.get("/healthz").status_code == 200
    file = site.environment.instance / "publisher.db"
    moved = file.rename(tmp_path / "kept.db")
    for replace in (lambda: None, lambda: shutil.copy(moved, file)):
        replace()
        answer = client.get("/healthz")
        assert answer.status_code == 503
        assert "restart the service" in answer.text
        with pytest.raises(StorageUnavailable, match="replaced or removed"):
            make_post(site)
    moved.rename(file)
    make_post(site)
    assert client.get("/healthz").status_code == 200


def test_metrics_are_not_for_strangers(client: FlaskClient, site: Site) -> None:
    """This machine may read them; another, or one behind a proxy, needs an admin's token."""
    make_author(site, "ada")
    make_author(site, "bob")
    with site.database.write() as db:
        admin = tokens.create(db, authors.named(db, "ada"), ["create"], site.clock())
        bobs_token = tokens.create(db, authors.named(db, "bob"), ["create"], site.clock())

    def status(address: str, **headers: str) -> int:
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        environ = {"REMOTE_ADDR": address}
        return client.get("/metrics", headers=sent, environ_base=environ).status_code

    assert status("127.0.0.1") == 200
    assert status("::1") == 200
    assert status("127.0.0.1", Host="blog.example") == 403  # by a proxy that names nobody
    assert status("127.0.0.1", X_Forwarded_For="198.51.100.7") == 403
    assert status("198.51.100.7") == 403
    assert status("198.51.100.7", Authorization=f"Bearer {admin}") == 200
    assert status("198.51.100.7", Authorization=f"Bearer {bobs_token}") == 403
    assert status("198.51.100.7", Authorization="Bearer nonsense") == 403


def test_metrics_tell_the_feed_and_the_posts(client: FlaskClient, site: Site) -> None:
    """Counts by state, the ttl and age of the feed, in Prometheus' text."""
    make_post(site)
    rebuild(site)
    text = client.get("/metrics", environ_base={"REMOTE_ADDR": "127.0.0.1"}).text
    assert 'publisher_posts{state="published"} 1.0' in text
    assert 'publisher_feed_ttl_minutes{document="rss"} 15.0' in text
    assert "publisher_updates_total 1.0" in text


def test_the_doctor_finds_a_healthy_feed_healthy(site: Site, environment: Environment) -> None:
    """Every HTTP check passes against our own application."""
    make_post(site)
    rebuild(site)
    with ask_app(environment) as ask:
        findings = [*examine_processes(site), *examine_http(ask)]
    assert [finding for finding in findings if not finding.good] == []
    assert len(findings) >= 12


def test_the_doctor_notices_a_dead_job(site: Site, clock: FakeClock) -> None:
    """A feed of an older hour, or none, is reported as such."""
    assert [finding.what for finding in examine_processes(site) if not finding.good] == ["feed"]
    rebuild(site)
    clock.forward(hours=2)
    (finding,) = (finding for finding in examine_processes(site) if not finding.good)
    assert "older hour" in finding.detail
    assert "publisher serve" in finding.mend


@pytest.mark.parts("river")
def test_metrics_tell_what_is_owed_and_followed(client: FlaskClient, site: Site) -> None:
    """Requests by part and status, pings that wait with their age, subscriptions by state."""
    moment = site.clock()
    with site.database.write() as db:
        db.add(Delivery(
            protocol="websub", target="https://hub.example/", topic="t",
            created_at=moment - timedelta(minutes=5), next_at=moment,
        ))  # fmt: skip
        subscribe(db, "https://feed.example/rss", moment, moment)

    def metrics() -> str:
        return client.get("/metrics", environ_base={"REMOTE_ADDR": "127.0.0.1"}).text

    def answered(text: str) -> float:
        name = 'publisher_requests_total{kind="healthz",status="503"} '
        return sum(float(line[len(name) :]) for line in text.splitlines() if line.startswith(name))

    before = answered(metrics())
    client.get("/healthz")
    text = metrics()
    assert answered(text) == before + 1
    assert "publisher_pings_waiting 1.0" in text
    assert "publisher_pings_oldest_seconds 300.0" in text
    assert 'publisher_river_feeds{state="active"} 1.0' in text
