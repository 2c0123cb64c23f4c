"""The command `serve`."""

import os
from datetime import datetime

import click

from publisher.base.clock import ShiftedClock, utc_now
from publisher.base.environment import read_environment
from publisher.cli.parameters import Instant


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="address to listen on")
@click.option("--port", default=8000, show_default=True, type=click.IntRange(1, 65535))
@click.option("--workers", default=1, show_default=True, type=click.IntRange(1, 64))
@click.option("--clock-start", type=Instant(), help="for trials: start the site's clock here")
@click.option(
    "--clock-speed",
    type=click.FloatRange(0, 100_000, min_open=True),
    default=None,
    help="for trials: run the clock this many times faster",
)
@click.option("--tls-cert", metavar="FILE", help="certificate chain (PEM): serve https")
@click.option("--tls-key", metavar="FILE", help="the certificate's private key (PEM)")
def serve(
    host: str, port: int, workers: int, clock_start: datetime | None, clock_speed: float | None,
    tls_cert: str | None, tls_key: str | None,
) -> None:  # fmt: skip
    """Run the site: web workers, and one scheduler process for the hourly job."""
    from publisher.operations.serve import serve as run

    clock = None
    if clock_start is not None or clock_speed is not None:
        started = utc_now()
        clock = ShiftedClock(started, clock_start or started, clock_speed or 1.0)
    told = {"PUBLISHER_TLS_CERT": tls_cert, "PUBLISHER_TLS_KEY": tls_key}
    os.environ.update({name: file for name, file in told.items() if file})  # the workers' too
    run(read_environment(), host, port, workers, clock)
