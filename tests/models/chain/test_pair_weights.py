"""Weights that come into being when training needs them: the optimum is that of the model with all of them."""

import numpy as np
import pytest
import scipy.sparse as sp

from structlearn import ConditionalRandomField, StructuralSVM, load
from structlearn._core import PairLayout
from structlearn.data.feature_pairs import FeaturePairs
from structlearn.estimators import memory
from structlearn.models import Chain
from structlearn.models.base import LinearSpec
from structlearn.solvers import BlockCoordinate, NSlack, OneSlack, Perceptron, Subgradient
from tests.estimators.test_checkpoint import StopAt


@pytest.fixture
def growing(monkeypatch):
    """Every chain is large enough for it."""
    monkeypatch.setattr(memory, "MANY_WEIGHTS", 0)


def sentences(n=30, n_words=80, n_labels=6, seed=0):
    """Words with one or two labels, and a feature that all tokens have."""
    random = np.random.default_rng(seed)
    X, Y = [], []
    for _ in range(n):
        words = random.integers(n_words, size=random.integers(1, 8))
        matrix = np.zeros((len(words), n_words + 1))
        matrix[np.arange(len(words)), words] = 1.0
        matrix[:, -1] = 1.0
        X.append(sp.csr_array(matrix))
        Y.append(((words * 7 + random.integers(2, size=len(words))) % n_labels).tolist())
    return X, Y


def whole(svm):
    """All weights in the order of a whole w."""
    parts = svm.model_.unpack(svm.spec_, svm.w_)
    return np.concatenate([part.ravel() for part in parts if part is not None])


MODELS = [
    Chain(),
    Chain(boundaries=False),
    Chain(order=2),
    Chain(pair_features=[0, 3, 80]),
    Chain(pair_features=True, order=2, balance=0.5),
]


@pytest.mark.sample(2)
@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_the_optimum_is_that_of_all_weights(model, growing, monkeypatch):
    X, Y = sentences()
    sparse = StructuralSVM(model, C=30.0, tol=1e-7).fit(X, Y)
    monkeypatch.setattr(memory, "MANY_WEIGHTS", 2**40)
    dense = StructuralSVM(model, C=30.0, tol=1e-7).fit(X, Y)
    assert dense.spec_.pairs is None
    assert len(sparse.w_) < len(dense.w_)
    assert sparse.objective_ == pytest.approx(dense.objective_, rel=1e-6)
    np.testing.assert_allclose(whole(sparse), whole(dense), atol=2e-3)
    assert model.bind(dense.spec_, X).best_scored(whole(sparse), np.arange(30))[1] == pytest.approx(
        model.bind(sparse.spec_, X).best_scored(sparse.w_, np.arange(30))[1]
    )


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    "solver",
    [BlockCoordinate(tol=1e-6), BlockCoordinate(averaging=True, tol=1e-3), NSlack(tol=1e-4), OneSlack(tol=1e-4)],
)
def test_every_solver_that_certifies_finds_it(solver, growing):
    X, Y = sentences()
    svm = StructuralSVM(Chain(), C=30.0, solver=solver).fit(X, Y)
    assert svm.spec_.pairs is not None
    assert svm.objective_ == pytest.approx(
        StructuralSVM(Chain(), C=30.0, tol=1e-7).fit(X, Y).objective_, rel=2 * solver.tol
    )


@pytest.mark.parametrize("solver", [Perceptron(max_iter=3), Subgradient(max_iter=3)])
def test_solvers_without_a_certificate_do_the_same_as_with_all_weights(solver, growing, monkeypatch):
    X, Y = sentences()
    sparse = StructuralSVM(Chain(), solver=solver).fit(X, Y)
    monkeypatch.setattr(memory, "MANY_WEIGHTS", 2**40)
    dense = StructuralSVM(Chain(), solver=solver).fit(X, Y)
    np.testing.assert_allclose(whole(sparse), whole(dense), atol=1e-12)


def test_weights_that_must_not_be_negative_are_all_there(growing):
    X, Y = sentences()
    svm = StructuralSVM(Chain(), nonnegative=True).fit(X, Y)
    assert svm.spec_.pairs is None
    assert (svm.w_ >= 0).all()


def test_what_is_fitted_can_do_what_it_always_can(growing, tmp_path, monkeypatch):
    X, Y = sentences()
    sparse = StructuralSVM(Chain(), C=30.0, tol=1e-7).fit(X, Y)
    monkeypatch.setattr(memory, "MANY_WEIGHTS", 2**40)
    dense = StructuralSVM(Chain(), C=30.0, tol=1e-7).fit(X, Y)
    assert sparse.score(X, Y) == dense.score(X, Y)
    ours, theirs = sparse.top_weights(3), dense.top_weights(3)
    assert [w for _, w in ours.features[0]] == pytest.approx([w for _, w in theirs.features[0]], abs=2e-3)
    assert ours.transitions[0][:2] == theirs.transitions[0][:2]
    sparse.save(tmp_path / "m.slm")
    again = load(tmp_path / "m.slm")
    assert again.predict(X) == sparse.predict(X)
    np.testing.assert_array_equal(again.spec_.pairs.parts, sparse.spec_.pairs.parts)
    why, same = sparse.explain(X[0], 0), dense.explain(X[0], 0)
    assert sum(each.amount for each in why.contributions) == pytest.approx(
        sum(each.amount for each in same.contributions), abs=2e-3
    )
    assert sum(each.amount for each in sparse.explain(X[1]).parts) == pytest.approx(
        sum(each.amount for each in dense.explain(X[1]).parts), abs=2e-3
    )


