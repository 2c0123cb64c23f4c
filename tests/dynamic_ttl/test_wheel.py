"""The wheel `dynamic_ttl`, and the vectors that ports are judged by."""

import json
import os
import subprocess
import sys
import zipfile
from datetime import datetime
from pathlib import Path
from typing import Any

from publisher.dynamic_ttl import ttl_for

ROOT = Path(__file__).parents[2]
VECTORS = json.loads((ROOT / "docs" / "dynamic-ttl-vectors.json").read_text("utf-8"))

# Nothing but the wheel and the standard library: a few of the vectors, and the middlewares.
ALONE = """
import json, sys
from datetime import datetime
import dynamic_ttl, dynamic_ttl.wsgi, dynamic_ttl.asgi
from dynamic_ttl import ttl_for
foreign = {name.partition(".")[0] for name in sys.modules} - set(sys.stdlib_module_names)
vectors = json.load(sys.stdin)
for case in vectors["cases"][::20]:
    updates = [datetime.fromisoformat(text) for text in vectors["histories"][case["history"]]]
    queue = [datetime.fromisoformat(text) for text in case["scheduled"]]
    now = datetime.fromisoformat(case["now"])
    said = ttl_for(updates, now, case["timezone"], queue, case["menu"])
    assert said.ttl_minutes == case["answer"]["ttl_minutes"], case
print(sorted(name for name in foreign if not name.startswith("_")))
"""


def answer(case: dict[str, Any]) -> dict[str, Any]:
    """What `ttl_for` says to a vector."""
    updates = [datetime.fromisoformat(text) for text in VECTORS["histories"][case["history"]]]
    advice = ttl_for(
        updates,
        datetime.fromisoformat(case["now"]),
        case["timezone"],
        [datetime.fromisoformat(text) for text in case["scheduled"]],
        case["menu"],
    )
    return {
        name: value.isoformat().replace("+00:00", "Z") if isinstance(value, datetime) else value
        for name in case["answer"]
        for value in [getattr(advice, name)]
    }


def test_the_vectors_hold() -> None:
    """200 answers; where this fails, the decision has changed: run scripts/dynamic_ttl_vectors.py
    and say so in the changelog."""
    assert len(VECTORS["cases"]) == 200
    wrong = [case for case in VECTORS["cases"] if answer(case) != case["answer"]]
    assert wrong == []


def test_the_wheel_stands_alone(tmp_path: Path) -> None:
    """Built, unpacked somewhere else, run without site packages: small, typed, no dependencies."""
    script = str(ROOT / "scripts" / "build_wheels.py")
    subprocess.run([sys.executable, script, str(tmp_path)], check=True, capture_output=True)
    (wheel,) = tmp_path.glob("dynamic_ttl-*.whl")
    assert wheel.stat().st_size < 100_000
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "alone")
        names = archive.namelist()
        metadata = archive.read(next(name for name in names if name.endswith("METADATA"))).decode()
    assert "dynamic_ttl/py.typed" in names
    assert "dynamic_ttl/core/ttl/decision.py" in names
    assert "Requires-Dist" not in metadata
    done = subprocess.run(
        [sys.executable, "-S", "-c", ALONE],
        cwd=tmp_path / "alone",
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(tmp_path / "alone")},
        input=json.dumps(VECTORS),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    assert done.stdout.strip() == "['dynamic_ttl']"
    sources = {name for name in names if name.endswith(".py")}
    with zipfile.ZipFile(wheel) as archive:
        text = "\n".join(archive.read(name).decode() for name in sources)
    assert "import publisher" not in text
    assert "from publisher" not in text


def test_the_page_in_ten_lines_runs() -> None:
    """The first example of docs/dynamic-ttl.md, as it stands there."""
    page = (ROOT / "docs" / "dynamic-ttl.md").read_text("utf-8")
    example = page.split("```python\n")[1].split("```")[0]
    assert len(example.splitlines()) <= 10
    program = example.replace("from dynamic_ttl", "from publisher.dynamic_ttl")
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("<ttl>")
