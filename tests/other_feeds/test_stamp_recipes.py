"""The recipes of docs/stamp.md, run literally: a small site of each generator, its real program."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from publisher.cli import cli
from publisher.dynamic_ttl.feed_head import outline_of
from publisher.feed_reading.scan import scan

pytestmark = pytest.mark.any_database

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "stamp.md").read_text("utf-8")
DAYS = range(1, 8)
ELEVENTY = """import { feedPlugin } from "@11ty/eleventy-plugin-rss";

export default function (config) {
  config.addPlugin(feedPlugin, {
    type: "rss",
    outputPath: "/feed.xml",
    collection: { name: "posts", limit: 0 },
    metadata: { language: "en", title: "Tides", base: "https://a.example/", author: { name: "A" } },
  });
}
"""
ASTRO = """import rss from "@astrojs/rss";

export const GET = (context) =>
  rss({
    title: "Tides",
    description: "About tides",
    site: context.site,
    items: Object.values(import.meta.glob("./posts/*.md", { eager: true })).map((post) => ({
      title: post.frontmatter.title,
      pubDate: new Date(post.frontmatter.date),
      link: post.url,
    })),
  });
"""


class Generator(NamedTuple):
    """A static site generator: its program, the files of a small site, a post's name and front
    matter for a day of October, where its feed lies, the file that its recipe tells the host in."""

    program: str
    files: dict[str, str]
    post: str
    front: str
    feed: str
    host_file: str


_FRONT = '---\ntitle: "Day {0}"\ndate: 2026-10-0{0}T09:0{0}:00+02:00\n{1}---\n\nText *{0}*.\n'
GENERATORS = {
    "Pelican": Generator(
        "pelican",
        {
            "pelicanconf.py": "SITENAME = 'Tides'\nSITEURL = FEED_DOMAIN = 'https://a.example'\n"
            "TIMEZONE = 'Europe/Berlin'\nFEED_ALL_RSS = 'feeds/all.rss.xml'\nAUTHOR = 'A'\n"
        },
        "content/{0}.rst",
        "Day {0}\n#####\n\n:date: 2026-10-0{0} 09:0{0}\n\nText *{0}*.\n",
        "output/feeds/all.rss.xml",
        "output/_headers",
    ),
    "Hugo": Generator(
        "hugo",
        {"config.toml": 'baseURL = "https://a.example/"\ntitle = "Tides"\n'},
        "content/posts/{0}.md",
        _FRONT,
        "public/index.xml",
        "public/_headers",
    ),
    "Jekyll": Generator(
        "jekyll",
        {"_config.yml": "title: Tides\nurl: https://a.example\nplugins: [jekyll-feed]\n"},
        "_posts/2026-10-0{0}-day.md",
        _FRONT,
        "_site/feed.xml",
        "_site/_headers",
    ),
    "Eleventy": Generator(
        "eleventy",
        {"eleventy.config.mjs": ELEVENTY},
        "posts/{0}.md",
        _FRONT.replace("{1}", "tags: posts\n"),
        "_site/feed.xml",
        "_site/_headers",
    ),
    "Astro": Generator(
        "astro",
        {
            "astro.config.mjs": 'export default { site: "https://a.example" };\n',
            "src/pages/rss.xml.js": ASTRO,
        },
        "src/pages/posts/{0}.md",
        _FRONT,
        "dist/rss.xml",
        "dist/_headers",
    ),
}


def recipe(name: str) -> str:
    """The commands of a recipe."""
    return PAGE.split(f"**{name}**")[1].split("```sh\n")[1].split("```")[0]


@pytest.mark.parametrize("name", GENERATORS)
def test_the_recipe_runs(name: str, tmp_path: Path) -> None:
    """The feed that the real program wrote says the ttl, the history has the day, the host is
    told; run again, nothing of what we wrote is lost and nothing is learned twice."""
    made = GENERATORS[name]
    program = shutil.which(made.program)
    if program is None:
        pytest.skip(f"{made.program} is not installed")
    posts = {made.post.format(day): made.front.format(day, "") for day in DAYS}
    for file, text in (made.files | posts).items():
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text(text)
    if name in ("Eleventy", "Astro"):  # as `npm install` would have put it there
        (tmp_path / "node_modules").symlink_to(Path(program).parents[1])
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    for _ in range(2):
        done = subprocess.run(
            ["bash", "-e", "-c", recipe(name)],
            cwd=tmp_path,
            env={
                "PATH": path,
                "PYTHONPATH": str(ROOT),
                "HOME": str(tmp_path),
                "LANG": "C.UTF-8",
                "ASTRO_TELEMETRY_DISABLED": "1",
            },
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        document = (tmp_path / made.feed).read_bytes()
        if outline_of(document).kind == "rss":
            assert scan(document).hints.ttl_minutes in (15, 60, 480)
        history = json.loads((tmp_path / "feed-history.json").read_text())
        assert [at[:16] for at in history["updates"]] == [
            f"2026-10-0{day}T07:0{day}" for day in DAYS
        ]
        address = "/" + made.feed.partition("/")[2]
        lines = (tmp_path / made.host_file).read_text().partition(f"\n{address}\n")[2]
        assert "\n  Cache-Control: public, max-age=" in f"\n{lines}"


def test_every_recipe_is_run_or_says_that_it_is_not() -> None:
    """What the page does not mark as not run is in the table above, and the other way round."""
    headings = re.findall(r"^\*\*(\w+)\*\*(.*)$", PAGE, re.MULTILINE)
    marked = {name for name, note in headings if "not run by our tests" in note}
    assert {name for name, _ in headings} - marked == set(GENERATORS)
    for name, _ in headings:
        for line in recipe(name).splitlines():
            words = line.split()
            if words[0] == "publisher":  # its options are those of the program
                command = cli.get_command(None, words[1])  # type: ignore[arg-type]
                assert command is not None
                options = {option for parameter in command.params for option in parameter.opts}
                assert {word for word in words if word.startswith("--")} <= options


def test_the_hourly_build_is_a_workflow() -> None:
    """YAML that says what is meant: each hour, from the first line to the last as it stands."""
    text = PAGE.split("```yaml\n")[1].split("```")[0]
    workflow: dict[Any, Any] = yaml.safe_load(text)
    on: Any = workflow.get("on") or workflow[True]  # YAML 1.1 reads `on` as a truth
    minute, *fields = on["schedule"][0]["cron"].split()
    assert 0 <= int(minute) < 60
    assert fields == ["*", "*", "*", "*"]
    (job,) = workflow["jobs"].values()
    commands = "\n".join(step.get("run", "") for step in job["steps"])
    assert commands.index("hugo") < commands.index("publisher stamp") < commands.index("git push")
    for command in commands.splitlines():
        parsed = subprocess.run(["bash", "-n", "-c", command], check=False)
        assert parsed.returncode == 0, command
    assert job["permissions"] == {"contents": "write"}
    crontab = re.search(r"`(\d+) (\* \* \* \*) cd [^`]+`", PAGE)
    assert crontab is not None
    assert 0 <= int(crontab[1]) < 60
