"""Structural SVMs with kernels, against explicit features, other solvers and programs written out."""

import pickle
from dataclasses import replace
from itertools import combinations_with_replacement

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline

import structlearn
from structlearn import BinarySVM, KernelStructuralSVM, StructuralSVM
from structlearn.features import KernelMap
from structlearn.kernels import RBF, FunctionKernel, Laplacian, Linear, Polynomial, Spectrum
from structlearn.kernels.row_metric import RowMetric
from structlearn.models import (
    Chain,
    Grammar,
    Graph,
    Grid,
    Multiclass,
    MultiLabel,
    OutputFeatures,
    Ranking,
    Segments,
    Taxonomy,
)
from structlearn.solvers import BlockCoordinate, KernelCuts, SampledCuts, SubspacePursuit
from structlearn.solvers.kernel.cuts import Cut
from structlearn.solvers.kernel.subspace_pursuit import BasisCuts


class Sign(OutputFeatures):
    """Λ(±1) = ±½, with which `Multiclass` is the binary SVM of the books."""

    def matrix(self, classes):
        return np.array([[0.5 * label] for label in classes])


def rows(seed=0, n=30, d=3):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d))
    return X, np.where(X[:, 0] * X[:, 1] + 0.3 * random.normal(size=n) > 0, 1, -1)


def sequences(seed=0, n=12, d=3, L=3):
    random = np.random.default_rng(seed)
    X = [random.normal(size=(random.integers(1, 5), d)) for _ in range(n)]
    return X, [((np.abs(x[:, 0]) + x[:, 1] > 0.5).astype(int) + (x[:, 2] > 0.3)).tolist() for x in X]


def networks(seed=0):
    X, Y = sequences(seed)
    return [(x, [(i, i + 1) for i in range(len(x) - 1)]) for x in X], Y


def segments(seed=0):
    X, Y = sequences(seed)
    return X, [[(label, i, i + 1) for i, label in enumerate(y)] for y in Y]


def label_sets(seed=0):
    X, y = rows(seed)
    return X, np.column_stack([y > 0, X[:, 2] > 0, X[:, 0] + y > 0]).astype(int)


def queries(seed=0):
    X = list(np.random.default_rng(seed).normal(size=(12, 4, 3)))
    return X, [(np.arange(4) == np.argmax(x[:, 0] + x[:, 1])).astype(int) for x in X]


#: Every model with rows of features.
STRUCTURES = {
    "chain": (Chain(), sequences),
    "second order": (Chain(order=2, boundaries=False), sequences),
    "segments": (Segments(max_length=2), segments),
    "multiclass": (Multiclass(), rows),
    "taxonomy": (Multiclass(output_features=Taxonomy({-1: "below", 1: "below"})), rows),
    "binary": (Multiclass(output_features=Sign()), rows),
    "label sets": (MultiLabel(), label_sets),
    "graph": (Graph(), networks),
    "ranking": (Ranking(), queries),
}


def squares(X):
    """φ with ⟨φ(x), φ(z)⟩ = (1 + ⟨x, z⟩)²."""
    X = np.column_stack([np.ones(len(X)), X])
    pairs = list(combinations_with_replacement(range(X.shape[1]), 2))
    return np.column_stack([X[:, i] * X[:, j] * (1.0 if i == j else np.sqrt(2.0)) for i, j in pairs])


@pytest.mark.parametrize("name", STRUCTURES)
def test_the_linear_kernel_is_the_linear_learner(name):
    model, data = STRUCTURES[name]
    X, Y = data()
    linear = StructuralSVM(model, C=5.0, solver="one_slack", tol=1e-6, max_iter=3000).fit(X, Y)
    kernel = KernelStructuralSVM(model, Linear(), C=5.0, solver="exact", tol=1e-6, max_iter=3000).fit(X, Y)
    assert kernel.converged_
    assert kernel.objective_ == pytest.approx(linear.objective_, rel=3e-6)
    assert kernel.score(X, Y) == pytest.approx(linear.score(X, Y), abs=0.05)


