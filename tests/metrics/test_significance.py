from math import comb, erfc, sqrt

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from structlearn.metrics import (
    bootstrap,
    bootstrap_counts,
    f1,
    mcnemar,
    paired_t_test,
    span_counts,
    span_scores,
    two_proportion_z_test,
)


def random_tags(rng, n=30):
    return [rng.choice(["B-A", "I-A", "O"], size=rng.integers(1, 8)).tolist() for _ in range(n)]


def noisy(Y, rng):
    return [[tag if rng.random() < 0.7 else "O" for tag in y] for y in Y]


def draw_counts(rng, n):
    """Counts of n sequences with a difficulty of its own each."""
    true = 1 + rng.poisson(4, n)
    correct = rng.binomial(true, np.clip(rng.normal(0.8, 0.1, n), 0.6, 1.0))
    return np.column_stack([correct, true, true])


def test_counts_give_the_interval_that_recomputed_spans_give():
    rng = np.random.default_rng(0)
    Y = random_tags(rng)
    Y_pred = noisy(Y, rng)
    recomputed = bootstrap(lambda a, b: span_scores(a, b).f1, Y, Y_pred, n_resamples=200, random_state=5)
    counted = bootstrap_counts(span_counts(Y, Y_pred), n_resamples=200, random_state=5)
    assert counted == recomputed
    assert counted.low < counted.estimate < counted.high


def test_the_interval_holds_the_quantiles_of_resampled_values():
    counts = draw_counts(np.random.default_rng(0), 60)
    found = bootstrap_counts(counts, confidence=0.8, n_resamples=5000, random_state=1)
    rng = np.random.default_rng(2)
    values = [f1(counts[rng.integers(0, 60, 60)].sum(axis=0)) for _ in range(5000)]
    np.testing.assert_allclose([found.low, found.high], np.quantile(values, [0.1, 0.9]), atol=0.002)


def test_batches_do_not_change_the_interval(monkeypatch):
    counts = draw_counts(np.random.default_rng(0), 50)
    whole = bootstrap_counts(counts, random_state=3)
    monkeypatch.setattr("structlearn.metrics.significance.DRAWN_AT_ONCE", 1000)
    assert bootstrap_counts(counts, random_state=3) == whole


def test_seeds_decide_the_interval():
    counts = draw_counts(np.random.default_rng(0), 50)
    assert bootstrap_counts(counts, random_state=1) == bootstrap_counts(counts, random_state=1)
    assert bootstrap_counts(counts, random_state=1) != bootstrap_counts(counts, random_state=2)


def test_the_interval_covers_the_true_f1_as_often_as_it_says():
    rng = np.random.default_rng(0)
    population = draw_counts(rng, 400_000).sum(axis=0)
    truth = float(f1(population))
    intervals = [bootstrap_counts(draw_counts(rng, 100), n_resamples=400, random_state=rng) for _ in range(400)]
    covered = np.mean([interval.low <= truth <= interval.high for interval in intervals])
    assert 0.91 < covered < 0.98


def test_a_paired_difference_is_surer_than_two_intervals_apart():
    rng = np.random.default_rng(0)
    a = draw_counts(rng, 200)
    b = a.copy()
    b[:, 0] -= rng.random(200) < 0.2
    both = np.hstack([a, b])
    difference = bootstrap_counts(both, lambda sums: f1(sums[:, :3]) - f1(sums[:, 3:]), random_state=0)
    assert difference.low > 0
    assert bootstrap_counts(a, random_state=0).low < bootstrap_counts(b, random_state=0).high


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"counts": [[1, 1, 1]]}, "at least 2 sequences, got 1"),
        ({"counts": [1, 2, 3]}, r"counts has shape \(3,\)"),
        ({"confidence": 95}, "confidence must lie between 0 and 1, got 95"),
        ({"n_resamples": 0}, "n_resamples must be at least 1, got 0"),
    ],
)
def test_a_bootstrap_that_makes_no_sense_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        bootstrap_counts(**({"counts": [[1, 1, 1], [0, 1, 1]]} | options))


def discordant(only_a, only_b, both=5, neither=3):
    a = np.repeat([True, False, True, False], [only_a, only_b, both, neither])
    b = np.repeat([False, True, True, False], [only_a, only_b, both, neither])
    return a, b


@given(st.integers(0, 24), st.integers(0, 24))
def test_few_discordant_pairs_are_tested_by_the_binomial_distribution(only_a, only_b):
    n = only_a + only_b
    result = mcnemar(*discordant(only_a, only_b))
    assert result.difference == pytest.approx((only_a - only_b) / (n + 8))
    if n < 25:
        tail = sum(comb(n, k) for k in range(min(only_a, only_b) + 1)) / 2**n
        assert result.p_value == pytest.approx(min(1, 2 * tail))