def test_held_out_examples_are_judged_with_the_weights_of_training(growing):
    X, Y = sentences()
    svm = StructuralSVM(Chain(), C=30.0, n_iter_no_change=2).fit(X[:20], Y[:20], validation=(X[20:], Y[20:]))
    least = min(record["validation_loss"] for record in svm.history_)
    wrong = sum(a != b for x, y in zip(svm.predict(X[20:]), Y[20:], strict=True) for a, b in zip(x, y, strict=True))
    assert wrong / 10 == pytest.approx(least)


def test_a_run_that_was_stopped_goes_on_as_if_it_had_not_been(growing, tmp_path):
    X, Y = sentences(60)
    svm = StructuralSVM(Chain(), C=200.0, tol=1e-6, random_state=0)
    straight = svm.fit(X, Y)
    w, history = straight.w_.copy(), [record["primal"] for record in straight.history_]
    stopped = StructuralSVM(Chain(), C=200.0, tol=1e-6, random_state=0).set_callbacks(StopAt(3))
    stopped.fit(X, Y, checkpoint=tmp_path / "run")
    assert len(stopped.history_) < len(history)
    resumed = StructuralSVM(Chain(), C=200.0, tol=1e-6, random_state=0).fit(X, Y, checkpoint=tmp_path / "run")
    np.testing.assert_array_equal(resumed.w_, w)
    assert [record["primal"] for record in resumed.history_] == pytest.approx(history, nan_ok=True)


def test_a_warm_start_goes_on_from_the_weights_that_there_are(growing):
    X, Y = sentences()
    svm = StructuralSVM(Chain(), C=3.0, warm_start=True, tol=1e-6).fit(X, Y)
    again = svm.set_params(C=30.0).fit(X, Y)
    assert again.objective_ == pytest.approx(StructuralSVM(Chain(), C=30.0, tol=1e-6).fit(X, Y).objective_, rel=1e-5)


def test_a_likelihood_over_observed_features_keeps_only_these():
    X, Y = sentences()
    crf = ConditionalRandomField(Chain(observed_only=True), tol=1e-6).fit(X, Y)
    seen = {(f, label) for x, y in zip(X, Y, strict=True) for t, label in enumerate(y) for f in x[[t]].indices.tolist()}
    pairs = crf.spec_.pairs
    assert set(zip(pairs.rows.tolist(), [crf.spec_.classes[p] for p in pairs.parts], strict=True)) <= seen
    assert len(crf.w_) == len(pairs) + 6 * 6 + 2 * 6


def test_a_layout_lists_the_pairs_it_has_with_a_weight_of_their_own_each():
    layout = PairLayout(5, 40)
    layout.fill_rows(np.array([7]), 30)
    layout.reserve_rows(np.array([2]), np.array([3]))
    rows, parts, indices = layout.pairs()
    assert rows.tolist() == [7] * 30
    assert parts.tolist() == list(range(30))
    assert len(set(indices.tolist())) == 30
    assert 5 <= indices.min() <= indices.max() < layout.n_weights


def test_a_layout_from_a_file_is_taken_up_or_refused():
    layout, other = PairLayout(5, 3), PairLayout(5, 3)
    layout.fill_rows(np.array([1]), 4)
    slices, parts, reserved = layout.save()
    assert other.restore(slices, parts, reserved, 4)
    assert [array.tolist() for array in other.pairs()] == [array.tolist() for array in layout.pairs()]
    assert not other.restore(slices, parts, reserved, 3)
    assert not other.restore(slices[:-4], parts, reserved, 4)
    assert not other.restore(slices, parts[:-1], reserved, 4)
    assert not other.restore(slices, parts, 10**12, 4)
    for place in range(len(slices)):
        for value in (-3, 10**9, 2**40):
            edited = slices.copy()
            edited[place] = value
            assert not other.restore(edited, parts, reserved, 4)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"indptr": np.array([0, 2]), "parts": np.array([1], np.int32)}, "divide"),
        ({"indptr": np.array([0, 2, 1]), "parts": np.array([1], np.int32)}, "divide"),
        ({"indptr": np.array([0, 2]), "parts": np.array([1, 1], np.int32)}, "increase"),
        ({"indptr": np.array([0, 2]), "parts": np.array([-1, 1], np.int32)}, "increase"),
        ({"indptr": np.array([0, 1]), "parts": np.array([1.0])}, "int32"),
        ({"indptr": [0, 1], "parts": np.array([1], np.int32)}, "int64"),
    ],
)
def test_pairs_that_are_none_are_refused(values, words):
    with pytest.raises(ValueError, match=words):
        FeaturePairs.from_dict(values)


def test_pairs_beyond_the_features_or_labels_are_refused():
    pairs = FeaturePairs(np.array([0, 1, 2]), np.array([0, 2], np.int32))
    with pytest.raises(ValueError, match="pairs of 2 features, but 3"):
        Chain().n_weights(LinearSpec(("a", "b", "c"), 3, pairs=pairs))
    with pytest.raises(ValueError, match="part 2 of 2"):
        Chain().n_weights(LinearSpec(("a", "b"), 2, pairs=pairs))