@pytest.mark.parametrize(
    ("rescaling", "slack"),
    [("margin", "linear"), ("slack", "linear"), (None, "linear"), ("margin", "squared"), ("slack", "squared")],
)
def test_the_exact_dual_is_the_primal_of_explicit_features(rescaling, slack):
    X, Y = sequences()
    options = {"C": 3.0, "rescaling": rescaling, "slack": slack, "tol": 3e-7, "max_iter": 5000}
    explicit = StructuralSVM(Chain(), solver="n_slack", **options).fit([squares(x) for x in X], Y)
    exact = KernelStructuralSVM(Chain(), Polynomial(2), solver="exact", **options).fit(X, Y)
    assert exact.objective_ == pytest.approx(explicit.objective_, rel=1e-6)
    np.testing.assert_allclose(exact.w_[9:], explicit.w_[len(squares(X[0])[0]) * 3 :], atol=5e-3)


def test_without_a_bias_the_binary_svm_is_the_program_written_out():
    import clarabel

    X, y = rows(n=20)
    n, C = len(y), 8.0
    Q = RBF(0.5)(X) * np.outer(y, y)
    box = sp.csc_array(np.vstack([np.eye(n), -np.eye(n)]))
    limits = np.concatenate([np.full(n, C / n), np.zeros(n)])
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    program = clarabel.DefaultSolver(
        sp.csc_array(np.triu(Q)), -np.ones(n), box, limits, [clarabel.NonnegativeConeT(2 * n)], settings
    )
    exact = KernelStructuralSVM(Multiclass(output_features=Sign()), RBF(0.5), C=C, solver="exact", tol=1e-7).fit(X, y)
    assert exact.objective_ == pytest.approx(-program.solve().obj_val, rel=1e-6)


def test_it_is_the_svm_of_scikit_learn_through_the_origin():
    from sklearn.svm import LinearSVC

    X, y = rows()
    C = 6.0
    theirs = LinearSVC(C=C / len(y), loss="hinge", fit_intercept=False, tol=1e-9, max_iter=10**6).fit(X, y)
    ours = KernelStructuralSVM(Multiclass(output_features=Sign()), Linear(), C=C, solver="exact", tol=1e-8).fit(X, y)
    np.testing.assert_allclose(ours.coefficients_.T @ ours.basis_, theirs.coef_, atol=1e-4)


@pytest.mark.parametrize("kernel", [RBF(0.4), Polynomial(2), Laplacian(0.5)], ids=str)
def test_exact_cuts_find_what_a_full_basis_finds(kernel):
    X, Y = sequences()
    full = make_pipeline(KernelMap(kernel, 1000), StructuralSVM(Chain(), C=5.0, tol=1e-6)).fit(X, Y)
    exact = KernelStructuralSVM(Chain(), kernel, C=5.0, solver="exact", tol=1e-6, max_iter=3000).fit(X, Y)
    assert exact.objective_ == pytest.approx(full[-1].objective_, rel=1e-5)


def test_two_classes_with_halved_features_are_the_binary_svm_without_a_bias():
    X, y = rows(n=60)
    binary = BinarySVM(RBF(0.5), C=60.0, fit_intercept=False, tol=1e-5).fit(X, y)
    structural = KernelStructuralSVM(Multiclass(output_features=Sign()), RBF(0.5), C=60.0, solver="exact", tol=1e-5)
    assert structural.fit(X, y).objective_ == pytest.approx(binary.objective_, rel=2e-5)


@pytest.mark.parametrize("n_violated", [2, 20])
def test_a_cut_is_projected_alike_whether_few_rows_or_many_are_in_it(n_violated):
    X, _ = rows()
    cuts = BasisCuts(RowMetric(RBF(0.5), X, 1, np.arange(31)), 3, dense=False)
    assert all(cuts.extend(X[i : i + 1]) for i in range(3))
    random = np.random.default_rng(0)
    cut = Cut(np.arange(3, 3 + n_violated), random.normal(size=(n_violated, 1)), np.zeros(0), 1.0)
    cuts.add(cut)
    inner = RBF(0.5)(X[:3], X[cut.rows]) @ cut.coefficients
    expected = inner.T @ np.linalg.solve(RBF(0.5)(X[:3]), inner)
    np.testing.assert_allclose(cuts.gram, expected, rtol=1e-9)


