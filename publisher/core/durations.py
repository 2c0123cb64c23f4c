"""Durations as text for people."""


def duration(seconds: float) -> str:
    """Seconds as text: ``5400`` -> ``"1 h 30 min"``. Two largest units, rounded to a second."""
    rest = round(seconds)
    parts = []
    for unit, size in (("d", 86400), ("h", 3600), ("min", 60), ("s", 1)):
        count, rest = divmod(rest, size)
        if count:
            parts.append(f"{count} {unit}")
    return " ".join(parts[:2]) or "0 s"
