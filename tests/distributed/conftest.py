import pytest

from tests.cli.conftest import run  # noqa: F401


@pytest.fixture(scope="session")
def client():
    """Two workers, processes of this machine, for all tests that need some."""
    pytest.importorskip("distributed")
    import dask

    from structlearn.distributed import workers_here

    # Dask looks for what was killed half a minute long.
    with dask.config.set({"distributed.comm.timeouts.connect": "3s"}), workers_here(2) as client:
        yield client


#: Two workers that are threads of this process, which are there at once; no port is open to other machines.
HERE = {
    "processes": False,
    "n_workers": 2,
    "threads_per_worker": 1,
    "dashboard_address": None,
    "scheduler_kwargs": {"dashboard_address": "127.0.0.1:0"},
}


@pytest.fixture(scope="session")
def client_here():
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(**HERE) as cluster, distributed.Client(cluster) as client:
        yield client
