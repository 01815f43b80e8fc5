"""Weights for those pairs of a feature and a part that need one: their layout in training, and what is kept of it."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self, TypeVar

import numpy as np
import numpy.typing as npt

from structlearn import _core
from structlearn.data.arrays import FloatArray, IntArray
from structlearn.data.feature_pairs import FeaturePairs
from structlearn.data.tokens.matrix import TokenMatrix
from structlearn.models.base import Spec
from structlearn.models.composed import ComposedProblem
from structlearn.waist.problem import Problem

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
        counts = tokens.column_counts()
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


class PairedProblem(ComposedProblem):
    """A structure whose features have a weight for every part, or for those that a layout says.

    With a layout w has the shared weights first.
    """

    @abstractmethod
    def _compose(self, layout: _core.PairLayout | None, *, grows: bool) -> None:
        """Puts scorer and engine together, with the weights that a layout has or with all."""

    @property
    @abstractmethod
    def _n_shared(self) -> int:
        """How many weights are none of a feature."""

    @property
    @abstractmethod
    def _feature_blocks(self) -> list[tuple[TokenMatrix, int]]:
        """The features of each block of weights, and how many parts each of them scores."""

    def with_growing_weights(self) -> Self | None:
        if self.layout is not None:
            return None
        return self._composed(growing_layout(self._n_shared, self._feature_blocks), grows=True)

    def with_weights_of(self, other: Problem) -> Self:
        # Data in parts on other machines have all weights.
        return self._composed(other.layout if isinstance(other, PairedProblem) else None, grows=False)

    def save_layout(self) -> Any:
        return None if self.layout is None or not self.grows else self.layout.save()

    def restore_layout(self, saved: Any) -> None:
        if not self.grows:
            return super().restore_layout(saved)
        assert self.layout is not None
        slices, parts, reserved = saved
        if not self.layout.restore(slices, parts, int(reserved), max(width for _, width in self._feature_blocks)):
            raise ValueError("the layout of the weights is damaged")
        self.n_features = self.layout.n_weights

    def stored_weights(self, w: FloatArray) -> tuple[FeaturePairs, FloatArray]:
        """The pairs whose weight is not 0, and w with the weights of these, row by row, behind the shared ones."""
        assert self.layout is not None
        rows, parts, indices = self.layout.pairs()
        kept = w[indices] != 0.0
        rows, parts, indices = rows[kept], parts[kept], indices[kept]
        order = np.lexsort((parts, rows))
        n_rows = sum(tokens.n_columns for tokens, _ in self._feature_blocks)
        return FeaturePairs.of(rows, parts, n_rows=n_rows), np.concatenate([w[: self._n_shared], w[indices[order]]])

    def _composed(self, layout: _core.PairLayout | None, *, grows: bool) -> Self:
        composed = copy.copy(self)
        composed._compose(layout, grows=grows)
        return composed


AnySpec = TypeVar("AnySpec", bound=Spec)


def compacted(spec: AnySpec, problem: Problem, w: FloatArray) -> tuple[AnySpec, FloatArray]:
    """Spec and weights without those that are 0 where the problem has a layout; the spec then has its `pairs`."""
    if not isinstance(problem, PairedProblem) or problem.layout is None:
        return spec, w
    pairs, w = problem.stored_weights(problem.extend(w))
    return replace(spec, **{"pairs": pairs}), w
