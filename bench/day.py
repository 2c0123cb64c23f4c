"""A day of real life: what the whole site costs in CPU seconds, beside nginx with a static file."""

import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from bench import folding, servers
from bench.blog import make_blog
from bench.load import Load, load, scratch, spent, tool
from bench.table import Table

READERS, DAY_SECONDS = 5_000, 86_400
POLLS = READERS * DAY_SECONDS // folding.QUARTER_SECONDS
SETTLE_SECONDS, IDLE_SECONDS = 25, 110
LOAD_SECONDS, FOLDED_HOURS = 5, 6
# A tenth are aggregators, which name their subscribers; nine of ten polls have a validator.
_SCRIPT = """
local n = 0
request = function()
  n = (n * 1103 + 12345) %% 5000
  local agent = "Reader-" .. (n %% 200) .. "/1." .. (n %% 7)
  if n %% 10 == 0 then
    agent = "Aggregator-" .. n .. "/1.0 (" .. (n %% 97 + 1) .. " subscribers)"
  end
  wrk.headers["User-Agent"] = agent
  wrk.headers["Connection"] = "close"
  if n %% 10 == 7 then wrk.headers["If-None-Match"] = nil
  else wrk.headers["If-None-Match"] = %s end
  return wrk.format("GET")
end
"""


def run() -> list[Table]:
    """The answers, what follows them, and a site without visitors, each for a day."""
    table = Table(
        f"A day of {READERS:,} readers: {POLLS:,} polls, in CPU seconds",
        ["what", "the site", "nginx, static file"],
        notes="Each reader asks every quarter of an hour, on a connection of its own; a tenth are "
        "aggregators, nine of ten polls have a validator. Answers: measured for "
        f"{LOAD_SECONDS} s of polls as fast as they are answered. Storing and adding: "
        f"{FOLDED_HOURS} hours at a shifted clock, flushed and folded as by the site. "
        f"Without visitors: {IDLE_SECONDS} s, all processes. Each scaled to the day.",
    )
    if tool() is None:
        return [table]
    instance = scratch()
    make_blog(instance, 60).database.close()
    with ExitStack() as stack:
        site = stack.enter_context(servers.running(servers.serve, instance))
        document = servers.get(site.port)[1]
        command, folder = servers.nginx(document, log=True)
        nginx = stack.enter_context(servers.running(command, folder))
        time.sleep(SETTLE_SECONDS)
        idle = _idle([site, nginx])
        loads = [_load(server, folder) for server in (site, nginx)]
    answers = [one.cpu_seconds / one.requests * POLLS for one in loads]
    sparse = folding.sparse(hours=FOLDED_HOURS)
    after = (sparse.storing + sparse.folding) / sparse.polls * POLLS
    quiet = [seconds * DAY_SECONDS for seconds, _ in idle]
    table.add("answering", *(f"{seconds:.1f}" for seconds in answers))
    table.add("storing, and adding to the report's tables", f"{after:.1f}", "-")
    table.add("without any visitor", *(f"{seconds:.1f}" for seconds in quiet))
    sums = [answers[0] + after + quiet[0], answers[1] + quiet[1]]
    table.add("**the day**", *(f"**{seconds:.0f}**" for seconds in sums))
    table.add("share of one core", *(f"{seconds / DAY_SECONDS:.2%}" for seconds in sums))
    hour = Table("A site without visitors", ["what", "the site", "target"])
    hour.add("CPU seconds an hour", f"{idle[0][0] * 3600:.1f}", "<= 6")
    hour.add("wake-ups a second, its three processes together", f"{idle[0][1]:.1f}", "<= 8")
    return [table, hour]


def _load(server: servers.Running, folder: Path) -> Load:
    tag = servers.get(server.port)[0].get("etag", '"none"')
    script = folder / "day.lua"
    script.write_text(_SCRIPT % repr(tag), "utf-8")
    url = f"{server.url}/rss.xml"
    return load(url, server.pid, {}, LOAD_SECONDS, script=script)


def _idle(up: Sequence[servers.Running]) -> list[tuple[float, float]]:
    """CPU seconds and wake-ups a second of all processes of each, while nobody asks."""
    before = [spent(server.pid) for server in up]
    time.sleep(IDLE_SECONDS)
    return [
        ((seconds - one[0]) / IDLE_SECONDS, (switches - one[1]) / IDLE_SECONDS)
        for one, server in zip(before, up, strict=True)
        for seconds, switches in (spent(server.pid),)
    ]
