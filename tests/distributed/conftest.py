import pytest

from tests.cli.conftest import run  # noqa: F401


@pytest.fixture(scope="session")
def client():
    """Two workers, processes of this machine, for all tests that need some."""
    pytest.importorskip("distributed")
    from structlearn.distributed import workers_here

    with workers_here(2) as client:
        yield client


@pytest.fixture(scope="session")
def client_here():
    """A worker with two threads in this process, which is there at once."""
    distributed = pytest.importorskip("distributed")
    how = {"processes": False, "n_workers": 1, "threads_per_worker": 2, "dashboard_address": None}
    with distributed.Client(**how) as client:
        yield client
