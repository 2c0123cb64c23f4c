"""What is built is whole: a wheel carries templates, migrations and static files."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent

ASK_THE_WHEEL = """
from publisher.web.application import create_app
app = create_app()
client = app.test_client()
print(app.template_folder)
print(client.get("/").status_code, client.get("/studio/login").status_code)
"""

# A running site answers each of these without what only simulation, tests and measurements need.
SERVE_WITHOUT = """
import sys
class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"numpy", "numba", "joblib", "matplotlib", "pytest", "brotli",
                                      "playwright", "setuptools", "backports", "simpy", "reader"}:
            raise ModuleNotFoundError(name, name=name)
sys.meta_path.insert(0, Refuse())
from publisher.web.application import create_app
from publisher.operations import scheduler, supervisor
from publisher.parts.river import worker
client = create_app().test_client()
pages = ("/", "/about", "/archives", "/subscribe", "/search?q=a", "/sitemap.xml", "/studio/login")
print(*(client.get(page).status_code for page in pages))
"""


def needed(name: str, seen: set[str]) -> set[str]:
    """The distributions that `name` brings, without extras; `seen` gathers them."""
    try:
        requirements = [Requirement(line) for line in requires(name) or ()]
    except PackageNotFoundError:
        return seen  # not for this Python
    for requirement in requirements:
        dependency = canonicalize_name(requirement.name)
        if dependency not in seen and (
            requirement.marker is None or requirement.marker.evaluate({"extra": ""})
        ):
            seen.add(dependency)
            needed(dependency, seen)
    return seen


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
    files = [name for name in names.split("\0") if name.startswith("publisher/")]
    assert [name for name in files if not (installed / name).is_file()] == []
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


def test_a_blog_needs_few_packages() -> None:
    """What `make run` installs: no more than it did, and nothing that only development needs."""
    packages: set[str] = set()
    text = (ROOT / "pyproject.toml").read_bytes()
    for line in tomllib.loads(text.decode())["project"]["dependencies"]:
        name = canonicalize_name(Requirement(line).name)
        packages |= needed(name, {name})
    assert len(packages) <= 47
    assert not packages & {"numba", "numpy", "matplotlib", "playwright", "mypy", "pytest", "ruff"}


def test_a_site_runs_with_what_a_blog_needs(tmp_path: Path) -> None:
    """Pages, scheduler and river are imported and answer without the extras."""
    answer = subprocess.run(
        [sys.executable, "-c", SERVE_WITHOUT],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], "PUBLISHER_INSTANCE": str(tmp_path / "instance")},
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()
    assert answer == " ".join(["200"] * 7)


def test_make_installs_for_each_purpose_what_it_needs() -> None:
    """`make run` asks for no extra; tests and the simulator do."""
    plans = {
        goal: subprocess.run(
            ["make", "-n", "-B", goal], cwd=ROOT, check=True, capture_output=True, text=True
        ).stdout
        for goal in ("run", "demo", "passkeys", "simulator", "test")
    }
    assert "-e '.'" in plans["run"]
    assert "-e '.['" not in plans["run"] + plans["demo"]
    assert "-e '.[passkeys]'" in plans["passkeys"]
    assert "-e '.[sim]'" in plans["simulator"]
    assert (
        "-e '.[fast,river,passkeys,old-passwords,math,rst,postgres,s3,sim,dask,dev]'"
        in plans["test"]
    )


def test_simulate_says_what_to_type(tmp_path: Path) -> None:
    """Without the numeric libraries: one line, exit 1."""
    hide = "import importlib.util as u; old = u.find_spec; u.find_spec = lambda n, *a: None"
    requirements = "import sys; sys.argv[1:] = ['simulate', '--synthetic', 'winer']"
    code = f"{hide}; {requirements}; import publisher.cli as c"
    done = subprocess.run(
        [sys.executable, "-c", f"{code}; c.main()"],
        cwd=ROOT, capture_output=True, text=True, check=False,
        env={"PATH": os.environ["PATH"], "PUBLISHER_INSTANCE": str(tmp_path)},
    )  # fmt: skip
    assert done.returncode == 1
    assert "make simulator" in done.stderr
    assert done.stderr.count("\n") == 1


def checked_locks(folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, ROOT / "scripts/check_locks.py", folder],
        capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_the_locks_are_in_step(tmp_path: Path) -> None:
    """Everything that pyproject.toml asks for is pinned with hashes; each drift is named."""
    assert checked_locks(ROOT).stderr == ""
    assert checked_locks(ROOT).returncode == 0
    shutil.copytree(ROOT / "requirements", tmp_path / "requirements")
    project = (ROOT / "pyproject.toml").read_text("utf-8")
    assert '"Flask>=3.1,<4",' in project
    project = project.replace('"Flask>=3.1,<4",', '"Flask>=9", "nothing-of-ours>=1",')
    (tmp_path / "pyproject.toml").write_text(project.replace('    "PyYAML>=6.0.2,<7",\n', ""))
    lock = tmp_path / "requirements/deploy.txt"
    text = re.sub(r"(lxml==[^ ]+) \\\n(    --hash.*\n)+", r"\1\n", lock.read_text("utf-8"))
    lock.write_text(text.replace("blinker==", "blinker==1") + "# https://files.example/\n")
    tested = tmp_path / "requirements/test.txt"
    tested.write_text(re.sub(r"iniconfig==.*\n(    .*\n)+", "", tested.read_text("utf-8")))
    done = checked_locks(tmp_path)
    assert done.returncode == 1
    for problem in (
        "deploy.txt: Flask is", "deploy.txt: nothing-of-ours is missing", "nobody asks for pyyaml",
        "lxml has no hash", "deploy.txt names a host", "in deploy.txt and not in test.txt",
        "test.txt: pytest needs iniconfig, which is missing",
    ):  # fmt: skip
        assert problem in done.stderr, problem
