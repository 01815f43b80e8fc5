"""Graphs without what is forbidden or known."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from structlearn.data.arrays import FloatArray, IntArray, LabelArray
from structlearn.data.factor_graphs.factor_graph import FactorGraph
from structlearn.data.factor_graphs.factors import Kind
from structlearn.data.ragged import Ragged, offsets_of, owners_of, ranks_of, reduced, summed


class InfeasibleError(ValueError):
    """Every labelling is forbidden."""


@dataclass(frozen=True)
class ReducedGraph:
    """A graph without the labels that factors forbid one by one, and without the variables that have one label left.

    What is left is centred: the largest score of a variable and of a table is 0, so that tolerances of engines are
    those of differences between labels, whatever all of them have in common.

    Attributes
    ----------
    whole, graph : FactorGraph
        Before and after.
    constants : (n_graphs,)
        By how much more the whole graphs score.
    labels : Ragged
        The labels that each variable of the whole graph may have.
    variables : (graph.n_variables,)
        The numbers in the whole graph of those that are left.
    """

    whole: FactorGraph
    graph: FactorGraph
    constants: FloatArray
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
            raise InfeasibleError(f"every labelling is forbidden: no label of variable {i} is possible")
        variables = np.flatnonzero(labels.lengths > 1)
        graph = whole
        if not allowed.all() or len(variables) < whole.n_variables:
            graph = FactorGraph(*whole.core.reduced(labels.offsets, labels.flat))
        return cls(whole, *_centred(graph), labels, variables)

    @property
    def factors(self) -> IntArray:
        """The numbers in the whole graph of the factors that are left."""
        free = (self.labels.lengths > 1)[self.whole.scopes]
        return np.flatnonzero(summed(free.astype(np.int64), self.whole.scope_offsets) > 1)

    def whole_labels(self, labels: LabelArray) -> LabelArray:
        """Labels of the whole graph, from those of what is left; or rows of them."""
        chosen = np.broadcast_to(self.labels.offsets[:-1], (*labels.shape[:-1], self.whole.n_variables)).copy()
        chosen[..., self.variables] += labels
        return np.asarray(self.labels.flat[chosen])

    def whole_nodes(self, nodes: FloatArray) -> Ragged:
        """Probabilities of all labels of the whole graph, from those of what is left."""
        found = np.zeros(len(self.whole.unaries))
        left = np.ones(len(self.labels.flat))
        left[np.repeat(self.labels.lengths > 1, self.labels.lengths)] = nodes
        found[np.repeat(self.whole.unary_offsets[:-1], self.labels.lengths) + self.labels.flat] = left
        return Ragged(found, self.whole.unary_offsets)

    def whole_factors(self, nodes: FloatArray, joint: FloatArray) -> Ragged:
        """The same of joint labels: those of factors that have two variables left, or follow from the nodes."""
        if len(self.labels.flat) == len(self.whole.unaries) and self.graph.n_variables == self.whole.n_variables:
            return Ragged(joint, self.whole.factor_offsets)
        of_nodes = self.whole_nodes(nodes)
        found = np.zeros(int(self.whole.factor_offsets[-1]))
        left = Ragged(joint, self.graph.factor_offsets)
        n_left = 0
        for f, begin in enumerate(self.whole.factor_offsets[:-1].tolist()):
            scope = self.whole.scope(f).tolist()
            table = found[begin:].reshape(-1)[: int(np.prod(self.whole.n_labels[scope]))]
            table = table.reshape(self.whole.n_labels[scope])
            if sum(len(self.labels[i]) > 1 for i in scope) > 1:
                kept = np.ix_(*(self.labels[i] for i in scope))
                table[kept] = left[n_left].reshape(table[kept].shape)
                n_left += 1
            else:
                table[...] = 1.0
                for k, i in enumerate(scope):
                    table *= of_nodes[i].reshape([-1 if axis == k else 1 for axis in range(len(scope))])
        return Ragged(found, self.whole.factor_offsets)


def _centred(graph: FactorGraph) -> tuple[FactorGraph, FloatArray]:
    """The graph with the largest score of each variable and each table at 0, and what its graphs have more."""
    highest = reduced(np.maximum, graph.unaries, graph.unary_offsets)
    owners = owners_of(graph.variable_offsets)
    constants = graph.constants + np.bincount(owners, highest, graph.n_graphs)
    # Factors may share their values, which stand one after another, perhaps behind some that none has.
    begins, first, which = np.unique(graph.value_offsets, return_index=True, return_inverse=True)
    tops = np.maximum.reduceat(graph.values, begins) if len(begins) else np.empty(0)
    tops[(graph.kinds[first] != Kind.TABLE) | np.isinf(tops)] = 0.0
    constants += np.bincount(owners[graph.scopes[graph.scope_offsets[:-1]]], tops[which], graph.n_graphs)
    shifts = np.zeros(len(graph.values))
    if len(begins):
        shifts[begins[0] :] = np.repeat(tops, np.diff(np.append(begins, len(graph.values))))
    centred = replace(
        graph,
        constants=np.zeros(graph.n_graphs),
        unaries=graph.unaries - np.repeat(highest, graph.n_labels),
        values=graph.values - shifts,
    )
    return centred, constants
