"""Containerfile and compose file, read: no engine is needed to see that they name what exists."""

import ipaddress
import re
import shlex
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from json import loads
from pathlib import Path
from typing import Any

import click
import pytest
import yaml
from flask import Flask
from sqlalchemy.engine import make_url

from publisher.base.environment import KNOWN, read_environment
from publisher.cli import cli
from publisher.web.api.metrics import health_blueprint as blueprint

ROOT = Path(__file__).parent.parent
DEPLOY = (ROOT / "docs" / "deploy.md").read_text("utf-8")
COMPOSE_FILE = ROOT / "integrations" / "compose.yaml"
NGINX_FILE = ROOT / "integrations" / "nginx.conf"
PORT = 8000

Service = dict[str, Any]


def instructions() -> list[tuple[str, str]]:
    """The Containerfile: each instruction and what follows it, continued lines joined."""
    text = (ROOT / "Containerfile").read_text("utf-8").replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return [(word, tail.strip()) for word, _, tail in (line.partition(" ") for line in lines)]


def final(name: str) -> str:
    """What the last stage says to one instruction."""
    stage = instructions()
    stage = stage[max(place for place, (word, _) in enumerate(stage) if word == "FROM") :]
    (matches,) = [words_left for word, words_left in stage if word == name]
    return matches


def compose() -> dict[str, Any]:
    read: dict[str, Any] = yaml.safe_load(COMPOSE_FILE.read_text("utf-8"))
    return read


def machines() -> dict[str, Service]:
    """The services that are made of our image."""
    services: dict[str, Service] = compose()["services"]
    return {name: service for name, service in services.items() if service["image"] == "publisher"}


def address(service: Service) -> str:
    return str(service["networks"]["default"]["ipv4_address"])


def understood(words: list[str]) -> str:
    """The command's path when the command line takes these words; it is not run."""
    command: click.Command = cli
    words_left, path = list(words), []
    while isinstance(command, click.Group):
        path.append(words_left.pop(0))
        matches = command.get_command(click.Context(command), path[-1])
        assert matches is not None, words
        command = matches
    command.make_context(path[-1], words_left)
    return " ".join(path)


def health_check() -> list[str]:
    """The words of the health check."""
    words: list[str] = loads(final("HEALTHCHECK").partition("CMD ")[2])
    return words


def test_the_image_copies_what_is_there() -> None:
    """Each source of a COPY exists, and .dockerignore lets it through."""
    let = set(re.findall(r"^!(.+)$", (ROOT / ".dockerignore").read_text("utf-8"), re.MULTILINE))
    copied = [words_left.split()[:-1] for word, words_left in instructions() if word == "COPY"]
    ours = [name for sources in copied if "--from=build" not in sources for name in sources]
    assert {Path(name).parts[0] for name in ours} == let
    for name in ours:
        assert (ROOT / name).exists(), name
    runs = " ".join(words_left for word, words_left in instructions() if word == "RUN")
    assert re.findall(r"--require-hashes -r (\S+)", runs) == ["requirements/image.txt"]


def test_the_image_runs_a_command_without_rights() -> None:
    """A user other than root, the folder it writes in as volume, our own start and settings."""
    settings = dict(re.findall(r"(PUBLISHER_\w+)=(\S+)", final("ENV")))
    assert settings.keys() <= KNOWN.keys()
    assert int(final("USER")) > 0
    assert f"--uid {final('USER')} " in final("RUN")
    assert final("VOLUME") == settings["PUBLISHER_INSTANCE"]
    assert final("STOPSIGNAL") == "SIGTERM"
    assert int(final("EXPOSE")) == PORT
    words = [*loads(final("ENTRYPOINT")), *loads(final("CMD"))]
    assert words[0] == "publisher"
    assert understood(words[1:]) == "serve"
    with pytest.raises(click.UsageError):
        understood(["serve", "--hots", "127.0.0.1"])


