"""Chains with scores for every pair of neighbours, many at once, agree with enumeration."""

from itertools import pairwise, product

import numpy as np
import pytest

from structlearn.inference.chain_tables import best_sequences, farthest_sequences, sequence_marginals

OFFSETS = np.array([0, 4, 4, 5, 7, 12])


def tables(seed, n_labels):
    random = np.random.default_rng(seed)
    n = OFFSETS[-1]
    truths = random.integers(n_labels, size=n).astype(np.int32)
    return random.normal(size=(n, n_labels)), random.normal(size=(n, n_labels, n_labels)), truths


def sequences(nodes, pairs):
    """Every sequence, where it begins, and its score."""
    for begin, end in pairwise(OFFSETS.tolist()):
        listed = list(product(range(nodes.shape[1]), repeat=end - begin))
        scores = [
            sum(nodes[begin + t, a] for t, a in enumerate(y))
            + sum(pairs[begin + t, a, b] for t, (a, b) in enumerate(pairwise(y)))
            for y in listed
        ]
        yield begin, end, listed, np.array(scores)


@pytest.mark.parametrize("n_labels", [1, 2, 3])
def test_the_best_sequences_are_those_of_enumeration(n_labels):
    nodes, pairs, _ = tables(0, n_labels)
    found = best_sequences(nodes, pairs, OFFSETS)
    for begin, end, listed, scores in sequences(nodes, pairs):
        assert tuple(found[begin:end]) == listed[int(scores.argmax())]


def test_marginals_are_those_of_enumeration():
    nodes, pairs, _ = tables(1, 3)
    of_nodes, of_pairs = sequence_marginals(nodes, pairs, OFFSETS)
    expected = np.zeros_like(nodes), np.zeros_like(pairs)
    for begin, _, listed, scores in sequences(nodes, pairs):
        for y, p in zip(listed, np.exp(scores) / np.exp(scores).sum(), strict=True):
            for t, a in enumerate(y):
                expected[0][begin + t, a] += p
            for t, (a, b) in enumerate(pairwise(y)):
                expected[1][begin + t, a, b] += p
    np.testing.assert_allclose(of_nodes, expected[0], atol=1e-12)
    np.testing.assert_allclose(of_pairs, expected[1], atol=1e-12)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("weights", [(2.0, 1.4), (40.0, 0.0), (0.5, 90.0)])
@pytest.mark.parametrize("n_labels", [1, 2, 3])
def test_the_farthest_sequences_are_those_of_enumeration(n_labels, weights, seed):
    nodes, pairs, truths = tables(seed, n_labels)
    found = farthest_sequences(nodes, pairs, OFFSETS, truths, *weights)
    for begin, end, listed, scores in sequences(nodes, pairs):
        truth = truths[begin:end].tolist()
        wrong = [sum(a != b for a, b in zip(y, truth, strict=True)) for y in listed]
        apart = [sum(p != q for p, q in zip(pairwise(y), pairwise(truth), strict=True)) for y in listed]
        values = scores + np.sqrt(weights[0] * np.array(wrong) + weights[1] * np.array(apart))
        assert tuple(found[begin:end]) == listed[int(values.argmax())]
