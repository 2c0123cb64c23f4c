"""The tutorial's commands do what it says they do."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.running_site import serving

PAGE = Path(__file__).parent.parent / "docs" / "tutorial.md"
ADDRESS = "127.0.0.1:8000"


def session() -> list[tuple[str, list[str]]]:
    """Every command of the page, with the lines that it is said to print."""
    blocks: list[tuple[str, list[str]]] = []
    for block in re.findall(r"```console\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL):
        for line in block.splitlines():
            if line.startswith("$ "):
                blocks.append((line[2:], []))
            else:
                blocks[-1][1].append(line)
    return blocks


def pattern(lines: list[str]) -> str:
    """The lines as an expression, in which `...` is anything."""
    text = "".join(f"{line}\n" for line in lines)
    return re.escape(text).replace(r"\.\.\.", ".*")


@pytest.mark.sqlite("backup and restore copy its file")
def test_every_command_prints_what_the_page_says(tmp_path: Path) -> None:
    """In order, in one shell, against a site that is being served."""
    commands = session()
    assert len(commands) >= 9
    (tmp_path / "bin").mkdir()
    publisher = tmp_path / "bin" / "publisher"
    publisher.write_text(f'#!/bin/sh\nexec {sys.executable} -m publisher "$@"\n')
    publisher.chmod(0o755)
    with serving(tmp_path / "instance") as server:
        lines = [
            f"echo '>>> {number}'\n{command.replace(ADDRESS, f'127.0.0.1:{server.port}')}"
            for number, (command, _) in enumerate(commands)
        ]
        # What stands before the doctor's last line says what is wrong.
        script = "\n".join(["set -e", *lines]).replace("| tail", "| tee all.txt | tail")
        environment = server.environment | {"PATH": f"{publisher.parent}:{os.environ['PATH']}"}
        ran = subprocess.run(
            ["bash", "-c", script],
            env=environment, cwd=tmp_path, capture_output=True, text=True, check=False,
        )  # fmt: skip
        printed = ran.stdout.replace(f"127.0.0.1:{server.port}", ADDRESS)
    assert ran.returncode == 0, ran.stderr
    outputs = re.split(r"^>>> \d+\n", printed, flags=re.MULTILINE)[1:]
    for (command, expected), output in zip(commands, outputs, strict=True):
        whole = (tmp_path / "all.txt").read_text("utf-8")
        assert re.fullmatch(pattern(expected), output, re.DOTALL), (command, output, whole)
