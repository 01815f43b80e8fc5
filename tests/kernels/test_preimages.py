"""Gradients of kernels, and the vectors that come nearest to combinations of functions."""

import numpy as np
import pytest
import scipy.sparse as sp

from structlearn.kernels import RBF, Laplacian, Linear, Polynomial
from structlearn.kernels.preimages import Combination, preimage

KERNELS = [
    Linear(),
    Linear([[2.0, 0.5, 0.0], [0.5, 1.0, 0.0], [0.0, 0.0, 3.0]]),
    Polynomial(3, 0.5, 2.0),
    RBF(0.7),
    RBF(0.3) + 2.0 * Polynomial(2),
    RBF(0.3) * Linear(),
    (1.0 + Linear()) ** 3,
    (0.1 * Linear()).exp(),
]


def combination(kernel, seed=0, functions=2):
    random = np.random.default_rng(seed)
    return Combination(kernel, ((random.normal(size=(6, 3)), random.normal(size=(6, functions))),))


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("sparse", [False, True])
def test_the_gradient_of_a_kernel_is_that_of_finite_differences(kernel, sparse):
    random = np.random.default_rng(1)
    X, c, z = random.normal(size=(5, 3)), random.normal(size=5), random.normal(size=(1, 3))
    rows = sp.csr_array(X) if sparse else X
    steps = 1e-6 * np.eye(3)
    differences = [(c @ kernel(X, z + h) - c @ kernel(X, z - h))[0] / 2e-6 for h in steps]
    np.testing.assert_allclose(kernel.gradient(rows, c, z), differences, rtol=1e-6, atol=1e-8)


def test_kernels_without_a_gradient_say_so():
    assert not Laplacian().differentiable
    assert not (Laplacian() + RBF()).differentiable
    assert (1.0 + RBF()).differentiable


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_a_preimage_explains_at_least_as_much_as_where_the_search_began(kernel, seed):
    functions = combination(kernel, seed)
    start = np.random.default_rng(seed).normal(size=(1, 3))
    found = preimage(functions, start)
    assert functions.explained(found) >= functions.explained(start)


@pytest.mark.parametrize("kernel", [RBF(0.7), Polynomial(2)], ids=str)
def test_a_preimage_is_where_nothing_near_explains_more(kernel):
    functions = combination(kernel)
    best = functions.explained(points := functions.parts[0][0]).argmax()
    found = preimage(functions, points[best : best + 1])
    near = found + 0.02 * np.random.default_rng(0).normal(size=(200, 3))
    assert functions.explained(near).max() <= functions.explained(found)[0] * (1 + 1e-4)


def test_a_single_function_is_its_own_preimage():
    functions = Combination(RBF(1.0), ((np.array([[1.0, 2.0]]), np.array([[-3.0]])),))
    np.testing.assert_allclose(preimage(functions, np.array([[1.3, 1.8]])), [[1.0, 2.0]], atol=1e-6)


def test_what_is_explained_is_what_the_squared_distance_falls_by():
    functions = combination(RBF(0.7), functions=1)
    rows, a = functions.parts[0]
    b = np.array([[0.3, -0.2, 0.1]])
    kernel = functions.kernel
    factor = (kernel(rows, b).T @ a)[0, 0]
    before = (a.T @ kernel(rows) @ a)[0, 0]
    stacked, both = np.vstack([rows, b]), np.vstack([a, [[-factor]]])
    after = (both.T @ kernel(stacked) @ both)[0, 0]
    assert functions.explained(b)[0] == pytest.approx(before - after)


def test_a_search_that_diverges_leaves_the_start():
    far = Combination(RBF(1.0), ((np.array([[0.0], [100.0]]), np.array([[1.0], [-1.0]])),))
    start = np.array([[50.0]])
    np.testing.assert_array_equal(preimage(far, start), start)


@pytest.mark.parametrize("kernel", [Linear().exp(), Polynomial(10, scale=1e12)], ids=repr)
def test_a_search_that_goes_where_kernels_overflow_takes_its_step_back(kernel):
    rows = 18.0 * np.random.default_rng(0).normal(size=(20, 2)).clip(-1, 1)
    functions = Combination(kernel, ((rows, np.random.default_rng(1).normal(size=(20, 1))),))
    start = rows[:1]
    found = preimage(functions, start)
    assert np.isfinite(kernel(found)).all()
    assert functions.explained(found)[0] >= functions.explained(start)[0]


def test_coefficients_too_small_for_single_precision_move_the_preimage_as_large_ones_do():
    rows, a = np.array([[0.0], [1.0]]), np.ones((2, 1))
    small, large = (preimage(Combination(RBF(1.0), ((rows, c * a),)), np.array([[0.2]])) for c in (1e-30, 1.0))
    np.testing.assert_allclose(small, large, rtol=1e-5)