@pytest.mark.parametrize(("only_a", "only_b"), [(25, 0), (10, 15), (60, 40), (30, 30), (31, 30)])
def test_many_discordant_pairs_are_tested_by_chi_square_with_continuity_correction(only_a, only_b):
    result = mcnemar(*discordant(only_a, only_b))
    chi = max(abs(only_a - only_b) - 1, 0) / sqrt(only_a + only_b)
    assert result.statistic == pytest.approx(chi**2)
    assert result.p_value == pytest.approx(erfc(chi / sqrt(2)))  # χ² of one degree is a squared normal


def test_exact_and_chi_square_nearly_agree_where_they_meet():
    exact = scipy.stats.binomtest(8, 26).pvalue
    assert mcnemar(*discordant(8, 18)).p_value == pytest.approx(exact, rel=0.1)


def test_systems_that_err_alike_do_not_differ():
    assert mcnemar(*discordant(0, 0)).p_value == 1


@given(st.lists(st.tuples(st.integers(-8, 8), st.integers(-8, 8)), min_size=3, max_size=10))
def test_the_t_test_is_student_s_of_the_differences(pairs):
    a, b = np.array(pairs, float).T
    d = a - b
    if np.ptp(d) == 0:
        return
    t = sqrt(len(d)) * d.mean() / d.std(ddof=1)
    result = paired_t_test(a, b)
    assert result.difference == pytest.approx(d.mean())
    assert result.statistic == pytest.approx(t)
    # The tail of Student's t by the incomplete beta function (Abramowitz and Stegun 26.7.1).
    nu = len(d) - 1
    assert result.p_value == pytest.approx(scipy.special.betainc(nu / 2, 0.5, nu / (nu + t**2)))


def test_equal_scores_do_not_differ_and_a_constant_difference_is_refused():
    assert paired_t_test([1, 2, 3], [1, 2, 3]).p_value == 1
    with pytest.raises(ValueError, match="all differences are 1; a t-test needs some that differ"):
        paired_t_test([2, 3, 4], [1, 2, 3])


@given(st.integers(1, 200), st.integers(1, 200), st.data())
def test_the_z_test_squared_is_the_chi_square_test_of_the_table(n_a, n_b, data):
    right_a, right_b = data.draw(st.integers(0, n_a)), data.draw(st.integers(0, n_b))
    result = two_proportion_z_test(right_a, n_a, right_b, n_b)
    assert result.difference == pytest.approx(right_a / n_a - right_b / n_b, abs=1e-12)
    if 0 < right_a + right_b < n_a + n_b:
        table = [[right_a, n_a - right_a], [right_b, n_b - right_b]]
        chi_square = scipy.stats.chi2_contingency(table, correction=False)
        assert result.statistic**2 == pytest.approx(chi_square.statistic, abs=1e-9)
        assert result.p_value == pytest.approx(erfc(abs(result.statistic) / sqrt(2)))
    else:
        assert result.p_value == 1


@pytest.mark.slow
def test_tests_reject_a_true_hypothesis_no_more_often_than_they_say():
    rng = np.random.default_rng(0)
    rejected = {"mcnemar, exact": 0, "mcnemar": 0, "t": 0, "z": 0}
    runs = 1000
    for _ in range(runs):
        rejected["mcnemar, exact"] += mcnemar(rng.random(50) < 0.8, rng.random(50) < 0.8).p_value < 0.05
        rejected["mcnemar"] += mcnemar(rng.random(400) < 0.8, rng.random(400) < 0.8).p_value < 0.05
        rejected["t"] += paired_t_test(rng.normal(size=8), rng.normal(size=8)).p_value < 0.05
        right_a, right_b = rng.binomial(300, 0.7, 2)
        rejected["z"] += two_proportion_z_test(right_a, 300, right_b, 300).p_value < 0.05
    assert all(0.01 < count / runs < 0.07 for count in rejected.values()), rejected


def test_tests_see_a_difference_that_is_there():
    rng = np.random.default_rng(0)
    a, b = rng.random(500) < 0.9, rng.random(500) < 0.8
    assert mcnemar(a, b).p_value < 0.01
    assert two_proportion_z_test(a.sum(), 500, b.sum(), 500).p_value < 0.01
    assert paired_t_test(rng.normal(1, 0.5, 20), rng.normal(0, 0.5, 20)).p_value < 0.01


@pytest.mark.parametrize(
    ("test", "arguments", "message"),
    [
        (mcnemar, ([True], [True, False]), r"shapes \(1,\) and \(2,\)"),
        (mcnemar, ([], []), "at least 1 pairs, got 0"),
        (mcnemar, ([0.9, 0.8], [True, False]), "correct_a has dtype float64; expected bool"),
        (paired_t_test, ([1], [2]), "at least 2 pairs, got 1"),
        (paired_t_test, ([1, np.nan], [2, 3]), r"a\[1\] is nan and b\[1\] is 3.0; the scores must be finite"),
        (two_proportion_z_test, (5, 4, 1, 2), "right_a is 5 and n_a is 4"),
        (two_proportion_z_test, (1, 2, 0, 0), "right_b is 0 and n_b is 0"),
    ],
)
def test_what_cannot_be_tested_is_refused_by_name(test, arguments, message):
    with pytest.raises(ValueError, match=message):
        test(*arguments)
