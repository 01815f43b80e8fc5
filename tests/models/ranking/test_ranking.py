"""Every loss of rankings against all rankings, and the ranking SVM against a classifier of pairs."""

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score
from sklearn.svm import LinearSVC

import structlearn
from structlearn import StructuralSVM
from structlearn.evaluation import evaluate
from structlearn.metrics import average_precision
from structlearn.models import Ranking
from structlearn.models.ranking.spec import DocumentSpec
from structlearn.waist import Scaling
from tests.models.ranking.enumerated_ranking import all_rankings, better_pairs, measure

MARGIN = Scaling("margin", "linear")
LOSSES = ["roc_area", "average_precision", "ndcg", "precision_at_k", "recall_at_k", "break_even"]
seeds = st.integers(0, 2**32 - 1)


def queries(seed, n_queries=3, *, grades=3, max_documents=5):
    """Small queries in which not all documents are of one relevance; small whole numbers make scores equal."""
    random = np.random.default_rng(seed)
    X, Y = [], []
    while len(X) < n_queries:
        n = int(random.integers(2, max_documents + 1))
        y = random.integers(0, grades, n)
        if (y > 0).any() and (y == 0).any():
            X.append(random.integers(-2, 3, (n, 3)).astype(float))
            Y.append(y.tolist())
    return X, Y, random.integers(-2, 3, 3) * random.choice([0.2, 1.0])


def bound(model, X, Y):
    return model.bind(model.specify(X, Y), X, Y)


@pytest.mark.parametrize("loss", LOSSES)
@settings(max_examples=60)
@given(seed=seeds, k=st.integers(1, 4), gain=st.sampled_from(["exponential", "linear"]))
def test_the_most_violating_ranking_agrees_with_enumeration(loss, seed, k, gain):
    X, Y, w = queries(seed, grades=2 if loss == "roc_area" else 3, max_documents=6 if seed % 8 == 0 else 5)
    problem = Ranking(loss, k=k, gain=gain).bind(DocumentSpec(3), X, Y)
    planes = problem.oracle(w, np.arange(3), MARGIN)
    for i in range(3):
        _, rows, losses = all_rankings(loss, X[i], Y[i], k, gain)
        assert planes.bounds[i] == pytest.approx((losses - rows @ w).max(), abs=1e-9)
        assert problem.max_losses()[i] == pytest.approx(losses.max())
        assert problem.radii()[i] >= np.linalg.norm(rows, axis=1).max() - 1e-9


@pytest.mark.parametrize("loss", LOSSES)
@settings(max_examples=25)
@given(seed=seeds, k=st.integers(1, 4))
def test_differences_and_losses_of_any_ranking_are_those_of_the_definition(loss, seed, k):
    X, Y, _ = queries(seed, n_queries=1, max_documents=4)
    problem = Ranking(loss, k=k).bind(DocumentSpec(3), X, Y)
    rankings, rows, losses = all_rankings(loss, X[0], Y[0], k, "exponential")
    for ranking, row, value in zip(rankings, rows, losses, strict=True):
        found, its_loss = problem.differences(np.array([0]), [np.array(ranking)])
        dense = np.zeros((1, 3))
        found.add_to(dense[0], np.ones(1))
        assert dense[0] == pytest.approx(row, abs=1e-12)
        assert its_loss[0] == pytest.approx(value, abs=1e-12)


@given(seed=seeds)
def test_with_several_grades_the_slack_is_the_mean_hinge_of_all_pairs(seed):
    X, Y, w = queries(seed, grades=4)
    planes = bound(Ranking("roc_area"), X, Y).oracle(w, np.arange(3), MARGIN)
    for i in range(3):
        margins = [(X[i][a] - X[i][b]) @ w for a, b in better_pairs(Y[i])]
        assert planes.bounds[i] == pytest.approx(np.maximum(0, 1 - np.array(margins)).mean())
        _, rows, losses = all_rankings("roc_area", X[i], Y[i], None, None)
        assert planes.bounds[i] >= (losses - rows @ w).max() - 1e-9


@settings(max_examples=30)
@given(seed=seeds)
def test_without_k_all_places_count_in_ndcg(seed):
    X, Y, w = queries(seed, grades=4)
    planes = Ranking("ndcg").bind(DocumentSpec(3), X, Y).oracle(w, np.arange(3), MARGIN)
    for i in range(3):
        _, rows, losses = all_rankings("ndcg", X[i], Y[i], None, "exponential")
        assert planes.bounds[i] == pytest.approx((losses - rows @ w).max(), abs=1e-9)


def test_ndcg_of_too_many_documents_is_refused_by_name():
    with pytest.raises(
        ValueError, match=r"Y\[0\] has 300 documents of 5 different labels, too many for the NDCG of the"
    ):
        Ranking("ndcg").bind(DocumentSpec(1), [np.zeros((300, 1))], [np.arange(300) % 5])
    assert Ranking("ndcg", k=10).bind(DocumentSpec(1), [np.zeros((300, 1))], [np.arange(300) % 5]).n_examples == 1


