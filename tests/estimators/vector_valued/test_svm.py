"""The vector-valued SVM is the structural SVM with the joint kernel ⟨ỹ, K(x, x′)ỹ′⟩, and certifies it."""

import warnings
from itertools import product

import clarabel
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

import structlearn
from structlearn import KernelStructuralSVM, StructuralSVM, VectorValuedSVM
from structlearn.datasets import load_digit_sequences
from structlearn.kernels import RBF, Decomposable, FunctionKernel, Spectrum, graph_smoothing
from structlearn.models import Multiclass, MultiLabel
from structlearn.outputs import KernelOutputs, LabelOutputs, LabelSequenceOutputs, LabelSetOutputs, VectorOutputs

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(40, 3))
LABELS = np.array(["a", "b", "c"])[np.abs(X).argmax(axis=1)]
SETS = [{name for name, x in zip("abc", row, strict=True) if x > 0} for row in X]
PRECISE = {"tol": 3e-4, "max_iter": 20_000}
SEQUENCES = [RANDOM.normal(size=(n, 2)) for n in (3, 2, 1, 3)]
TAGS = [["a" if x[0] > 0 else "b" for x in sequence] for sequence in SEQUENCES]


def joint_optimum(svm, inputs, listed):
    """The least objective by the dual with the joint kernel, every output of every example written out."""
    outputs, kernel = svm.outputs_, svm.kernel_.terms[0]
    H = np.eye(outputs.n_coordinates()) if outputs.metric_ is None else outputs.metric_
    A = H if isinstance(kernel.A, str) else kernel.A
    parts, losses, owners = [], [], []
    for i, (x, truth, others) in enumerate(zip(*listed, strict=True)):
        offsets = np.array([0, len(x)])
        T = outputs.targets([truth], offsets)
        for y in others:
            apart = T - outputs.targets([y], offsets)
            parts.append((i, apart))
            square = max(0.0, np.vdot(apart @ H, apart))
            wrong = y != truth if svm.loss == "zero_one" else sum(a != b for a, b in zip(y, truth, strict=False))
            losses.append({"squared": square, "distance": np.sqrt(square)}.get(svm.loss, wrong))
            owners.append(i)
    grams = {(i, j): kernel.kernel(inputs[i], inputs[j]) for i in range(len(inputs)) for j in range(len(inputs))}
    Q = np.array([[np.vdot(p @ A, grams[i, j] @ q) for j, q in parts] for i, p in parts])
    m, n = len(parts), len(inputs)
    prices = svm.C_ / n * np.ones(n)
    limits = np.concatenate([np.zeros(m), prices])
    constraints = sp.csc_matrix(
        np.vstack([-np.eye(m), [[owner == i for owner in owners] for i in range(n)]]).astype(float)
    )
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    cones = [clarabel.NonnegativeConeT(m + n)]
    Q = sp.csc_matrix(np.triu(Q + 1e-12 * np.eye(m)))
    return -clarabel.DefaultSolver(Q, -np.array(losses, float), constraints, limits, cones, settings).solve().obj_val


@pytest.mark.parametrize("edges", [0.0, 0.7])
@pytest.mark.parametrize("A", ["identity", "covariance"])
@pytest.mark.parametrize(
    ("loss", "solver"),
    [
        (None, "block_coordinate"),
        ("squared", "block_coordinate"),
        ("distance", "block_coordinate"),
        ("hamming", "exponentiated_gradient"),
        ("squared", "exponentiated_gradient"),
    ],
)
def test_it_is_the_structural_svm_with_the_joint_kernel(edges, A, loss, solver):
    kernel = Decomposable(RBF(0.5), A)
    svm = VectorValuedSVM(LabelSequenceOutputs(edges), kernel, C=6.0, loss=loss, solver=solver, **PRECISE)
    svm.fit(SEQUENCES, TAGS)
    listed = (SEQUENCES, TAGS, [[list(y) for y in product("ab", repeat=len(x))] for x in SEQUENCES])
    assert svm.objective_ == pytest.approx(joint_optimum(svm, SEQUENCES, listed), rel=5e-4)
    assert svm.duality_gap_ <= 3e-4


@pytest.mark.parametrize("solver", ["block_coordinate", "exponentiated_gradient"])
def test_similar_labels_cost_less_to_confuse(solver):
    S = np.array([[1.0, 0.6, 0.0], [0.6, 1.0, 0.0], [0.0, 0.0, 1.0]])
    svm = VectorValuedSVM(LabelOutputs(S), RBF(0.5), C=6.0, loss="squared", solver=solver, **PRECISE).fit(X, LABELS)
    inputs = [row[None] for row in X]
    assert svm.objective_ == pytest.approx(joint_optimum(svm, inputs, (inputs, LABELS, ["abc"] * len(X))), rel=5e-4)


