import numpy as np
import pytest

from structlearn.data import Links
from structlearn.metrics import alignment_error_rate, matching_measures, pair_counts


def test_the_error_rate_is_that_of_its_formula():
    random = np.random.default_rng(0)
    Y, found = [], []
    for _ in range(20):
        every = [(i, j) for i in range(4) for j in range(4)]
        sure = [pair for pair in every if random.uniform() < 0.2]
        possible = [pair for pair in every if random.uniform() < 0.3]
        Y.append(Links(sure, possible))
        found.append([pair for pair in every if random.uniform() < 0.3])
    A, S, P = ({(k, *pair) for k, y in enumerate(which) for pair in y} for which in (found, Y, [y.possible for y in Y]))
    expected = 1 - (len(A & S) + len(A & P)) / (len(A) + len(S))
    assert alignment_error_rate(Y, found) == pytest.approx(expected)
    scores = matching_measures(Y, found).scores()
    assert scores["alignment_error_rate"] == pytest.approx(expected)
    assert scores["precision"] == pytest.approx(len(A & P) / len(A))
    assert scores["recall"] == pytest.approx(len(A & S) / len(S))


def test_without_possible_pairs_it_is_one_minus_f1():
    scores = matching_measures([[(0, 0), (1, 1)], []], [[(0, 0), (1, 0), (2, 2)], []]).scores()
    assert scores["alignment_error_rate"] == pytest.approx(1 - scores["f1"])


def test_nothing_predicted_and_nothing_true():
    assert alignment_error_rate([[]], [[]]) == 0.0
    assert alignment_error_rate([[(0, 0)]], [[]]) == 1.0
    with pytest.raises(ValueError, match="Y has 1 matchings but Y_pred has 0"):
        pair_counts([[]], [])
