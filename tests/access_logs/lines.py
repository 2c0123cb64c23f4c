"""Lines of access logs, as servers and CDNs write them."""

import json
from datetime import datetime


def nginx(at: datetime, agent: str = "newsboat/2.30", status: int = 200, **fields: object) -> str:
    """A line of the format in docs/deploy.md: the cache answered, unless `c` says otherwise."""
    line = {
        "t": at.timestamp(), "a": "192.0.2.1", "m": "GET", "p": "/rss.xml", "s": status,
        "b": 1000 if status == 200 else 0, "ua": agent, "inm": "", "ims": "", "e": 'W/"one"',
        "cc": "public, max-age=900", "ce": "", "c": "HIT",
    }  # fmt: skip
    return json.dumps(line | fields) + "\n"