@given(seed=seeds)
def test_predictions_sort_by_score_and_keep_the_order_of_equal_ones(seed):
    X, Y, w = queries(seed)
    problem = bound(Ranking(), X, Y)
    for x, ranking in zip(X, problem.predict(w), strict=True):
        assert ranking.tolist() == sorted(range(len(x)), key=lambda j: -(x[j] @ w))
    assert all(ranking.dtype == np.int64 for ranking in problem.present(problem.predict(w)))


@given(seed=seeds)
def test_roc_area_is_that_of_scikit_learn(seed):
    random = np.random.default_rng(seed)
    x, y = random.normal(size=(12, 2)), np.arange(12) % 3 == 0
    problem = bound(Ranking("roc_area"), [x], [y])
    w = random.normal(size=2)
    assert 1 - problem.losses(problem.predict(w))[0] == pytest.approx(roc_auc_score(y, x @ w))


def test_the_ranking_svm_is_scikit_learns_classifier_of_pairs():
    random = np.random.default_rng(3)
    X = [random.normal(size=(5, 3)) for _ in range(4)]
    Y = [[2, 0, 1, 0, 1], [0, 1, 0, 0, 2], [1, 1, 0, 0, 0], [0, 2, 1, 0, 0]]
    svm = StructuralSVM(Ranking("roc_area"), C=20, tol=1e-7).fit(X, Y)
    rows, prices = [], []
    for x, y in zip(X, Y, strict=True):
        pairs = better_pairs(y)
        rows += [x[i] - x[j] for i, j in pairs]
        prices += [20 / (4 * len(pairs))] * len(pairs)
    side = np.where(np.arange(len(rows)) % 2, 1.0, -1.0)
    pairwise = LinearSVC(loss="hinge", C=1, fit_intercept=False, tol=1e-9, max_iter=10**6)
    pairwise.fit(side[:, None] * rows, side, prices)
    w = pairwise.coef_[0]
    expected = 0.5 * w @ w + prices @ np.maximum(0, 1 - np.array(rows) @ w)
    assert svm.objective_ == pytest.approx(expected, rel=1e-6)
    assert svm.w_ == pytest.approx(w, abs=1e-3)


@pytest.mark.parametrize("loss", LOSSES)
def test_training_closes_the_gap_and_learns_to_rank(loss):
    random = np.random.default_rng(0)
    X = [random.normal(size=(int(random.integers(8, 15)), 4)) for _ in range(30)]
    Y = [np.digitize(x @ [2.0, -1.0, 0.0, 1.0] + 0.3 * random.normal(size=len(x)), [0.5, 3.0]) for x in X]
    X, Y = zip(*[(x, y) for x, y in zip(X, Y, strict=True) if 0 < (y > 0).sum() < len(y)], strict=True)
    svm = StructuralSVM(Ranking(loss, k=3), C=300, tol=1e-3).fit(list(X), list(Y))
    assert svm.duality_gap_ <= 1e-3
    assert svm.score(list(X), list(Y)) > 0.9
    mean = np.mean([measure(loss, r, y, 3, "exponential") for r, y in zip(svm.predict(X), Y, strict=True)])
    assert mean > 0.6 if loss == "recall_at_k" else mean > 0.85
    if loss != "recall_at_k":
        # The slack bounds the loss: what precision at k cannot reach is no loss.
        assert svm.slacks_.mean() >= np.mean(svm._bind(X, Y).losses(svm._bind(X).predict(svm.w_))) - 1e-9


def test_documents_may_be_dense_sparse_or_dicts():
    X, Y, w = queries(1)
    names = ["a", "b", "c"]
    dense = bound(Ranking("average_precision"), X, Y)
    sparse = bound(Ranking("average_precision"), [sp.csr_array(x) for x in X], Y)
    dicts = bound(Ranking("average_precision"), [[dict(zip(names, row, strict=True)) for row in x] for x in X], Y)
    w = np.asarray(w, float)
    expected = dense.oracle(w, np.arange(3), MARGIN)
    for other in (sparse, dicts):
        assert other.oracle(w, np.arange(3), MARGIN).bounds == pytest.approx(expected.bounds)
        assert other.radii() == pytest.approx(dense.radii())


def test_threads_change_nothing():
    X, Y, w = queries(5, n_queries=50)
    for loss in LOSSES:
        alone, together = (bound(Ranking(loss, k=1), X, Y) for _ in range(2))
        together.n_threads = 3
        one, many = (problem.oracle(w, np.arange(50), MARGIN) for problem in (alone, together))
        assert np.array_equal(one.bounds, many.bounds)
        assert all(np.array_equal(a, b) for a, b in zip(one.outputs, many.outputs, strict=True))


def test_some_examples_are_decoded_as_among_all():
    X, Y, w = queries(7, n_queries=8)
    problem = bound(Ranking("ndcg"), X, Y)
    everything = problem.oracle(w, np.arange(8), MARGIN)
    some = problem.oracle(w, np.array([5, 2]), MARGIN)
    assert some.bounds == pytest.approx(everything.bounds[[5, 2]])
    assert problem.best(w, np.array([2]))[0].tolist() == problem.predict(w)[2].tolist()


