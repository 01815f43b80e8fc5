import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from structlearn.inference import marginals, sample, viterbi


@st.composite
def scores(draw):
    """Moderate scores, scores of ±1e4, and forbidden labels and transitions."""
    length, n_labels = draw(st.integers(1, 4)), draw(st.integers(1, 3))
    random = np.random.default_rng(draw(st.integers(0, 10**6)))
    scale = draw(st.sampled_from([1.0, 40.0, 300.0, 1e4]))
    shapes = ((length, n_labels), (n_labels, n_labels), (n_labels,), (n_labels,))
    arrays = [scale * random.uniform(-1, 1, shape) for shape in shapes]
    forbidden = draw(st.sampled_from([0.0, 0.2]))
    for array in arrays:
        array[random.uniform(size=array.shape) < forbidden] = -np.inf
    return arrays


def enumerated(emission, transition, start, stop):
    length, n_labels = emission.shape
    outputs = np.array(list(itertools.product(range(n_labels), repeat=length)))
    total = start[outputs[:, 0]] + stop[outputs[:, -1]]
    for t in range(length):
        total = total + emission[t, outputs[:, t]]
        if t:
            total = total + transition[outputs[:, t - 1], outputs[:, t]]
    return outputs, total


@given(scores())
@settings(max_examples=300)
def test_sums_agree_with_enumeration(arrays):
    outputs, total = enumerated(*arrays)
    found = marginals(*arrays)
    top = total.max()
    if top == -np.inf:
        assert found.log_z == -np.inf
        assert not found.nodes.any()
        assert not found.edges.any()
        return
    weight = np.exp(total - top)
    p = weight / weight.sum()
    length, n_labels = arrays[0].shape
    assert found.log_z == pytest.approx(top + np.log(weight.sum()), rel=1e-12, abs=1e-9)
    for t in range(length):
        for k in range(n_labels):
            here = outputs[:, t] == k
            assert found.nodes[t, k] == pytest.approx(p[here].sum(), abs=1e-9)
            for m in range(n_labels if t + 1 < length else 0):
                assert found.edges[t, k, m] == pytest.approx(p[here & (outputs[:, t + 1] == m)].sum(), abs=1e-9)
    entropy = -np.sum(p[p > 0] * np.log(p[p > 0]))
    assert found.entropy == pytest.approx(entropy, abs=1e-9 * max(1.0, abs(top)))
    labels = found.most_probable_labels()
    wrong = (outputs != labels).sum(axis=1)
    assert found.expected_loss(labels) == pytest.approx(p @ wrong, abs=1e-8)
    other = outputs[len(outputs) // 2]
    assert found.expected_loss(other) >= found.expected_loss(labels) - 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("size", [pytest.param(1.0, marks=pytest.mark.slow), 1e4])
def test_a_hundred_thousand_positions_with_scores_of_1e4(size):
    random = np.random.default_rng(0)
    emission = 1e4 * random.uniform(-1, 1, (100_000, 3))
    transition = size * random.uniform(-1, 1, (3, 3))
    message = emission[0]
    for row in emission[1:]:
        message = np.logaddexp.reduce(message[:, None] + transition, axis=0) + row
    found = marginals(emission, transition)
    assert found.log_z == pytest.approx(np.logaddexp.reduce(message), rel=1e-12)
    assert found.nodes.sum(axis=1) == pytest.approx(1.0)
    assert found.edges.sum(axis=2) == pytest.approx(found.nodes[:-1], abs=1e-6)
    best, score = viterbi(emission, transition)
    assert found.log_z >= score
    assert np.mean(found.most_probable_labels() == best) > 0.99


def test_labels_that_cannot_reach_one_another_keep_their_mass():
    # Two labels that never meet: what is far behind half way is ahead at the end.
    length = 2000
    emission = np.zeros((length, 2))
    emission[: length // 2, 0] = 3.0
    emission[length // 2 :, 1] = 3.0
    transition = np.array([[0.0, -np.inf], [-np.inf, 0.0]])
    found = marginals(emission, transition)
    assert found.nodes == pytest.approx(0.5)
    assert found.log_z == pytest.approx(1.5 * length + np.log(2.0))


@given(st.integers(0, 10**6))
@settings(max_examples=20)
def test_the_gradient_of_log_z_is_the_marginals(seed):
    random = np.random.default_rng(seed)
    emission, transition = random.normal(size=(4, 3)), random.normal(size=(3, 3))
    found = marginals(emission, transition)
    step = 1e-5
    for t, k in itertools.product(range(4), range(3)):
        bump = np.zeros((4, 3))
        bump[t, k] = step
        slope = (marginals(emission + bump, transition).log_z - marginals(emission - bump, transition).log_z) / 2 / step
        assert slope == pytest.approx(found.nodes[t, k], abs=1e-8)
    for k, m in itertools.product(range(3), range(3)):
        bump = np.zeros((3, 3))
        bump[k, m] = step
        slope = (marginals(emission, transition + bump).log_z - marginals(emission, transition - bump).log_z) / 2 / step
        assert slope == pytest.approx(found.edges.sum(axis=0)[k, m], abs=1e-8)


@pytest.mark.parametrize("scale", [1.0, 1000.0])
def test_samples_follow_the_distribution(scale):
    random = np.random.default_rng(1)
    emission, transition = random.normal(size=(4, 3)), random.normal(size=(3, 3))
    # A large score that all sequences have sends the recursion to its logarithmic form without changing P.
    transition[0, 0] += 0.0 if scale == 1.0 else -scale
    drawn = sample(emission, transition, 20_000, random_state=0)
    found = marginals(emission, transition)
    frequencies = np.stack([(drawn == label).mean(axis=0) for label in range(3)], axis=1)
    assert frequencies == pytest.approx(found.nodes, abs=0.015)
    pairs = np.mean((drawn[:, 1] == 1) & (drawn[:, 2] == 2))
    assert pairs == pytest.approx(found.edges[1, 1, 2], abs=0.015)


def test_forbidden_labels_are_never_drawn():
    transition = np.array([[0.0, -np.inf], [0.0, 0.0]])
    drawn = sample(np.zeros((6, 2)), transition, 500, random_state=0)
    assert not np.any((drawn[:, :-1] == 0) & (drawn[:, 1:] == 1))


def test_all_forbidden_is_said():
    with pytest.raises(ValueError, match="every label sequence is forbidden"):
        viterbi(np.zeros((2, 2)), np.full((2, 2), -np.inf))


def test_what_cannot_be_reached_counts_for_nothing_however_much_would_follow():
    never = -np.inf
    emissions = [[-136.0, -144.0], [-133.0, 183.0], [-229.0, -202.0], [66.0, 277.0]]
    found = marginals(emissions, [[-39.0, never], [178.0, never]], [234.0, never], [-89.0, never])
    np.testing.assert_allclose(found.nodes, [[1.0, 0.0]] * 4)
