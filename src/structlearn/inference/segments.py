"""Decoders for segmentations, on plain arrays of scores.

A segmentation y cuts a sequence into labelled segments (label, begin, end). Its score F(y) is the sum of emission[t,
label] of every token t, first[begin, label], last[end − 1, label] and lengths[end − begin − 1, label] of every segment,
and transition[label, next label] of neighbouring segments. A score of −∞ in `transition`, `lengths` or `first` forbids.
Probabilities are P(y) = exp F(y) / Z.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from structlearn import _core
from structlearn.data.arrays import FloatArray, LabelArray
from structlearn.data.known.segments import KnownSegments
from structlearn.data.tokens.segments import Segment
from structlearn.inference.given import GivenParts, scores_of, table_of

#: Segments (label, begin, end) that there must be, with None for any label, or a set of labels.
Allowed = Sequence[tuple[Any, int, int]] | None


def best_segmentation(
    emission: npt.ArrayLike,
    transition: npt.ArrayLike,
    lengths: npt.ArrayLike | None = None,
    first: npt.ArrayLike | None = None,
    last: npt.ArrayLike | None = None,
    *,
    allowed: Allowed = None,
) -> tuple[list[Segment], float]:
    """The best segmentation and its score (Sarawagi and Cohen 2004).

    Parameters
    ----------
    emission : (length, n_labels)
        Of every token in a segment with the label.
    transition : (n_labels, n_labels)
        Rows: from, columns: to; from one segment to the next, which may have the same label.
    lengths : (max_length, n_labels), optional
        Of a segment with 1, …, max_length tokens; none is longer. If not given, segments have any length and score 0
        for it.
    first, last : (length, n_labels), optional
        Of a segment that begins, and that ends, with the token. Zero if not given.
    allowed : list of (label, begin, end), optional
        Segments that the segmentation must have; a label may be None, for any, or a set of labels.

    Examples
    --------
    >>> scores = [[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]], np.zeros((2, 2)), [[0.0, 0.0], [0.5, 0.5]]
    >>> best_segmentation(*scores)
    ([(0, 0, 2), (1, 2, 3)], 3.5)
    >>> best_segmentation(*scores, allowed=[(None, 1, 3)])
    ([(0, 0, 1), (0, 1, 3)], 2.5)
    """
    codes, score = _given(emission, transition, lengths, first, last, allowed).best()
    return _segments(codes, np.shape(emission)[1]), score


def k_best_segmentations(
    emission: npt.ArrayLike,
    transition: npt.ArrayLike,
    k: int,
    lengths: npt.ArrayLike | None = None,
    first: npt.ArrayLike | None = None,
    last: npt.ArrayLike | None = None,
    *,
    allowed: Allowed = None,
) -> list[tuple[list[Segment], float]]:
    """The k best segmentations and their scores, best first; fewer if there are not as many.

    Examples
    --------
    >>> k_best_segmentations([[1.0], [1.0]], [[-0.5]], 3)
    [([(0, 0, 2)], 2.0), ([(0, 0, 1), (0, 1, 2)], 1.5)]
    """
    found = _given(emission, transition, lengths, first, last, allowed).k_best(k)
    return [(_segments(codes, np.shape(emission)[1]), score) for codes, score in found]


@dataclass(frozen=True, slots=True)
class SegmentationMarginals:
    """What the distribution P(y) = exp F(y) / Z over segmentations is like.

    Attributes
    ----------
    log_z : float
        log Σ_y exp F(y); −∞ if every segmentation is forbidden, and all else is 0 then.
    tokens : (length, n_labels)
        The probability that a token is in a segment with the label.
    transitions : (n_labels, n_labels)
        How many neighbouring segments with these labels are expected.
    lengths : (max_length, n_labels)
        How many segments of this length and label are expected.
    firsts, lasts : (length, n_labels)
        The probability that a segment with the label begins, or ends, with the token.
    entropy : float
        −Σ_y P(y) log P(y), in nats.
    """

    log_z: float
    tokens: FloatArray
    transitions: FloatArray
    lengths: FloatArray
    firsts: FloatArray
    lasts: FloatArray
    entropy: float


def segmentation_marginals(
    emission: npt.ArrayLike,
    transition: npt.ArrayLike,
    lengths: npt.ArrayLike | None = None,
    first: npt.ArrayLike | None = None,
    last: npt.ArrayLike | None = None,
    *,
    allowed: Allowed = None,
) -> SegmentationMarginals:
    """Sums over all segmentations; the arguments are those of `best_segmentation`.

    Examples
    --------
    >>> found = segmentation_marginals(np.zeros((3, 1)), [[0.0]])
    >>> round(np.exp(found.log_z)), found.firsts.ravel().round(3), found.lengths.ravel().round(3)
    (4, array([1. , 0.5, 0.5]), array([1.25, 0.5 , 0.25]))
    """
    log_z, entropy, parts = _given(emission, transition, lengths, first, last, allowed).sums()
    tokens, firsts, lasts, transitions, of_lengths = parts
    return SegmentationMarginals(log_z, tokens, transitions, of_lengths, firsts, lasts, entropy)


def sample_segmentations(
    emission: npt.ArrayLike,
    transition: npt.ArrayLike,
    n_samples: int,
    lengths: npt.ArrayLike | None = None,
    first: npt.ArrayLike | None = None,
    last: npt.ArrayLike | None = None,
    random_state: int | np.random.Generator | None = None,
    *,
    allowed: Allowed = None,
) -> list[list[Segment]]:
    """Segmentations drawn from P(y).

    Examples
    --------
    >>> sample_segmentations(np.zeros((3, 1)), [[0.0]], 2, random_state=0)
    [[(0, 0, 1), (0, 1, 2), (0, 2, 3)], [(0, 0, 3)]]
    """
    drawn = _given(emission, transition, lengths, first, last, allowed).samples(n_samples, random_state)
    return [_segments(codes, np.shape(emission)[1]) for codes in drawn]


def _given(emission: Any, transition: Any, lengths: Any, first: Any, last: Any, allowed: Allowed) -> GivenParts:
    emission = table_of(emission, "emission", "(length, n_labels)")
    length, L = emission.shape
    moves = scores_of(transition, "transition", (L, L))
    spans = np.zeros((length, L)) if lengths is None else table_of(lengths, "lengths", f"(max_length, {L})")
    if spans.shape[1] != L:
        raise ValueError(f"lengths has shape {spans.shape}; expected (max_length, {L})")
    ends = [scores_of(given, name, (length, L)) for name, given in (("first", first), ("last", last))]
    # Scores of segments are differences of sums up to their ends, in which nothing infinite may be.
    for name, scores in (("emission", emission), ("last", ends[1])):
        if np.isneginf(scores).any():
            raise ValueError(f"{name} holds -inf; only transition, lengths and first may forbid")
    runs = None
    if allowed is not None:
        known = KnownSegments.read([allowed], range(L), len(spans), np.array([0, length]), one="emission")
        runs = known.runs()
    engine = _core.SegmentEngine(np.array([0, length]), L, len(spans), True, True, runs)
    nothing = "every segmentation is forbidden: all scores are -inf"
    return GivenParts(nothing, partial(_core.GivenSegments, engine), [emission, *ends], [moves, spans])


def _segments(codes: LabelArray, n_labels: int) -> list[Segment]:
    """Codes are labels, plus n_labels where a segment goes on."""
    begins = np.flatnonzero(codes < n_labels)
    ends = [*begins[1:].tolist(), len(codes)]
    return list(zip(codes[begins].tolist(), begins.tolist(), ends, strict=True))