@pytest.mark.parametrize("solver", ["block_coordinate", "exponentiated_gradient"])
def test_the_dual_never_falls(solver):
    for outputs, y in ((LabelOutputs(), LABELS), (LabelSetOutputs(), SETS)):
        svm = VectorValuedSVM(outputs, RBF(0.4), C=200.0, loss="squared", solver=solver, tol=0.01, max_iter=5000).fit(
            X, y
        )
        duals = [record["dual"] for record in svm.history_]
        assert (np.diff(duals) >= -1e-9).all()
        assert all(record["dual"] <= svm.objective_ * (1 + 1e-12) for record in svm.history_)
        assert svm.converged_


def test_the_distance_of_sets_is_the_root_of_how_many_labels_are_wrong():
    sets = [{name for name, has in zip("abc", bits, strict=True) if has} for bits in product((0, 1), repeat=3)]
    svm = VectorValuedSVM(LabelSetOutputs(), RBF(0.5), C=6.0, loss="distance", **PRECISE).fit(X[:12], SETS[:12])
    inputs = [row[None] for row in X[:12]]
    listed = (inputs, [frozenset(y) for y in SETS[:12]], [list(map(frozenset, sets))] * 12)
    assert svm.objective_ == pytest.approx(joint_optimum(svm, inputs, listed), rel=5e-4)


WORDS = ["banana", "bandana", "cabana", "ananas", "banal", "canal", "banana", "cabal"]


@pytest.mark.parametrize("loss", ["zero_one", "squared", "distance"])
@pytest.mark.parametrize("candidates", [None, ["bananas", "banana", "lanal", "panama"]])
def test_outputs_with_a_kernel_need_no_coordinates(loss, candidates):
    outputs = KernelOutputs(Spectrum(2), candidates)
    svm = VectorValuedSVM(outputs, RBF(0.5), C=40.0, loss=loss, **PRECISE).fit(X[:8], WORDS)
    inputs = [row[None] for row in X[:8]]
    # Targets of candidates, as of all that is listed.
    svm.outputs_.n_known_ = len(svm.outputs_.listed_)
    optimum = joint_optimum(svm, inputs, (inputs, WORDS, [candidates or sorted(set(WORDS))] * 8))
    assert svm.objective_ == pytest.approx(optimum, rel=5e-4)
    assert svm.duality_gap_ <= 3e-4
    assert svm.kernel_.terms[0].A == "identity"


def test_predicted_are_candidates_and_files_have_them(tmp_path):
    for candidates in (None, ["bananas", "lanal"]):
        outputs = KernelOutputs(Spectrum(2), candidates)
        svm = VectorValuedSVM(outputs, RBF(0.5), C=400.0, loss="squared").fit(X[:8], WORDS)
        assert set(svm.predict(X)) <= set(candidates or WORDS)
        assert candidates or svm.score(X[:8], WORDS) == 1.0
        svm.save(tmp_path / "words.slm")
        loaded = structlearn.load(tmp_path / "words.slm")
        assert loaded.predict(X) == svm.predict(X)
        assert loaded.loss == "squared"


def test_distributions_over_listed_outputs_have_the_same_optimum():
    fits = [
        VectorValuedSVM(KernelOutputs(Spectrum(2)), RBF(0.5), C=40.0, loss="squared", solver=solver, **PRECISE)
        for solver in ("block_coordinate", "exponentiated_gradient")
    ]
    first, second = (svm.fit(X[:8], WORDS).objective_ for svm in fits)
    assert first == pytest.approx(second, rel=5e-4)


def test_one_label_an_example_is_multiclass():
    vector = VectorValuedSVM(LabelOutputs(), "linear", C=20.0, **PRECISE).fit(X, LABELS)
    structural = StructuralSVM(Multiclass(), C=20.0, tol=1e-6).fit(X, LABELS)
    assert vector.objective_ == pytest.approx(structural.objective_, rel=5e-4)
    vector = VectorValuedSVM(LabelOutputs(), RBF(0.4), C=20.0, **PRECISE).fit(X, LABELS)
    kernel = KernelStructuralSVM(Multiclass(), RBF(0.4), C=20.0, solver="exact", tol=1e-4).fit(X, LABELS)
    assert vector.objective_ == pytest.approx(kernel.objective_, rel=5e-4)
    assert (vector.predict(X) == kernel.predict(X)).mean() > 0.95


def test_labels_by_themselves_are_multilabel_without_pairs():
    # A label that is there and one that is not have weights of their own there: half the norm, and so half of all.
    vector = VectorValuedSVM(LabelSetOutputs(), "linear", C=40.0, **PRECISE).fit(X, SETS)
    structural = StructuralSVM(MultiLabel(pairs="independent"), C=20.0, tol=1e-6).fit(X, SETS)
    assert 0.5 * vector.objective_ == pytest.approx(structural.objective_, rel=5e-4)


