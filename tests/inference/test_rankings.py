"""The most violating ranking of scores that are given, against all rankings."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from structlearn.inference import most_violating_ranking
from tests.models.ranking.enumerated_ranking import all_rankings

LOSSES = ["average_precision", "ndcg", "precision_at_k", "recall_at_k", "break_even"]


@st.composite
def queries(draw):
    """Scores, often equal, and relevances that are not all alike."""
    y = draw(st.lists(st.integers(0, 2), min_size=2, max_size=5).filter(lambda y: 0 in y and max(y) > 0))
    scores = draw(st.lists(st.integers(-3, 3), min_size=len(y), max_size=len(y)))
    return draw(st.sampled_from([0.1, 1.0])) * np.array(scores, float), y


@pytest.mark.parametrize("loss", LOSSES)
@given(queries(), st.integers(1, 4), st.sampled_from(["exponential", "linear"]))
@settings(max_examples=40)
def test_the_slack_agrees_with_enumeration(loss, query, k, gain):
    scores, y = query
    found = most_violating_ranking(scores, y, loss, k=k, gain=gain)
    # With unit vectors for documents, differences of features are the coefficients of the scores.
    rankings, coefficients, losses = all_rankings(loss, np.eye(len(y)), y, k, gain)
    violations = losses - coefficients @ scores
    assert found.slack == pytest.approx(violations.max(), abs=1e-9)
    place = rankings.index(tuple(found.output.tolist()))
    assert violations[place] == pytest.approx(found.slack, abs=1e-9)
    assert losses[place] == pytest.approx(found.loss, abs=1e-9)
    np.testing.assert_allclose(found.gradient, -coefficients[place], atol=1e-9)


def test_the_gradient_is_that_of_the_slack():
    random = np.random.default_rng(0)
    scores, y = random.normal(size=8), [0, 2, 1, 0, 0, 1, 2, 0]
    for loss in LOSSES:
        found = most_violating_ranking(scores, y, loss, k=3)
        step = 1e-6 * random.normal(size=8)
        moved = most_violating_ranking(scores + step, y, loss, k=3)
        assert moved.slack - found.slack == pytest.approx(found.gradient @ step, abs=1e-12)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0.0, np.nan], [0, 1]), "scores[1] is nan; expected a finite number"),
        (([0.0, 1.0], [0, np.inf]), "relevance[1] is inf; expected a finite number"),
        (([0.0, 1.0], [0]), "there are 2 scores of documents, but relevance has 1 numbers"),
        (([[0.0]], [0]), "scores has shape (1, 1)"),
        (([], []), "scores has shape (0,)"),
        (([0.0, 1.0], [0, 1], "auc"), "loss is 'auc'; it may be"),
        (([0.0, 1.0], [0, 1], "roc_area"), "loss is 'roc_area', whose slack is the mean of"),
        (([0.0, 1.0], [0, 1], "precision_at_k"), "loss 'precision_at_k' needs k"),
    ],
)
def test_bad_input_is_named(arguments, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        most_violating_ranking(*arguments)
