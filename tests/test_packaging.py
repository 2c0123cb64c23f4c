"""What is built is whole: a wheel carries templates, migrations and static files."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).parent.parent

ASK_THE_WHEEL = """
from publisher.web.application import create_app
app = create_app()
client = app.test_client()
print(app.template_folder)
print(client.get("/").status_code, client.get("/studio/login").status_code)
"""


def test_an_installed_wheel_serves_pages(tmp_path: Path) -> None:
    """The wheel, unpacked somewhere else, makes a database and renders pages by itself."""
    source = tmp_path / "source"
    copy = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(copy, cwd=ROOT, check=True, capture_output=True).stdout.decode()
    for name in filter(None, names.split("\0")):
        if (ROOT / name).is_file() and not name.startswith(("tests/", "docs/")):
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            (source / name).write_bytes((ROOT / name).read_bytes())
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*build, "-w", str(tmp_path), "."], cwd=source, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    installed = tmp_path / "installed"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(installed)
    answer = subprocess.run(
        [sys.executable, "-c", ASK_THE_WHEEL],
        cwd=tmp_path,
        env={
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(installed),
            "PUBLISHER_INSTANCE": str(tmp_path / "instance"),
        },
        check=True,
        capture_output=True,
        text=True,
    ).stdout.split("\n")
    assert answer[0] == str(installed / "publisher" / "templates")
    assert answer[1] == "200 200"
