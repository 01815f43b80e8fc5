"""The most violating labels of scores that are given, against all labels."""

import re
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import f1_score

from structlearn.inference import most_violating_labels


def loss_of(loss, y, labels):
    if loss == "error_rate":
        return np.mean(y != labels)
    return 1.0 - f1_score(y, labels, zero_division=1.0)


@st.composite
def sets(draw):
    """Scores, often equal, and labels, perhaps all alike."""
    y = draw(st.lists(st.integers(0, 1), min_size=1, max_size=6))
    scores = draw(st.lists(st.integers(-4, 4), min_size=len(y), max_size=len(y)))
    return draw(st.sampled_from([0.1, 0.5])) * np.array(scores, float), np.array(y)


@pytest.mark.parametrize("loss", ["f1", "error_rate"])
@given(sets())
@settings(max_examples=40, deadline=None)
def test_the_slack_agrees_with_enumeration(loss, given_set):
    scores, y = given_set
    found = most_violating_labels(scores, y, loss)

    def violation(labels):
        return loss_of(loss, y, labels) + (labels - y) @ scores / len(y)

    assert found.slack == pytest.approx(max(violation(np.array(labels)) for labels in product([0, 1], repeat=len(y))))
    assert found.slack == pytest.approx(violation(found.output.astype(int)))
    assert found.loss == pytest.approx(loss_of(loss, y, found.output))
    np.testing.assert_allclose(found.gradient, (found.output.astype(int) - y) / len(y))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0.0, np.inf], [0, 1]), "scores[1] is inf; expected a finite number"),
        (([0.0, 1.0], [0, -1]), "truth[1] is -1; expected 0 or 1"),
        (([0.0, 1.0], [0]), "there are 2 scores, but truth has 1 labels"),
        (([], []), "scores has shape (0,)"),
        (([0.0], [0], "auc"), "loss is 'auc'; it may be 'f1' or 'error_rate'"),
    ],
)
def test_bad_input_is_named(arguments, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        most_violating_labels(*arguments)
