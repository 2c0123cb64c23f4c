"""The perfect reader as a program: ``program.py URL FILE [stay|time]``.

It remembers in FILE. Without a third word it asks once if something is due and ends; its clock is
the machine's. `time`: its clock is READER_TEST_TIME. `stay`: it keeps running.
"""

import http.client
import json
import os
import sys
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from publisher.reader_test.answering import WeekAnswer
from tests.reader_test.invented import Ask, visit


def over_http(url: str, now: float, seconds: float) -> Ask:
    """Asks a server, with one connection for each request; seconds: its time-out."""
    parts = urlsplit(url)
    folder = parts.path.rpartition("/")[0]

    def ask(path: str, headers: dict[str, str]) -> tuple[WeekAnswer, float]:
        connection = http.client.HTTPConnection(parts.netloc, timeout=seconds)
        try:
            connection.request("GET", f"{folder}/{path}", headers=headers)
            answer = connection.getresponse()
            headers_sent = tuple(answer.getheaders())
            try:
                return WeekAnswer(answer.status, headers_sent, answer.read()), now
            except http.client.IncompleteRead:
                return WeekAnswer(answer.status, headers_sent, b"", "cut"), now
        except (OSError, http.client.HTTPException):
            return WeekAnswer(0, fault="closed"), now
        finally:
            connection.close()

    return ask


def poll(url: str, file: Path, now: float, seconds: float = 10.0) -> float:
    """Ask if something is due, with a time-out; the seconds until the next poll."""
    memory: dict[str, Any] = json.loads(file.read_text("utf-8")) if file.exists() else {}
    if now >= memory.get("next", 0.0):
        memory["next"] = now + visit(memory, over_http(url, now, seconds))
        file.write_text(json.dumps(memory), "utf-8")
    return float(memory["next"]) - now


def main(url: str, name: str, kind: str = "") -> None:
    """Run once, or for ever."""
    wait = poll(
        url, Path(name), float(os.environ["READER_TEST_TIME"]) if kind == "time" else time.time()
    )
    while kind == "stay":
        time.sleep(min(wait, 600.0))
        wait = poll(url, Path(name), time.time(), 3600.0)  # it runs as fast as the clock


if __name__ == "__main__":
    main(*sys.argv[1:])
