"""Durations as text for people, and a ttl as the syndication module expresses it."""


def duration(seconds: float) -> str:
    """Seconds as text: ``5400`` -> ``"1 h 30 min"``. Two largest units, rounded to a second."""
    rest = round(seconds)
    parts = []
    for unit, size in (("d", 86400), ("h", 3600), ("min", 60), ("s", 1)):
        count, rest = divmod(rest, size)
        if count:
            parts.append(f"{count} {unit}")
    return " ".join(parts[:2]) or "0 s"


def update_rate(ttl_minutes: int) -> tuple[str, int] | None:
    """`sy:updatePeriod` and `sy:updateFrequency` equal to a ttl; None if there are none."""
    if 60 % ttl_minutes == 0:
        return "hourly", 60 // ttl_minutes
    if 1440 % ttl_minutes == 0:
        return "daily", 1440 // ttl_minutes
    return None
