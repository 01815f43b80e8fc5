"""Fitted estimators in other threads and processes."""

import pickle
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest
from sklearn.datasets import load_iris
from threadpoolctl import threadpool_info, threadpool_limits

from structlearn import StructuralSVM
from structlearn.callbacks import Callback
from structlearn.datasets import load_digit_sequences
from structlearn.kernels.threads import in_order, one_thread_of_blas
from structlearn.models import Chain, Multiclass


@pytest.fixture(scope="module")
def numbers():
    train = load_digit_sequences(n_sequences=60, max_length=6)
    test = load_digit_sequences("test", n_sequences=60, max_length=6)
    return train.X, train.Y, test.X, test.Y


def test_fitted_estimators_pickle_even_after_a_warm_start():
    X, y = load_iris(return_X_y=True)
    svm = StructuralSVM(Multiclass(), warm_start=True).fit(X, y)
    copy = pickle.loads(pickle.dumps(svm))
    np.testing.assert_array_equal(copy.predict(X), svm.predict(X))
    copy.fit(X, y)


def test_two_threads_that_fit_at_once_do_not_disturb_each_other(numbers):
    X, Y, _, _ = numbers

    def fit(C):
        return StructuralSVM(Chain(), C=C).fit(X, Y).w_

    with ThreadPoolExecutor(2) as pool:
        together = list(pool.map(fit, [3.0, 30.0, 3.0, 30.0]))
    for w, C in zip(together, [3.0, 30.0, 3.0, 30.0], strict=True):
        np.testing.assert_array_equal(w, fit(C))


def predict_in_child(svm, X, queue):
    queue.put([list(y) for y in svm.predict(X)])


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_fitted_estimator_survives_a_fork(numbers):
    X, Y, X_test, _ = numbers
    svm = StructuralSVM(Chain(), tol=0.1, n_jobs=2).fit(X, Y)
    context = get_context("fork")
    queue = context.Queue()
    child = context.Process(target=predict_in_child, args=(svm, X_test, queue))
    child.start()
    assert queue.get(timeout=30) == [list(y) for y in svm.predict(X_test)]
    child.join()


def test_the_number_of_threads_does_not_change_the_weights(numbers):
    X, Y, _, _ = numbers
    one = StructuralSVM(Chain(), C=5).fit(X, Y)
    three = StructuralSVM(Chain(), C=5, n_jobs=3).fit(X, Y)
    np.testing.assert_array_equal(one.w_, three.w_)


def blas_threads():
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_blas_has_one_thread_in_a_fit(n_jobs):
    class Watcher(Callback):
        def on_fit_task_end(self, estimator, context, **_):
            seen.update(blas_threads())

    seen = set()
    X, y = load_iris(return_X_y=True)
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        StructuralSVM(Multiclass(), tol=0.1, n_jobs=n_jobs).set_callbacks(Watcher()).fit(X, y)
        assert seen == {1}
        assert blas_threads() == before


def test_blas_has_one_thread_until_the_last_that_asked_for_it_has_ended():
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        first, second = one_thread_of_blas(), one_thread_of_blas()
        for either in (first, second):
            either.__enter__()
        first.__exit__(None, None, None)
        assert blas_threads() == {1}
        second.__exit__(None, None, None)
        assert blas_threads() == before


def test_blas_has_one_thread_where_matrices_are_multiplied_by_several_of_ours():
    with threadpool_limits(2, user_api="blas"):
        assert set().union(*in_order(lambda item: blas_threads(), range(3), 2)) == {1}
