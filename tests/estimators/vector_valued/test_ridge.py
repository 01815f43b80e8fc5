"""Vector-valued ridge regression against others' programs, refitting, and what its options promise."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_ridge import KernelRidge
from sklearn.utils.estimator_checks import parametrize_with_checks

import structlearn
from structlearn import VectorValuedRidge, VectorValuedSVM
from structlearn.datasets import load_digit_sequences
from structlearn.kernels import RBF, Decomposable, Linear, Precomputed, Spectrum, graph_smoothing, heat_kernel
from structlearn.outputs import (
    DependencyTreeOutputs,
    KernelOutputs,
    LabelOutputs,
    LabelSequenceOutputs,
    LabelSetOutputs,
    MatchingOutputs,
    VectorOutputs,
)

RANDOM = np.random.default_rng(0)
X, NEW = RANDOM.normal(size=(30, 3)), RANDOM.normal(size=(7, 3))
NUMBERS = np.column_stack([np.sin(X[:, 0]), np.cos(X[:, 1]), X[:, 0] * X[:, 2]]) + 0.1 * RANDOM.normal(size=(30, 3))
LABELS = np.array(["a", "b", "c"])[np.abs(X).argmax(axis=1)]
SETS = [{name for name, x in zip("abc", row, strict=True) if x > 0} for row in X]
WORDS = [f"{label}{label}{other}" for label, other in zip(LABELS, LABELS[::-1], strict=True)]


with warnings.catch_warnings():
    # The classes here keep scikit-learn's contract without its base class.
    warnings.simplefilter("ignore", UserWarning)
    checks = parametrize_with_checks([VectorValuedRidge(), VectorValuedRidge(None, "linear", lam=0.1)])


@checks
def test_it_passes_scikit_learns_checks(estimator, check):
    check(estimator)


def test_without_coupling_it_is_scikit_learns_kernel_ridge():
    ridge = VectorValuedRidge(None, RBF(0.3), lam=0.02).fit(X, NUMBERS)
    theirs = KernelRidge(alpha=30 * 0.02, kernel="rbf", gamma=0.3).fit(X, NUMBERS)
    np.testing.assert_allclose(ridge.predict(NEW), theirs.predict(NEW), atol=1e-8)
    one_hot = (LABELS[:, None] == np.array(["a", "b", "c"])).astype(float)
    labels = VectorValuedRidge(LabelOutputs(), RBF(0.3), lam=0.02).fit(X, LABELS)
    theirs = KernelRidge(alpha=30 * 0.02, kernel="rbf", gamma=0.3).fit(X, one_hot)
    np.testing.assert_allclose(labels.decision_function(NEW), theirs.predict(NEW), atol=1e-8)
    assert labels.predict(NEW).tolist() == [["a", "b", "c"][i] for i in theirs.predict(NEW).argmax(axis=1)]


@pytest.mark.parametrize("A", ["identity", "covariance", graph_smoothing(np.ones((3, 3)) - np.eye(3), 0.5)])
def test_all_ways_to_solve_agree(A):
    given = np.eye(3) if isinstance(A, str) and A == "identity" else A
    if isinstance(A, str) and A == "covariance":
        given = NUMBERS.T @ NUMBERS / 30
    kernel = RBF(0.3)
    expected = np.linalg.solve(np.kron(kernel(X), given) + 30 * 0.05 * np.eye(90), NUMBERS.ravel()).reshape(30, 3)
    at_new = kernel(NEW, X) @ expected @ given
    half = Decomposable(0.5 * kernel, A)
    ways = {
        "one": VectorValuedRidge(None, Decomposable(kernel, A), lam=0.05),
        "path": VectorValuedRidge(None, Decomposable(kernel, A), lam=[0.05, 0.05]),
        "sum": VectorValuedRidge(None, half + half, lam=0.05, tol=1e-13),
        "basis": VectorValuedRidge(None, Decomposable(kernel, A), lam=0.05, n_components=29),
    }
    methods = {name: way.fit(X, NUMBERS).method_ for name, way in ways.items()}
    assert methods["path"] == "eigen"
    assert methods["sum"] == "conjugate_gradients"
    assert methods["basis"] == "nystroem"
    assert methods["one"] == ("cholesky" if isinstance(A, str) and A == "identity" else "eigen")
    for name, way in ways.items():
        tolerance = 0.2 if name == "basis" else 1e-8
        np.testing.assert_allclose(way.predict(NEW), at_new, atol=tolerance, err_msg=name)


def test_a_basis_of_all_rows_is_exact():
    rows = np.repeat(X[:10], 3, axis=0)
    basis = VectorValuedRidge(None, Decomposable(RBF(0.3), "covariance"), lam=0.05, n_components=29, random_state=3)
    exact = VectorValuedRidge(None, Decomposable(RBF(0.3), "covariance"), lam=0.05)
    # 29 of 30 rows have all ten that are different.
    np.testing.assert_allclose(basis.fit(rows, NUMBERS).predict(NEW), exact.fit(rows, NUMBERS).predict(NEW), atol=1e-7)


def test_outputs_that_only_a_kernel_knows_need_no_coordinates():
    kernel = RBF(0.3)
    for A in ("identity", "covariance"):
        by_kernel = VectorValuedRidge(KernelOutputs(Spectrum(2)), Decomposable(kernel, A), lam=0.05).fit(X, WORDS)
        explicit = VectorValuedRidge(
            KernelOutputs(Spectrum(2), n_components=30), Decomposable(kernel, A), lam=0.05
        ).fit(X, WORDS)
        assert by_kernel.objective_ == pytest.approx(explicit.objective_, rel=1e-8)
        assert by_kernel.predict(NEW) == explicit.predict(NEW)
        assert by_kernel.score(X, WORDS) == explicit.score(X, WORDS) >= 0.4
        lams = [0.01, 0.1, 1.0]
        errors = [clone(way).set_params(lam=lams).fit(X, WORDS).left_out_ for way in (by_kernel, explicit)]
        np.testing.assert_allclose(*[[each["error"] for each in record] for record in errors], rtol=1e-7)


def test_what_is_left_out_chooses_lambda_and_kernel():
    kernels = [RBF(0.01), RBF(0.3), RBF(50.0)]
    ridge = VectorValuedRidge(None, kernels).fit(X, NUMBERS)
    assert len(ridge.left_out_) == 3 * 17
    best = min(ridge.left_out_, key=lambda record: record["error"])
    assert ridge.lam_ == best["lam"]
    refitted = []
    for i in range(30):
        rest = np.delete(np.arange(30), i)
        again = VectorValuedRidge(None, ridge.kernel_, lam=ridge.lam_ * 30 / 29).fit(X[rest], NUMBERS[rest])
        refitted.append(((again.predict(X[i : i + 1])[0] - NUMBERS[i]) ** 2).sum())
    assert best["error"] == pytest.approx(np.mean(refitted), rel=1e-7)
    assert repr(ridge.kernel_.terms[0].kernel) in best["kernel"]


def test_sequences_are_left_out_whole():
    data = load_digit_sequences(random_state=0)
    few, truth = data.X[:12], data.Y[:12]
    outputs = LabelSequenceOutputs(edges=0.5)
    ridge = VectorValuedRidge(outputs, RBF(0.002), lam=[0.01, 0.02]).fit(few, truth)
    errors = []
    n = sum(map(len, few))
    for i in range(12):
        rest = [j for j in range(12) if j != i]
        m = n - len(few[i])
        again = VectorValuedRidge(outputs, RBF(0.002), lam=0.01 * n / m).fit(
            [few[j] for j in rest], [truth[j] for j in rest]
        )
        if again.classes_.tolist() != ridge.classes_.tolist():
            pytest.fail("each sequence must leave all labels")
        offsets = np.array([0, len(few[i])])
        missed = again.outputs_.targets([truth[i]], offsets) - again.decision_function([few[i]])
        errors.append((missed**2).sum())
    assert ridge.left_out_[0]["error"] == pytest.approx(sum(errors) / n, rel=1e-6)


def test_it_reads_handwritten_digits():
    data = load_digit_sequences(random_state=0)
    ridge = VectorValuedRidge(LabelSequenceOutputs(), RBF(0.002)).fit(data.X[:60], data.Y[:60])
    assert ridge.score(data.X[60:], data.Y[60:]) > 0.9


@pytest.mark.parametrize(
    ("outputs", "y"),
    [
        (VectorOutputs(), NUMBERS),
        (VectorOutputs(), NUMBERS[:, 0]),
        (LabelOutputs(), LABELS),
        (LabelSetOutputs(), SETS),
        (LabelSetOutputs(), X > 0),
        (KernelOutputs(Spectrum(2)), WORDS),
        (KernelOutputs(Spectrum(2), n_components=3), WORDS),
        (KernelOutputs(Spectrum(2), n_landmarks=4), WORDS),
    ],
    ids=["numbers", "number", "label", "sets", "table", "words", "components", "landmarks"],
)
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("n_components", [None, 12])
def test_models_come_back_from_files(tmp_path, outputs, y, form, n_components):
    kernel = Decomposable(RBF(0.3), "covariance", identity=0.1)
    ridge = VectorValuedRidge(outputs, kernel, n_components=n_components).fit(form(X), y)
    ridge.save(tmp_path / "ridge.slm")
    again = structlearn.load(tmp_path / "ridge.slm")
    np.testing.assert_array_equal(again.predict(form(NEW)), ridge.predict(form(NEW)))
    assert again.left_out_ == ridge.left_out_


def test_heat_on_a_graph_of_inputs_and_strings_as_inputs():
    edges = np.diag(np.ones(5), 1) + np.diag(np.ones(5), -1)
    known = VectorValuedRidge(None, heat_kernel(edges, 2.0), lam=1e-3).fit([[0.0], [5.0]], [0.0, 1.0])
    values = known.predict(np.arange(6.0)[:, None])
    assert (np.diff(values) > 0).all()
    strings = VectorValuedRidge(LabelOutputs(), Spectrum(2), lam=0.01).fit(["abab", "baba", "cdcd"], ["ab", "ab", "cd"])
    assert strings.predict(["ab", "dcdc"]).tolist() == ["ab", "cd"]
    by_number = VectorValuedRidge(None, Precomputed(RBF(0.3)(X)), lam=0.05).fit(np.arange(30)[:, None], NUMBERS)
    direct = VectorValuedRidge(None, RBF(0.3), lam=0.05).fit(X, NUMBERS)
    np.testing.assert_allclose(by_number.predict([[3.0]]), direct.predict(X[3:4]))


def test_a_learnt_operator_couples_outputs_that_belong_together():
    shared = np.sin(X[:, :1]) + 0.3 * RANDOM.normal(size=(30, 4))
    ridge = VectorValuedRidge(None, Decomposable(RBF(0.3), "learnt"), lam=0.1, max_iter=5000).fit(X, shared)
    A = ridge.kernel_.terms[0].A
    assert ridge.method_ == "alternation"
    assert np.linalg.eigvalsh(A)[-1] > 0.9 * np.trace(A)
    with pytest.warns(ConvergenceWarning, match="A was still changing"):
        VectorValuedRidge(None, Decomposable(RBF(0.3), "learnt"), lam=0.02, max_iter=2).fit(X, shared)


def test_steps_that_do_not_suffice_are_told():
    kernel = Decomposable(RBF(0.3)) + Decomposable(Linear(), np.ones((3, 3)))
    with pytest.warns(ConvergenceWarning, match="conjugate gradients stopped after 2 steps"):
        VectorValuedRidge(None, kernel, lam=1e-4, max_iter=2).fit(X, NUMBERS)


def indefinite(left, right):
    return -np.ones((len(left), len(right)))


def lopsided(left, right):
    return 1.0 + left[:, :1] + 0.0 * right[:, 0]


@pytest.mark.parametrize(
    ("options", "x", "y", "message"),
    [
        ({"lam": 0.0}, X, NUMBERS, "lam is 0.0; it must be a positive number"),
        ({"lam": []}, X, NUMBERS, "lam is an empty list"),
        ({"kernel": []}, X, NUMBERS, "kernel is an empty list"),
        ({"kernel": "other"}, X, NUMBERS, "kernel is 'other'"),
        ({"outputs": "labels"}, X, NUMBERS, "outputs is 'labels'; give an object of structlearn.outputs"),
        ({"kernel": Decomposable("rbf", np.eye(2))}, X, NUMBERS, r"A has shape \(2, 2\), but outputs have 3"),
        ({"kernel": Decomposable("rbf") + Decomposable("linear")}, X, NUMBERS, "one kernel and one lam"),
        ({"outputs": LabelSequenceOutputs()}, X, LABELS, "a sequence is a matrix with a row a token"),
        (
            {"outputs": LabelSequenceOutputs(), "kernel": Spectrum(2)},
            ["ab", "ba"],
            [["a", "b"], ["b", "a"]],
            r"kernel is Spectrum\(n=2\), but LabelSequenceOutputs needs a kernel of rows of features",
        ),
        ({"outputs": LabelOutputs()}, X, LABELS[:5], "X has 30 examples but y has 5 entries"),
        ({"outputs": LabelSetOutputs()}, X, [{"a"}] * 30, "all outputs of y are the same; two kinds are needed"),
        ({"outputs": MatchingOutputs()}, [np.ones((1, 1, 2))] * 3, [[(0, 0)]] * 3, "all parts of y are the same"),
        ({"outputs": DependencyTreeOutputs()}, [np.ones((2, 1, 2))] * 3, [[0]] * 3, "all parts of y are the same"),
        ({"kernel": Decomposable("rbf", [[1, 2], [2, 1]])}, X, NUMBERS, "A is not positive semidefinite"),
        ({"kernel": indefinite, "lam": 0.1}, X, NUMBERS, "matrix of 30 examples of X is not positive semidefinite"),
        ({"kernel": lopsided}, X, NUMBERS, r"the kernel of X\[\d+\] and X\[\d+\] is .* a kernel is symmetric"),
        (
            {"outputs": KernelOutputs(Spectrum(2)), "kernel": Decomposable("rbf", "learnt"), "lam": 1.0},
            X,
            WORDS,
            "A is learnt for outputs with coordinates",
        ),
        (
            {"outputs": KernelOutputs(Spectrum(2)), "kernel": Decomposable("rbf", np.eye(9)), "lam": 1.0},
            X,
            WORDS,
            "A ",
        ),
    ],
)
def test_what_cannot_be_learnt_is_refused_by_name(options, x, y, message):
    with pytest.raises(ValueError, match=message):
        VectorValuedRidge(**options).fit(x, y)


def test_vectors_that_do_not_fit_into_memory_are_refused_with_their_size(monkeypatch):
    tokens = [np.ones((10, 1))] * 50
    labels = [[str(i * 10 + t) for t in range(10)] for i in range(50)]
    monkeypatch.setattr("structlearn.estimators.vector_valued.base.available_memory", lambda: 900_000_000)
    message = "vectors of 500 rows × 250,500 coordinates would take 1.0 GB, and 900 MB are available; .*edges=0"
    for learner in (VectorValuedRidge, VectorValuedSVM):
        with pytest.raises(ValueError, match=message):
            learner(LabelSequenceOutputs(), "linear").fit(tokens, labels)
    few = slice(0, 4)
    path = VectorValuedRidge(LabelSequenceOutputs(), "linear", lam=[0.1, 1.0]).fit(tokens[few], labels[few])
    assert len(path.left_out_) == 2
    monkeypatch.setattr("structlearn.estimators.vector_valued.base.available_memory", lambda: 20_000_000)
    with pytest.raises(ValueError, match="A of 1,640 × 1,640 coordinates would take"):
        VectorValuedRidge(LabelSequenceOutputs(), Decomposable("linear", "covariance")).fit(tokens[few], labels[few])
    ridge = VectorValuedRidge(LabelSequenceOutputs(edges=0), "linear", lam=0.1).fit(tokens, labels)
    monkeypatch.setattr("structlearn.estimators.vector_valued.base.available_memory", lambda: 1_900_000)
    with pytest.raises(ValueError, match="vectors of 500 rows × 500 coordinates would take"):
        ridge.predict(tokens)
    assert len(ridge.predict(tokens[:2])[1]) == 10
