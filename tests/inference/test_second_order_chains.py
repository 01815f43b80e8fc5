import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from structlearn.inference import best_per_loss_level, k_best, marginals, sample, viterbi


@st.composite
def scores(draw):
    """Moderate scores and large ones, transitions for each pair of neighbours, and forbidden parts of every kind."""
    length, n_labels = draw(st.integers(1, 5)), draw(st.integers(1, 3))
    random = np.random.default_rng(draw(st.integers(0, 10**6)))
    moves = (length - 1, n_labels, n_labels) if draw(st.booleans()) else (n_labels, n_labels)
    shapes = ((length, n_labels), moves, (n_labels,), (n_labels,), (n_labels,) * 3)
    arrays = [draw(st.sampled_from([1.0, 1e3])) * random.uniform(-1, 1, shape) for shape in shapes]
    forbidden = draw(st.sampled_from([0.0, 0.2]))
    for array in arrays:
        array[random.uniform(size=array.shape) < forbidden] = -np.inf
    return arrays


def enumerated(emission, transition, start, stop, triplets):
    length, n_labels = emission.shape
    outputs = np.array(list(itertools.product(range(n_labels), repeat=length)))
    moves = np.broadcast_to(transition, (length - 1, n_labels, n_labels))
    total = start[outputs[:, 0]] + stop[outputs[:, -1]] + emission[np.arange(length), outputs].sum(axis=1)
    for t in range(1, length):
        total = total + moves[t - 1, outputs[:, t - 1], outputs[:, t]]
    for t in range(1, length - 1):
        total = total + triplets[outputs[:, t], outputs[:, t - 1], outputs[:, t + 1]]
    return outputs, total


@given(scores())
@settings(max_examples=60)
def test_decoding_and_sums_agree_with_enumeration(arrays):
    *chain, triplets = arrays
    outputs, total = enumerated(*arrays)
    found, top = marginals(*chain, triplets=triplets), total.max()
    if top == -np.inf:
        assert found.log_z == -np.inf
        assert not found.nodes.any()
        assert not found.triplets.any()
        with pytest.raises(ValueError, match="every label sequence is forbidden"):
            viterbi(*chain, triplets=triplets)
        return
    labels, score = viterbi(*chain, triplets=triplets)
    assert score == pytest.approx(top, rel=1e-12, abs=1e-9)
    assert total[(outputs == labels).all(axis=1)] == pytest.approx([score])
    p = np.exp(total - top) / np.exp(total - top).sum()
    length, n_labels = arrays[0].shape
    assert found.log_z == pytest.approx(top + np.log(np.exp(total - top).sum()), rel=1e-12, abs=1e-9)
    assert found.entropy == pytest.approx(-np.sum(p[p > 0] * np.log(p[p > 0])), abs=1e-9 * max(1.0, abs(top)))
    nodes, edges, expected = np.zeros((length, n_labels)), np.zeros_like(found.edges), np.zeros((n_labels,) * 3)
    for y, probability in zip(outputs, p, strict=True):
        nodes[np.arange(length), y] += probability
        edges[np.arange(length - 1), y[:-1], y[1:]] += probability
        np.add.at(expected, (y[1:-1], y[:-2], y[2:]), probability)
    np.testing.assert_allclose(found.nodes, nodes, atol=1e-9)
    np.testing.assert_allclose(found.edges, edges, atol=1e-9)
    np.testing.assert_allclose(found.triplets, expected, atol=1e-9)


def test_samples_follow_the_distribution():
    random = np.random.default_rng(0)
    emission, transition, triplets = (random.normal(size=shape) for shape in ((4, 2), (2, 2), (2, 2, 2)))
    drawn = sample(emission, transition, 5000, random_state=0, triplets=triplets)
    outputs, total = enumerated(emission, transition, np.zeros(2), np.zeros(2), triplets)
    frequencies = [(drawn == y).all(axis=1).mean() for y in outputs]
    assert frequencies == pytest.approx(np.exp(total) / np.exp(total).sum(), abs=0.03)


def test_triplets_of_another_shape_are_named():
    with pytest.raises(ValueError, match=r"triplets has shape \(2, 2\); expected \(2, 2, 2\)"):
        viterbi(np.zeros((3, 2)), np.zeros((2, 2)), triplets=np.zeros((2, 2)))


@pytest.mark.parametrize("length", [1, 2, 5])
def test_k_best_and_loss_levels_with_triplets(length):
    random = np.random.default_rng(length)
    emission, transition, triplets = (random.normal(size=shape) for shape in ((length, 3), (3, 3), (3, 3, 3)))
    outputs, total = enumerated(emission, transition, np.zeros(3), np.zeros(3), triplets)
    found = k_best(emission, transition, 12, triplets=triplets)
    np.testing.assert_allclose([score for _, score in found], np.sort(total)[::-1][:12])
    assert len({tuple(labels) for labels, _ in found}) == min(12, len(total))
    truth = random.integers(3, size=length)
    wrong = (np.array(outputs) != truth).sum(axis=1)
    levels = best_per_loss_level(emission, transition, truth, triplets=triplets)
    assert [n for n, _, _ in levels] == list(range(length + 1))
    np.testing.assert_allclose([s for _, _, s in levels], [total[wrong == n].max() for n in range(length + 1)])
    assert [int((labels != truth).sum()) for _, labels, _ in levels] == list(range(length + 1))


def test_nothing_is_drawn_where_all_is_forbidden():
    with pytest.raises(ValueError, match="every label sequence is forbidden"):
        sample(np.zeros((2, 2)), np.full((2, 2), -np.inf), 3)
