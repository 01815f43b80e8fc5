"""Weights for those pairs of a feature and a part that need one: their layout in training, and what is kept of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from structlearn import _core
from structlearn.data.arrays import FloatArray, IntArray
from structlearn.data.feature_pairs import FeaturePairs
from structlearn.data.tokens import TokenMatrix

#: From how many weights on a problem has those only that training needs: with fewer, all of them are found faster.
MANY_WEIGHTS = 2**24


def growing_layout(first: int, blocks: Sequence[tuple[TokenMatrix, int]]) -> _core.PairLayout:
    """A layout for blocks of (tokens, width) that gets a pair when training first needs it.

    A feature of many tokens has weights for all parts from the start: it would get most of them, and in one piece they
    are found without a search. Features of fewer tokens get room by their number.
    """
    layout = _core.PairLayout(first, sum(tokens.n_columns for tokens, _ in blocks))
    begin = 0
    for tokens, width in blocks:
        counts = np.bincount(tokens.columns, minlength=tokens.n_columns)
        many = 2 * counts >= width
        layout.fill_rows(begin + np.flatnonzero(many), width)
        few = np.flatnonzero(~many & (counts > 0))
        layout.reserve_rows(begin + few, np.minimum(2 + counts[few] // 4, width))
        begin += tokens.n_columns
    return layout


def fixed_layout(first: int, pairs: FeaturePairs) -> _core.PairLayout:
    """A layout that has these pairs and gets no others."""
    return _core.PairLayout(first, pairs.indptr, pairs.parts)


def observed_pairs(blocks: Sequence[tuple[TokenMatrix, npt.NDArray[Any], int]]) -> FeaturePairs:
    """The pairs that occur, from (tokens, the part that is true at every token or −1, width) of every block."""
    rows: list[IntArray] = []
    parts: list[IntArray] = []
    begin = 0
    for tokens, true, width in blocks:
        there = true.astype(np.int64)[tokens.row_numbers()]
        keys = np.unique(tokens.columns[there >= 0].astype(np.int64) * width + there[there >= 0])
        rows.append(begin + keys // width)
        parts.append(keys % width)
        begin += tokens.n_columns
    return FeaturePairs.of(np.concatenate(rows), np.concatenate(parts), n_rows=begin)


def stored(layout: _core.PairLayout, n_rows: int, first: int, w: FloatArray) -> tuple[FeaturePairs, FloatArray]:
    """The pairs whose weight is not 0, and w with the weights of these, row by row, behind the `first` others."""
    rows, parts, indices = layout.pairs()
    kept = w[indices] != 0.0
    rows, parts, indices = rows[kept], parts[kept], indices[kept]
    order = np.lexsort((parts, rows))
    return FeaturePairs.of(rows, parts, n_rows=n_rows), np.concatenate([w[:first], w[indices[order]]])
