"""Runs a sweep on a Dask cluster, through joblib's Dask backend.

The workers need this program's version with the extras `sim` and `dask`. The tasks of a worker that
is killed are run again by another one.
"""

import logging
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any

import joblib
from joblib._dask import DaskDistributedBackend

from publisher.base.errors import InvalidInput, PublisherError, to_install

CONNECT_SECONDS = 10


@contextmanager
def connected(address: str) -> Iterator[None]:
    """Within the context, run joblib's tasks on the cluster with its scheduler at `address`
    (host:port).

    Raises InvalidInput if no scheduler answers, PublisherError if it is lost, has no worker, or
    cannot complete a task.
    """
    try:
        from distributed import Client
    except ModuleNotFoundError as error:
        raise PublisherError(
            f"--jobs dask needs Python's distributed: {to_install('distributed')}"
        ) from error
    for name in ("distributed", "distributed.client", "distributed.core"):
        logging.getLogger(name).setLevel(logging.CRITICAL)  # our own errors say it in one sentence
    try:
        client = Client(address, timeout=CONNECT_SECONDS, set_as_default=False)  # type: ignore[no-untyped-call]
    except (OSError, ValueError) as error:
        raise InvalidInput(f"no Dask scheduler answers at {address}") from error
    with client, joblib.parallel_config(backend=_Backend(client=client)):
        try:
            yield
        except TimeoutError as error:
            raise PublisherError(f"the Dask scheduler at {address} has no worker") from error


class _Backend(DaskDistributedBackend):  # type: ignore[misc] # joblib has no types
    """joblib's backend with two faults corrected: it waits for ever for a task that failed on the
    cluster, and takes the error about a lost scheduler for a result."""

    def effective_n_jobs(self, n_jobs: int) -> int:
        """How many tasks run at once; at least two, as with one joblib does not use the cluster."""
        return max(2, int(super().effective_n_jobs(n_jobs)))

    def submit(self, func: Any, callback: Callable[[Any], None]) -> Future[Any]:
        """Send a batch of tasks; `callback` gets its result or its exception."""

        def ended(batch: Future[Any]) -> None:
            if error := batch.exception():
                callback(error)

        batch: Future[Any] = super().submit(func, callback)
        batch.add_done_callback(ended)
        return batch

    def retrieve_result_callback(self, out: Any) -> Any:
        """The results of a batch, or PublisherError."""
        if isinstance(out, BaseException):
            raise PublisherError(f"the Dask cluster gave up: {type(out).__name__}: {out}") from out
        return super().retrieve_result_callback(out)
