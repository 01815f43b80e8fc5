import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from structlearn.estimators.generative.probabilities import checked_distributions, frequencies, log

counts = arrays(float, st.tuples(st.integers(1, 4), st.integers(1, 4)), elements=st.integers(0, 9))


@given(counts, st.one_of(st.floats(0, 5), st.just("floor")))
def test_frequencies_are_distributions_in_the_order_of_the_counts(counts, smoothing):
    rows = frequencies(counts, smoothing)
    np.testing.assert_allclose(rows.sum(axis=1), 1)
    for row, of in zip(rows, counts, strict=True):
        assert np.all(np.diff(row[np.argsort(of)]) >= 0)
    checked_distributions("rows", rows, counts.shape)


@given(counts)
def test_a_row_of_zeros_is_the_limit_of_weak_smoothing(counts):
    np.testing.assert_allclose(frequencies(counts, 0), frequencies(counts, 1e-12), atol=1e-9)


@pytest.mark.parametrize("smoothing", [-1, float("nan"), float("inf"), "ceiling", None])
def test_smoothing_that_is_none_is_named(smoothing):
    with pytest.raises(ValueError, match=f"smoothing is {smoothing!r}"):
        frequencies(np.ones(2), smoothing)


@pytest.mark.parametrize(
    ("given", "shape", "message"),
    [
        ([[0.5, 0.5], [0.5, 0.4]], (2, 2), r"A\[1\] sums to 0.9"),
        ([[1.5, -0.5], [0.5, 0.5]], (2, 2), r"A\[0\] has the entry -0.5"),
        ([[1.0, np.nan], [0.5, 0.5]], (2, 2), r"A\[0\] has the entry nan"),
        ([0.5, 0.6], (2,), "A sums to 1.1"),
        ([0.5, 0.5], (2, 2), r"A has shape \(2,\); expected \(2, 2\)"),
        ([[0.5, 0.5]], (None, 3), r"A has shape \(1, 2\); expected \(any, 3\)"),
    ],
)
def test_a_row_that_is_no_distribution_is_named(given, shape, message):
    with pytest.raises(ValueError, match=message):
        checked_distributions("A", given, shape)


def test_the_logarithm_of_zero_is_minus_infinity_without_a_warning():
    assert log(np.array([0.0, 1.0])).tolist() == [-np.inf, 0.0]
