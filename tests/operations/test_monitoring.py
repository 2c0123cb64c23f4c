"""The alerts and the dashboard that come with the project ask for figures that exist."""

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from flask.testing import FlaskClient

from publisher.base.system import processes
from publisher.installation import Site
from publisher.publishing.rebuild import rebuild
from tests.factories import make_post

ROOT = Path(__file__).parents[2]
NAME = re.compile(r"publisher_\w+")


def metrics(client: FlaskClient) -> str:
    return client.get("/metrics", environ_base={"REMOTE_ADDR": "127.0.0.1"}).text


def rules() -> list[dict[str, Any]]:
    """The alerts."""
    alerts = yaml.safe_load((ROOT / "integrations/prometheus/alerts.yml").read_text("utf-8"))
    return [rule for group in alerts["groups"] for rule in group["rules"]]


def questions() -> list[str]:
    """What the dashboard asks."""
    board = json.loads((ROOT / "integrations/grafana/publisher.json").read_text("utf-8"))
    return [target["expr"] for panel in board["panels"] for target in panel["targets"]]


def metric_names(client: FlaskClient, site: Site) -> set[str]:
    """Every name that `/metrics` says once a post, a poll's answer and a page were there."""
    make_post(site)
    rebuild(site)
    processes.beat(site.environment.instance, -1)
    client.get("/")
    text = metrics(client)
    samples = {line.partition("{")[0].partition(" ")[0] for line in text.splitlines()}
    families = {match for line in text.splitlines() for match in NAME.findall(line)}
    return samples | families


@pytest.mark.parts("readers", "river")
def test_alerts_dashboard_and_page_name_what_is_told(client: FlaskClient, site: Site) -> None:
    """A figure that was renamed would leave an alert that can never ring."""
    expressions = [*(rule["expr"] for rule in rules()), *questions()]
    names = {name for expression in expressions for name in NAME.findall(expression)}
    assert len(names) >= 14
    assert names <= metric_names(client, site)
    page = (ROOT / "docs/monitoring.md").read_text("utf-8")
    plain = {name.removeprefix("publisher_feed").removesuffix("_bucket") for name in names}
    assert [name for name in plain if name not in page] == []


def test_prometheus_understands_all_of_it(client: FlaskClient, site: Site, tmp_path: Path) -> None:
    """Its own tool reads the alerts, the dashboard's questions and the page of figures."""
    promtool = shutil.which("promtool")
    if promtool is None:
        pytest.skip("promtool is not installed (Debian's prometheus has it)")
    recorded = [
        {"record": f"panel:{number}", "expr": expressions.replace("$__rate_interval", "5m")}
        for number, expressions in enumerate(questions())
    ]
    file = tmp_path / "panels.yml"
    file.write_text(yaml.safe_dump({"groups": [{"name": "panels", "rules": recorded}]}))
    alerts = ROOT / "integrations/prometheus/alerts.yml"
    for words, settings in (
        (["check", "rules", str(alerts), str(file)], ""),
        (["check", "metrics"], metrics(client)),
    ):
        done = subprocess.run(
            [promtool, *words], input=settings, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
