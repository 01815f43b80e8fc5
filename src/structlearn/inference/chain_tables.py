"""Chains of labels whose scores of pairs differ from token to token, many of them with one call.

Scores are nodes, (n_tokens, n_labels), and pairs, (n_tokens, n_labels, n_labels), of a token and the next one in its
sequence; what those of last tokens say does not matter. F(y) = Σ_t nodes[t, y_t] + Σ_t pairs[t, y_t, y_{t+1}].
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from structlearn import _core
from structlearn.data.arrays import FloatArray, IntArray, LabelArray
from structlearn.data.memory import available_memory
from structlearn.data.ragged import offsets_of
from structlearn.wording import in_bytes


def best_sequences(nodes: FloatArray, pairs: FloatArray, offsets: IntArray) -> LabelArray:
    """argmax F of every sequence, one after another.

    >>> nodes, pairs = np.array([[1.0, 0.0], [0.0, 0.5], [0.0, 2.0]]), np.array([[[1.0, 0.0], [0.0, 0.0]]] * 3)
    >>> best_sequences(nodes, pairs, np.array([0, 2, 3])).tolist()
    [0, 0, 1]
    """
    parts = [*_in_turn(nodes, pairs, offsets), np.zeros(nodes.shape[1] ** 2)]
    (codes, _), _ = _chains(nodes, offsets).best(np.concatenate(parts), np.arange(len(offsets) - 1), 1)
    return codes


def sequence_marginals(nodes: FloatArray, pairs: FloatArray, offsets: IntArray) -> tuple[FloatArray, FloatArray]:
    """P(y_t = a) and P(y_t = a, y_{t+1} = b) under P(y) ∝ exp F(y), in the shapes of the scores.

    >>> of_nodes, of_pairs = sequence_marginals(np.zeros((2, 2)), np.zeros((2, 2, 2)), np.array([0, 2]))
    >>> of_nodes.tolist(), of_pairs.ravel().tolist()
    ([[0.5, 0.5], [0.5, 0.5]], [0.25, 0.25, 0.25, 0.25, 0.0, 0.0, 0.0, 0.0])
    """
    n, L = len(offsets) - 1, nodes.shape[1]
    # Every sequence has its transitions, which are the same everywhere and 0 here, behind its own parts.
    parts = list(_in_turn(nodes, pairs, offsets))
    zeros = np.zeros(L * L)
    theta = np.concatenate([part for k in range(n) for part in (*parts[2 * k : 2 * k + 2], zeros)] or [zeros])
    expected = np.empty_like(theta)
    _chains(nodes, offsets).part_sums(theta, np.arange(n), np.empty(n), expected, 1)
    of_nodes, of_pairs = np.empty_like(nodes), np.zeros_like(pairs)
    place = 0
    for begin, end in pairwise(offsets.tolist()):
        for found, stop in ((of_nodes, end), (of_pairs, max(begin, end - 1))):
            some = found[begin:stop]
            some[...] = expected[place : place + some.size].reshape(some.shape)
            place += some.size
        place += L * L
    return of_nodes, of_pairs


def farthest_sequences(
    nodes: FloatArray, pairs: FloatArray, offsets: IntArray, truths: LabelArray, of_label: float, of_pair: float
) -> LabelArray:
    """argmax_y F(y) + √(of_label h + of_pair m), where h labels and m pairs of y are not those of the truth.

    It takes time in proportion to length⁴, and 6 bytes of memory for each length³.

    >>> nodes, pairs, truths = np.zeros((3, 2)), np.zeros((3, 2, 2)), np.array([0, 1, 0], np.int32)
    >>> farthest_sequences(nodes, pairs, np.array([0, 3]), truths, 2.0, 2.0).tolist()
    [1, 0, 1]
    """
    lengths = np.diff(offsets)
    longest, length = int(np.argmax(np.append(lengths, 0))), int(lengths.max(initial=0))
    available = available_memory() if length > 200 else None
    if available is not None and 6 * length**3 > available:
        raise ValueError(
            f"distances of sequence {longest}, which has {length} labels, would take {in_bytes(6.0 * length**3)} of "
            f"memory, and {in_bytes(available)} are available; take loss='squared' or 'hamming'"
        )
    return _core.farthest_sequences(
        np.ascontiguousarray(nodes).ravel(),
        np.ascontiguousarray(pairs).ravel(),
        nodes.shape[1],
        np.ascontiguousarray(offsets, np.int64),
        np.ascontiguousarray(truths, np.int32),
        of_label,
        of_pair,
        1,
    )


def _in_turn(nodes: FloatArray, pairs: FloatArray, offsets: IntArray) -> list[FloatArray]:
    """Scores of the labels and of the pairs of every sequence."""
    return [
        part.ravel()
        for begin, end in pairwise(offsets.tolist())
        for part in (nodes[begin:end], pairs[begin : max(begin, end - 1)])
    ]


def _chains(nodes: FloatArray, offsets: IntArray) -> _core.GivenChain:
    L, lengths = nodes.shape[1], np.diff(offsets)
    sizes = lengths * L + np.maximum(lengths - 1, 0) * L * L
    engine = _core.ChainEngine(np.ascontiguousarray(offsets, np.int64), L, False, True)
    return _core.GivenChain(engine, _core.GivenScores(L * L, offsets_of(sizes)))
