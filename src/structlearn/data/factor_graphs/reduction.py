"""Graphs without what is forbidden or known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from structlearn.data.arrays import FloatArray, IntArray, LabelArray
from structlearn.data.factor_graphs.factor_graph import FactorGraph
from structlearn.data.ragged import Ragged, offsets_of, ranks_of, summed


@dataclass(frozen=True)
class ReducedGraph:
    """A graph without the labels that factors forbid one by one, and without the variables that have one label left.

    Attributes
    ----------
    graph : FactorGraph
    labels : Ragged
        The labels that each variable of the whole graph may have.
    variables : (graph.n_variables,)
        The numbers in the whole graph of those that are left.
    """

    graph: FactorGraph
    labels: Ragged
    variables: IntArray

    @classmethod
    def of(cls, whole: FactorGraph) -> ReducedGraph:
        """Refused where a variable has no label left."""
        allowed = whole.unaries > -np.inf
        if (whole.values == -np.inf).any():
            flags = allowed.astype(np.uint8)
            whole.core.supported(flags)
            allowed = flags.astype(bool)
        left = offsets_of(summed(allowed.astype(np.int64), whole.unary_offsets))
        labels = Ragged(ranks_of(whole.unary_offsets)[allowed].astype(np.int32), left)
        if not labels.lengths.all():
            i = int(np.argmin(labels.lengths))
            raise ValueError(f"every labelling is forbidden: no label of variable {i} is possible")
        variables = np.flatnonzero(labels.lengths > 1)
        if allowed.all() and len(variables) == whole.n_variables:
            return cls(whole, labels, variables)
        return cls(FactorGraph(*whole.core.reduced(labels.offsets, labels.flat)), labels, variables)

    def whole_labels(self, labels: LabelArray) -> LabelArray:
        """Labels of the whole graph, from those of what is left; or rows of them."""
        chosen = np.tile(self.labels.offsets[:-1], (*labels.shape[:-1], 1))
        chosen[..., self.variables] += labels
        return np.asarray(self.labels.flat[chosen.reshape(*labels.shape[:-1], -1)])

    def whole_marginals(self, nodes: FloatArray, whole: FactorGraph) -> FloatArray:
        """Probabilities of all labels of the whole graph, from those of what is left."""
        found = np.zeros(len(whole.unaries))
        left = np.ones(len(self.labels.flat))
        left[np.repeat(self.labels.lengths > 1, self.labels.lengths)] = nodes
        found[np.repeat(whole.unary_offsets[:-1], self.labels.lengths) + self.labels.flat] = left
        return found
