"""Several threads compute what one does, to the last bit, and never more of it than they may."""

import threading

import numpy as np
import pytest

from structlearn import KernelStructuralSVM
from structlearn.features import KernelMap
from structlearn.kernels import RBF, FunctionKernel
from structlearn.kernels.threads import in_order
from structlearn.models import Multiclass

X = np.random.default_rng(0).standard_normal((2000, 5))
Y = (X[:, 0] * X[:, 1] > 0).astype(int)


def test_blocks_come_in_order_whatever_the_threads():
    one = list(RBF(0.3).blocks(X, X[:50], max_memory=2**14))
    two = list(RBF(0.3).blocks(X, X[:50], max_memory=2**14, n_jobs=3))
    assert len(one) > 20
    assert [some for some, _ in one] == [some for some, _ in two]
    np.testing.assert_array_equal(np.concatenate([k for _, k in one]), np.concatenate([k for _, k in two]))


def test_no_more_results_wait_than_there_are_threads():
    begun, most = 0, 0
    lock = threading.Lock()

    def work(i):
        nonlocal begun
        with lock:
            begun += 1
        return i

    for taken, i in enumerate(in_order(work, range(100), 3)):
        assert i == taken
        most = max(most, begun - taken)
    assert most <= 4


def test_a_failure_names_the_example_and_leaves_no_thread():
    def kernel(A, B):
        found = A @ B.T
        found[A[:, 0] == X[1500, 0]] = np.nan
        return found

    before = threading.active_count()
    with pytest.raises(ValueError, match=r"X\[1500\]"):
        list(FunctionKernel(kernel).blocks(X, X[:7], max_memory=2**14, n_jobs=2))
    assert threading.active_count() == before


@pytest.mark.parametrize("jobs", [2, -1])
def test_learners_do_not_depend_on_the_threads(jobs):
    one, two = (KernelMap(RBF(0.3), 40, random_state=0, n_jobs=n).fit_transform(X) for n in (None, jobs))
    np.testing.assert_array_equal(one, two)
    svms = [
        KernelStructuralSVM(Multiclass(), RBF(0.3), C=100, n_components=8, random_state=0, n_jobs=n).fit(
            X[:300], Y[:300]
        )
        for n in (None, jobs)
    ]
    np.testing.assert_array_equal(svms[0].coefficients_, svms[1].coefficients_)
    np.testing.assert_array_equal(svms[0].predict(X), svms[1].predict(X))


def test_a_number_of_threads_that_cannot_be_is_refused():
    with pytest.raises(ValueError, match="n_jobs is 0"):
        KernelMap(n_jobs=0).fit(X)
    with pytest.raises(ValueError, match="n_jobs is 'all'"):
        list(RBF().blocks(X, n_jobs="all"))
