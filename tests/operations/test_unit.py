"""The systemd unit of docs/deploy.md: what it closes, and that the program does not need it."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from publisher.base.system import processes
from tests.running_site import descendants, serving, wait_until

pytestmark = pytest.mark.any_database

DOCUMENT = Path(__file__).parents[2] / "docs" / "deploy.md"
ANALYZE = shutil.which("systemd-analyze")
STRICTEST = 3.0


def documented() -> list[str]:
    """The units as they stand in the documentation."""
    return re.findall(r"```ini\n([^`]*\[Unit\].*?)```", DOCUMENT.read_text("utf-8"), re.DOTALL)


@pytest.mark.skipif(ANALYZE is None, reason="systemd-analyze is not on this machine")
def test_the_unit_is_hardened(tmp_path: Path) -> None:
    """As systemd itself counts exposure, from 0 to 10; without the hardening it is 8.7."""
    unit = tmp_path / "publisher.service"
    unit.write_text(re.sub(r"ExecStart=.*", "ExecStart=/bin/true", documented()[0]))
    done = subprocess.run(
        [str(ANALYZE), "security", "--offline=true", "--no-pager", str(unit)],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    score = re.search(r"Overall exposure level for publisher.service: ([\d.]+)", done.stdout)
    assert score is not None, done.stdout + done.stderr
    assert float(score[1]) < STRICTEST, done.stdout
    assert "Unknown" not in done.stderr


def test_no_unit_is_given_up() -> None:
    """Five starts take longer than the ten seconds in which systemd counts them (a log that nginx
    has not made yet, a database server that starts)."""
    assert [re.findall(r"RestartSec=(\d+)", unit) for unit in documented()] == [["3"], ["3"]]


def test_every_process_closes_its_files_to_others(tmp_path: Path) -> None:
    """Folder 0700, files 0600 and umask 077 in the server, its workers and its scheduler; where
    memory runs out, these end before the server, which starts them again."""
    instance = tmp_path / "instance"
    instance.mkdir(mode=0o755)
    with serving(instance, "--workers", "2") as server:
        pids = [server.process.pid, *descendants(server.process.pid)]
        assert len(pids) >= 4
        for pid in pids:
            status = Path(f"/proc/{pid}/status").read_text()
            assert re.search(r"^Umask:\t0077$", status, re.MULTILINE), status
        points = [int(Path(f"/proc/{pid}/oom_score_adj").read_text()) for pid in pids]
        assert min(points[1:]) > points[0]
        wait_until((instance / processes.HEARTBEAT).exists, 60, server)
        written = {path.name: path for path in instance.rglob("*") if path.name != "server.log"}
        assert written.keys() >= {"media", "secret_key", "serving.lock", processes.HEARTBEAT}
        for path in (instance, *written.values()):
            assert path.stat().st_mode & 0o077 == 0, path
