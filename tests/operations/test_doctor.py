"""What `doctor` finds, and what it does not complain of."""

from collections.abc import Mapping

import pytest
from click.testing import CliRunner
from sqlalchemy import text

from publisher.base.environment import Environment
from publisher.cli import cli
from publisher.installation import Site
from publisher.operations.doctor import Finding, HttpAnswer, ask_app, examine_database, examine_http
from publisher.publishing.rebuild import rebuild


def bad(findings: list[Finding]) -> list[str]:
    """What was complained of."""
    return [finding.what for finding in findings if not finding.good]


def test_a_dropped_table_is_named_with_what_to_do(site: Site) -> None:
    """The schema's number alone does not tell that a table is gone."""
    assert bad(list(examine_database(site))) == []
    with site.database.write() as db:
        db.execute(text("DROP TABLE login_failures"))
    found = next(one for one in examine_database(site) if not one.good)
    assert "login_failures" in found.detail
    assert "publisher restore" in found.detail


@pytest.mark.parametrize(("status", "complaints"), [(200, []), (500, ["glued -gzip"])])
def test_a_cache_that_answers_in_full_is_no_fault(
    site: Site, environment: Environment, status: int, complaints: list[str]
) -> None:
    """Caches do not know a tag with `-gzip`; an error of the server is a fault all the same."""
    rebuild(site, site.clock())
    direct = ask_app(environment)

    def through_cache(method: str, path: str, headers: Mapping[str, str]) -> HttpAnswer:
        if not headers.get("If-None-Match", "").endswith('-gzip"'):
            return direct(method, path, headers)
        full = direct(method, path, {})
        return HttpAnswer(status, full.headers, full.body if status == 200 else b"")

    assert bad(list(examine_http(through_cache))) == complaints


def test_json_says_what_the_lines_say(
    site: Site, environment: Environment, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One object, for programs; the exit code is the same."""
    monkeypatch.setenv("PUBLISHER_INSTANCE", str(environment.instance))
    result = CliRunner().invoke(cli, ["doctor", "--json"])
    assert '"what": "installation"' in result.stdout
    assert ('"good": false,\n  "findings"' in result.stdout) == (result.exit_code == 1)
    assert result.exit_code in (0, 1)
