"""Matchings bound to data."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from structlearn import _core
from structlearn.data.arrays import Flags, FloatArray, IntArray, digest
from structlearn.data.matchings import NEVER, Pair, pairs_of
from structlearn.data.ragged import Ragged, offsets_of, reduced, summed
from structlearn.data.tokens.matrix import TokenMatrix
from structlearn.losses.bound import BoundLoss
from structlearn.models.composed import ComposedProblem
from structlearn.models.token_scorer import token_scorer
from structlearn.waist.objective import Oracle
from structlearn.waist.planes import Outputs


class MatchingProblem(ComposedProblem):
    """A `Matching` bound to data. Outputs are the columns of every row, see ``core/matching/structure.hpp``.

    Parameters
    ----------
    shapes : (n_examples, 2)
        How many rows and columns there are.
    features : list of TokenMatrix
        Of pairs, and of rows and columns without partner, if they may be so.
    fertility : int
    further : bool
        Whether a row's partners after the first have a price.
    truths : Ragged, optional
        `NEVER` where no matching is the truth.
    forbidden : (n_parts,), optional
        Which parts no output can have.
    """

    def __init__(
        self,
        shapes: IntArray,
        features: list[TokenMatrix],
        *,
        fertility: int,
        further: bool,
        truths: Ragged | None,
        loss: BoundLoss,
        forbidden: Flags | None = None,
    ):
        n, m = np.ascontiguousarray(shapes.T)
        self._shapes, self._fertility = shapes, fertility
        self._features = list(features)
        places = [n * m, n, m][: len(features)]
        if further:
            self._features.append(TokenMatrix.from_matrix(np.full((int(n.sum()), 1), -1.0), intercept=False))
            places.append(n)
        self._offsets = [offsets_of(counts) for counts in places]
        starts = offsets_of([matrix.n_columns for matrix in self._features]).tolist()
        if further:
            self.weight_groups = {"further": (starts[-2], starts[-1])}
        else:
            self.absent_groups = {"further": "Matching(further=True)"}
        self._forbidden = None if forbidden is None else forbidden.astype(np.uint8)
        blocks = [(matrix, at, 1, False) for matrix, at in zip(self._features, starts, strict=False)]
        scores = token_scorer(self._offsets, blocks, [], starts[-1])
        engine = _core.MatchingEngine(
            offsets_of(n), offsets_of(m), len(features) > 1, fertility, further, self._forbidden
        )
        core = _core.Matchings(engine, scores)
        super().__init__(core, starts[-1], np.sum(places, axis=0), truths, loss, loss, scores)

    def _oracles(self) -> frozenset[Oracle]:
        return super()._oracles() - {"sums"}

    def missing(self, oracle: str) -> str:
        # Whole truths have all oracles that the model does not refuse.
        return (
            ": the best matching that contradicts what is known takes loss levels; use rescaling='margin' with "
            "slack='linear'"
        )

    def parts_at_random(self) -> FloatArray:
        # Not what all matchings together have, which takes permanents, but what rows have that choose on their own.
        found = np.zeros(int(self.part_offsets[-1]))
        for i, (n, m) in enumerate(self._shapes.tolist()):
            parts = slice(self.part_offsets[i], self.part_offsets[i] + n * m)
            free = np.ones(n * m) if self._forbidden is None else 1.0 - self._forbidden[parts]
            table = free.reshape(n, m)
            found[parts] = (table / (1.0 + table.sum(axis=1, keepdims=True))).ravel()
        return found

    def reachable(self) -> npt.NDArray[np.bool_]:
        assert self.truths is not None
        never = np.array([np.any(codes == NEVER) for codes in self.truths], np.bool_)
        return ~never

    def radii(self) -> FloatArray:
        # All pairs of two outputs may differ, and each row and column can have a partner in one and none in the other.
        n, m = self._shapes.T
        longest = reduced(np.maximum, self._features[0].norms(), self._offsets[0])
        squares = (2.0 * np.minimum(n * self._fertility, m) * longest) ** 2
        for matrix, offsets, most in zip(self._features[1:], self._offsets[1:], (self._fertility, 1), strict=False):
            squares = squares + (most * summed(matrix.norms(), offsets)) ** 2
        return np.asarray(np.sqrt(squares + (len(self._features) > 3) * m**2))

    def part_names(self, i: int, parts: IntArray) -> list[str]:
        return [self._part_name(part, *self._shapes[i].tolist()) for part in parts.tolist()]

    def _part_name(self, part: int, n: int, m: int) -> str:
        """See ``core/matching/structure.hpp``."""
        if part < n * m:
            return "row {} with column {}".format(*divmod(part, m))
        part -= n * m
        if part < n:
            return f"row {part} alone"
        return f"column {part - n} alone" if part < n + m else f"row {part - n - m}: further partner"

    def present(self, outputs: Outputs) -> list[tuple[Pair, ...]]:
        return [pairs_of(codes, self._fertility) for codes in Ragged.of(outputs)]

    def sizes(self) -> dict[str, int]:
        return {"examples": self.n_examples, "pairs": int(self._shapes.prod(axis=1).sum())}

    def fingerprint(self) -> str:
        arrays = [self._shapes, np.array([self._fertility])]
        for matrix in self._features:
            arrays += [matrix.indptr, matrix.columns, matrix.values]
        if self.truths is not None:
            arrays.append(self.truths.flat)
        if self._forbidden is not None:
            arrays.append(self._forbidden)
        return digest(*arrays, *self._loss.identity)
