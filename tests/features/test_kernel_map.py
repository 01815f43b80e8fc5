"""Coordinates of kernels against the kernels, and linear learners on them against kernel machines."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import make_circles
from sklearn.kernel_approximation import Nystroem
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

import structlearn
from structlearn import ConditionalRandomField, StructuralSVM, StructuredPerceptron
from structlearn.data.networks import Network, Networks, read_networks
from structlearn.data.tokens.sequences import Sequences
from structlearn.datasets import load_digit_sequences
from structlearn.features import KernelMap
from structlearn.kernels import (
    RBF,
    FunctionKernel,
    HistogramIntersection,
    Laplacian,
    Linear,
    Polynomial,
    Precomputed,
    Spectrum,
    incomplete_cholesky,
    median_gamma,
)
from structlearn.models import Chain, Graph, Grid, Multiclass

RANDOM = np.random.default_rng(0)
X, NEW = RANDOM.standard_normal((40, 3)), RANDOM.standard_normal((11, 3))
BASES = ("uniform", "k_means", "leverage", "cholesky")
ALL = (*BASES, "random_features")


@parametrize_with_checks([KernelMap(n_components=5, method=method) for method in ("uniform", "leverage", "cholesky")])
def test_scikit_learns_checks_pass(estimator, check):
    check(estimator)


@pytest.mark.parametrize("method", ["uniform", "leverage", "cholesky"])
@pytest.mark.parametrize("kernel", [RBF(0.5), Laplacian(0.5), Polynomial(3), 0.5 * RBF() + Linear()], ids=repr)
def test_a_full_basis_has_the_kernel_itself(kernel, method):
    # More components than examples are as many as examples.
    mapped = KernelMap(kernel, 1000, method, random_state=0).fit(X)
    z, new = mapped.transform(X), mapped.transform(NEW)
    scale = kernel.diagonal(X).max()
    np.testing.assert_allclose(z @ z.T, kernel(X), atol=1e-8 * scale)
    np.testing.assert_allclose(z @ new.T, kernel(X, NEW), atol=1e-4 * scale)
    assert mapped.residual(X).max() <= 1e-8 * scale


@pytest.mark.parametrize("method", BASES)
def test_coordinates_are_those_of_nystroem_and_rows_of_the_basis_keep_their_kernels(method):
    mapped = KernelMap(RBF(0.3), 8, method, random_state=0).fit(X)
    B = mapped.basis_
    assert B.shape == (8, 3)
    Z = mapped.transform(NEW)
    K_nb, K_bb = RBF(0.3)(NEW, B), RBF(0.3)(B)
    np.testing.assert_allclose(Z @ Z.T, K_nb @ np.linalg.solve(K_bb, K_nb.T), atol=1e-9)
    # scikit-learn's, with all of its examples as the basis, projects to the same.
    theirs = Nystroem(kernel="rbf", gamma=0.3, n_components=8).fit(B).transform(NEW)
    np.testing.assert_allclose(Z @ Z.T, theirs @ theirs.T, atol=1e-7)
    residual = mapped.residual(NEW)
    error = RBF(0.3)(NEW) - Z @ Z.T
    np.testing.assert_allclose(residual, error.diagonal(), atol=1e-9)
    assert np.linalg.norm(error, "nuc") == pytest.approx(residual.sum())


@pytest.mark.parametrize("method", ALL)
def test_errors_fall_with_more_components(method):
    K = RBF(0.3)(X)

    def error(n):
        found = [KernelMap(RBF(0.3), n, method, random_state=seed).fit_transform(X) for seed in range(5)]
        return np.mean([np.linalg.norm(K - z @ z.T) for z in found])

    few, some, many = (error(n) for n in (2, 10, 30))
    assert few > 1.5 * some > 2 * many


def test_cholesky_takes_the_pivots_and_bounds_every_basis_by_its_residual():
    found = incomplete_cholesky(RBF(0.3), X, 6)
    mapped = KernelMap(RBF(0.3), 6, "cholesky").fit(X)
    assert {tuple(b) for b in mapped.basis_} == {tuple(x) for x in X[found.pivots]}
    np.testing.assert_allclose(mapped.residual(X), found.residual, atol=1e-10)


@pytest.mark.parametrize("kernel", [RBF(0.4), Laplacian(0.4)], ids=repr)
def test_random_features_converge_to_the_kernel(kernel):
    z = KernelMap(kernel, 40_000, "random_features", random_state=0).fit_transform(NEW)
    np.testing.assert_allclose(z @ z.T, kernel(NEW), atol=0.03)
    coarse = KernelMap(kernel, 400, "random_features", random_state=0).fit_transform(NEW)
    assert np.abs(coarse @ coarse.T - kernel(NEW)).max() > np.abs(z @ z.T - kernel(NEW)).max()


def test_leverage_finds_what_is_rare():
    crowd = np.concatenate([RANDOM.standard_normal((200, 2)) * 0.01, [[5.0, 5.0], [-5.0, 5.0]]])
    rare = [KernelMap(RBF(), 4, "leverage", random_state=seed).fit(crowd).residual(crowd[-2:]) for seed in range(10)]
    drawn = [KernelMap(RBF(), 4, "uniform", random_state=seed).fit(crowd).residual(crowd[-2:]) for seed in range(10)]
    assert np.mean(rare) < 0.3 < 0.8 < np.mean(drawn)


@pytest.mark.parametrize("method", BASES)
def test_duplicated_points_are_in_the_basis_once(method):
    twice = np.repeat(X[:5], 4, axis=0)
    mapped = KernelMap(RBF(), 20, method, random_state=0).fit(twice)
    assert len(np.unique(mapped.basis_, axis=0)) == len(mapped.basis_) == mapped.transform(X).shape[1] == 5
    z = mapped.transform(twice)
    np.testing.assert_allclose(z @ z.T, RBF()(twice), atol=1e-7)


@pytest.mark.parametrize("method", ALL)
def test_sparse_rows_and_tokens_have_the_coordinates_of_dense_rows(method):
    mapped = KernelMap(RBF(0.3), 6, method, random_state=0)
    dense = mapped.fit(X).transform(NEW)
    sparse = clone(mapped).fit(sp.csr_array(X)).transform(sp.csr_array(NEW))
    np.testing.assert_allclose(np.abs(sparse), np.abs(dense), atol=1e-9)
    tokens = clone(mapped).fit([X[:7], X[7:]]).transform([NEW[:2], np.empty((0, 3)), NEW[2:]])
    assert isinstance(tokens, Sequences)
    assert tokens.lengths.tolist() == [2, 0, 9]
    np.testing.assert_allclose(tokens.tokens, dense, atol=1e-12)
    np.testing.assert_array_equal(mapped.transform(Sequences(NEW, [11])).tokens, dense)
    np.testing.assert_array_equal(mapped.transform([NEW.tolist()]).tokens, dense)


@pytest.mark.parametrize("kernel", [RBF(0.5), Laplacian(0.5), HistogramIntersection()], ids=repr)
def test_sparse_rows_may_have_long_indices(kernel):
    rows = sp.csr_array(np.abs(X))
    rows.indices, rows.indptr = rows.indices.astype(np.int64), rows.indptr.astype(np.int64)
    mapped = KernelMap(kernel, 6, "k_means", random_state=0)
    dense = clone(mapped).fit(np.abs(X)).transform(np.abs(X))
    np.testing.assert_allclose(mapped.fit(rows).transform(rows), dense, atol=1e-12)


def test_strings_and_numbers_of_precomputed_rows_have_coordinates():
    words = ["abab", "bab", "cc", "abab"]
    z = KernelMap(Spectrum(1), 10).fit_transform(words)
    assert z.shape == (4, 3)
    np.testing.assert_allclose(z @ z.T, Spectrum(1)(words), atol=1e-12)
    rows = np.arange(len(X))[:, None]
    z = KernelMap(Precomputed(RBF()(X)), 100).fit_transform(rows)
    np.testing.assert_allclose(z @ z.T, RBF()(X), atol=1e-8)


@pytest.mark.parametrize("method", ALL)
def test_nodes_and_pixels_have_the_coordinates_of_rows_and_edges_stay(method):
    mapped = KernelMap(RBF(0.3), 6, method, random_state=0)
    dense = mapped.fit(X).transform(NEW)
    edges, of_edges = [(0, 1), (2, 1)], np.ones((2, 1))
    graphs = [(NEW[:4], edges, of_edges), Network(NEW[4:], [])]
    found = clone(mapped).fit([Network(X[:7], []), (X[7:], [])]).transform(graphs)
    assert isinstance(found, Networks)
    np.testing.assert_allclose(found.nodes.tokens, dense, atol=1e-12)
    assert [(len(x.nodes), np.asarray(x.edges).tolist()) for x in found] == [(4, [[0, 1], [2, 1]]), (7, [])]
    np.testing.assert_array_equal(found.edge_features.tokens, of_edges)
    np.testing.assert_array_equal(mapped.transform(read_networks(graphs)).nodes.tokens, found.nodes.tokens)
    images = clone(mapped).fit([X.reshape(8, 5, 3)]).transform([NEW[:6].reshape(2, 3, 3), NEW[6:].reshape(1, 5, 3)])
    assert [image.shape[:2] for image in images] == [(2, 3), (1, 5)]
    np.testing.assert_allclose(np.concatenate([image.reshape(-1, dense.shape[1]) for image in images]), dense)
    with pytest.raises(ValueError, match=r"X\[0\] has 2 channels but training had 3"):
        mapped.transform([np.ones((2, 2, 2))])


def test_features_by_name_have_the_coordinates_of_their_columns():
    def named(rows):
        return [{f"f{c}": value for c, value in enumerate(row)} for row in rows.tolist()]

    expected = KernelMap(Polynomial(2), 6, random_state=0).fit([X]).transform([NEW]).tokens
    mapped = KernelMap(Polynomial(2), 6, random_state=0).fit([named(X)])
    assert mapped.vocabulary_ == ("f0", "f1", "f2")
    np.testing.assert_allclose(mapped.transform([named(NEW)]).tokens, expected, atol=1e-12)
    unknown = [[{"f0": 1.0, "new": 5.0}]]
    np.testing.assert_array_equal(mapped.transform(unknown).tokens, mapped.transform([[{"f0": 1.0}]]).tokens)
    nodes = KernelMap(Polynomial(2), 6, random_state=0).fit([(named(X), [])]).transform([(named(NEW), [(0, 1)])])
    np.testing.assert_allclose(nodes.nodes.tokens, expected, atol=1e-12)


def test_kernels_by_name_take_the_gamma_of_the_training_rows(tmp_path):
    assert KernelMap("rbf", 5).fit([X[:7], X[7:]]).kernel_.gamma == median_gamma(X)
    assert KernelMap("laplacian", 5).fit(X).kernel_.gamma == median_gamma(X, norm=1)
    distances = np.abs(X[:, None] - X).sum(axis=2)[np.triu_indices(len(X), 1)]
    assert median_gamma(X, norm=1) == pytest.approx(1 / np.median(distances))
    pipeline = make_pipeline(KernelMap("rbf", 5), StructuralSVM(Multiclass())).fit(X, X[:, 0] > 0)
    structlearn.save(pipeline, tmp_path / "svm.slm")
    assert structlearn.load(tmp_path / "svm.slm")[0].kernel_.gamma == median_gamma(X)


SEQUENCES = [RANDOM.standard_normal((5, 3)) for _ in range(12)]
TAGS = [["ab"[int(value > 0)] for value in x[:, 0] * x[:, 1] + 0.3 * x[:, 2]] for x in SEQUENCES]


def test_with_the_linear_kernel_and_all_examples_learners_are_themselves():
    for method in BASES:
        mapped = KernelMap(Linear(), None, method)
        linear, kernel = (ConditionalRandomField(Chain(), C=10, tol=1e-9) for _ in range(2))
        make_pipeline(mapped, kernel).fit(SEQUENCES, TAGS)
        assert kernel.objective_ == pytest.approx(linear.fit(SEQUENCES, TAGS).objective_, rel=1e-6)
    linear, kernel = (StructuredPerceptron(Chain(), max_iter=10, random_state=0) for _ in range(2))
    make_pipeline(mapped, kernel).fit(SEQUENCES, TAGS)
    linear.fit(SEQUENCES, TAGS)
    assert [record["mistakes"] for record in kernel.history_] == [record["mistakes"] for record in linear.history_]


def test_a_kernel_field_learns_what_no_linear_one_does():
    linear = ConditionalRandomField(Chain(), C=10).fit(SEQUENCES, TAGS)
    kernel = make_pipeline(KernelMap(RBF(0.5), None), ConditionalRandomField(Chain(), C=10)).fit(SEQUENCES, TAGS)
    assert kernel.score(SEQUENCES, TAGS) > linear.score(SEQUENCES, TAGS) + 0.2


@pytest.mark.parametrize("model", [Graph(), Grid()], ids=["graph", "grid"])
def test_models_of_graphs_and_images_learn_from_kernels_of_nodes(tmp_path, model):
    image = RANDOM.choice([-1.0, 1.0], (8, 8, 2)) + 0.1 * RANDOM.standard_normal((8, 8, 2))
    labels = np.where(image[:, :, 0] * image[:, :, 1] > 0, "same", "other")
    rows, truth = [image], [labels]
    if isinstance(model, Graph):
        rows, truth = [(image.reshape(-1, 2), [(0, 1), (4, 9)])], [labels.ravel().tolist()]
    kernel = make_pipeline(KernelMap("rbf", 20, random_state=0), StructuralSVM(model, C=10)).fit(rows, truth)
    assert StructuralSVM(model, C=10).fit(rows, truth).score(rows, truth) < 0.9
    assert kernel.score(rows, truth) > 0.95
    structlearn.save(kernel, tmp_path / "svm.slm")
    assert structlearn.load(tmp_path / "svm.slm").score(rows, truth) == kernel.score(rows, truth)


def test_a_linear_learner_is_as_good_as_a_kernel_machine():
    rows, labels = make_circles(300, noise=0.1, factor=0.5, random_state=0)
    new, truth = make_circles(1000, noise=0.1, factor=0.5, random_state=1)
    gamma = median_gamma(rows)
    theirs = SVC(C=1.0, gamma=gamma).fit(rows, labels).score(new, truth)
    assert StructuralSVM(Multiclass(), C=300).fit(rows, labels).score(new, truth) < 0.7
    for method in ALL:
        mapped = KernelMap(RBF(gamma), 40, method, random_state=0)
        ours = make_pipeline(mapped, StructuralSVM(Multiclass(), C=300)).fit(rows, labels).score(new, truth)
        assert ours > theirs - 0.01


def test_chains_gain_from_kernels_of_their_tokens():
    train, test = (load_digit_sequences(part, n_sequences=100, random_state=0) for part in ("train", "test"))
    mapped = KernelMap(RBF(median_gamma(np.concatenate(train.X))), 150, random_state=0)
    linear = StructuralSVM(Chain(), C=100).fit(train.X, train.Y)
    kernel = make_pipeline(mapped, StructuralSVM(Chain(), C=100)).fit(train.X, train.Y)
    assert kernel.score(test.X, test.Y) > linear.score(test.X, test.Y)


def test_options_of_the_kernel_are_searched():
    rows, labels = make_circles(60, noise=0.05, factor=0.4, random_state=0)
    pipeline = make_pipeline(KernelMap(RBF(), 20, random_state=0), StructuralSVM(Multiclass(), C=60))
    grid = {"kernelmap__kernel__gamma": [1e-6, 1.0], "kernelmap__n_components": [20]}
    assert GridSearchCV(pipeline, grid, cv=2).fit(rows, labels).best_params_["kernelmap__kernel__gamma"] == 1.0


@pytest.mark.parametrize(
    ("options", "rows", "message"),
    [
        ({"kernel": RBF(0)}, X, "gamma is 0; it must be a positive number"),
        ({"kernel": "gauss"}, X, "kernel is 'gauss'; it may be 'linear'"),
        ({"n_components": 0}, X, "n_components is 0; it must be a whole number ≥ 1"),
        ({"method": "random"}, X, "method is 'random'; it may be 'uniform'"),
        ({"kernel": Linear(), "method": "random_features"}, X, "random features are there for RBF and Laplacian only"),
        ({"kernel": Spectrum(1), "method": "k_means"}, ["ab"], "needs examples that are rows of numbers"),
        ({"kernel": Linear()}, np.zeros((3, 2)), "every example of the basis has the kernel 0 with itself"),
        ({"kernel": Linear(), "method": "cholesky"}, np.zeros((3, 2)), "every example of the basis has the kernel 0"),
        ({"kernel": HistogramIntersection()}, -X, r"X\[\d+, \d+\] is -.*; histograms hold numbers ≥ 0"),
        ({"kernel": Precomputed([[0, 1], [1, 0]])}, [[0], [1]], "matrix of the basis is not positive semidefinite"),
        ({"kernel": FunctionKernel(lambda X, Z: np.nan * (X @ Z.T))}, X, r"the kernel of X\[0\] and X\[0\] is nan"),
        ({"n_components": None, "method": "random_features"}, X, "n_components is None"),
        ({}, [np.full((1, 2), np.nan)], r"X\[0\]\[0, 0\] is nan"),
    ],
)
def test_what_has_no_coordinates_is_refused_by_name(options, rows, message):
    with pytest.raises(ValueError, match=message):
        KernelMap(**options).fit(rows)


def test_rows_and_tokens_of_another_width_are_refused():
    mapped = KernelMap(n_components=3).fit([X])
    with pytest.raises(ValueError, match=r"X\[0\] has 2 features a token but training had 3"):
        mapped.transform([X[:, :2]])
    with pytest.raises(ValueError, match="X has 2 features, but KernelMap is expecting 3 features"):
        mapped.transform(X[:, :2])
    assert not hasattr(KernelMap(method="random_features"), "residual")


def test_texts_and_numbers_are_refused_by_the_kernels_of_the_other():
    with pytest.raises(ValueError, match=r"X\[0\] is 'ab', but RBF takes rows of numbers: for texts take Spectrum"):
        KernelMap(RBF(1.0)).fit(["ab", "cd"])
    with pytest.raises(ValueError, match=r"X\[0\] is .*; Spectrum takes strings or lists of words"):
        KernelMap(Spectrum(2)).fit(np.array([[0.5, 1.0], [2.0, 3.0]]))
    with pytest.raises(ValueError, match=r"X\[1\] has 1 entries but X\[0\] has 2"):
        KernelMap(RBF(1.0)).fit([[1.0, 2.0], [3.0]])


def test_no_diagonal_is_proposed_where_nobody_can_add_to_it():
    with pytest.raises(ValueError, match=r"its eigenvalues go from .*; take another kernel$"):
        KernelMap(FunctionKernel(lambda X, Z: -X @ Z.T)).fit(np.eye(2))