@pytest.mark.parametrize("preimages", [False, True])
def test_a_subspace_of_all_rows_is_the_whole_space(preimages):
    X, Y = sequences()
    exact = KernelStructuralSVM(Chain(), RBF(0.4), C=5.0, solver="exact", tol=1e-4).fit(X, Y)
    pursuit = SubspacePursuit(n_basis=1000, preimages=preimages, tol=1e-4)
    found = KernelStructuralSVM(Chain(), RBF(0.4), C=5.0, solver=pursuit).fit(X, Y)
    # Preimages are no rows of the data, and as many of them span nearly the same.
    assert found.objective_ == pytest.approx(exact.objective_, rel=0.02 if preimages else 1e-3)


def test_a_small_subspace_is_above_the_minimum_and_a_larger_one_nearer():
    X, Y = sequences(n=30)
    exact = KernelStructuralSVM(Chain(), RBF(0.4), C=5.0, solver="exact", tol=1e-3).fit(X, Y)
    few, more = (
        KernelStructuralSVM(Chain(), RBF(0.4), C=5.0, solver=SubspacePursuit(n_basis=k, tol=1e-3)).fit(X, Y)
        for k in (4, 16)
    )
    assert few.objective_ > more.objective_ > exact.objective_ * (1 - 1e-3)
    assert len(few.basis_) == 4
    assert len(more.basis_) == 16


@pytest.mark.parametrize("slack", ["linear", "squared"])
@pytest.mark.parametrize("n_basis", [5, 20, 60])
def test_the_bound_of_a_subspace_is_below_the_minimum_of_the_whole_space(n_basis, slack):
    X, Y = sequences()
    exact = KernelStructuralSVM(Chain(), RBF(0.4), C=10.0, slack=slack, solver="exact", tol=1e-4).fit(X, Y)
    pursuit = SubspacePursuit(n_basis=n_basis, tol=1e-3, bound=True)
    svm = KernelStructuralSVM(Chain(), RBF(0.4), C=10.0, slack=slack, solver=pursuit).fit(X, Y)
    assert svm.history_[-1]["certified"]
    assert 0.0 < svm.history_[-1]["dual"] <= exact.objective_
    assert svm.objective_ >= exact.objective_ * (1.0 - 1e-4)
    if n_basis == 60:
        assert svm.duality_gap_ < 0.03
    silent = KernelStructuralSVM(Chain(), RBF(0.4), C=10.0, slack=slack, solver=replace(pursuit, bound=False)).fit(X, Y)
    assert silent.objective_ == svm.objective_
    assert np.isnan(silent.duality_gap_)


def test_samples_of_all_rows_are_exact_cuts():
    X, Y = sequences()
    exact = KernelStructuralSVM(Chain(), RBF(0.4), C=5.0, solver=KernelCuts(tol=1e-3)).fit(X, Y)
    sampled = KernelStructuralSVM(Chain(), RBF(0.4), C=5.0, solver=SampledCuts(n_samples=1000, tol=1e-3)).fit(X, Y)
    assert sampled.objective_ == pytest.approx(exact.objective_, rel=2e-3)
    assert np.isnan(sampled.duality_gap_)
    assert not sampled.history_[-1]["certified"]


def test_cuts_from_samples_come_near_the_minimum():
    X, Y = sequences(n=40)
    exact = KernelStructuralSVM(Chain(), RBF(0.4), C=20.0, solver="exact", tol=1e-3).fit(X, Y)
    sampled = KernelStructuralSVM(Chain(), RBF(0.4), C=20.0, solver=SampledCuts(n_samples=40, tol=0.02)).fit(X, Y)
    assert exact.objective_ * (1 - 1e-3) <= sampled.objective_ <= 1.1 * exact.objective_


def test_the_objective_is_that_of_the_function_which_is_kept():
    X, Y = sequences(n=30)
    for solver in (KernelCuts(tol=0.05), SampledCuts(n_samples=20, tol=0.05), SubspacePursuit(n_basis=6, tol=0.05)):
        svm = KernelStructuralSVM(Chain(), RBF(0.4), C=5.0, solver=solver).fit(X, Y)
        norm = np.sum(svm.coefficients_ * (svm.kernel_(svm.basis_) @ svm.coefficients_)) + np.sum(svm.w_[9:] ** 2)
        problem = svm._bind(X, Y)
        outputs = problem.loss_augmented(svm.w_, np.arange(len(X)))
        rows, losses = problem.differences(np.arange(len(X)), outputs)
        slacks = losses - rows.dot(svm.w_)
        np.testing.assert_allclose(slacks, svm.slacks_, atol=1e-8)
        assert svm.objective_ == pytest.approx(0.5 * norm + 5.0 * slacks.mean(), rel=1e-8)


