"""Precision at k with latent orders: oracle, completion and loss against all orders; learning."""

from itertools import pairwise, permutations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import structlearn
from structlearn import LatentStructuralSVM
from structlearn.evaluation import evaluate
from structlearn.models import PrecisionAtK
from structlearn.models.ranking.spec import DocumentSpec
from structlearn.solvers import ConcaveConvex
from structlearn.waist import MarginObjective, Scaling, Start
from tests.estimators.test_checkpoint import StopAt

MARGIN = Scaling("margin", "linear")
seeds = st.integers(0, 2**32 - 1)


def queries(seed, n_queries=3, max_documents=5):
    random = np.random.default_rng(seed)
    sizes = random.integers(1, max_documents + 1, n_queries)
    X = [random.integers(-2, 3, (n, 3)).astype(float) for n in sizes]
    Y = [random.integers(0, 3, n).tolist() for n in sizes]
    return X, Y, random.integers(-2, 3, 3) * random.choice([0.2, 1.0])


def separable(seed, n_queries=40, noise=0.3):
    """Queries whose relevant documents are of two kinds, of which one is easily told."""
    random = np.random.default_rng(seed)
    X, Y = [], []
    for _ in range(n_queries):
        x = random.normal(size=(int(random.integers(8, 16)), 5))
        x[:2, 0] += 2.5
        x[2:5, 1] += 0.5
        X.append(x + noise * random.normal(size=x.shape))
        Y.append((np.arange(len(x)) < 5).astype(int))
    return X, Y


def feature(x, h, k):
    return sum((x[j] for j in h[:k]), np.zeros(x.shape[1])) / k


def loss(y, h, k):
    relevant = [label > 0 for label in y]
    return min(1.0, sum(relevant) / k) - sum(relevant[j] for j in h[:k]) / k


def consistent(y):
    return [h for h in permutations(range(len(y))) if all(y[a] >= y[b] for a, b in pairwise(h))]


@settings(max_examples=100)
@given(seed=seeds, k=st.integers(1, 6))
def test_oracle_completion_and_loss_agree_with_enumeration(seed, k):
    X, Y, w = queries(seed)
    problem = PrecisionAtK(k).bind(DocumentSpec(3), X, Y)
    everything = np.arange(3)
    completions = problem.complete(w, everything)
    planes = problem.oracle(w, everything, MARGIN)
    for i, (x, y) in enumerate(zip(X, Y, strict=True)):
        orders = list(permutations(range(len(y))))
        truth = max(feature(x, h, k) @ w for h in consistent(y))
        assert feature(x, completions[i], k) @ w == pytest.approx(truth)
        assert any(set(completions[i]) == set(h[:k]) for h in consistent(y))
        losses = [loss(y, h, k) for h in orders]
        most = max(value + feature(x, h, k) @ w for value, h in zip(losses, orders, strict=True))
        assert planes.bounds[i] == pytest.approx(most - truth, abs=1e-9)
        assert planes.losses[i] == pytest.approx(loss(y, planes.outputs[i], k))
        assert problem.max_losses()[i] == pytest.approx(max(losses))
        assert problem.output_losses(everything, completions)[i] == 0
        spread = max(np.linalg.norm(feature(x, a, k) - feature(x, b, k)) for a in orders for b in orders[:6])
        assert problem.radii()[i] >= spread - 1e-9


@given(seed=seeds, k=st.integers(1, 6))
def test_random_completions_are_consistent_with_the_relevance(seed, k):
    X, Y, _ = queries(seed)
    problem = PrecisionAtK(k).bind(DocumentSpec(3), X, Y)
    random = problem.random_completions(np.random.default_rng(seed))
    assert not problem.output_losses(np.arange(3), random).any()
    # What fits is taken as it is, and what does not is refused.
    taken = problem.completions_of([h.tolist() for h in random])
    assert all(np.array_equal(a, b) for a, b in zip(taken, random, strict=True))


def test_random_completions_reach_every_choice_of_equally_relevant_documents():
    problem = PrecisionAtK(2).bind(DocumentSpec(1), [np.zeros((4, 1))], [[1, 0, 1, 1]])
    random = np.random.default_rng(0)
    seen = {frozenset(problem.random_completions(random)[0].tolist()) for _ in range(100)}
    assert seen == {frozenset({0, 2}), frozenset({0, 3}), frozenset({2, 3})}


@settings(max_examples=15)
@given(seed=seeds, k=st.sampled_from([1, 3, 10]), carry_over=st.booleans())
def test_the_objective_never_rises(seed, k, carry_over):
    X, Y = separable(seed, n_queries=15, noise=1.0)
    problem = PrecisionAtK(k).bind(DocumentSpec(5), X, Y)
    objective = MarginObjective(np.ones(15), C=30.0)
    solver = ConcaveConvex(carry_over=carry_over)
    values = [record["primal"] for record in solver.run(problem, objective).history]
    assert all(after <= before * (1 + 1e-9) for before, after in pairwise(values))


def test_training_ends_at_a_stationary_point_and_ranks_relevant_documents_first():
    X, Y = separable(0)
    svm = LatentStructuralSVM(PrecisionAtK(2), C=400).fit(X, Y)
    assert svm.stationarity_ <= 1e-3
    assert svm.score(X, Y) > 0.8
    for x, ranking, top in zip(X, svm.predict(X), svm.predict_latent(X), strict=True):
        assert sorted(ranking) == list(range(len(x)))
        assert top.tolist() == ranking[:2].tolist()
    # The documents that are easily told come first among the relevant ones.
    assert np.mean([set(h) <= {0, 1} for h in svm.complete(X, Y)]) > 0.5


