"""Where a sweep runs: processes on this machine, or a Dask cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import contextmanager, nullcontext
from typing import NamedTuple

from rlccfr.envs.sweeping.cores import physical_cores
from rlccfr.envs.sweeping.pool import Pool
from rlccfr.envs.sweeping.worker import prepare
from rlccfr.errors import RLCCFRError, first_line
from rlccfr.plugins import loaded


class Executors(NamedTuple):
    """How executors are made.

    Attributes:
        make: makes one; called again when one broke because a worker was killed.
        workers: number of runs that one makes at a time.
    """

    make: Callable[[], Executor]
    workers: int


def processes(workers: int = 0) -> Executors:
    """Return executors of processes, each pinned to a core while there are enough of them.

    Args:
        workers: number of processes; 0 for one per physical core.
    """
    count = workers or len(physical_cores())
    return Executors(lambda: Pool(count), count)


@contextmanager
def dask_cluster(address: str, workers: int = 0) -> Iterator[Executors]:
    """Connect to a Dask cluster, whose workers are prepared as processes are.

    Args:
        address: a scheduler's address, or ``"local"`` for a cluster on this machine.
        workers: number of workers of a local cluster; 0 for one per physical core.

    Raises:
        RLCCFRError: the extra is not installed, or there is no scheduler.
    """
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        raise RLCCFRError("a sweep on Dask needs the extra: pip install 'rlccfr[dask]'") from None
    count = workers or len(physical_cores())
    local = (
        LocalCluster(n_workers=count, threads_per_worker=1)  # type: ignore[no-untyped-call]
        if address == "local"
        else nullcontext(address)
    )
    try:
        with local as cluster, Client(cluster) as client:  # type: ignore[no-untyped-call]
            client.run(prepare, None, loaded)
            yield Executors(client.get_executor, sum(client.nthreads().values()))
    except OSError as error:
        raise RLCCFRError(f"there is no Dask scheduler at {address}: {first_line(error)}") from None
