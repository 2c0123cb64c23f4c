"""Updates docs/pictures/idea.svg: a day of posts, and two readers: by the clock, and by the feed.

Usage: python scripts/idea.py [FILE]. The posts are made up, like the day that Dave Winer described;
the visits of the second reader are those that `dynamic_ttl` asks for.
"""

import random
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

from publisher.dynamic_ttl import ttl_for

ROOT = Path(__file__).parent.parent
# Posts that an hour of the day brings on average.
HOURS = [0, 0, 0, 0, 0, 0, 0.1, 0.7, 1, 1.1, 1.1, 0.9, 0.6, 0.4, 0.3, 0.25, 0.2, 0.15, 0.1, 0.3]
HOURS += [0.4, 0.2, 0.05, 0]
DAYS, EVERY = 90, timedelta(hours=1)
WIDTH, HEIGHT, HOUR = 960, 220, 40


def main(target: Path) -> None:
    """Write the picture."""
    chance = random.Random(2002)  # noqa: S311
    begin = datetime(2026, 11, 2, tzinfo=UTC)
    day = begin + timedelta(days=DAYS)
    posts = sorted(
        begin + timedelta(days=date, hours=hour, seconds=chance.randrange(3600))
        for date in range(DAYS + 1)
        for hour, mean in enumerate(HOURS)
        for _ in range(int(mean) + (chance.random() < mean % 1))
    )
    parts = [
        rectangle(hour * HOUR + 3, 150 - 100 * mean, HOUR - 6, 100 * mean + 2)
        for hour, mean in enumerate(HOURS)
    ]
    parts += [dot(EVERY * n, 185, "#b9c4c6") for n in range(24)]
    now = day
    while now < day + timedelta(days=1):
        parts.append(dot(now - day, 220, "#0b5a66"))
        known = [post for post in posts if post <= now]
        now += timedelta(seconds=max(60, ttl_for(known, now).max_age_seconds))
    parts += [mark(post - day) for post in posts if day <= post < day + timedelta(days=1)]
    size = f'viewBox="-12 15 {WIDTH + 24} {HEIGHT}"'
    back = f'<rect x="-12" y="15" width="{WIDTH + 24}" height="{HEIGHT}" fill="#fbfcfc"/>'
    text = "\n".join([back, *parts])
    target.write_text(f'<svg xmlns="http://www.w3.org/2000/svg" {size}>\n{text}\n</svg>\n', "utf-8")


def across(since: timedelta) -> float:
    """Where a moment of the day stands."""
    return round(since / timedelta(hours=1) * HOUR, 1)


def rectangle(x: float, y: float, width: float, height: float) -> str:
    """An hour's expectation."""
    where = f'x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}"'
    return f'<rect {where} fill="#64a2b0"/>'


def dot(since: timedelta, y: int, colour: str) -> str:
    """A visit."""
    return f'<circle cx="{across(since)}" cy="{y}" r="5" fill="{colour}"/>'


def mark(since: timedelta) -> str:
    """A post."""
    x = across(since)
    return f'<path d="M{x} 168v-138" stroke="#d9822b" stroke-width="2"/>'


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "pictures" / "idea.svg")
