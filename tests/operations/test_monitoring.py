"""The alerts and the dashboard that come with the project ask for figures that exist."""

import json
import re
from pathlib import Path

import yaml
from flask.testing import FlaskClient

from publisher.base import heartbeat
from publisher.installation import Site
from publisher.publishing.rebuild import rebuild
from tests.factories import make_post

ROOT = Path(__file__).parents[2]
NAME = re.compile(r"publisher_\w+")


def told(client: FlaskClient, site: Site) -> set[str]:
    """Every name that `/metrics` says once a post, a poll's answer and a page were there."""
    make_post(site)
    rebuild(site)
    heartbeat.beat(site.environment.instance)
    client.get("/")
    text = client.get("/metrics", environ_base={"REMOTE_ADDR": "127.0.0.1"}).text
    samples = {line.partition("{")[0].partition(" ")[0] for line in text.splitlines()}
    families = {match for line in text.splitlines() for match in NAME.findall(line)}
    return samples | families


def test_alerts_dashboard_and_page_name_what_is_told(client: FlaskClient, site: Site) -> None:
    """A figure that was renamed would leave an alert that can never ring."""
    alerts = yaml.safe_load((ROOT / "integrations/prometheus/alerts.yml").read_text("utf-8"))
    rules = [rule for group in alerts["groups"] for rule in group["rules"]]
    board = json.loads((ROOT / "integrations/grafana/publisher.json").read_text("utf-8"))
    asked = [rule["expr"] for rule in rules]
    asked += [target["expr"] for panel in board["panels"] for target in panel["targets"]]
    names = {name for expression in asked for name in NAME.findall(expression)}
    assert len(names) >= 14
    assert names <= told(client, site)
    page = (ROOT / "docs/monitoring.md").read_text("utf-8")
    plain = {name.removeprefix("publisher_feed").removesuffix("_bucket") for name in names}
    assert [name for name in plain if name not in page] == []
