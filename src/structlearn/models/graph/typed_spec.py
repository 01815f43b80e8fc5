"""What fitting learns about typed networks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

from structlearn.data.feature_pairs import FeaturePairs
from structlearn.data.fields import check_distinct, check_tuple, check_whole
from structlearn.data.tokens.sequences import NamedColumns
from structlearn.data.typed_networks import Key
from structlearn.models.base import LinearSpec, Spec
from structlearn.wording import shown


@dataclass(frozen=True)
class FactorSpec(Spec):
    """The factors of a template.

    Attributes
    ----------
    types : tuple of str
        Of the nodes of a factor.
    n_inputs : int or None
        Features of one factor; None where factors have none.
    vocabulary : tuple of str or None
        Their names in column order, where they came as dicts.
    """

    types: tuple[str, ...]
    n_inputs: int | None = None
    vocabulary: tuple[str, ...] | None = None

    @cached_property
    def columns(self) -> NamedColumns | None:
        return None if self.vocabulary is None else NamedColumns(self.vocabulary)

    def check(self) -> None:
        check_tuple("types", self.types, str)
        if self.n_inputs is not None:
            check_whole("n_inputs", self.n_inputs)
        if self.vocabulary is not None:
            check_tuple("vocabulary", self.vocabulary, str)
            check_distinct("vocabulary", self.vocabulary)
            if len(self.vocabulary) != self.n_inputs:
                raise ValueError(f"vocabulary has {len(self.vocabulary)} names but n_inputs is {self.n_inputs}")

    def __getstate__(self) -> dict[str, Any]:
        return {"types": self.types, "n_inputs": self.n_inputs, "vocabulary": self.vocabulary}


@dataclass(frozen=True)
class TypedGraphSpec(Spec):
    """Labels and features of each type of nodes and of each template of factors.

    Attributes
    ----------
    nodes : dict from types to LinearSpec
        In the order in which nodes of an example stand in an output.
    factors : dict from templates to FactorSpec
    pairs : FeaturePairs or None
        Which features have a weight for which labels, where they do not have all.
    """

    nodes: dict[str, LinearSpec]
    factors: dict[Key, FactorSpec]
    pairs: FeaturePairs | None = None

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        for name in ("nodes", "factors"):
            given = values.get(name)
            if not isinstance(given, dict) or not all(isinstance(one, dict) for one in given.values()):
                raise ValueError(f"{name} is {shown(given)}, no dict of dicts")
        pairs = values.get("pairs")
        return super().from_dict(
            {
                "nodes": {kind: LinearSpec.from_dict(one) for kind, one in values["nodes"].items()},
                "factors": {key: FactorSpec.from_dict(one) for key, one in values["factors"].items()},
                "pairs": None if pairs is None else FeaturePairs.from_dict(pairs),
            }
        )

    def check(self) -> None:
        check_tuple("nodes", tuple(self.nodes), str)
        if not self.nodes:
            raise ValueError("there are no types of nodes")
        if any(one.pairs is not None for one in self.nodes.values()):
            raise ValueError("a type has pairs of its own; they are those of all")
        for key, one in self.factors.items():
            unknown = [kind for kind in one.types if kind not in self.nodes]
            if unknown or len(one.types) < 2 or not (isinstance(key, str) or key == one.types):
                raise ValueError(f"the template {shown(key)} has the types {shown(one.types)}")

    def with_intercept(self) -> Self:
        """With a constant feature of every node."""
        return replace(self, nodes={kind: one.with_intercept() for kind, one in self.nodes.items()})

    @property
    def classes_of(self) -> dict[str, tuple[Any, ...]]:
        return {kind: one.classes for kind, one in self.nodes.items()}
