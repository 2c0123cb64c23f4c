"""The heartbeat of the scheduler: a file that it touches while everything in it works.

Health check, metrics and doctor read its age, by the machine's clock: the site's may run faster.
There is no file while the site is not served, or its scheduler has not started yet.
"""

from pathlib import Path

from publisher.base.clock import utc_now

NAME = "scheduler.alive"
LATE_SECONDS = 120.0  # a beat is due every few seconds; the rest is for busy machines


def beat(instance: Path) -> None:
    """Record that everything works at this moment. A disk that refuses is ignored here."""
    try:
        (instance / NAME).touch(mode=0o600)
    except OSError:
        return


def end(instance: Path) -> None:
    """Remove the file: the scheduler ends because it was told to, or has not started yet."""
    (instance / NAME).unlink(missing_ok=True)


def age_seconds(instance: Path) -> float | None:
    """Seconds since the last beat; None where there was none."""
    try:
        return max(0.0, utc_now().timestamp() - (instance / NAME).stat().st_mtime)
    except OSError:
        return None
