"""Rows of kernel matrices that are kept under a limit."""

import numpy as np
import pytest
import scipy.sparse as sp

from structlearn.kernels import RBF, FunctionKernel, KernelRows, Linear, Polynomial, Spectrum
from structlearn.kernels.rows import with_fast_products

X = np.random.default_rng(0).normal(size=(40, 3))


@pytest.mark.parametrize("kernel", [RBF(0.7), Linear(), Polynomial(3), RBF(0.7) + Linear() ** 2], ids=str)
@pytest.mark.parametrize("single", [True, False])
def test_rows_are_those_of_the_matrix_whatever_was_dropped(kernel, single):
    rows = KernelRows(kernel, X, 10 * 40 * (4 if single else 8), single=single)
    K, random = kernel(X), np.random.default_rng(1)
    assert rows.capacity == (40 if kernel.has_quick_sums(X) else 10)
    for _ in range(20):
        which = random.permutation(40)[:7]
        np.testing.assert_allclose(rows.columns(which, which), K[np.ix_(which, which)], rtol=1e-5, atol=1e-6)
        total, coefficients = np.ones(40), X[which, 0].copy()
        rows.add_to(total, which, coefficients)
        np.testing.assert_allclose(total, 1.0 + coefficients @ K[which], rtol=1e-4, atol=1e-5)
    total = np.ones(40)
    rows.add_to(total, np.arange(40), X[:, 0].copy())
    np.testing.assert_allclose(total, 1.0 + X[:, 0] @ K, rtol=1e-4, atol=1e-5)


def test_what_was_used_last_stays():
    rows = KernelRows(Linear(), X, 3 * 40 * 4)
    computed = []
    for which in ([0, 1, 2], [0, 1], [3], [0, 1], [2], [0, 1]):
        rows.add_to(np.zeros(40), np.array(which), np.ones(len(which)))
        computed.append(rows.n_computed)
    assert computed == [3, 3, 4, 4, 5, 5]


def test_a_few_columns_do_not_cost_whole_rows():
    asked = []

    def kernel(rows, columns):
        asked.append((len(rows), len(columns)))
        return rows @ columns.T

    rows = KernelRows(FunctionKernel(kernel), X, 10_000)
    rows.add_to(np.zeros(40), np.array([3]), np.ones(1))
    found = rows.columns(np.array([5, 3, 7]), np.array([1, 2]))
    np.testing.assert_allclose(found, (X @ X.T)[np.ix_([5, 3, 7], [1, 2])], rtol=1e-6)
    assert asked == [(1, 40), (2, 2)]


def test_strings_sparse_rows_and_lack_of_room():
    assert KernelRows(Spectrum(2), ["banana", "cabana"], 100).columns(np.array([0]), np.array([1]))[0, 0] == 5.0
    sparse = sp.random_array((30, 5), density=0.5, rng=0).tocsr()
    assert isinstance(with_fast_products(sparse), np.ndarray)
    np.testing.assert_allclose(
        KernelRows(RBF(1.0), sparse, 10_000).columns(np.arange(3), np.arange(30)), RBF(1.0)(sparse)[:3], atol=1e-6
    )
    with pytest.raises(ValueError, match="two rows of the kernel matrix of 40 examples take 320 bytes"):
        KernelRows(Linear(), X, 300)


def test_exponentials_in_single_precision_are_as_good_as_it_gets():
    points = np.linspace(0.0, 9.9, 500)[:, None]
    rough = RBF(0.9).in_single(points)
    assert rough.dtype == np.float32
    np.testing.assert_allclose(RBF(0.9).values(rough[:1], rough), RBF(0.9)(points[:1], points), rtol=3e-5, atol=1e-30)
    assert RBF(1e3).in_single(points).dtype == np.float64
