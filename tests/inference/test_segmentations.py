import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from structlearn.inference import (
    best_segmentation,
    k_best_segmentations,
    sample_segmentations,
    segmentation_marginals,
)


@st.composite
def scores(draw):
    """All that may be given, with lengths up to one more than there are tokens, and forbidden parts."""
    length, n_labels = draw(st.integers(1, 4)), draw(st.integers(1, 3))
    random = np.random.default_rng(draw(st.integers(0, 10**6)))
    of_tokens, max_length = (length, n_labels), draw(st.integers(1, length + 1))
    shapes = (of_tokens, (n_labels, n_labels), (max_length, n_labels), of_tokens, of_tokens)
    arrays = [draw(st.sampled_from([1.0, 300.0])) * random.uniform(-1, 1, shape) for shape in shapes]
    for array in arrays[1:4]:
        array[random.uniform(size=array.shape) < draw(st.sampled_from([0.0, 0.2]))] = -np.inf
    return arrays


def segmentations(length, n_labels, longest, begin=0):
    if begin == length:
        yield []
    for end in range(begin + 1, min(begin + longest, length) + 1):
        for rest in segmentations(length, n_labels, longest, end):
            yield from ([(label, begin, end), *rest] for label in range(n_labels))


def enumerated(emission, transition, lengths, first, last):
    return {
        tuple(y): sum(
            emission[a:b, label].sum() + first[a, label] + last[b - 1, label] + lengths[b - a - 1, label]
            for label, a, b in y
        )
        + sum(transition[left[0], right[0]] for left, right in itertools.pairwise(y))
        for y in segmentations(*emission.shape, len(lengths))
    }


@given(scores())
@settings(max_examples=60)
def test_decoding_and_sums_agree_with_enumeration(arrays):
    total = enumerated(*arrays)
    values = np.array(list(total.values()))
    found, top = segmentation_marginals(*arrays), values.max()
    if top == -np.inf:
        assert found.log_z == -np.inf
        assert not found.tokens.any()
        assert not found.lengths.any()
        with pytest.raises(ValueError, match="every segmentation is forbidden"):
            best_segmentation(*arrays)
        return
    listed = k_best_segmentations(arrays[0], arrays[1], 7, *arrays[2:])
    np.testing.assert_allclose(
        [s for _, s in listed], np.sort(values[values > -np.inf])[::-1][:7], rtol=1e-12, atol=1e-9
    )
    assert len({tuple(y) for y, _ in listed}) == len(listed)
    best, score = best_segmentation(*arrays)
    assert score == pytest.approx(top, rel=1e-12, abs=1e-9)
    assert total[tuple(best)] == pytest.approx(score, rel=1e-12, abs=1e-9)
    p = np.exp(values - top) / np.exp(values - top).sum()
    assert found.log_z == pytest.approx(top + np.log(np.exp(values - top).sum()), rel=1e-12, abs=1e-9)
    assert found.entropy == pytest.approx(-np.sum(p[p > 0] * np.log(p[p > 0])), abs=1e-8 * max(1.0, abs(top)))
    tokens, transitions, lengths, firsts, lasts = (np.zeros_like(array) for array in arrays)
    for y, probability in zip(total, p, strict=True):
        for label, begin, end in y:
            tokens[begin:end, label] += probability
            lengths[end - begin - 1, label] += probability
            firsts[begin, label] += probability
            lasts[end - 1, label] += probability
        for left, right in itertools.pairwise(y):
            transitions[left[0], right[0]] += probability
    for expected, name in ((tokens, "tokens"), (transitions, "transitions"), (lengths, "lengths")):
        np.testing.assert_allclose(getattr(found, name), expected, atol=1e-9)
    np.testing.assert_allclose(found.firsts, firsts, atol=1e-9)
    np.testing.assert_allclose(found.lasts, lasts, atol=1e-9)


def test_samples_follow_the_distribution():
    random = np.random.default_rng(0)
    arrays = [random.normal(size=shape) for shape in ((3, 2), (2, 2), (2, 2), (3, 2), (3, 2))]
    emission, transition, *more = arrays
    drawn = sample_segmentations(emission, transition, 5000, *more, random_state=0)
    total = enumerated(*arrays)
    share = np.exp(list(total.values())) / np.exp(list(total.values())).sum()
    assert [drawn.count(list(y)) / 5000 for y in total] == pytest.approx(share, abs=0.03)


def test_what_is_not_given_is_zero_and_lengths_are_free():
    emission, transition = np.random.default_rng(1).normal(size=(4, 2)), np.full((2, 2), -1.0)
    zeros = np.zeros((4, 2))
    assert best_segmentation(emission, transition) == best_segmentation(emission, transition, zeros, zeros, zeros)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"emission": np.zeros(3)}, r"emission has shape \(3,\); expected \(length, n_labels\)"),
        ({"transition": np.zeros((3, 2))}, r"transition has shape \(3, 2\); expected \(2, 2\)"),
        ({"lengths": np.zeros((3, 1))}, r"lengths has shape \(3, 1\); expected \(max_length, 2\)"),
        ({"first": np.zeros((2, 2))}, r"first has shape \(2, 2\); expected \(3, 2\)"),
        ({"last": np.full((3, 2), -np.inf)}, "last holds -inf"),
        ({"emission": np.full((3, 2), -np.inf)}, "emission holds -inf"),
        ({"first": np.full((3, 2), np.nan)}, "NaN"),
    ],
)
def test_scores_that_do_not_fit_are_named(given, message):
    with pytest.raises(ValueError, match=message):
        best_segmentation(**{"emission": np.zeros((3, 2)), "transition": np.zeros((2, 2)), **given})