def test_weights_are_copies():
    weight = np.where(np.arange(40) % 3 == 0, 2.0, 1.0)
    copies = np.repeat(np.arange(40), weight.astype(int))
    weighted = VectorValuedSVM(LabelOutputs(), RBF(0.4), C=20.0, **PRECISE).fit(X, LABELS, sample_weight=weight)
    copied = VectorValuedSVM(LabelOutputs(), RBF(0.4), C=20.0, **PRECISE).fit(X[copies], LABELS[copies])
    assert weighted.objective_ == pytest.approx(copied.objective_, rel=5e-4)


def test_a_graph_over_labels_is_an_operator():
    A = graph_smoothing(np.ones((3, 3)) - np.eye(3), 1.0)
    svm = VectorValuedSVM(LabelSetOutputs(), Decomposable(RBF(0.4), A), C=200.0).fit(X, SETS)
    assert svm.score(X, SETS) > 0.9


def test_it_reads_handwritten_digits_and_comes_back_from_a_file(tmp_path):
    data = load_digit_sequences(random_state=0)
    svm = VectorValuedSVM(LabelSequenceOutputs(edges=0.2), RBF(0.002), C=300.0, tol=0.1).fit(data.X[:40], data.Y[:40])
    assert svm.score(data.X[60:], data.Y[60:]) > 0.85
    svm.save(tmp_path / "digits.slm")
    assert structlearn.load(tmp_path / "digits.slm").predict(data.X[60:70]) == svm.predict(data.X[60:70])


def test_an_unfinished_run_warns_and_keeps_what_it_has():
    with pytest.warns(ConvergenceWarning, match="stopped at max_iter=1 passes at a relative duality gap of"):
        svm = VectorValuedSVM(LabelOutputs(), RBF(0.4), C=1000.0, tol=1e-9, max_iter=1).fit(X, LABELS)
    assert not svm.converged_
    assert len(svm.history_) == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"outputs": VectorOutputs()}, "give LabelOutputs, LabelSetOutputs or LabelSequenceOutputs"),
        ({"outputs": KernelOutputs("linear", n_components=2)}, "n_components of KernelOutputs is 2"),
        (
            {"outputs": KernelOutputs("linear"), "loss": "hamming"},
            "these outputs have 'zero_one', 'squared', 'distance'",
        ),
        ({"outputs": KernelOutputs("linear"), "kernel": Decomposable("rbf", "covariance")}, "A must be 'identity'"),
        (
            {"outputs": KernelOutputs(Spectrum(1), ["a"]), "solver": "exponentiated_gradient"},
            "needs the truth among the candidates",
        ),
        ({"kernel": Decomposable("rbf", "learnt")}, "with an A that is not learnt"),
        ({"kernel": Decomposable("rbf") + Decomposable("linear")}, "kernel must be a single term"),
        ({"C": 0.0}, "C is 0.0"),
        ({"tol": -1.0}, "tol is -1.0"),
        ({"loss": "f1"}, "loss is 'f1'; these outputs have 'hamming', 'squared', 'distance'"),
        ({"loss": "distance", "outputs": LabelSequenceOutputs(1.0, np.eye(2))}, "take loss='squared'"),
        ({"solver": "n_slack"}, "solver is 'n_slack'; it may be 'auto', 'block_coordinate'"),
        ({"solver": "exponentiated_gradient", "loss": "distance"}, "needs a loss that is a sum over parts"),
        ({"random_state": -1}, "random_state is -1"),
    ],
)
def test_options_that_cannot_be_are_refused_by_name(options, message):
    with pytest.raises(ValueError, match=message), warnings.catch_warnings():
        VectorValuedSVM(**{"outputs": LabelOutputs()} | options).fit(X, LABELS)


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (lambda a, b: -(a @ b.T), "the kernel matrix of X is not positive semidefinite"),
        (lambda a, b: a @ np.roll(b, 1, axis=1).T, "a kernel is symmetric"),
    ],
    ids=["indefinite", "asymmetric"],
)
def test_functions_that_are_no_kernels_are_refused(kernel, message):
    X = np.random.default_rng(0).normal(size=(20, 3))
    with pytest.raises(ValueError, match=message):
        VectorValuedSVM(LabelSetOutputs(), FunctionKernel(kernel)).fit(X, (X[:, :2] > 0).astype(int))


def test_sets_that_are_all_the_same_are_refused():
    with pytest.raises(ValueError, match="all outputs of y are the same; two kinds are needed"):
        VectorValuedSVM(LabelSetOutputs()).fit(X, [{"a"}] * len(X))


def test_what_takes_one_row_an_example_is_called_as_it_was_given():
    with pytest.raises(ValueError, match="but KernelOutputs has one vector an example"):
        VectorValuedSVM(KernelOutputs(Spectrum(1))).fit([np.ones((2, 3))] * 2, ["ab", "ba"])
