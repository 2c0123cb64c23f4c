"""The first screen of docs/deploy.md, followed as far as one machine and no domain allow."""

import re
import shlex
import subprocess
from pathlib import Path

from tests.running_site import serving

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "deploy.md").read_text("utf-8").partition("\n## What runs there")[0]
COMMANDS = "".join(re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL))


def command(beginning: str) -> str:
    """The one command of the screen that begins so."""
    (matching,) = (line for line in COMMANDS.splitlines() if line.startswith(beginning))
    return matching


def shell(words: str, **more: str) -> str:
    """What a command prints, run in the folder of the source."""
    shown = subprocess.run(
        ["bash", "-euc", words], cwd=ROOT, capture_output=True, text=True, check=True,
        env={"PATH": "/usr/bin:/bin", **more},
    )  # fmt: skip
    return shown.stdout


def test_the_screen_leads_to_a_blog(tmp_path: Path) -> None:
    """The unit is cut out of the page with the domain in it; the program runs as it says; the link
    is found in what it printed, and leads to the set-up; the backup folder can be set."""
    unit, caddy = tmp_path / "publisher.service", tmp_path / "Caddyfile"
    made = command("sed -n").replace("/etc/systemd/system/publisher.service", str(unit))
    shell(made, DOMAIN="blog.of.mine")
    text = unit.read_text()
    assert (text.count("[Unit]"), text.count("WantedBy=")) == (1, 1)
    environment = dict(re.findall(r"^Environment=(\w+)=(.*)$", text, re.MULTILINE))
    assert environment["PUBLISHER_SITE_URL"] == "https://blog.of.mine"
    (words,) = re.findall(r"^ExecStart=(.*)$", text, re.MULTILINE)
    program, serve, *options = shlex.split(words)
    assert (program, serve) == ("/srv/publisher/bin/publisher", "serve")
    assert f"--home {environment['PUBLISHER_INSTANCE']} --create-home" in command("useradd")
    made = command("printf").partition(" && ")[0].replace("/etc/caddy/Caddyfile", str(caddy))
    shell(made, DOMAIN="blog.of.mine")
    assert caddy.read_text() == "blog.of.mine {\n\treverse_proxy 127.0.0.1:8000\n}\n"
    environment.pop("PUBLISHER_INSTANCE")
    with serving(tmp_path / "instance", *options, env=environment) as server:
        journal = tmp_path / "journal"
        journal.write_text(server.output())
        made = command("journalctl").replace("journalctl -u publisher -o cat", f"cat {journal}")
        link = shell(made).strip()
        assert link.startswith("https://blog.of.mine/setup/")
        status, _, page = server.get(link.removeprefix("https://blog.of.mine"))
        assert (status, b"A new blog" in page) == (200, True)
        folder = tmp_path / "backups"
        folder.mkdir(mode=0o700)
        set_up = command("sudo -u publisher").partition("/bin/publisher ")[2].split()[:2]
        assert server.command(*set_up, str(folder)).returncode == 0


def test_every_file_that_the_screen_names_is_there() -> None:
    """Of the repository, and what `make` is asked for."""
    assert (ROOT / "requirements/deploy.txt").is_file()
    assert "\nwheels:" in (ROOT / "Makefile").read_text()
