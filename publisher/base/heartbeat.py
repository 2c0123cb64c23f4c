"""The heartbeat of the scheduler: a file that it touches while everything in it works.

Health check, metrics and doctor read its age. The time is the machine's, not the site's, which
may run faster. No file: nobody serves here, or has not begun yet.
"""

from pathlib import Path

from publisher.base.clock import utc_now

NAME = "scheduler.alive"
LATE_SECONDS = 120.0  # a beat is due each few seconds; a busy machine is forgiven some


def beat(instance: Path) -> None:
    """Say that everything works at this moment. A disk that refuses is not this one's matter."""
    try:
        (instance / NAME).touch(mode=0o600)
    except OSError:
        return


def end(instance: Path) -> None:
    """Leave no trace: the scheduler ends because it was told to, or has not begun yet."""
    (instance / NAME).unlink(missing_ok=True)


def age_seconds(instance: Path) -> float | None:
    """Seconds since the last beat; None where there was none."""
    try:
        return max(0.0, utc_now().timestamp() - (instance / NAME).stat().st_mtime)
    except OSError:
        return None
