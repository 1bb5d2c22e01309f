from __future__ import annotations

import signal
import socket
import time
from urllib.parse import urlsplit
from urllib.request import urlopen

import pytest

from rlccfr.envs.sweeping.executors import dask_cluster
from rlccfr.errors import RLCCFRError

dask, distributed = pytest.importorskip("dask"), pytest.importorskip("distributed")


def is_open(host: str, port: int) -> bool:
    with socket.socket() as connection:
        connection.settimeout(10)
        return connection.connect_ex((host, port)) == 0


def blocked() -> set[signal.Signals]:
    return signal.pthread_sigmask(signal.SIG_BLOCK, set())


@pytest.mark.slow
def test_a_local_dask_cluster_is_for_this_machine_alone_and_its_workers_leave_ctrl_c_to_it():
    """A port that is open on all interfaces is open at 127.0.0.2, too, which is another address of this machine."""
    before = blocked()
    with dask_cluster("local", 1) as where:
        executor = where.make()
        client = executor._client
        for address in (where.dashboard, client.scheduler.address):
            port = urlsplit(address).port
            assert is_open("127.0.0.1", port)
            assert not is_open("127.0.0.2", port)
        pytest.importorskip("bokeh")
        assert b"Dask" in urlopen(where.dashboard, timeout=30).read()
        assert where.workers == 1
        assert all(signal.SIGINT in found for found in client.run(blocked).values())
        executor.shutdown()
    assert blocked() == before


@pytest.mark.parametrize("address", ["nowhere.invalid:1", "127.0.0.1:1", "nonsense://x", "127.0.0.1:port"])
def test_a_missing_dask_scheduler_is_one_line(address):
    with (
        dask.config.set({"distributed.comm.timeouts.connect": "500ms"}),
        pytest.raises(RLCCFRError, match=f"^there is no Dask scheduler at {address} .*; check the address") as error,
        dask_cluster(address),
    ):
        pass
    assert "\n" not in str(error.value)


def test_a_dask_cluster_without_workers_is_refused():
    with (
        distributed.LocalCluster(n_workers=0, processes=False, dashboard_address=None, protocol="tcp") as cluster,
        pytest.raises(RLCCFRError, match="has no workers; start some with `dask worker tcp://"),
        dask_cluster(cluster.scheduler_address),
    ):
        pass


@pytest.fixture
def cluster():
    with distributed.LocalCluster(n_workers=1, processes=False, dashboard_address=None, protocol="tcp") as cluster:
        yield cluster


def test_an_error_of_the_sweep_is_not_told_as_a_missing_scheduler(cluster):
    with pytest.raises(OSError, match="full"), dask_cluster(cluster.scheduler_address):
        raise OSError("the disk is full")


@pytest.mark.slow
def test_a_scheduler_that_is_lost_during_a_sweep_is_one_line(cluster):
    def sweep():
        with dask_cluster(cluster.scheduler_address) as where:
            future = where.make().submit(time.sleep, 3)
            cluster.close()
            future.result(timeout=60)

    with pytest.raises(RLCCFRError, match="was lost; what it had measured is kept"):
        sweep()
