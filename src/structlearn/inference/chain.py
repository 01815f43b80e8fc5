"""Decoders for chains of labels, on plain arrays of scores.

The score of a label sequence is F(y) = start[y₁] + Σ_t emission[t, y_t] + Σ_t transition[y_t, y_{t+1}] + stop[y_T]; a
score of −∞ forbids. Probabilities are P(y) = exp F(y) / Z.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from structlearn import _core
from structlearn.data.arrays import FloatArray, LabelArray


def viterbi(
    emission: npt.ArrayLike,
    transition: npt.ArrayLike,
    start: npt.ArrayLike | None = None,
    stop: npt.ArrayLike | None = None,
) -> tuple[LabelArray, float]:
    """The best label sequence and its score.

    Parameters
    ----------
    emission : (length, n_labels)
    transition : (n_labels, n_labels)
        Rows: from, columns: to.
    start, stop : (n_labels,), optional
        Zero if not given.

    Examples
    --------
    >>> viterbi([[0.0, 1.0], [0.5, 0.0]], [[2.0, 0.0], [0.0, 0.0]])
    (array([0, 0], dtype=int32), 2.5)
    """
    best = k_best(emission, transition, 1, start, stop)
    if not best:
        raise ValueError("every label sequence is forbidden: all scores are -inf")
    return best[0]


def k_best(
    emission: npt.ArrayLike,
    transition: npt.ArrayLike,
    k: int,
    start: npt.ArrayLike | None = None,
    stop: npt.ArrayLike | None = None,
) -> list[tuple[LabelArray, float]]:
    """The k best label sequences and their scores, best first; fewer if there are not as many.

    Examples
    --------
    >>> [(labels.tolist(), score) for labels, score in k_best([[0.0, 1.0]], np.zeros((2, 2)), 3)]
    [([1], 1.0), ([0], 0.0)]
    """
    if k < 1:
        raise ValueError(f"k is {k}; it must be at least 1")
    chain, w, length = _chain_of_scores(emission, transition, start, stop)
    labels = np.empty(k * length, np.int32)
    scores = np.empty(k)
    count = np.empty(1, np.int64)
    chain.k_best(w, np.zeros(1, np.int64), k, labels, scores, count, 1)
    found = labels.reshape(k, length)[: count[0]]
    return list(zip(found, scores.tolist(), strict=False))


def best_per_loss_level(
    emission: npt.ArrayLike,
    transition: npt.ArrayLike,
    truth: npt.ArrayLike,
    start: npt.ArrayLike | None = None,
    stop: npt.ArrayLike | None = None,
) -> list[tuple[int, LabelArray, float]]:
    """(number of wrong labels, labels, score) of the best sequence for each number of wrong labels.

    Examples
    --------
    >>> levels = best_per_loss_level([[0.0, 1.0], [0.5, 0.0]], np.zeros((2, 2)), truth=[0, 0])
    >>> [(wrong, labels.tolist(), score) for wrong, labels, score in levels]
    [(0, [0, 0], 0.5), (1, [1, 0], 1.5), (2, [1, 1], 1.0)]
    """
    chain, w, length = _chain_of_scores(emission, transition, start, stop)
    truth = np.ascontiguousarray(truth, np.int32)
    n_labels = np.shape(emission)[1]
    if truth.shape != (length,) or truth.min() < 0 or truth.max() >= n_labels:
        raise ValueError(f"truth is {truth.tolist()}; expected {length} labels from 0 to {n_labels - 1}")
    levels, scores, labels = chain.best_per_level(w, 0, truth, np.ones(n_labels, np.int32))
    return list(zip(levels.tolist(), labels.reshape(len(levels), length), scores.tolist(), strict=True))


@dataclass(frozen=True, slots=True)
class ChainMarginals:
    """What the distribution P(y) = exp F(y) / Z over label sequences is like.

    Attributes
    ----------
    log_z : float
        log Σ_y exp F(y); −∞ if every sequence is forbidden, and all marginals are 0 then.
    nodes : (length, n_labels)
        P(y_t = l).
    edges : (length − 1, n_labels, n_labels)
        P(y_t = k, y_{t+1} = l).
    entropy : float
        −Σ_y P(y) log P(y), in nats.
    """

    log_z: float
    nodes: FloatArray
    edges: FloatArray
    entropy: float

    def most_probable_labels(self) -> LabelArray:
        """The most probable label of each position on its own: the fewest wrong labels in expectation."""
        return np.asarray(self.nodes.argmax(axis=1), np.int32)

    def expected_loss(self, labels: npt.ArrayLike) -> float:
        """How many labels of a given sequence are wrong in expectation."""
        labels = np.asarray(labels)
        return float(len(self.nodes) - self.nodes[np.arange(len(self.nodes)), labels].sum())


def marginals(
    emission: npt.ArrayLike,
    transition: npt.ArrayLike,
    start: npt.ArrayLike | None = None,
    stop: npt.ArrayLike | None = None,
) -> ChainMarginals:
    """Sum-product (forward-backward): log Z, node and edge marginals, entropy.

    Safe for long sequences and large scores: nothing overflows, and what underflows does not matter.

    Examples
    --------
    >>> found = marginals([[0.0, 1.0], [0.5, 0.0]], [[2.0, 0.0], [0.0, 0.0]])
    >>> found.nodes.round(3), round(found.log_z, 3)
    (array([[0.647, 0.353],
           [0.818, 0.182]]), 3.015)
    >>> found.most_probable_labels(), round(found.expected_loss([0, 0]), 3)
    (array([0, 0], dtype=int32), 0.536)
    """
    chain, theta, length = _chain_of_scores(emission, transition, start, stop)
    n_labels = np.shape(emission)[1]
    nodes, edges = np.empty(length * n_labels), np.empty((length - 1) * n_labels**2)
    log_z = chain.marginals(theta, nodes, edges)
    _, parts, begin, end = np.split(theta, [len(nodes), len(nodes) + n_labels**2, len(theta) - n_labels])
    pairs = edges.reshape(-1, n_labels, n_labels)
    last = nodes[-n_labels:]
    counted = (
        (theta[: len(nodes)], nodes),
        (parts, pairs.sum(axis=0).ravel()),
        (begin, nodes[:n_labels]),
        (end, last),
    )
    # What is forbidden has probability 0 and adds nothing.
    mean_score = sum(float(values[p > 0] @ p[p > 0]) for values, p in counted)
    entropy = max(0.0, log_z - mean_score) if log_z > -np.inf else 0.0
    return ChainMarginals(log_z, nodes.reshape(length, n_labels), pairs, entropy)


def sample(
    emission: npt.ArrayLike,
    transition: npt.ArrayLike,
    n_samples: int,
    start: npt.ArrayLike | None = None,
    stop: npt.ArrayLike | None = None,
    random_state: int | np.random.Generator | None = None,
) -> LabelArray:
    """Label sequences drawn from P(y), (n_samples, length).

    Examples
    --------
    >>> drawn = sample([[0.0, 1.0], [0.5, 0.0]], [[2.0, 0.0], [0.0, 0.0]], 1000, random_state=0)
    >>> bool(abs((drawn == 0).mean(axis=0) - [0.647, 0.818]).max() < 0.03)
    True
    """
    chain, theta, length = _chain_of_scores(emission, transition, start, stop)
    out = np.empty(n_samples * length, np.int32)
    uniform = np.random.default_rng(random_state).random(len(out))
    chain.samples(theta, np.zeros(1, np.int64), n_samples, uniform, out, 1)
    return out.reshape(n_samples, length)


def _chain_of_scores(emission: Any, transition: Any, start: Any, stop: Any) -> tuple[_core.Chain, FloatArray, int]:
    """A chain whose tokens are indicators of their position, so that its weights are the scores themselves."""
    emission = np.asarray(emission, np.float64)
    if emission.ndim != 2 or 0 in emission.shape:
        raise ValueError(f"emission has shape {emission.shape}; expected (length, n_labels), neither of them 0")
    length, n_labels = emission.shape
    parts = [emission.ravel()]
    for name, given, shape in (
        ("transition", transition, (n_labels, n_labels)),
        ("start", np.zeros(n_labels) if start is None else start, (n_labels,)),
        ("stop", np.zeros(n_labels) if stop is None else stop, (n_labels,)),
    ):
        scores = np.asarray(given, np.float64)
        if scores.shape != shape:
            raise ValueError(f"{name} has shape {scores.shape}; expected {shape}")
        parts.append(scores.ravel())
    w = np.concatenate(parts)
    if np.isnan(w).any():
        raise ValueError("the scores hold NaN")
    positions = np.arange(length + 1)
    tokens = _core.Tokens(positions, positions[:-1].astype(np.int32), np.ones(length), length)
    chain = _core.Chain(tokens, np.array([0, length]), n_labels, 1.0, True)
    return chain, w, length
