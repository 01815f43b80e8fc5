"""What the models of clusterings have in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from structlearn.data.documents import Document
from structlearn.data.examples import check_examples
from structlearn.data.fields import check_whole
from structlearn.data.item_pairs import _pairs_of
from structlearn.drawing.base import Drawing
from structlearn.drawing.documents import draw_document
from structlearn.metrics.coreference import coreference_measures
from structlearn.metrics.measures import Measures
from structlearn.models.base import Ability, Model, Spec


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
        return frozenset({"top_weights"})

    def specify(self, X: Any, Y: Any) -> PairSpec:
        self.check_options()
        check_examples("X", X)
        if len(X) == 0:
            raise ValueError("X is empty; training needs at least one example")
        return PairSpec(int(_pairs_of(X[0], 0).features.shape[1]))

    def measures(self, X: Any, Y: Any, predicted: Any) -> Measures:
        """The measures of coreference, and wrong pairs; see `structlearn.metrics.coreference_scores`."""
        return coreference_measures(Y, predicted)

    def drawing(self, x: Any, y: Any, truth: Any = None, *, width: int = 100) -> Drawing | None:
        """See `structlearn.drawing.draw_document`; None where the items are not mentions in a text."""
        return draw_document(x, y, truth) if isinstance(x, Document) else None

    def n_weights(self, spec: PairSpec) -> int:
        return spec.n_inputs

    def spec_from_dict(self, values: dict[str, Any]) -> PairSpec:
        return PairSpec.from_dict(values)
