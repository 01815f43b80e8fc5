"""Decoders for chains of labels, on plain arrays of scores.

The score of a label sequence is F(y) = start[y₁] + Σ_t emission[t, y_t] + Σ_t transition[y_t, y_{t+1}] + stop[y_T], in
chains of second order + Σ_t triplets[y_t, y_{t−1}, y_{t+1}]; a score of −∞ forbids. Probabilities are P(y) =
exp F(y) / Z.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from structlearn import _core
from structlearn.data.arrays import FloatArray, LabelArray
from structlearn.data.known.labels import label_mask
from structlearn.inference.given import GivenParts, scores_of, table_of

#: For each token None, for any label, the label, or a set or list of labels.
Allowed = Sequence[int | Collection[int] | None] | None


def viterbi(
    emission: npt.ArrayLike,
    transition: npt.ArrayLike,
    start: npt.ArrayLike | None = None,
    stop: npt.ArrayLike | None = None,
    *,
    triplets: npt.ArrayLike | None = None,
    allowed: Allowed = None,
) -> tuple[LabelArray, float]:
    """The best label sequence and its score.

    Parameters
    ----------
    emission : (length, n_labels)
    transition : (n_labels, n_labels), or (length − 1, n_labels, n_labels)
        Rows: from, columns: to; the same everywhere, or for each pair of neighbours.
    start, stop : (n_labels,), optional
        Zero if not given.
    triplets : (n_labels, n_labels, n_labels), optional
        Of three neighbours: the label in the middle, the one before, the one after. Takes n_labels times as long.
    allowed : list with an entry a token, optional
        What is known of each label: None for nothing, the label, or a set or list of labels.

    Examples
    --------
    >>> viterbi([[0.0, 1.0], [0.5, 0.0]], [[2.0, 0.0], [0.0, 0.0]])
    (array([0, 0], dtype=int32), 2.5)

    Nothing but "0 between two 1s":

    >>> triplets = np.zeros((2, 2, 2))
    >>> triplets[0, 1, 1] = 3.0
    >>> viterbi(np.zeros((5, 2)), np.zeros((2, 2)), triplets=triplets)
    (array([1, 0, 1, 0, 1], dtype=int32), 6.0)
    >>> viterbi(np.zeros((5, 2)), np.zeros((2, 2)), triplets=triplets, allowed=[0, {1}, None, {0, 1}, 0])
    (array([0, 1, 0, 1, 0], dtype=int32), 3.0)
    """
    return _given(emission, transition, start, stop, triplets, allowed).best()


def k_best(
    emission: npt.ArrayLike,
    transition: npt.ArrayLike,
    k: int,
    start: npt.ArrayLike | None = None,
    stop: npt.ArrayLike | None = None,
    *,
    triplets: npt.ArrayLike | None = None,
    allowed: Allowed = None,
) -> list[tuple[LabelArray, float]]:
    """The k best label sequences and their scores, best first; fewer if there are not as many.

    Examples
    --------
    >>> [(labels.tolist(), score) for labels, score in k_best([[0.0, 1.0]], np.zeros((2, 2)), 3)]
    [([1], 1.0), ([0], 0.0)]
    """
    return _given(emission, transition, start, stop, triplets, allowed).k_best(k)


def best_per_loss_level(
    emission: npt.ArrayLike,
    transition: npt.ArrayLike,
    truth: npt.ArrayLike,
    start: npt.ArrayLike | None = None,
    stop: npt.ArrayLike | None = None,
    *,
    triplets: npt.ArrayLike | None = None,
    allowed: Allowed = None,
) -> list[tuple[int, LabelArray, float]]:
    """(number of wrong labels, labels, score) of the best sequence for each number of wrong labels.

    Examples
    --------
    >>> levels = best_per_loss_level([[0.0, 1.0], [0.5, 0.0]], np.zeros((2, 2)), truth=[0, 0])
    >>> [(wrong, labels.tolist(), score) for wrong, labels, score in levels]
    [(0, [0, 0], 0.5), (1, [1, 0], 1.5), (2, [1, 1], 1.0)]
    """
    chain = _given(emission, transition, start, stop, triplets, allowed)
    truth = np.ascontiguousarray(truth, np.int32)
    length, n_labels = np.shape(emission)
    if truth.shape != (length,) or truth.min() < 0 or truth.max() >= n_labels:
        raise ValueError(f"truth is {truth.tolist()}; expected {length} labels from 0 to {n_labels - 1}")
    wrong = 1 - np.eye(n_labels, dtype=np.int32)
    return chain.best_per_level(_core.LabelSteps(truth, np.array([0, length]), wrong))


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
    triplets : (n_labels, n_labels, n_labels), or None
        How many of each are expected; None without scores for them.
    """

    log_z: float
    nodes: FloatArray
    edges: FloatArray
    entropy: float
    triplets: FloatArray | None = None

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
    *,
    triplets: npt.ArrayLike | None = None,
    allowed: Allowed = None,
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
    log_z, entropy, parts = _given(emission, transition, start, stop, triplets, allowed, each=True).sums()
    nodes, edges, _, _, _, *more = parts
    return ChainMarginals(log_z, nodes, edges, entropy, *more)


def sample(
    emission: npt.ArrayLike,
    transition: npt.ArrayLike,
    n_samples: int,
    start: npt.ArrayLike | None = None,
    stop: npt.ArrayLike | None = None,
    random_state: int | np.random.Generator | None = None,
    *,
    triplets: npt.ArrayLike | None = None,
    allowed: Allowed = None,
) -> LabelArray:
    """Label sequences drawn from P(y), (n_samples, length).

    Examples
    --------
    >>> drawn = sample([[0.0, 1.0], [0.5, 0.0]], [[2.0, 0.0], [0.0, 0.0]], 1000, random_state=0)
    >>> bool(abs((drawn == 0).mean(axis=0) - [0.647, 0.818]).max() < 0.03)
    True
    """
    drawn = _given(emission, transition, start, stop, triplets, allowed).samples(n_samples, random_state)
    return np.asarray(drawn.flat).reshape(n_samples, len(np.asarray(emission)))


def _given(
    emission: Any, transition: Any, start: Any, stop: Any, triplets: Any, allowed: Allowed, *, each: bool = False
) -> GivenParts:
    """A chain with its scores; with `each`, pairs of neighbours are parts, wherever they stand."""
    emission = table_of(emission, "emission", "(length, n_labels)")
    length, L = emission.shape
    if allowed is not None:
        possible = label_mask([allowed], range(L), np.array([0, length]), one="emission")
        emission = np.where(possible, emission, -np.inf)
    moves = scores_of(transition, "transition", (L, L), (length - 1, L, L))
    everywhere = moves.ndim == 2
    pairs = each or not everywhere
    local = [emission]
    if pairs:
        local.append(np.zeros((length - 1, L, L)) if everywhere else moves)
    shared = [moves if everywhere else np.zeros((L, L))]
    shared += [scores_of(start, "start", (L,)), scores_of(stop, "stop", (L,))]
    engine = _core.ChainEngine(np.array([0, length]), L, True, pairs)
    nothing = "every label sequence is forbidden: all scores are -inf"
    if triplets is None:
        return GivenParts(nothing, partial(_core.GivenChain, engine), local, shared)
    shared.append(scores_of(triplets, "triplets", (L, L, L)))
    return GivenParts(nothing, partial(_core.GivenSecondOrderChain, engine), local, shared)
