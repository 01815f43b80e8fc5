import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from structlearn.data import from_gapped
from structlearn.metrics import q_score, q_scores
from structlearn.metrics.alignments import alignment_measures
from structlearn.models import Alignment

REFERENCE = from_gapped("-AECD", "EACC-")
ALTERNATIVE = from_gapped("A-ECD", "EACC-")


def test_the_thesis_own_example_has_a_third_of_its_matches_wrong_and_none_by_more_than_four():
    assert q_score([REFERENCE], [ALTERNATIVE]) == pytest.approx(2 / 3)
    assert q_score([REFERENCE], [ALTERNATIVE], shift=4) == 1.0
    # The text's definition would count the match of the first letter of t, which has no partner, as wrong.
    assert q_score([REFERENCE], [ALTERNATIVE], shift=4, reading="text") == pytest.approx(2 / 3)


@given(st.integers(0, 2**32), st.sampled_from(["figure", "text"]), st.integers(0, 3))
def test_scores_are_one_minus_the_model_s_loss(seed, reading, shift):
    random = np.random.default_rng(seed)

    def draw():
        size = random.integers(1, 5)
        rows, columns = (np.sort(random.choice(6, size, replace=False)) for _ in range(2))
        return tuple(zip(rows.tolist(), columns.tolist(), strict=True))

    y, found = draw(), draw()
    model = Alignment("a", loss="q_shift", shift=shift, reading=reading)
    problem = model.bind(model.specify([("a" * 6,) * 2], None), [("a" * 6,) * 2], [y])
    codes = np.full(6, -1, np.int32)
    for i, j in found:
        codes[i] = j
    assert q_scores([y], [found], shift, reading)[0] == pytest.approx(1.0 - problem.losses([codes])[0])


def test_bad_calls_are_refused():
    with pytest.raises(ValueError, match="Y has 1 alignments but Y_pred has 0"):
        q_scores([()], [])
    with pytest.raises(ValueError, match="reading is 'neither'"):
        q_scores([()], [()], reading="neither")
    assert q_scores([()], [((0, 0),)]).tolist() == [1.0]


def test_measures_are_means_of_scores_and_the_share_of_true_matches():
    Y, found = [REFERENCE, ((0, 0),)], [ALTERNATIVE, ((0, 0), (1, 1))]
    measures = alignment_measures(Y, found, (0, 4), "text")
    assert measures.scores() == {
        "q": pytest.approx(q_score(Y, found)),
        "q4": pytest.approx(q_score(Y, found, 4, "text")),
        "precision": pytest.approx(3 / 5),
    }
    assert measures.right.tolist() == [False, False]
    assert alignment_measures([[[0, 0]]], [((0, 0),)]).right.tolist() == [True]


def test_a_model_puts_the_score_of_its_loss_first():
    assert list(Alignment().measures([], [REFERENCE], [ALTERNATIVE]).formulas) == ["q", "q1", "q2", "q4", "precision"]
    model = Alignment(loss="q_shift", shift=2)
    assert list(model.measures([], [REFERENCE], [ALTERNATIVE]).formulas) == ["q2", "q", "q1", "precision"]
