"""Kernels of vectors against scikit-learn's, their definitions and explicit feature maps."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.base import clone
from sklearn.metrics import pairwise
from sklearn.preprocessing import PolynomialFeatures

from structlearn.kernels import (
    RBF,
    FunctionKernel,
    HistogramIntersection,
    Kernel,
    Laplacian,
    Linear,
    PairwiseKernel,
    Polynomial,
    check_psd,
    kernel_option,
    median_gamma,
)

RANDOM = np.random.default_rng(0)
X, Z = RANDOM.standard_normal((7, 3)), RANDOM.standard_normal((4, 3))
A = np.array([[2.0, 1.0, 0.0], [1.0, 2.0, 0.0], [0.0, 0.0, 0.0]])
KERNELS = [
    Linear(),
    Linear(A),
    Polynomial(3, scale=0.5, constant=2.0),
    RBF(0.3),
    Laplacian(0.3),
    HistogramIntersection(),
    PairwiseKernel("chi2", {"gamma": 0.5}),
    PairwiseKernel("cosine"),
    FunctionKernel(lambda X, Z: np.asarray((X @ Z.T) ** 2)),
]
counts = arrays(np.float64, st.tuples(st.integers(1, 8), st.just(3)), elements=st.integers(0, 5).map(float))


def names(kernel):
    # Addresses of functions would be others in every process.
    return "reference" if callable(kernel) and not isinstance(kernel, Kernel) else repr(kernel)[:40]


@pytest.mark.parametrize(
    ("kernel", "reference"),
    [
        (Linear(), lambda X, Z: X @ Z.T),
        (Linear(A), lambda X, Z: X @ A @ Z.T),
        (Polynomial(3, 0.5, 2.0), lambda X, Z: pairwise.polynomial_kernel(X, Z, 3, 0.5, 2.0)),
        (RBF(0.3), lambda X, Z: pairwise.rbf_kernel(X, Z, 0.3)),
        (Laplacian(0.3), lambda X, Z: pairwise.laplacian_kernel(X, Z, 0.3)),
        (HistogramIntersection(), lambda X, Z: np.minimum(X[:, None], Z).sum(axis=2)),
        (PairwiseKernel("chi2", {"gamma": 0.5}), lambda X, Z: pairwise.chi2_kernel(X, Z, 0.5)),
    ],
    ids=names,
)
def test_kernels_agree_with_their_references(kernel, reference):
    left, right = np.abs(X), np.abs(Z)
    np.testing.assert_allclose(kernel(left, right), reference(left, right), rtol=1e-12)
    np.testing.assert_allclose(kernel(left), reference(left, left), rtol=1e-12)


@pytest.mark.parametrize("kernel", KERNELS, ids=names)
@given(X=counts)
def test_kernels_are_symmetric_and_positive_semidefinite(kernel, X):
    K = kernel(X)
    np.testing.assert_allclose(K, K.T, atol=1e-12)
    check_psd(K)
    np.testing.assert_allclose(kernel.diagonal(X), K.diagonal(), rtol=1e-12)


@pytest.mark.parametrize("kernel", [*KERNELS[:6], PairwiseKernel("cosine")], ids=names)
def test_sparse_rows_are_worth_what_dense_ones_are(kernel):
    left, right = (np.maximum(RANDOM.standard_normal((n, 3)), 0.0) for n in (9, 5))
    for form in (sp.csr_array, sp.csc_matrix):
        np.testing.assert_allclose(kernel(form(left), form(right)), kernel(left, right), atol=1e-12)
        np.testing.assert_allclose(kernel(form(left), right), kernel(left, right), atol=1e-12)
    np.testing.assert_allclose(kernel(sp.csr_array(left)), kernel(left), atol=1e-12)
    np.testing.assert_allclose(kernel.diagonal(sp.csr_array(left)), kernel.diagonal(left), atol=1e-12)


@pytest.mark.parametrize("kernel", KERNELS, ids=names)
def test_blocks_are_the_rows_of_the_whole(kernel):
    left, right = np.abs(X), np.abs(Z)
    parts = list(kernel.blocks(left, right, max_memory=8 * 4 * 2))
    assert [(rows.start, rows.stop) for rows, _ in parts] == [(0, 2), (2, 4), (4, 6), (6, 7)]
    np.testing.assert_allclose(np.concatenate([part for _, part in parts]), kernel(left, right), rtol=1e-14)
    ((rows, _),) = kernel.blocks(left, right, max_memory="1MB")
    assert rows == slice(0, 7)


@pytest.mark.parametrize("features", [1, 2, 7, 32, 33])
@pytest.mark.parametrize("form", [np.asarray, np.asfortranarray, sp.csr_array])
def test_sums_are_products_with_the_matrix(features, form):
    random = np.random.default_rng(features)
    rows, others = random.normal(size=(600, features)), random.normal(size=(20, features))
    coefficients = random.normal(size=20)
    distances = ((rows[:, None] - others) ** 2).sum(axis=2)
    kernel, matrix = RBF(0.5 / features), np.exp(-0.5 / features * distances)
    np.testing.assert_allclose(kernel(form(rows), form(others)), matrix, rtol=1e-12)
    np.testing.assert_allclose(kernel.sums(form(rows), form(others), coefficients), matrix @ coefficients, atol=1e-12)


def test_few_features_keep_their_distances_far_from_the_origin():
    rows = np.array([[0.0, 1.0], [0.5, 2.0], [1e3, 1.0]])
    np.testing.assert_allclose(RBF(1.0)(rows + 2.0**20), RBF(1.0)(rows), rtol=1e-15)
    assert RBF(1e-35).in_single(np.array([[1e18], [2e18]])).dtype == np.float64


def test_an_explicit_map_of_degree_two_has_the_polynomial_kernel():
    scale, constant = 0.5, 2.0
    terms = PolynomialFeatures(2).fit(X)
    # (s⟨x, z⟩ + c)² has the squares of features once, products of two of them twice, and features 2cs times.
    weights = [constant**2, *[2 * constant * scale] * 3]
    weights += [scale**2 * (1 if max(powers) == 2 else 2) for powers in terms.powers_[4:]]
    phi = terms.transform(X) * np.sqrt(weights)
    np.testing.assert_allclose(Polynomial(2, scale, constant)(X), phi @ phi.T, rtol=1e-12)


def test_a_row_has_no_distance_to_itself():
    far = 1e6 + X
    assert (RBF(1.0)(far).diagonal() == 1.0).all()


def test_the_median_gamma_is_that_of_all_pairs():
    distances = [((x - z) ** 2).sum() for i, x in enumerate(X) for z in X[:i]]
    assert median_gamma(X) == pytest.approx(1 / np.median(distances))
    assert median_gamma(sp.csr_array(X)) == pytest.approx(median_gamma(X))
    many = RANDOM.standard_normal((500, 2))
    assert median_gamma(many, max_rows=100) == median_gamma(many, max_rows=100)
    assert median_gamma(many, max_rows=100) == pytest.approx(median_gamma(many), rel=0.3)
    # Rows that are there many times do not make the distance 0.
    assert median_gamma([[0.0]] * 9 + [[2.0]]) == 0.25
    with pytest.raises(ValueError, match="all of the 3 rows of X are the same"):
        median_gamma(np.ones((3, 2)))


@pytest.mark.parametrize(
    ("kernel", "X", "message"),
    [
        (RBF(0), X, "gamma is 0; it must be a positive number"),
        (RBF(-1.0), X, "gamma is -1.0; it must be a positive number"),
        (RBF(np.nan), X, "gamma is nan; it must be a positive number"),
        (RBF("1"), X, "gamma is '1'; it must be a positive number"),
        (Laplacian(0.0), X, "gamma is 0.0"),
        (Polynomial(0), X, "degree is 0"),
        (Polynomial(2, scale=-1.0), X, "scale is -1.0"),
        (Polynomial(2, constant=-1.0), X, "constant is -1.0"),
        (Linear(-np.eye(3)), X, "A is not positive semidefinite: its eigenvalues go from -1 to -1"),
        (Linear([[1.0, 2.0]]), X, r"A has shape \(1, 2\); expected a square matrix"),
        (Linear([[1.0, 2.0], [0.0, 1.0]]), X, r"A\[0, 1\] is 2 but A\[1, 0\] is 0; a kernel is symmetric"),
        (Linear(np.eye(2)), X, r"X has 3 columns but A has shape \(2, 2\)"),
        (HistogramIntersection(), [[1.0, -2.0]], r"X\[0, 1\] is -2; histograms hold numbers ≥ 0"),
        (HistogramIntersection(), sp.csr_array([[1.0, -2.0]]), r"X\[0, 1\] is -2; histograms hold numbers ≥ 0"),
        (RBF(), [], r"X has 1 dimension"),
        (RBF(), np.empty((0, 2)), r"X has shape \(0, 2\); at least one row"),
        (RBF(), [[1.0], [np.nan]], r"X\[1, 0\] is nan"),
        (RBF(), [["a"]], r"X\[0\] is .* takes rows of numbers"),
        (Linear(), [[1e200]], r"the kernel of X\[0\] and X\[0\] is inf"),
        (PairwiseKernel("rbf"), X, "name is 'rbf'; it may be"),
    ],
)
def test_what_is_no_kernel_and_no_vector_is_refused_by_name(kernel, X, message):
    with pytest.raises(ValueError, match=message):
        kernel(X)


def test_rows_of_different_widths_are_refused():
    with pytest.raises(ValueError, match="Z has 2 columns but X has 3"):
        RBF()(X, Z[:, :2])


def test_a_matrix_that_does_not_fit_into_memory_is_refused(monkeypatch):
    monkeypatch.setattr("structlearn.kernels.base.available_memory", lambda: 100)
    with pytest.raises(ValueError, match=r"matrix of 7 × 4 numbers would take 224 bytes, and 100 bytes are available"):
        RBF()(X, Z)
    assert sum(len(part) for _, part in RBF().blocks(X, Z)) == 7


def test_kernels_are_options_that_can_be_cloned_and_searched():
    kernel = RBF(0.5) + Linear() ** 2
    assert kernel.get_params()["left__gamma"] == 0.5
    other = clone(kernel).set_params(left__gamma=2.0, right__exponent=1)
    np.testing.assert_allclose(other(X), RBF(2.0)(X) + Linear()(X))
    assert kernel.left.gamma == 0.5
    assert repr(kernel) == "Sum(left=RBF(gamma=0.5), right=Power(exponent=2, kernel=Linear()))"


def test_kernels_have_names():
    assert repr(kernel_option("rbf", gamma=2.0)) == "RBF(gamma=2.0)"
    assert kernel_option("poly", degree=3)(X)[0, 1] == pytest.approx((X[0] @ X[1] + 1) ** 3)
    assert kernel_option(pairwise.sigmoid_kernel)(X, Z).shape == (7, 4)
    np.testing.assert_allclose(
        kernel_option("sigmoid", gamma=0.1)(X), pairwise.sigmoid_kernel(X, gamma=0.1), rtol=1e-12
    )
    kernel = Linear()
    assert kernel_option(kernel) is kernel
    for given_kernel, message in [
        (RBF, r"kernel is the class RBF; give an object, RBF\(\)"),
        ("gauss", "kernel is 'gauss'; it may be 'linear'"),
        (None, "kernel is None; it may be 'linear'"),
    ]:
        with pytest.raises(ValueError, match=message):
            kernel_option(given_kernel)
    with pytest.raises(ValueError, match="gamma is 0"):
        kernel_option("rbf", gamma=0)


def test_sequences_have_the_median_of_their_tokens():
    rows = np.random.default_rng(0).normal(size=(9, 2))
    assert median_gamma([rows[:4], rows[4:]]) == median_gamma(rows)
