"""Typed graphs bound to data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from structlearn.data.arrays import FloatArray, IntArray, LabelArray
from structlearn.data.ragged import Ragged, offsets_of
from structlearn.data.typed_networks import Key
from structlearn.models.composed import CodedOutputs, NumberedProblem
from structlearn.models.graph.problem import GraphProblem
from structlearn.models.graph.searched_problem import SearchedGraphProblem
from structlearn.waist.planes import Outputs


class _TypedOutputs(NumberedProblem, GraphProblem):
    """Names and outputs of typed graphs: an output is a dict from types to labels.

    Parameters
    ----------
    types : sequence
        Of the groups of nodes.
    templates : mapping
        From the template of each group of factors to the types of its nodes.
    """

    factor_weights = "factors"
    ways_out = "use solver='contrastive_divergence' or StructuralSVM"

    def __init__(self, *, types: Sequence[str], templates: Mapping[Key, tuple[str, ...]], **data: Any):
        self._types = list(types)
        self._templates = templates
        super().__init__(**data)
        self._n_labels = np.array([len(group.classes) for group in self._nodes])
        self._counts = np.stack([group.counts for group in self._nodes], axis=1)

    def present(self, outputs: Outputs) -> list[dict[str, list[Any]]]:
        coded = CodedOutputs.of(outputs)
        found = []
        for i, codes in zip(coded.examples.tolist(), coded.codes, strict=True):
            groups = zip(self._types, self._nodes, _split(codes, self._counts[i]), strict=True)
            found.append({kind: [group.classes[code] for code in mine.tolist()] for kind, group, mine in groups})
        return found

    def label_probabilities(self, w: FloatArray) -> list[dict[str, FloatArray]]:  # type: ignore[override]
        """P(y_i = l | x) of every example, (n_nodes, n_labels) for each type."""
        self._check_trees("probabilities of labels")
        found = []
        for marginals, counts in zip(
            self._token_marginals(w, self._counts @ self._n_labels, 1), self._counts, strict=True
        ):
            pieces = zip(self._types, _split(marginals, counts * self._n_labels), self._n_labels.tolist(), strict=True)
            found.append({kind: piece.reshape(-1, n) for kind, piece, n in pieces})
        return found

    def pair_probabilities(self, w: FloatArray) -> list[dict[Key, FloatArray]]:  # type: ignore[override]
        """P(y_i = k, y_j = l, … | x) of every example, (n_factors, n_labels, n_labels, …) for each template."""
        self._check_trees("probabilities of joint labels")
        size = dict(zip(self._types, self._n_labels.tolist(), strict=True))
        shapes = [[size[kind] for kind in types] for types in self._templates.values()]
        found = []
        for i, joint in enumerate(self._pair_marginals(w)):
            cells = [len(one.of(i)) * int(np.prod(shape)) for one, shape in zip(self._factors, shapes, strict=True)]
            tables = zip(self._templates, _split(joint, cells), shapes, strict=True)
            found.append({key: table.reshape(-1, *shape).copy() for key, table, shape in tables})
        return found

    def most_probable_labels(self, w: FloatArray) -> Outputs:  # type: ignore[override]
        found = [
            np.concatenate([table.argmax(axis=1) for table in tables.values()])
            for tables in self.label_probabilities(w)
        ]
        return self.pack(Ragged.of(found), np.arange(self.n_examples))

    def _node_name(self, i: int, group: int, node: int, label: Any) -> str:
        return f"{self._types[group]} {node}: {label}"

    def _factor_name(self, i: int, group: int, scope: LabelArray | None, labels: str) -> str:
        key = list(self._templates)[group]
        name = [key] if isinstance(key, str) else []
        if scope is None:
            return ": ".join([*name, labels])
        first = dict(zip(self._types, offsets_of(self._counts[i]).tolist(), strict=False))
        nodes = [f"{kind} {v - first[kind]}" for kind, v in zip(self._templates[key], scope.tolist(), strict=True)]
        return ": ".join([*name, ", ".join(nodes), labels])

    def sizes(self) -> dict[str, int]:
        factors = sum(len(one.scopes) for one in self._factors)
        return {"examples": self.n_examples, "nodes": int(self._offsets[-1]), "factors": factors}


class TypedGraphProblem(_TypedOutputs):
    """A `TypedGraph` model bound to data, by junction trees."""


class SearchedTypedGraphProblem(_TypedOutputs, SearchedGraphProblem):
    """The same with another engine."""


def _split(values: Any, lengths: IntArray | Sequence[int]) -> list[Any]:
    """Pieces of these lengths, one after another."""
    return [values[begin:end] for begin, end in pairwise(offsets_of(lengths).tolist())]
