"""Decoders for chains of labels, on plain arrays of scores.

The score of a label sequence is F(y) = start[y₁] + Σ_t emission[t, y_t] + Σ_t transition[y_t, y_{t+1}] + stop[y_T].
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from structlearn import _core
from structlearn.problem import FloatArray, LabelArray


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
    (best,) = k_best(emission, transition, 1, start, stop)
    return best


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
