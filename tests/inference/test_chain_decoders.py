import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from structlearn.inference import best_per_loss_level, k_best, viterbi


@st.composite
def scores(draw):
    length, n_labels = draw(st.integers(1, 4)), draw(st.integers(1, 3))
    random = np.random.default_rng(draw(st.integers(0, 10**6)))
    shapes = ((length, n_labels), (n_labels, n_labels), (n_labels,), (n_labels,))
    # Whole numbers, so that ties are frequent and sums are exact.
    return [random.integers(-2, 3, shape).astype(float) for shape in shapes]


def ranked(emission, transition, start, stop):
    length, n_labels = emission.shape
    sequences = itertools.product(range(n_labels), repeat=length)
    total = {
        y: start[y[0]]
        + stop[y[-1]]
        + sum(emission[t, label] for t, label in enumerate(y))
        + sum(transition[a, b] for a, b in itertools.pairwise(y))
        for y in sequences
    }
    return sorted(total.items(), key=lambda pair: -pair[1])


@given(scores(), st.integers(1, 100))
@settings(max_examples=150)
def test_k_best_agrees_with_enumeration(arrays, k):
    emission, transition, start, stop = arrays
    expected = ranked(*arrays)
    found = k_best(emission, transition, k, start, stop)
    assert [score for _, score in found] == [score for _, score in expected[:k]]
    assert len({tuple(labels) for labels, _ in found}) == len(found)
    assert all(dict(expected)[tuple(labels.tolist())] == score for labels, score in found)
    labels, score = viterbi(emission, transition, start, stop)
    assert score == expected[0][1] == dict(expected)[tuple(labels.tolist())]


@given(scores(), st.data())
@settings(max_examples=100)
def test_best_per_loss_level_agrees_with_enumeration(arrays, data):
    emission, transition, start, stop = arrays
    length, n_labels = emission.shape
    truth = data.draw(st.lists(st.integers(0, n_labels - 1), min_size=length, max_size=length))
    best = {}
    for y, score in reversed(ranked(*arrays)):
        best[sum(a != b for a, b in zip(y, truth, strict=True))] = score
    found = best_per_loss_level(emission, transition, truth, start, stop)
    assert {wrong: score for wrong, _, score in found} == best
    assert all(np.sum(labels != truth) == wrong for wrong, labels, _ in found)


def test_start_and_stop_are_zero_if_not_given():
    emission, transition = np.array([[1.0, 0.0]]), np.zeros((2, 2))
    assert viterbi(emission, transition)[1] == viterbi(emission, transition, np.zeros(2), np.zeros(2))[1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((np.zeros((0, 2)), np.zeros((2, 2))), "emission has shape"),
        ((np.zeros((2, 2)), np.zeros((2, 3))), r"transition has shape \(2, 3\)"),
        ((np.zeros((2, 2)), np.zeros((2, 2)), np.zeros(3)), r"start has shape \(3,\)"),
        ((np.full((2, 2), np.nan), np.zeros((2, 2))), "NaN"),
    ],
)
def test_shapes_that_do_not_fit_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        viterbi(*arguments)


def test_a_forbidden_transition_is_never_taken():
    transition = np.array([[0.0, -np.inf], [0.0, 0.0]])
    labels, score = viterbi([[1.0, 0.0], [0.0, 1.0]], transition)
    assert labels.tolist() in ([0, 0], [1, 1])
    assert score == 1.0