def test_fitted_models_are_saved_and_loaded(tmp_path):
    X, Y, _ = queries(11, n_queries=6)
    svm = StructuralSVM(Ranking("ndcg", k=2, gain="linear"), C=10).fit(X, Y)
    svm.save(tmp_path / "ranking.slm")
    loaded = structlearn.load(tmp_path / "ranking.slm")
    assert loaded.model.get_params() == svm.model.get_params()
    assert all(np.array_equal(a, b) for a, b in zip(loaded.predict(X), svm.predict(X), strict=True))


def test_evaluations_have_the_measures_of_rankings():
    X, Y, _ = queries(11, n_queries=6)
    svm = StructuralSVM(Ranking("average_precision"), C=10).fit(X, Y)
    found = evaluate(svm, X, Y)
    expected = average_precision(Y, svm.predict(X)).mean()
    assert found.scores["mean_average_precision"].estimate == pytest.approx(expected)
    assert found.loss.estimate == pytest.approx(1 - expected)
    assert {"precision_at_1", "precision_at_10", "ndcg_at_10", "mean_reciprocal_rank"} < set(found.scores)
    assert [next(iter(Ranking(loss, k=2).measures(X, Y, svm.predict(X)).formulas)) for loss in LOSSES[1:4]] == [
        "mean_average_precision",
        "ndcg_at_2",
        "precision_at_2",
    ]
    in_order = [all(a >= b for a, b in pairwise(np.array(y)[r])) for y, r in zip(Y, svm.predict(X), strict=True)]
    assert found.right.tolist() == in_order


def test_fingerprints_tell_data_and_losses_apart():
    X, Y, _ = queries(12)
    prints = {bound(Ranking(loss, k=k), X, Y).fingerprint() for loss in LOSSES[:3] for k in (1, 2)}
    assert len(prints) == 4
    assert bound(Ranking(), X, Y).fingerprint() == bound(Ranking(), X, Y).fingerprint()


def test_queries_that_teach_nothing_are_counted():
    X, Y = [np.ones((3, 2)), np.eye(2), np.eye(2)], [[0, 0, 0], [0, 1], [1, 1]]
    with pytest.warns(UserWarning, match=r"2 of 3 queries teach nothing, the first of them X\[0\]"):
        svm = StructuralSVM(Ranking("average_precision")).fit(X, Y)
    assert svm.slacks_[0] == svm.slacks_[2] == 0
    with pytest.raises(ValueError, match="nothing can be learnt: in the only query"):
        StructuralSVM(Ranking()).fit(X[:1], Y[:1])


@pytest.mark.parametrize(
    ("model", "Y", "message"),
    [
        (Ranking(), [[0, 1, 0]], r"Y\[0\] has 3 labels but X\[0\] has 2 documents"),
        (Ranking(), [[0, np.nan]], r"Y\[0\]\[1\] is nan"),
        (Ranking(), [["good", "bad"]], r"Y\[0\] is \['good', 'bad'\]; expected a number for each document"),
        (Ranking(), [[0, 1], [1, 0]], "X has 1 queries but Y has 2"),
        (Ranking("ndcg"), [[-1, 1]], r"Y\[0\]\[0\] is -1; the gain of a document must be ≥ 0"),
        (Ranking("ndcg"), [[0, 1024]], r"Y\[0\]\[1\] is 1024; with gain='exponential' a relevance may be at most 53"),
        (Ranking("ndcg", gain="linear"), [[1e308, 0]], r"Y\[0\]\[0\] is 1e\+308; with gain='linear' a relevance"),
        (
            Ranking("precision_at_k", k=10**30),
            [[0, 1]],
            "k is 1000000000000000000000000000000; it must be",
        ),
        (Ranking("break_even", threshold=np.nan), [[0, 1]], "threshold is nan; it must be a number"),
        (Ranking("auc"), [[0, 1]], "loss is 'auc'; it may be 'roc_area'"),
        (Ranking("precision_at_k"), [[0, 1]], "loss 'precision_at_k' needs k"),
        (Ranking("ndcg", k=0), [[0, 1]], "k is 0; it must be a whole number ≥ 1"),
        (Ranking(gain="square"), [[0, 1]], "gain is 'square'"),
    ],
)
def test_bad_input_is_named(model, Y, message):
    with pytest.raises(ValueError, match=message):
        StructuralSVM(model).fit([np.eye(2)], Y)


def test_other_formulations_and_intercepts_are_refused():
    with pytest.raises(ValueError, match="loss_levels"):
        StructuralSVM(Ranking(), rescaling="slack").fit([np.eye(2)], [[0, 1]])
    with pytest.raises(ValueError, match="fit_intercept=True has no meaning for Ranking"):
        StructuralSVM(Ranking(), fit_intercept=True).fit([np.eye(2)], [[0, 1]])