def test_the_health_check_asks_a_route(tmp_path: Path) -> None:
    """It asks our port, and ends as the answer says: 0 for 200, else not."""
    app = Flask(__name__)
    app.register_blueprint(blueprint)
    (matches,) = re.findall(r"http://127\.0\.0\.1:(\d+)(/\w+)", health_check()[-1])
    assert int(matches[0]) == PORT
    assert app.url_map.bind("").match(matches[1])[0] == "healthz.healthz"

    class Answers(BaseHTTPRequestHandler):
        status = 200

        def do_GET(self) -> None:
            self.send_response(self.status)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Says nothing."""

    with HTTPServer(("127.0.0.1", 0), Answers) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        code = health_check()[-1].replace(f":{PORT}/", f":{server.server_port}/")
        ends = []
        for Answers.status in (200, 503):
            done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True)
            ends.append(done.returncode)
        server.shutdown()
    assert ends == [0, 1]
    made = (ROOT / "Makefile").read_text("utf-8")
    assert "BUILDAH_FORMAT=docker $$engine build" in made  # podman's own format would drop it


def test_each_machine_has_a_command_settings_and_places() -> None:
    """Two for the web and two for the river; everything that they name exists."""
    services, roles = compose(), []
    for name, service in machines().items():
        roles.append(understood(service["command"]))
        assert service["environment"].keys() <= KNOWN.keys()
        settings = {key: re.sub(r"\$\{.*?\}", "x", str(value))
                    for key, value in service["environment"].items()}  # fmt: skip
        settings["PUBLISHER_SITE_URL"] = "https://blog.example"
        read_environment(settings)
        assert service["read_only"] is True
        assert "user" not in service  # the image's
        places = dict(volume.split(":") for volume in service["volumes"])
        assert places.keys() <= services["volumes"].keys()
        assert places[name] == final("VOLUME")
        assert all(f"{place}/".startswith(f"{final('VOLUME')}/") for place in places.values())
        assert ("media" in places) == ("serve" in service["command"])
        assert ROOT.samefile(COMPOSE_FILE.parent / service["build"]["context"])
        assert (ROOT / service["build"]["dockerfile"]).is_file()
    assert sorted(roles) == ["river run", "river run", "serve", "serve"]


def test_the_machines_find_their_database_and_nginx_finds_them() -> None:
    """Names, addresses and ports agree between the compose file, nginx's file and the settings."""
    services = compose()["services"]
    database, proxy = services["database"]["environment"], services["proxy"]
    webs = [service for service in machines().values() if "serve" in service["command"]]
    for service in machines().values():
        url = make_url(re.sub(r"\$\{.*?\}", "x", service["environment"]["PUBLISHER_DATABASE_URL"]))
        assert url.host in services
        assert (url.username, url.database) == (database["POSTGRES_USER"], database["POSTGRES_DB"])
        assert service["environment"]["PUBLISHER_TRUSTED_PROXIES"] == address(proxy)
    addresses = re.findall(r"^ +server ([\d.:]+);", NGINX_FILE.read_text("utf-8"), re.MULTILINE)
    assert addresses == [f"{address(service)}:{PORT}" for service in webs]
    (plan,) = compose()["networks"]["default"]["ipam"]["config"]
    for service in (proxy, *webs):
        assert ipaddress.ip_address(address(service)) in ipaddress.ip_network(plan["subnet"])
        assert ipaddress.ip_address(address(service)) not in ipaddress.ip_network(plan["ip_range"])
    mounted = [volume.split(":")[0] for volume in proxy["volumes"]]
    assert (COMPOSE_FILE.parent / mounted[0]).samefile(NGINX_FILE)


def test_the_configuration_of_nginx_is_the_tested_one() -> None:
    """Nothing but the addresses and the certificate's folder differs from docs/deploy.md."""
    (documented, *_) = re.findall(r"```nginx\n(.*?)```", DEPLOY, re.DOTALL)
    ours = NGINX_FILE.read_text("utf-8")
    ours = re.sub(r"( +server )[\d.:]+;\n(?: +server [\d.:]+;\n)*", r"\g<1>127.0.0.1:8000;\n", ours)
    ours = ours.replace("/etc/nginx/tls/", "/etc/letsencrypt/live/blog.example/")
    assert re.sub(r"^#.*\n", "", ours, flags=re.MULTILINE) == documented


def test_what_is_secret_is_asked_for_and_documented() -> None:
    """No secret has a value here, and .env as documented names everything that is asked for."""
    text = re.sub(r"#.*", "", COMPOSE_FILE.read_text("utf-8"))
    addresses = set(re.findall(r"\$\{(\w+):\?\}", text))
    assert len(addresses) == len(set(re.findall(r"\$\{(\w+)", text)))
    (written,) = re.findall(r"> \.env <<END\n(.*?)END\n", DEPLOY, re.DOTALL)
    assert set(re.findall(r"^(\w+)=", written, re.MULTILINE)) == addresses
    assert not re.search(r"(PASSWORD|SECRET_KEY): (?!\"\$\{)", text)


def test_the_documented_commands_exist() -> None:
    """What the page runs inside a machine is a command, and its machine a service."""
    services = compose()["services"]
    matches = re.findall(
        r"docker compose exec ((?:-\S+ (?:[A-Z_]+ )?)*)(\w+) publisher (.+)", DEPLOY
    )
    assert len(matches) >= 3
    for _, service, words in matches:
        assert service in services
        understood(shlex.split(words))
    for line in re.findall(r"docker compose (?:up|stop) ([^`\n#]+)", DEPLOY):
        assert {word for word in line.split() if word[0] != "-"} <= services.keys()