@pytest.mark.parametrize("solver", ["exact", "sampled", "subspace"])
def test_files_pickles_and_clones_predict_the_same(solver, tmp_path):
    X, Y = sequences()
    svm = KernelStructuralSVM(Chain(), RBF(0.4), C=5.0, solver=solver).fit(X, Y)
    svm.save(tmp_path / "kernel.slm")
    new, _ = sequences(seed=1)
    for other in (structlearn.load(tmp_path / "kernel.slm"), pickle.loads(pickle.dumps(svm))):
        assert other.predict(new) == svm.predict(new)
    assert clone(svm).fit(X, Y).predict(new) == svm.predict(new)


@pytest.mark.parametrize("solver", ["exact", "subspace"])
def test_dense_sparse_and_named_features_are_the_same(solver):
    X, Y = sequences()
    svm = KernelStructuralSVM(Chain(), RBF(0.4), C=5.0, solver=solver, tol=1e-3).fit(X, Y)
    sparse = clone(svm).fit([sp.csr_array(x) for x in X], Y)
    assert sparse.objective_ == pytest.approx(svm.objective_, rel=1e-3)
    named = [[{"abc"[k]: value for k, value in enumerate(row)} for row in x] for x in X]
    by_name = clone(svm).fit(named, Y)
    assert by_name.objective_ == pytest.approx(svm.objective_, rel=1e-3)
    assert by_name.predict([[{"c": 1.0, "new": 5.0}]]) == svm.predict([[[0.0, 0.0, 1.0]]])


def test_intercepts_are_features_without_a_kernel():
    X, y = rows()
    both = np.column_stack([X, np.ones(len(X))])
    explicit = KernelStructuralSVM(Multiclass(), Linear(), C=5.0, solver="exact", tol=1e-6).fit(both, y)
    svm = KernelStructuralSVM(Multiclass(), Linear(), C=5.0, solver="exact", fit_intercept=True, tol=1e-6).fit(X, y)
    assert svm.objective_ == pytest.approx(explicit.objective_, rel=1e-5)


def test_a_path_of_prices_goes_on_from_the_cuts_before():
    X, Y = sequences()
    path = KernelStructuralSVM(Chain(), RBF(0.4), C=1.0, solver="exact", tol=1e-4, warm_start=True).fit(X, Y)
    path.set_params(C=4.0).fit(X, Y)
    fresh = KernelStructuralSVM(Chain(), RBF(0.4), C=4.0, solver="exact", tol=1e-4).fit(X, Y)
    assert path.objective_ == pytest.approx(fresh.objective_, rel=2e-4)


@pytest.mark.parametrize("change", ["rows", "kernel"])
def test_a_path_is_of_the_same_rows_and_the_same_kernel(change):
    X, Y = sequences()
    path = KernelStructuralSVM(Chain(), RBF(0.4), C=1.0, solver="exact", warm_start=True).fit(X, Y)
    if change == "rows":
        X = [2.0 * x for x in X]
    else:
        path.set_params(kernel__gamma=4.0)
    with pytest.raises(ValueError, match="not the same"):
        path.fit(X, Y)


def test_nothing_is_certified_with_an_engine_that_only_approximates():
    X, Y = networks()
    svm = KernelStructuralSVM(Graph(engine="icm"), RBF(0.4), C=5.0, solver="exact", max_iter=5)
    with pytest.warns(ConvergenceWarning):
        svm.fit(X, Y)
    assert not svm.history_[-1]["certified"]
    assert np.isnan(svm.duality_gap_)


def test_the_median_heuristic_chooses_gamma():
    from structlearn.kernels import median_gamma

    X, y = rows()
    assert KernelStructuralSVM(Multiclass(), C=5.0).fit(X, y).kernel_.gamma == median_gamma(X)


