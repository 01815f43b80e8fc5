import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from structlearn.metrics import q_score, q_scores
from structlearn.models import Alignment, from_gapped

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
