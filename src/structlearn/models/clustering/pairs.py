"""What the models of clusterings have in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from structlearn.data.arrays import FloatArray, IntArray
from structlearn.data.documents import Document
from structlearn.data.examples import check_examples
from structlearn.data.fields import check_whole
from structlearn.data.item_pairs import BoundPairs, read_item_pairs
from structlearn.drawing.base import Drawing
from structlearn.drawing.documents import draw_document
from structlearn.metrics.coreference import coreference_measures
from structlearn.metrics.measures import Measures
from structlearn.models.base import Ability, Model, Spec
from structlearn.models.description import WeightBlock, blocks_of, column_names
from structlearn.models.explanation import PartFeatures


@dataclass(frozen=True)
class PairSpec(Spec):
    """How many features a pair has."""

    n_inputs: int

    def check(self) -> None:
        check_whole("n_inputs", self.n_inputs)


class PairModel(Model):
    """What the models of clusterings have in common."""

    @property
    def abilities(self) -> frozenset[Ability]:
        return frozenset({"explain"})

    def specify(self, X: Any, Y: Any) -> PairSpec:
        self.check_options()
        check_examples("X", X)
        if len(X) == 0:
            raise ValueError("X is empty; training needs at least one example")
        return PairSpec(int(read_item_pairs(X[0], 0).features.shape[1]))

    def measures(self, X: Any, Y: Any, predicted: Any) -> Measures:
        """The measures of coreference, and wrong pairs; see `structlearn.metrics.coreference_scores`."""
        return coreference_measures(Y, predicted)

    def drawing(self, x: Any, y: Any, truth: Any = None, *, width: int = 100) -> Drawing | None:
        """See `structlearn.drawing.draw_document`; None where the items are not mentions in a text."""
        return draw_document(x, y, truth) if isinstance(x, Document) else None

    def named_weights(
        self, spec: PairSpec, w: FloatArray, feature_names: Sequence[str] | None = None
    ) -> tuple[WeightBlock, ...]:
        return blocks_of(w, ("together", (column_names(spec, feature_names),)))

    def n_weights(self, spec: PairSpec) -> int:
        return spec.n_inputs

    def spec_from_dict(self, values: dict[str, Any]) -> PairSpec:
        return PairSpec.from_dict(values)


def pair_parts(pairs: BoundPairs, left: IntArray, right: IntArray, form: str) -> list[PartFeatures]:
    """The pairs of items that only one of two sets of pairs has, with their features; sets are numbers of pairs."""
    found = []
    for count, chosen in ((1.0, np.setdiff1d(left, right)), (-1.0, np.setdiff1d(right, left))):
        for pair in chosen.tolist():
            kind = int(np.searchsorted(pairs.pair_offsets, pair, side="right")) - 1
            columns, values = pairs.features.row(kind)
            name = form.format(pairs.first[pair], pairs.second[pair])
            found.append(PartFeatures(name, count, columns, count * values))
    return found