def test_probabilities_of_choices_are_explained_by_kernel_scores():
    X, Y = sequences()
    svm = KernelStructuralSVM(Chain(), RBF(0.4), C=5.0).fit(X, Y)
    why = svm.explain(X[0], 0)
    scores = {each.source: each.value for each in why.contributions if each.source.startswith("kernel score")}
    expected = svm.kernel_(X[0][:1], svm.basis_) @ svm.coefficients_
    for label, score in zip(svm.classes_, expected[0], strict=True):
        if f"kernel score of {label}" in scores:
            assert scores[f"kernel score of {label}"] == pytest.approx(score)


def test_duplicated_rows_do_no_harm():
    X, Y = sequences(n=6)
    once = KernelStructuralSVM(Chain(), RBF(0.4), C=5.0, solver="exact", tol=1e-5).fit(X, Y)
    for solver in (KernelCuts(tol=1e-5), SubspacePursuit(n_basis=500, preimages=False, tol=1e-4)):
        twice = KernelStructuralSVM(Chain(), RBF(0.4), C=5.0, solver=solver).fit(X + X, Y + Y)
        assert twice.objective_ == pytest.approx(once.objective_, rel=1e-3)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: KernelStructuralSVM(Chain(), RBF(-1.0)), "gamma is -1.0"),
        (lambda: KernelStructuralSVM(Chain(), "cubic"), "cubic"),
        (lambda: KernelStructuralSVM(Chain(), solver="n_slack"), "'exact', 'sampled', 'subspace'"),
        (lambda: KernelStructuralSVM(Chain(), solver=BlockCoordinate()), "BlockCoordinate is made for weights"),
        (lambda: KernelStructuralSVM(Chain(pair_features=True)), "features that score pairs of labels"),
        (lambda: KernelStructuralSVM(Chain(), slack="hard", rescaling=None), "no form for slack='hard'"),
        (lambda: KernelStructuralSVM(Chain(), Laplacian(), solver=SubspacePursuit()), "preimages=False"),
        (lambda: KernelStructuralSVM(Chain(), solver=SubspacePursuit(n_basis=0)), "n_basis"),
        (lambda: StructuralSVM(Chain(), solver=KernelCuts()), "use KernelStructuralSVM"),
        (lambda: KernelStructuralSVM(Chain(), FunctionKernel(lambda X, Z: np.full((len(X), len(Z)), np.nan))), "nan"),
    ],
)
def test_what_cannot_be_is_refused_by_name(make, message):
    with pytest.raises(ValueError, match=message):
        make().fit(*sequences())


def test_structures_without_rows_are_refused_by_name():
    with pytest.raises(ValueError, match="not made for Grid"):
        KernelStructuralSVM(Grid()).fit([np.zeros((2, 2, 1))], [np.array([[0, 1], [1, 0]])])
    with pytest.raises(ValueError, match="not made for Grammar"):
        KernelStructuralSVM(Grammar()).fit([["a", "b"]], ["(S (A a) (B b))"])


def test_kernels_of_strings_are_refused_for_rows():
    with pytest.raises(ValueError, match="takes no rows"):
        KernelStructuralSVM(Multiclass(), Spectrum(2)).fit(*rows())


def test_a_kernel_that_is_not_psd_is_refused_by_name():
    X, y = rows()
    kernel = FunctionKernel(lambda A, B: -A @ B.T)
    with pytest.raises(ValueError, match="not positive semidefinite"):
        KernelStructuralSVM(Multiclass(), kernel, solver="exact").fit(X, y)


def test_other_widths_and_unfitted_estimators_are_refused():
    from sklearn.exceptions import NotFittedError

    X, Y = sequences()
    svm = KernelStructuralSVM(Chain(), RBF(0.4), C=5.0)
    with pytest.raises(NotFittedError):
        svm.predict(X)
    with pytest.raises(ValueError, match="2 features"):
        svm.fit(X, Y).predict([np.zeros((2, 2))])
    assert svm.predict([np.zeros((0, 3))]) == [[]]


@pytest.mark.parametrize("solver", ["exact", "sampled", "subspace"])
def test_a_function_that_is_no_kernel_is_refused(solver):
    X, y = np.random.default_rng(0).normal(size=(30, 3)), np.arange(30) % 2
    svm = KernelStructuralSVM(Multiclass(), FunctionKernel(lambda a, b: -(a @ b.T)), solver=solver)
    with pytest.raises(ValueError, match="the kernel matrix of 30 examples of X is not positive semidefinite"):
        svm.fit(X, y)