def test_learning_begins_at_a_classifier_with_queries_of_equal_weight():
    X, Y = separable(1, n_queries=10)
    problem = PrecisionAtK(2).bind(DocumentSpec(5), X, Y)
    start = problem.start(np.random.default_rng(0))
    # Many copies of the documents of one query change nothing but its own mean.
    copied = [np.tile(X[0], (7, 1)), *X[1:]], [np.tile(Y[0], 7), *Y[1:]]
    again = PrecisionAtK(2).bind(DocumentSpec(5), *copied).start(np.random.default_rng(0))
    assert start.w == pytest.approx(again.w, rel=1e-3)
    assert start.w[0] > 0


def test_documents_may_be_dense_sparse_or_dicts():
    X, Y = separable(6, n_queries=10)
    dicts = [[{f"{k}": value for k, value in enumerate(row)} for row in x] for x in X]
    expected = LatentStructuralSVM(PrecisionAtK(2), C=10, tol=1e-4).fit(X, Y)
    for other in ([sp.csr_array(x) for x in X], dicts):
        found = LatentStructuralSVM(PrecisionAtK(2), C=10, tol=1e-4).fit(other, Y)
        # Sums are rounded otherwise, and a run ends where that is good enough.
        assert found.w_ == pytest.approx(expected.w_, abs=1e-3)
        assert found.objective_ == pytest.approx(expected.objective_, rel=1e-3)


def test_from_random_orders_it_ends_no_better_than_from_the_classifier():
    X, Y = separable(2, noise=2.0)
    begun = LatentStructuralSVM(PrecisionAtK(3), C=40).fit(X, Y)
    anywhere = LatentStructuralSVM(PrecisionAtK(3), C=40, init="random", random_state=0).fit(X, Y)
    assert begun.objective_ <= anywhere.objective_ * 1.01


def test_queries_of_one_relevance_have_no_classifier_and_no_slack():
    problem = PrecisionAtK(1).bind(DocumentSpec(2), [np.eye(2)], [[0, 0]])
    assert isinstance(problem.start(np.random.default_rng(0)), Start)
    assert problem.oracle(np.array([1.0, -1.0]), np.array([0]), MARGIN).bounds[0] == 0


def test_queries_that_teach_nothing_are_counted():
    X = [np.eye(3), np.eye(3), np.eye(3)[:2]]
    with pytest.warns(UserWarning, match=r"2 of 3 queries teach nothing, the first of them X\[1\]"):
        LatentStructuralSVM(PrecisionAtK(2)).fit(X, [[0, 1, 0], [0, 0, 0], [0, 1]])
    with pytest.raises(ValueError, match="nothing can be learnt"):
        LatentStructuralSVM(PrecisionAtK(3)).fit(X, [[0, 1, 0], [0, 0, 0], [0, 1]])


def test_fitted_models_are_saved_and_loaded(tmp_path):
    X, Y = separable(3, n_queries=10)
    svm = LatentStructuralSVM(PrecisionAtK(3, threshold=0.5), C=10).fit(X, Y)
    svm.save(tmp_path / "precision.slm")
    loaded = structlearn.load(tmp_path / "precision.slm")
    assert loaded.model.get_params() == svm.model.get_params()
    assert all(np.array_equal(a, b) for a, b in zip(loaded.predict_latent(X), svm.predict_latent(X), strict=True))


def test_evaluations_have_precision_at_k():
    X, Y = separable(3, n_queries=10)
    svm = LatentStructuralSVM(PrecisionAtK(4), C=10).fit(X, Y)
    found = evaluate(svm, X, Y)
    assert found.scores["precision_at_4"].estimate == pytest.approx(1 - found.loss.estimate)
    assert (found.margins >= -1e-12).all()


def test_a_stopped_run_goes_on_exactly_where_it_was(tmp_path):
    X, Y = separable(4, n_queries=20, noise=1.0)
    whole = LatentStructuralSVM(PrecisionAtK(3), C=50).fit(X, Y)
    stopped = LatentStructuralSVM(PrecisionAtK(3), C=50).set_callbacks(StopAt(3))
    assert len(stopped.fit(X, Y, checkpoint=tmp_path / "run").history_) < len(whole.history_)
    again = LatentStructuralSVM(PrecisionAtK(3), C=50).fit(X, Y, checkpoint=tmp_path / "run")
    assert np.array_equal(again.w_, whole.w_)
    assert again.n_iter_ == whole.n_iter_


@pytest.mark.parametrize(
    ("latent", "message"),
    [
        ([0], r"the latent part of Y\[0\] is \[0\]; expected the row numbers of 2 documents"),
        ([0, 0], "expected different rows of its 4"),
        ([0, 4], "expected different rows of its 4"),
        ([0, 1], "leaves out a more relevant document"),
    ],
)
def test_latent_variables_that_do_not_fit_are_named(latent, message):
    with pytest.raises(ValueError, match=message):
        LatentStructuralSVM(PrecisionAtK(2), init=[latent]).fit([np.eye(4)], [[1, 0, 1, 0]])


@pytest.mark.parametrize("k", [0, 1.5, "ten", True])
def test_k_is_a_whole_number(k):
    with pytest.raises(ValueError, match="it must be a whole number ≥ 1"):
        LatentStructuralSVM(PrecisionAtK(k)).fit([np.eye(2)], [[1, 0]])
