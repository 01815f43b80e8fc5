from itertools import product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from structlearn.models import Motif
from structlearn.models.motif.best_word import best_word

WEIGHTS = st.floats(-4, 4).map(lambda value: round(value, 3))


@st.composite
def motifs(draw):
    width, order = draw(st.integers(1, 4)), draw(st.integers(0, 3))
    return draw(arrays(float, (width, 4), elements=WEIGHTS)), draw(arrays(float, (4,) * (order + 1), elements=WEIGHTS))


def mean_score(word, pattern, background):
    """The score of a word as a site, on average over all letters that may stand before it."""
    order = background.ndim - 1
    scores = []
    for before in product(range(4), repeat=order):
        letters = (*before, *word)
        scores.append(sum(pattern[j, a] - background[letters[j : j + order + 1]] for j, a in enumerate(word)))
    return np.mean(scores)


@given(motifs())
def test_the_best_word_is_that_of_an_enumeration(weights):
    pattern, background = weights
    found = best_word(pattern, background)
    words = list(product(range(4), repeat=len(pattern)))
    word = tuple(map("ACGT".index, found.letters))
    assert abs(found.score - mean_score(word, pattern, background)) < 1e-9
    assert found.score >= max(mean_score(other, pattern, background) for other in words) - 1e-9
    for j, base in product(range(len(word)), range(4)):
        changed = mean_score((*word[:j], base, *word[j + 1 :]), pattern, background)
        assert abs(found.changes[j, base] - (changed - found.score)) < 1e-9


def test_the_score_is_that_of_a_site_in_a_sequence():
    model = Motif(width=3, background_order=0)
    w = np.random.default_rng(0).normal(size=16)
    found = model.best_word(w)
    problem = model.bind(model.specify(["AAA", "CCC"], [0, 1]), [found.letters])
    assert abs(problem.site_scores(w)[0] - found.score) < 1e-12
