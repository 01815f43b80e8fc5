"""Clusterings scored by all pairs within clusters."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np

from structlearn.data.arrays import FloatArray, IntArray, LabelArray
from structlearn.data.clusterings import to_labels
from structlearn.data.item_pairs import BoundPairs
from structlearn.data.options import choice_option
from structlearn.data.ragged import Ragged, offsets_of
from structlearn.inference.clustering import MOST_ITEMS, relaxed_clustering
from structlearn.inference.pair_scores import PairScores
from structlearn.models.base import ByDecoder
from structlearn.models.clustering.pairs import PairModel, PairSpec, pair_parts
from structlearn.models.explanation import PartFeatures
from structlearn.waist.objective import Oracle
from structlearn.waist.planes import Outputs
from structlearn.waist.problem import Problem
from structlearn.waist.rows import SparseRows

Decoder = Literal["greedy", "lp"]


class CorrelationClustering(PairModel):
    """F(x, y) = Σ ⟨w, x_ij⟩ over all pairs of items in the same cluster of y.

    The best clustering cannot be found in reasonable time (it is NP-hard), so that decoders are approximate and
    training proves no bounds. (Finley and Joachims 2005.)

    Inputs and outputs are those of `LatentForest`.

    Parameters
    ----------
    decoder : {"greedy", "lp"}
        "greedy" starts with every item alone and joins the two clusters with the largest sum of scores between them,
        while that is positive. "lp" takes the better of that and of the rounded linear relaxation, see
        `structlearn.inference.relaxed_clustering`; for examples of at most 100 items.

    Notes
    -----
    The loss Δ(y, ŷ) is the part of the example's pairs that are together in one of the clusterings only. The truth
    itself is always a candidate for the most violating output.

    Examples
    --------
    >>> from structlearn import StructuralSVM
    >>> from structlearn.data import ItemPairs
    >>> near, far = [1.0, 0.0], [0.0, 1.0]
    >>> X = [ItemPairs(3, [near, far, far]), ItemPairs(4, [far, near, far, far, near, far])]
    >>> svm = StructuralSVM(CorrelationClustering(), C=10).fit(X, [[0, 0, 1], [0, 1, 0, 1]])
    >>> svm.predict([ItemPairs(3, [far, far, near])])
    [array([0, 1, 1], dtype=int32)]
    """

    refusals: ClassVar[ByDecoder] = {
        "second_best": "to find the best clustering is NP-hard, and the greedy decoder has no second best",
        "k_best": "to find the best clustering is NP-hard, and the greedy decoder finds one only",
        "loss_levels": "to find the best clustering of one loss is NP-hard as well",
        "sums": "sums over all clusterings are as hard as to find the best",
        "partial": "the greedy decoder takes no clustering that is partly given",
    }

    @property
    def costs(self) -> ByDecoder:
        return {"best": "N³", "loss_augmented": "N³"}

    def __init__(self, decoder: Decoder = "greedy"):
        self.decoder = decoder

    def bind(
        self, spec: PairSpec, X: Any, Y: Any = None, *, allow_unknown: bool = False
    ) -> CorrelationClusteringProblem:
        pairs = BoundPairs.of(X, spec.n_inputs)
        labels = None if Y is None else pairs.labels(Y)
        return CorrelationClusteringProblem(pairs, spec.n_inputs, labels, self.decoder)

    def loss_in_words(self) -> str:
        return "the part of the pairs that are wrong"

    def check_options(self) -> None:
        choice_option("decoder", self.decoder, ("greedy", "lp"))


class CorrelationClusteringProblem(Problem):
    """A `CorrelationClustering` bound to data. Outputs are canonical arrays of labels."""

    oracles: frozenset[Oracle] = frozenset({"best", "loss_augmented"})
    exactness = "approximate"

    def __init__(self, pairs: BoundPairs, n_features: int, labels: LabelArray | None, decoder: Decoder):
        self.n_examples = len(pairs.item_offsets) - 1
        self.n_features = n_features
        self._pairs = pairs
        self._engine, self._scorer = pairs.core()
        self._labels = labels
        self._decoder = decoder
        self._share = 1.0 / np.maximum(pairs.n_pairs(), 1)
        sizes = np.diff(pairs.item_offsets)
        if decoder == "lp" and len(sizes) and sizes.max() > MOST_ITEMS:
            i = int(np.argmax(sizes))
            raise ValueError(f"X[{i}] has {sizes[i]} items; decoder='lp' is for at most {MOST_ITEMS}, use 'greedy'")

    def missing(self, oracle: str) -> str:
        return ": CorrelationClustering has no such decoder; use rescaling='margin' with slack='linear'"

    def best(self, w: FloatArray, examples: IntArray) -> list[LabelArray]:
        return self._decode(w, examples, np.zeros(len(examples)))

    def loss_augmented(self, w: FloatArray, examples: IntArray) -> list[LabelArray]:
        found = self._decode(w, examples, self._share[examples])
        rows, losses = self.differences(examples, found)
        violations = losses - rows.dot(w)
        return [
            labels if violation >= 0.0 else self._truth(int(i))
            for i, labels, violation in zip(examples, found, violations, strict=True)
        ]

    def _decode(self, w: FloatArray, examples: IntArray, margins: FloatArray) -> list[LabelArray]:
        """Pairs that are apart in the truth score a margin more, those together as much less."""
        examples = np.ascontiguousarray(examples, np.int64)
        scores = self._scorer.scores(np.ascontiguousarray(w), examples, self.n_threads)
        found = self._greedy(scores, examples, margins)
        if self._decoder == "greedy":
            return found
        each = Ragged(scores, offsets_of(np.diff(self._pairs.kind_offsets)[examples]))
        return [self._better(*one) for one in zip(examples.tolist(), found, each, margins.tolist(), strict=True)]

    def differences(self, examples: IntArray, outputs: Outputs) -> tuple[SparseRows, FloatArray]:
        truths = _joined([self._truth(int(i)) for i in examples])
        examples = np.ascontiguousarray(examples, np.int64)
        rows, disagreements = self._scorer.cluster_differences(examples, truths, _joined(list(outputs)))
        return SparseRows(*rows), disagreements * self._share[examples]

    def differing_parts(self, w: FloatArray) -> list[PartFeatures]:
        """See `ComposedProblem.differing_parts`: the pairs that only one of the clusterings has together."""
        place = self._pairs.pairs_of(0)
        first, second = self._pairs.first[place], self._pairs.second[place]
        left, right = (np.flatnonzero(truth[first] == truth[second]) for truth in map(self._truth, (0, 1)))
        return pair_parts(self._pairs, left, right, "{} and {} together")

    def max_losses(self) -> FloatArray:
        """An upper bound: whether all pairs can be wrong at once is hard to tell."""
        return np.sign(self._pairs.n_pairs()).astype(np.float64)

    def radii(self) -> FloatArray:
        return np.asarray(self._pairs.n_pairs() * self._pairs.longest())

    def present(self, outputs: Outputs) -> list[LabelArray]:
        return list(outputs)

    def sizes(self) -> dict[str, int]:
        return self._pairs.sizes()

    def fingerprint(self) -> str:
        assert self._labels is not None
        return self._pairs.fingerprint(self._labels, np.array([self._decoder == "lp"]))

    def _greedy(self, scores: FloatArray, examples: IntArray, margins: FloatArray) -> list[LabelArray]:
        """By agglomeration."""
        sizes = np.diff(self._pairs.item_offsets)[examples]
        out = np.empty(int(sizes.sum()), np.int32)
        margins = np.ascontiguousarray(margins)
        self._engine.agglomerate(scores, examples, self._labels, -margins, margins, out, self.n_threads)
        return [to_labels(labels, len(labels)) for labels in Ragged(out, offsets_of(sizes))]

    def _better(self, i: int, greedy: LabelArray, kind_scores: FloatArray, margin: float) -> LabelArray:
        """The better of a clustering and the rounded linear relaxation."""
        values = self._pairs.of_pairs(i, kind_scores)
        if margin:
            place, truth = self._pairs.pairs_of(i), self._truth(i)
            together = truth[self._pairs.first[place]] == truth[self._pairs.second[place]]
            values = values + margin * np.where(together, -1.0, 1.0)
        scores = self._pairs.matrix(i, values)
        rounded, _ = relaxed_clustering(scores)
        pairs = PairScores.of(scores)
        return rounded if pairs.within(rounded) > pairs.within(greedy) else greedy

    def _truth(self, i: int) -> LabelArray:
        assert self._labels is not None
        return self._labels[self._pairs.items_of(i)]


def _joined(labels: list[LabelArray]) -> LabelArray:
    return np.concatenate([np.empty(0, np.int32), *labels]).astype(np.int32)
