"""Counting in a real server with two workers, a fast clock, and an end in the middle of it."""

import json
import re
import signal
import socket
import threading
import time
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest

from publisher.parts.readers.fold import fold
from publisher.parts.readers.reporting.report import make
from publisher.storage.database import Database
from tests.databases import database_url
from tests.running_site import Server, serving

SPEED = 2000  # a day in 43 seconds
CLOCK = ("--workers", "2", "--clock-start", "2024-03-04T06:00:00Z", "--clock-speed", str(SPEED))


def poll(server: Server, agent: str, seconds: float, log: list[tuple[str, int, int]]) -> None:
    """Come again and again for some real seconds: when the ttl is over, or (Fixed) each hour."""
    end, tag, ttl = time.monotonic() + seconds, "", 60
    while time.monotonic() < end:
        headers = {"User-Agent": agent} | ({"If-None-Match": tag} if tag else {})
        status, answered, body = server.get("/rss.xml", headers)
        log.append((agent, status, len(body)))
        if status == 200:
            tag = answered["etag"]
            match = re.search(rb"<ttl>(\d+)</ttl>", body)
            assert match is not None
            ttl = int(match[1])
        time.sleep((60 if agent.startswith("Fixed") else ttl) * 60 / SPEED)


def test_two_workers_count_every_poll_to_the_last(tmp_path: Path) -> None:
    """What readers saw is what the report says, although the server was told to stop at once."""
    log: list[tuple[str, int, int]] = []
    with serving(tmp_path, *CLOCK) as server:
        server.command("post", "add", text="A note.")
        agents = ["Strict/1.0", "Fixed/1.0 (12 subscribers)", "Fixed/2.0 <b>bold</b>"]
        threads = [
            threading.Thread(target=poll, args=[server, agent, 12.0, log]) for agent in agents
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for _ in range(20):  # in the last moment, spread over both workers
            status, _, body = server.get("/rss.xml", {"User-Agent": "Last/1.0"})
            log.append(("Last/1.0", status, len(body)))
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(60) == 0
    database = Database(database_url(tmp_path))
    fold(database, 15)
    with database.read() as session:
        report = make(session, datetime(2024, 3, 6, tzinfo=UTC), 7, 15).to_dict()
    database.close()
    readers = report["readers"]
    mine = [row for row in readers if row["agent"] in ("Strict", "Fixed", "Last")]
    counts = Counter((agent.partition("/")[0], agent[6:9].strip("/")) for agent, _, _ in log)
    assert sum(row["requests"] for row in mine) == len(log), counts
    assert sum(row["bytes"] for row in mine) == sum(size for _, _, size in log)
    unchanged = sum(status == 304 for _, status, _ in log)
    assert sum(round(row["not_modified_share"] * row["requests"]) for row in mine) == unchanged
    last = next(row for row in mine if row["agent"] == "Last")
    assert last["requests"] == 20
    assert {row["subscribers"] for row in mine} == {0, 12}


HOSTILE = {
    b"A" * 10_000: "A" * 60,
    b"<script>alert(1)</script>/1.0 (99999999999999 subscribers)": "<script>alert",
    "Bl\u00e4tter/2.0".encode(): "",  # not ASCII: the server may withhold it
    bytes(range(0x80, 0x100)) + b"\t\xff": "",
    b"": "unnamed",
}


@pytest.mark.any_database
def test_hostile_agents_over_the_wire(tmp_path: Path) -> None:
    """Ten kilobytes, markup, bytes that are no text: answered, counted, harmless afterwards."""
    with serving(tmp_path) as server:
        server.command("post", "add", text="A note.")
        for agent in HOSTILE:
            for _ in range(2):
                with socket.create_connection(("127.0.0.1", server.port), 10) as connection:
                    head = b"GET /rss.xml HTTP/1.1\r\nHost: x\r\nConnection: close\r\nUser-Agent: "
                    connection.sendall(head + agent + b"\r\n\r\n")
                    assert connection.recv(12) == b"HTTP/1.1 200", agent[:40]
    counted = server.command("readers", "--json")
    report = json.loads(counted.stdout)
    names = [row["agent"] for row in report["readers"]]
    table = server.command("readers").stdout
    assert counted.returncode == 0, counted.stderr
    for name in HOSTILE.values():
        assert any(found.startswith(name) for found in names), names
    assert report["totals"]["requests"] >= 2 * len(HOSTILE)
    assert all(name.isprintable() and len(name) <= 60 for name in names)
    assert all(line.isprintable() and len(line) < 400 for line in table.splitlines())
    assert max(row["subscribers"] for row in report["readers"]) == 1_000_000
