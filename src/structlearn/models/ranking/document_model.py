"""What models have in common that put the documents of a query in an order by ⟨w, x⟩."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from structlearn.data.arrays import FloatArray
from structlearn.data.tokens.sequences import Sequences, read_sequences
from structlearn.models.base import Ability, Model
from structlearn.models.description import WeightBlock
from structlearn.models.explanation import Comparison
from structlearn.models.ranking.description import document_blocks, order_of_two, wrong_pair
from structlearn.models.ranking.spec import DocumentSpec


class DocumentModel(Model):
    """A ranking: how documents are read, what their weights are called, and why one stands before another."""

    @property
    def abilities(self) -> frozenset[Ability]:
        return frozenset({"explain"})

    def read(self, X: Any, Y: Any) -> tuple[Sequences, Any]:
        return read_sequences(X), Y

    def named_weights(
        self, spec: DocumentSpec, w: FloatArray, feature_names: Sequence[str] | None = None
    ) -> tuple[WeightBlock, ...]:
        return document_blocks(spec, w, feature_names)

    def explain(
        self,
        spec: DocumentSpec,
        w: FloatArray,
        x: Any,
        t: int | None = None,
        label: Any = None,
        against: Any = None,
        feature_names: Sequence[str] | None = None,
    ) -> Comparison:
        """Why one document stands before another; see `order_of_two`."""
        return order_of_two(spec, w, x, t, label, against, self.named_weights(spec, w, feature_names))

    def mistake(self, predicted: Any, truth: Any) -> tuple[int, int]:
        return wrong_pair(predicted, truth)

    def n_weights(self, spec: DocumentSpec) -> int:
        return spec.n_inputs

    def spec_from_dict(self, values: dict[str, Any]) -> DocumentSpec:
        return DocumentSpec.from_dict(values)
