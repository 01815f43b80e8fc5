"""The best site of a pattern against all sites."""

import re
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from structlearn.data import Site
from structlearn.inference import best_site
from tests.models.motif.enumerated_motif import COMPLEMENT


@st.composite
def scans(draw):
    """A sequence, perhaps with other letters, and scores, perhaps with ties and forbidden letters."""
    width, order = draw(st.integers(1, 6)), draw(st.integers(0, 3))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    shapes = ((width, 4), (4,) * (order + 1))
    pattern, background = (
        random.normal(size=shape) if draw(st.booleans()) else random.integers(-1, 2, shape).astype(float)
        for shape in shapes
    )
    pattern[random.uniform(size=pattern.shape) < draw(st.sampled_from([0.0, 0.3]))] = -np.inf
    return draw(st.text("ACGTN", max_size=12)), pattern, background, draw(st.booleans())


def enumerated(x, pattern, background, both_strands):
    """F of every site that is not forbidden."""
    width, order = len(pattern), background.ndim - 1
    found = {}
    for start, strand in product(range(len(x) - width + 1), "+-" if both_strands else "+"):
        letters = x[start : start + width]
        if "N" in letters:
            continue
        read = letters if strand == "+" else "".join(COMPLEMENT[base] for base in reversed(letters))
        score = sum(pattern[j, "ACGT".index(base)] for j, base in enumerate(read))
        for i in range(max(start, order), start + width):
            if "N" not in x[i - order : i + 1]:
                score -= background[tuple("ACGT".index(base) for base in x[i - order : i + 1])]
        if score > -np.inf:
            found[Site(start, strand, width)] = score
    return found


@given(scans())
@settings(max_examples=150)
def test_the_best_site_agrees_with_enumeration(scan):
    x, pattern, background, both_strands = scan
    site, score = best_site(x, pattern, background, both_strands=both_strands)
    every = enumerated(*scan)
    if not every:
        assert (site, score) == (None, -np.inf)
        return
    assert every[site] == pytest.approx(score)
    assert score == pytest.approx(max(every.values()))


def test_small_letters_and_uracil_are_bases():
    assert best_site("gguaua", [[0, 0, 0, 1], [1, 0, 0, 0]])[0] == Site(2, "+", 2)


@pytest.mark.parametrize(
    ("pattern", "background", "message"),
    [
        (np.zeros((2, 3)), np.zeros(4), "pattern has shape (2, 3); expected (width, 4)"),
        (np.zeros((0, 4)), np.zeros(4), "pattern has shape (0, 4)"),
        (np.zeros((2, 4)), np.zeros((4, 3)), "background has shape (4, 3); expected one to 7 axes of 4"),
        (np.zeros((2, 4)), 0.0, "background has shape ()"),
        (np.full((1, 4), np.nan), np.zeros(4), "pattern[0, 0] is nan; a score is a number or -inf"),
        (np.zeros((1, 4)), [0.0, -np.inf, 0.0, 0.0], "background[1] is -inf; expected a finite number"),
    ],
)
def test_bad_scores_are_named(pattern, background, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        best_site("ACGT", pattern, background)


def test_what_is_no_sequence_is_named():
    with pytest.raises(ValueError, match="x has '-' at 1, which is no letter"):
        best_site("A-C", np.zeros((1, 4)))
