"""One label an example, bound to data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from structlearn import _core
from structlearn.data.arrays import Flags, FloatArray, IntArray, LabelArray, digest
from structlearn.data.feature_pairs import FeaturePairs
from structlearn.data.labels import label_array
from structlearn.data.ragged import Ragged
from structlearn.data.tokens.matrix import TokenMatrix
from structlearn.losses.bound import BoundLoss
from structlearn.models.pair_weights import PairedProblem, fixed_layout
from structlearn.models.token_scorer import token_scorer
from structlearn.waist.planes import Outputs, Planes


class MulticlassProblem(PairedProblem):
    """A `Multiclass` model bound to data. Outputs are class codes."""

    planes_nbytes: ClassVar[int] = 300

    def __init__(
        self,
        tokens: TokenMatrix,
        codes: LabelArray | None,
        classes: Sequence[Any],
        loss: BoundLoss,
        output_features: FloatArray | None,
        allowed: Flags | None = None,
        pairs: FeaturePairs | None = None,
    ):
        self._tokens = tokens
        self._codes = codes
        self._labels = label_array(classes)
        self._output_features = output_features
        self._allowed = None if allowed is None else allowed.astype(np.uint8)
        self._loss = loss
        self._compose(None if pairs is None else fixed_layout(0, pairs), grows=False)

    def _compose(self, layout: _core.PairLayout | None, *, grows: bool) -> None:
        K, n, tokens, features = len(self._labels), self._tokens.n_tokens, self._tokens, self._output_features
        width = K if features is None else features.shape[1]
        n_features = tokens.n_columns * width if layout is None else layout.n_weights
        offsets = np.arange(n + 1)
        blocks = [(tokens, 0, K, False)]
        scores = token_scorer(offsets, blocks, [], n_features, output_features=features, layout=layout)
        truths = None if self._codes is None else Ragged(self._codes, offsets)
        core = _core.Multiclass(K, scores, self._allowed)
        super().__init__(core, n_features, np.full(n, K), truths, self._loss, self._loss, scores, layout, grows)

    @property
    def _n_shared(self) -> int:
        return 0

    @property
    def _feature_blocks(self) -> list[tuple[TokenMatrix, int]]:
        return [(self._tokens, len(self._labels))]

    def with_growing_weights(self) -> MulticlassProblem | None:
        # What an output feature scores, many classes share.
        return None if self._output_features is not None else super().with_growing_weights()

    def pack(self, codes: Ragged, examples: IntArray) -> LabelArray:
        return np.asarray(codes.flat)

    def unpack(self, outputs: Outputs) -> Ragged:
        codes = np.ascontiguousarray(outputs, np.int32)
        return Ragged(codes, np.arange(len(codes) + 1))

    def working_sets(self) -> _core.WorkingSets:
        if self.layout is not None:
            return super().working_sets()
        assert self._codes is not None
        assert isinstance(self._scores, _core.TokenScorer)
        return _core.MulticlassSets(self._scores, self._codes, self.n_examples)

    def keep(self, sets: _core.WorkingSets, planes: Planes, which: IntArray, a: FloatArray, b: FloatArray) -> int:
        if not isinstance(sets, _core.MulticlassSets):
            return super().keep(sets, planes, which, a, b)
        return sets.add(planes.examples, np.ascontiguousarray(planes.outputs, np.int32), which, a, b)

    def class_scores(self, w: FloatArray, examples: IntArray) -> FloatArray:
        """F(x, y) of every class, (m, n_classes)."""
        return self.scores(w, examples).reshape(len(examples), -1)

    def token_features(self, token: int) -> tuple[IntArray, FloatArray]:
        """The columns and values of an example."""
        return self._tokens.row(token)

    def part_names(self, i: int, parts: IntArray) -> list[str]:
        return [str(self._labels[part]) for part in parts]

    def label_probabilities(self, w: FloatArray) -> FloatArray:
        """P(y | x) of every class, (n_examples, n_classes)."""
        examples = np.arange(self.n_examples)
        _, marginals = self.expectations(self.scores(w, examples), examples)
        return marginals.reshape(self.n_examples, -1)

    def most_probable_labels(self, w: FloatArray) -> IntArray:
        return np.asarray(self.label_probabilities(w).argmax(axis=1))

    def feature_totals(self) -> FloatArray:
        if self._output_features is None:
            return self._tokens.totals()
        if self._output_features.min() < 0:
            raise ValueError("output_features has entries below zero; iterative scaling needs features ≥ 0")
        return self._tokens.totals() * float(self._output_features.sum(axis=1).max())

    def fingerprint(self) -> str:
        tokens = self._tokens
        features = np.empty(0) if self._output_features is None else self._output_features
        size = np.array([self._tokens.n_columns * len(self._labels)])
        arrays: list[npt.NDArray[Any]] = [tokens.indptr, tokens.columns, tokens.values]
        arrays += [] if self._codes is None else [self._codes]
        arrays += [*self._loss.identity, features, size]
        return digest(*arrays, *([] if self._allowed is None else [self._allowed]))

    def radii(self) -> FloatArray:
        # Proposition 24 holds for features of one sign only; the distance between two classes always does.
        features = self._output_features
        if features is None:
            return self._tokens.norms() * float(np.sqrt(2.0))
        norms = (features**2).sum(axis=1)
        distances = norms[:, None] + norms[None, :] - 2.0 * features @ features.T
        return self._tokens.norms() * float(np.sqrt(max(distances.max(), 0.0)))

    def present(self, outputs: Outputs) -> npt.NDArray[Any]:
        labels: npt.NDArray[Any] = self._labels[np.asarray(outputs)]
        return labels
