import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from structlearn import GibbsMotif
from structlearn.data import site_letters
from structlearn.datasets import make_motifs
from structlearn.estimators.generative.gibbs_motif import best_threshold
from tests.models.motif.enumerated_motif import EnumeratedMotif


@pytest.mark.parametrize("both_strands", [False, True])
def test_scores_are_log_ratios(both_strands):
    data = make_motifs(20, width=5, length=15, both_strands=both_strands, background_order=1, random_state=0)
    sampler = GibbsMotif(5, 1, both_strands, n_sweeps=5, random_state=0).fit(data.X, data.Y)
    listed = EnumeratedMotif((5,), 1, both_strands)
    for x, score, site in zip(data.X, sampler.decision_function(data.X), sampler.best_sites(data.X), strict=True):
        ratios = {}
        for h in listed.completions(x, 1):
            start = h[0]
            pattern = sum(
                math.log(sampler.pattern_[j]["ACGT".index(base)])
                for j, base in enumerate(site_letters(x, site.__class__(*h)))
            )
            codes = ["ACGT".index(base) for base in x]
            background = sum(
                math.log(sampler.background_[codes[t - 1], codes[t]]) if t else math.log(0.25)
                for t in range(start, start + 5)
            )
            ratios[h] = pattern - background
        assert score == pytest.approx(max(ratios.values()))
        assert ratios[site] == pytest.approx(score)


def test_the_background_is_counted_with_one_added():
    sampler = GibbsMotif(2, 1, n_sweeps=1, n_init=1, random_state=0).fit(["ACGT", "AC"], [1, 0], background=["AACNCA"])
    np.testing.assert_allclose(sampler.background_[0], np.array([2, 2, 1, 1]) / 6)
    np.testing.assert_allclose(sampler.background_[1], np.array([2, 1, 1, 1]) / 5)


@pytest.mark.sample(2)
@pytest.mark.parametrize("both_strands", [False, True])
def test_planted_sites_are_found(both_strands):
    data = make_motifs(100, width=9, length=50, substitutions=1, both_strands=both_strands, random_state=0)
    sampler = GibbsMotif(9, both_strands=both_strands, random_state=0).fit(data.X, data.Y)
    pairs = [(h, site) for h, site in zip(sampler.sites_, data.sites, strict=True) if site is not None]
    assert np.mean([h.start == site.start for h, site in pairs]) >= 0.95
    assert sampler.score(data.X, data.Y) >= 0.9


@given(st.lists(st.tuples(st.integers(0, 5), st.booleans()), min_size=1, max_size=8))
def test_no_threshold_makes_fewer_mistakes(scored):
    scores, truth = np.array([s for s, _ in scored], float), np.array([t for _, t in scored])
    least = min(np.sum((scores > threshold) != truth) for threshold in np.arange(-1, 7, 0.5))
    assert np.sum((scores > best_threshold(scores, truth)) != truth) == least


def test_a_seed_fixes_the_run():
    data = make_motifs(20, width=5, length=20, random_state=0)
    one, two = (GibbsMotif(5, n_sweeps=5, random_state=3).fit(data.X, data.Y) for _ in range(2))
    np.testing.assert_array_equal(one.pattern_, two.pattern_)


def test_what_is_wrong_is_named():
    with pytest.raises(ValueError, match=r"Y\[0\] is 1, but X\[0\] has 3 letters and no site for a pattern of width 4"):
        GibbsMotif(4).fit(["ACG", "ACGT"], [1, 0])
    with pytest.raises(ValueError, match=r"width is \(3, 4\); it must be a whole number ≥ 1"):
        GibbsMotif((3, 4)).fit(["ACGT", "ACGT"], [1, 0])
    with pytest.raises(ValueError, match=r"X\[0\] has '-' at 1"):
        GibbsMotif(1, n_sweeps=1).fit(["A", "C"], [1, 0]).predict(["A-"])
