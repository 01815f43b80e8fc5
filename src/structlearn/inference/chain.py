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
from structlearn.data.ragged import Ragged


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
    transition : (n_labels, n_labels), or (length − 1, n_labels, n_labels)
        Rows: from, columns: to; the same everywhere, or for each pair of neighbours.
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
    chain, theta, _ = _chain_of_scores(emission, transition, start, stop)
    found, _, scores = chain.k_best(theta, _ONE, k, 1)
    return list(zip(Ragged(*found), scores.tolist(), strict=True))


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
    chain, theta, length = _chain_of_scores(emission, transition, start, stop)
    truth = np.ascontiguousarray(truth, np.int32)
    n_labels = np.shape(emission)[1]
    if truth.shape != (length,) or truth.min() < 0 or truth.max() >= n_labels:
        raise ValueError(f"truth is {truth.tolist()}; expected {length} labels from 0 to {n_labels - 1}")
    wrong = 1 - np.eye(n_labels, dtype=np.int32)
    steps = _core.LabelSteps(truth, np.array([0, length]), wrong)
    levels, scores, labels = chain.best_per_level(theta, 0, steps)
    return list(zip(levels.tolist(), Ragged(*labels), scores.tolist(), strict=True))


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
    chain, theta, length = _chain_of_scores(emission, transition, start, stop, each=True)
    n_labels = np.shape(emission)[1]
    n_shared = n_labels * (n_labels + 2)
    shared, local = theta[:n_shared], theta[n_shared:]
    parts, log_z = np.empty(len(theta)), np.empty(1)
    chain.part_sums(np.concatenate([local, shared]), _ONE, log_z, parts, 1)
    nodes, edges, counts = np.split(parts, [length * n_labels, len(local)])
    # What is forbidden has probability 0 and adds nothing.
    scores, expected = np.concatenate([local, shared]), np.concatenate([nodes, edges, counts])
    mean_score = float(scores[expected > 0] @ expected[expected > 0])
    entropy = max(0.0, float(log_z[0]) - mean_score) if log_z[0] > -np.inf else 0.0
    return ChainMarginals(
        float(log_z[0]), nodes.reshape(length, n_labels), edges.reshape(-1, n_labels, n_labels), entropy
    )


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
    seeds = np.random.default_rng(random_state).integers(2**63 - 1, size=n_samples)
    labels: LabelArray = chain.samples(theta, _ONE, n_samples, seeds, 1)[0]
    return labels.reshape(n_samples, length)


_ONE = np.zeros(1, np.int64)


def _chain_of_scores(
    emission: Any, transition: Any, start: Any, stop: Any, *, each: bool = False
) -> tuple[_core.GivenChain, FloatArray, int]:
    """The engine on these scores and the scores, shared ones first; with `each`, pairs of neighbours are parts, too."""
    emission = np.asarray(emission, np.float64)
    if emission.ndim != 2 or 0 in emission.shape:
        raise ValueError(f"emission has shape {emission.shape}; expected (length, n_labels), neither of them 0")
    length, L = emission.shape
    moves = np.asarray(transition, np.float64)
    if moves.shape not in ((L, L), (length - 1, L, L)):
        raise ValueError(f"transition has shape {moves.shape}; expected ({L}, {L}) or ({length - 1}, {L}, {L})")
    ends = [np.zeros(L) if given is None else np.asarray(given, np.float64) for given in (start, stop)]
    for name, given in zip(("start", "stop"), ends, strict=True):
        if given.shape != (L,):
            raise ValueError(f"{name} has shape {given.shape}; expected ({L},)")
    local = [emission.ravel()]
    pairs = each or moves.ndim == 3
    if pairs:
        local.append(moves.ravel() if moves.ndim == 3 else np.zeros((length - 1) * L * L))
    shared = [np.zeros(L * L) if moves.ndim == 3 else moves.ravel(), *ends]
    theta = np.concatenate([*shared, *local])
    if np.isnan(theta).any():
        raise ValueError("the scores hold NaN")
    engine = _core.ChainEngine(np.array([0, length]), L, True, pairs)
    n_shared = L * (L + 2)
    return _core.GivenChain(engine, _core.GivenScores(n_shared, np.array([0, len(theta) - n_shared]))), theta, length
