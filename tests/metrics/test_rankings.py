"""Measures of rankings against scikit-learn, against the losses of the models, and by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, label_ranking_average_precision_score, ndcg_score

from structlearn.metrics import average_precision, ndcg, precision_at_k, reciprocal_rank
from structlearn.metrics.rankings import ranking_measures
from structlearn.models import Ranking
from structlearn.models.ranking.spec import DocumentSpec


def scored(seed):
    random = np.random.default_rng(seed)
    n = int(random.integers(2, 20))
    y = random.integers(0, 3, n)
    y[random.integers(n)] = 2
    scores = random.permutation(n).astype(float)
    return y, scores, np.argsort(-scores)


@given(st.integers(0, 2**32), st.integers(1, 25))
def test_measures_agree_with_those_of_scikit_learn(seed, k):
    y, scores, ranking = scored(seed)
    assert average_precision([y], [ranking])[0] == pytest.approx(average_precision_score(y > 0, scores))
    assert ndcg([y], [ranking], k, gain="linear")[0] == pytest.approx(ndcg_score([y], [scores], k=k))
    assert ndcg([y], [ranking], k)[0] == pytest.approx(ndcg_score([2.0**y - 1], [scores], k=k))
    one = np.zeros((1, len(y)), int)
    one[0, np.argmax(y)] = 1
    expected = label_ranking_average_precision_score(one, [scores])
    assert reciprocal_rank(one, [ranking])[0] == pytest.approx(expected)


@pytest.mark.parametrize("loss", ["average_precision", "ndcg", "recall_at_k", "precision_at_k"])
@given(seed=st.integers(0, 2**32), k=st.integers(1, 6))
def test_losses_of_models_are_what_measures_fall_short_of(loss, seed, k):
    y, _, ranking = scored(seed)
    problem = Ranking(loss, k=k).bind(DocumentSpec(1), [np.zeros((len(y), 1))], [y])
    at_k = precision_at_k([y], [ranking], k)[0]
    n_relevant = np.sum(y > 0)
    short = {
        "average_precision": 1 - average_precision([y], [ranking])[0],
        "ndcg": 1 - ndcg([y], [ranking], k)[0],
        "precision_at_k": min(1, n_relevant / k) - at_k,
        "recall_at_k": min(1, k / n_relevant) - at_k * k / n_relevant,
    }
    assert problem.losses([ranking])[0] == pytest.approx(short[loss], abs=1e-9)


def test_a_ranking_worked_by_hand():
    # In order of the ranking the relevance is 0, 2, 0, 1.
    Y, rankings = [[1, 0, 2, 0]], [[1, 2, 3, 0]]
    assert precision_at_k(Y, rankings, 1)[0] == 0
    assert precision_at_k(Y, rankings, 3)[0] == pytest.approx(1 / 3)
    assert precision_at_k(Y, rankings, 10)[0] == pytest.approx(2 / 10)
    assert precision_at_k(Y, rankings, 3, threshold=2)[0] == 0
    assert reciprocal_rank(Y, rankings)[0] == 1 / 2
    assert average_precision(Y, rankings)[0] == pytest.approx((1 / 2 + 2 / 4) / 2)
    assert ndcg(Y, rankings)[0] == pytest.approx((3 / np.log2(3) + 1 / np.log2(5)) / (3 + 1 / np.log2(3)))


def test_queries_without_relevant_documents_have_zero():
    for measure in (average_precision, reciprocal_rank, ndcg, lambda *pair: precision_at_k(*pair, 2)):
        assert measure([[0, 0], [0, 1]], [[1, 0], [1, 0]]).tolist()[0] == 0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ndcg([[1]], []), "Y has 1 queries but there are 0 rankings"),
        (lambda: average_precision([[1, 0]], [[0]]), r"Y\[0\] has 2 documents but its ranking has 1"),
        (
            lambda: reciprocal_rank([[1, 0]], [[1, 1]]),
            r"the ranking of Y\[0\] does not have each of the documents 0 to 1",
        ),
        (lambda: ndcg([[1, 0]], [[0.9, 0.1]]), "does not have each of the documents"),
        (lambda: ndcg([[1, -1]], [[0, 1]]), r"Y\[0\]\[1\] is -1; the gain of a document must be ≥ 0"),
        (lambda: ndcg([[1, 0], [0, 1024]], [[0, 1], [0, 1]]), r"Y\[1\]\[1\] is 1024; .* at most 53"),
        (lambda: ndcg([[1]], [[0]], gain="square"), "gain is 'square'"),
        (lambda: precision_at_k([[1]], [[0]], 0), "k is 0; it must be at least 1"),
    ],
)
def test_bad_calls_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_measures_without_gains_are_given_where_a_relevance_has_none():
    scores = ranking_measures([[0, 1024]], [[1, 0]], 0.0, None, "ndcg_at_10").scores()
    assert scores["mean_average_precision"] == 1.0
    assert "ndcg_at_10" not in scores
