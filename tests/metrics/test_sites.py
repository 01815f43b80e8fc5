import numpy as np
import pytest
from scipy.stats import binom

from structlearn.data import Site
from structlearn.metrics import overlaps, site_recovery


def shared(site, other):
    return len(set(range(site.start, site.start + site.width)) & set(range(other.start, other.start + other.width)))


@pytest.mark.parametrize("width", [1, 4, 7])
@pytest.mark.parametrize("least", [0.0, 0.5, 1.0])
def test_overlap_is_the_share_of_common_letters(width, least):
    for start in range(12):
        site, other = Site(start, "-", width), Site(5, "+", 5)
        expected = shared(site, other) >= max(1, least * min(width, 5))
        assert overlaps(site, other, least) == expected == overlaps(other, site, least)


def test_recovery_counts_sequences_with_known_sites_only():
    X = ["A" * 30] * 4
    known = [Site(3, "+", 5), None, [], [Site(0, "+", 5), Site(20, "+", 5)]]
    found = [Site(4, "-", 5), Site(3, "+", 5), None, None]
    assert site_recovery(X, known, found).share.estimate == 0.5
    assert site_recovery(X, known, found).n == 2


def test_chance_is_what_places_at_random_find():
    random = np.random.default_rng(0)
    X = ["A" * int(n) for n in random.integers(12, 40, 200)]
    known = [Site(int(random.integers(len(x) - 6)), "+", 7) for x in X]
    shares = [
        site_recovery(X, known, [Site(int(random.integers(len(x) - 4)), "+", 5) for x in X]).share.estimate
        for _ in range(30)
    ]
    chance = site_recovery(X, known, [None] * 200).chance
    found = site_recovery(X, known, [Site(0, "+", 5)] * 200)
    assert found.chance == pytest.approx(np.mean(shares), abs=0.02)
    assert chance != found.chance


def test_the_p_value_is_binomial_where_all_sequences_are_alike():
    X, known = ["A" * 20] * 10, [Site(0, "+", 5)] * 10
    result = site_recovery(X, known, [Site(0, "+", 5)] * 4 + [Site(15, "+", 5)] * 6, least=1.0)
    assert result.chance == pytest.approx(1 / 16)
    assert result.p_value == pytest.approx(binom(10, 1 / 16).sf(3))


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="there are 1 sequences, 2 known and 1 found sites"):
        site_recovery(["A"], [None, None], [None])
    with pytest.raises(ValueError, match="no sequence has a known site"):
        site_recovery(["A"], [None], [None])
