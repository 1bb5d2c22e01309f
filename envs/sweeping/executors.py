"""Where a sweep runs: processes on this machine, or a Dask cluster."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Executor
from contextlib import ExitStack, contextmanager, nullcontext
from typing import Any, NamedTuple

from rlccfr.envs.sweeping.pool import Pool, physical_cores
from rlccfr.envs.sweeping.worker import prepare
from rlccfr.errors import RLCCFRError, first_line
from rlccfr.interrupts import interrupts_blocked
from rlccfr.plugins import loaded

LOCALHOST = "127.0.0.1"
"""Address of a local Dask cluster, which no other machine can reach."""


class Executors(NamedTuple):
    """A factory of executors, with the number of runs that an executor performs at a time.

    Attributes:
        make: function that returns a new executor; called again if a worker died, which breaks its executor.
        workers: number of runs that an executor performs at a time.
        dashboard: address of a page that shows the workers; None without such a page.
    """

    make: Callable[[], Executor]
    workers: int
    dashboard: str | None = None


def processes(workers: int = 0) -> Executors:
    """Return executors of worker processes, each pinned to a core if there are enough cores.

    Args:
        workers: number of processes; 0 for one per physical core.
    """
    count = workers or len(physical_cores())
    return Executors(lambda: Pool(count), count)


@contextmanager
def dask_cluster(address: str, workers: int = 0) -> Iterator[Executors]:
    """Connect to a Dask cluster and prepare its workers like those of :func:`processes`.

    Args:
        address: a scheduler's address, or ``"local"`` for a cluster on this machine.
        workers: number of workers of a local cluster; 0 for one per physical core.

    Yields:
        Executors of the cluster.

    Raises:
        RLCCFRError: the extra is not installed, or the scheduler is missing, has no workers, or is lost.
    """
    try:
        from distributed import Client
        from distributed.comm.core import CommClosedError
    except ImportError as error:
        raise RLCCFRError("a sweep on Dask needs the extra: pip install 'rlccfr[dask]'") from error
    is_local = address == "local"
    with _local_cluster(workers) if is_local else nullcontext(address) as cluster, ExitStack() as stack:
        try:
            client = stack.enter_context(Client(cluster))  # type: ignore[no-untyped-call]
        except (OSError, ValueError) as error:
            raise RLCCFRError(
                f"there is no Dask scheduler at {address} ({first_line(error)}); check the address, or start one with "
                "`dask scheduler`"
            ) from None
        threads = sum(client.nthreads().values())
        if not threads:  # a sweep would wait for workers forever
            raise RLCCFRError(
                f"the Dask scheduler at {address} has no workers; start some with `dask worker {address}`"
            )
        try:
            client.run(prepare, None, loaded)
            yield Executors(client.get_executor, threads, client.dashboard_link if is_local else None)
        except (CancelledError, CommClosedError):
            scheduler = "local Dask scheduler" if is_local else f"Dask scheduler at {address}"
            raise RLCCFRError(
                f"the {scheduler} was lost; what it had measured is kept: run the same sweep again to continue"
            ) from None


@contextmanager
def _local_cluster(workers: int) -> Iterator[Any]:
    """Start a Dask cluster that only this machine can reach, since neither it nor its dashboard asks for a password."""
    from distributed import LocalCluster

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Port .* is already in use")  # Dask chooses another port
        with interrupts_blocked():  # threads inherit the block, and workers inherit it from the threads
            cluster = LocalCluster(  # type: ignore[no-untyped-call]
                n_workers=workers or len(physical_cores()), threads_per_worker=1, host=LOCALHOST,
                dashboard_address=f"{LOCALHOST}:8787", silence_logs=logging.ERROR,
            )  # fmt: skip
    with cluster:
        yield cluster
