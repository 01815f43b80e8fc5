"""Factor graphs on flat arrays."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from structlearn import _core
from structlearn.data.arrays import Flags, FloatArray, IntArray, LabelArray
from structlearn.data.factor_graphs import building
from structlearn.data.factor_graphs.building import Factor, Pairwise
from structlearn.data.factor_graphs.factors import Kind
from structlearn.data.ragged import offsets_of, reduced
from structlearn.wording import count, shown


@dataclass(frozen=True, eq=False, repr=False)
class FactorGraph:
    """Scores of the labels of several variables: F(y) = constant + Σ_i θ_i(y_i) + Σ_f θ_f(y_f).

    A factor f has a scope of two or more variables and a score for their labels, and P(y) = exp F(y) / Z. A score of −∞
    forbids: its factor is zero. Make one with `of`, `pairwise`, `from_adjacency` or `from_networkx`, or read a UAI file
    (`structlearn.io.read_uai`). Labels are numbered from 0, and each variable has as many as it likes.

    Attributes
    ----------
    n_labels : (n_variables,)
    unaries : (Σ n_labels,)
        θ_i, one variable after another.
    scopes : (scope_offsets[-1],)
        The variables of the factors, one factor after another.
    scope_offsets : (n_factors + 1,)
        Where the scope of each factor begins.
    kinds : (n_factors,)
        Whether the values of a factor are a table or those of a compact factor.
    value_offsets : (n_factors,)
        Where the values of a factor begin; factors may share them.
    values : (n_values,)
        Tables with the label of the last variable running fastest, and the numbers of compact factors.
    constants : (n_graphs,)
        What every labelling scores, for each graph of a `batch`.
    variable_offsets : (n_graphs + 1,)
        Where the variables of each graph of a `batch` begin.

    Examples
    --------
    Three variables, of which neighbours like to agree:

    >>> from structlearn.data import Potts
    >>> graph = FactorGraph.pairwise([[1.0, 0.0], [0.0, 0.4], [1.0, 0.0]], edges=[(0, 1), (1, 2)], pairwise=Potts(0.5))
    >>> graph
    FactorGraph(3 variables, 2 factors)
    >>> graph.score([0, 0, 0]), graph.score([0, 1, 0])
    (3.0, 2.4)
    """

    constants: FloatArray
    variable_offsets: IntArray
    n_labels: LabelArray
    unaries: FloatArray
    scope_offsets: IntArray
    scopes: LabelArray
    kinds: npt.NDArray[np.uint8]
    value_offsets: IntArray
    values: FloatArray

    @classmethod
    def of(cls, n_labels: npt.ArrayLike, factors: Iterable[Factor]) -> FactorGraph:
        """Variables with these numbers of labels, and factors of any size.

        Parameters
        ----------
        n_labels : (n_variables,)
        factors : iterable of (scope, scores)
            `scope` has the numbers of the variables; `scores` is a table with an axis a variable, `Potts` or
            `TruncatedLinear` for two variables, `Cardinality` or `AtMostOne` for variables of two labels. Several
            factors of the same variables add up.

        Examples
        --------
        >>> from structlearn.data import AtMostOne
        >>> graph = FactorGraph.of([2, 3, 2], [([1], [0.0, 1.0, 2.0]), ([0, 1], np.eye(2, 3)), ([0, 2], AtMostOne())])
        >>> graph.score([1, 1, 0]), graph.score([1, 1, 1])
        (2.0, -inf)
        """
        return cls(**building.from_factors(n_labels, factors))

    @classmethod
    def pairwise(cls, unaries: Any, edges: npt.ArrayLike, pairwise: Pairwise) -> FactorGraph:
        """Variables and pairs of them.

        Parameters
        ----------
        unaries : (n_variables, n_labels), or a list of arrays
            Scores of the labels of each variable; a list where variables have different numbers of labels.
        edges : (n_edges, 2)
            Pairs of variables, each pair once.
        pairwise : (n_labels, n_labels), (n_edges, n_labels, n_labels), list of tables, Potts or TruncatedLinear
            One table for all edges, or one an edge: the label of ``edges[e, 0]`` first.

        Examples
        --------
        >>> graph = FactorGraph.pairwise(np.zeros((3, 2)), [(0, 1), (1, 2)], [[0.0, 1.0], [2.0, 0.0]])
        >>> graph.score([1, 0, 1])
        3.0
        """
        return cls(**building.from_pairs(unaries, edges, pairwise))

    @classmethod
    def from_adjacency(cls, unaries: Any, adjacency: Any, pairwise: Pairwise) -> FactorGraph:
        """Variables that are neighbours where a symmetric matrix, dense or sparse, is not zero.

        An edge goes from the lower number to the higher one, row after row; `pairwise` is that of `pairwise`.

        Examples
        --------
        >>> from structlearn.data import Potts
        >>> FactorGraph.from_adjacency(np.zeros((3, 2)), [[0, 1, 0], [1, 0, 1], [0, 1, 0]], Potts(1.0))
        FactorGraph(3 variables, 2 factors)
        """
        return cls.pairwise(unaries, building.edges_of_adjacency(adjacency)[0], pairwise)

    @classmethod
    def from_networkx(cls, graph: Any, unary: str, pairwise: Pairwise | str) -> FactorGraph:
        """The nodes and edges of an undirected networkx graph, in its order.

        Parameters
        ----------
        graph : networkx.Graph
        unary : str
            The attribute of a node that has the scores of its labels.
        pairwise : str, or as for `pairwise`
            The attribute of an edge that has its table.
        """
        return cls.pairwise(*building.parts_of_networkx(graph, unary, pairwise))

    @classmethod
    def batch(cls, graphs: Sequence[FactorGraph]) -> FactorGraph:
        """Several graphs as one; `split` takes its labels apart again, and `scores` has one for each.

        Examples
        --------
        >>> from structlearn.data import Potts
        >>> pair = FactorGraph.pairwise(np.zeros((2, 2)), [(0, 1)], Potts(1.0))
        >>> both = FactorGraph.batch([pair, pair])
        >>> both, both.scores([0, 0, 0, 1])
        (FactorGraph(4 variables, 2 factors, 2 graphs), array([1., 0.]))
        """
        return cls(**building.joined(graphs))

    @property
    def n_variables(self) -> int:
        return len(self.n_labels)

    @property
    def n_factors(self) -> int:
        return len(self.kinds)

    @property
    def n_graphs(self) -> int:
        return len(self.variable_offsets) - 1

    @property
    def nbytes(self) -> int:
        return sum(value.nbytes for value in vars(self).values() if isinstance(value, np.ndarray))

    @cached_property
    def unary_offsets(self) -> IntArray:
        """Where the unaries of each variable begin."""
        return offsets_of(self.n_labels)

    @cached_property
    def factor_offsets(self) -> IntArray:
        """Where the joint labels of each factor begin, when they stand one after another."""
        sizes = self.n_labels[self.scopes].astype(np.int64)
        return offsets_of(reduced(np.multiply, sizes, self.scope_offsets))

    @cached_property
    def core(self) -> _core.FactorGraph:
        """The graph as the core takes it."""
        return _core.FactorGraph(
            self.constants,
            self.variable_offsets,
            self.n_labels,
            self.unary_offsets,
            self.unaries,
            self.scope_offsets,
            self.scopes,
            self.kinds,
            self.value_offsets,
            self.values,
        )

    def scope(self, f: int) -> LabelArray:
        """The variables of a factor."""
        return self.scopes[self.scope_offsets[f] : self.scope_offsets[f + 1]]

    def table(self, f: int) -> FloatArray:
        """The scores of a factor for all labels of its variables, an axis a variable."""
        shape = tuple(self.n_labels[self.scope(f)].tolist())
        values = self.values[self.value_offsets[f] :]
        if self.kinds[f] == Kind.TABLE:
            return values[: int(np.prod(shape))].reshape(shape)
        if self.kinds[f] == Kind.POTTS:
            return np.where(np.eye(*shape) == 1.0, values[0], 0.0)
        if self.kinds[f] == Kind.TRUNCATED_LINEAR:
            apart = np.abs(np.subtract.outer(*map(np.arange, shape)))
            return np.asarray(-np.minimum(values[0] * apart, values[1]))
        return np.asarray(values[np.indices(shape).sum(axis=0)])

    def unary(self, i: int) -> FloatArray:
        """The scores of the labels of a variable."""
        return self.unaries[self.unary_offsets[i] : self.unary_offsets[i + 1]]

    def score(self, labels: npt.ArrayLike) -> float:
        """F(y): the logarithm of the product of the factors."""
        return float(self.scores(labels).sum())

    def scores(self, labels: npt.ArrayLike) -> FloatArray:
        """F(y) of each graph of a batch."""
        out = np.empty(self.n_graphs)
        self.core.scores(self.checked_labels(labels), out)
        return out

    def split(self, values: Any) -> list[Any]:
        """What there is for each variable, such as its label, graph by graph."""
        if len(values) != self.n_variables:
            raise ValueError(f"values has {len(values)} entries; there are {count(self.n_variables, 'variable')}")
        return [values[begin:end] for begin, end in zip(self.variable_offsets, self.variable_offsets[1:], strict=False)]

    def given(self, evidence: Mapping[int, int]) -> FactorGraph:
        """The same graph where some labels are known: all others of their variables are forbidden.

        Examples
        --------
        >>> from structlearn.data import Potts
        >>> graph = FactorGraph.pairwise(np.zeros((2, 2)), [(0, 1)], Potts(1.0)).given({0: 1})
        >>> graph.score([1, 1]), graph.score([0, 0])
        (1.0, -inf)
        """
        if not isinstance(evidence, Mapping):
            raise ValueError(f"evidence is {shown(evidence)}; expected a dict, the label of each known variable")
        allowed = np.ones(len(self.unaries), bool)
        for variable, label in evidence.items():
            place = self._place(variable, label, "the evidence")
            begin, end = self.unary_offsets[variable : variable + 2]
            allowed[begin:end] = False
            allowed[place] = True
        return self._restricted(allowed)

    def forbid(self, labels: Iterable[tuple[int, int]]) -> FactorGraph:
        """The same graph without some (variable, label)."""
        allowed = np.ones(len(self.unaries), bool)
        for pair in labels:
            if not isinstance(pair, (tuple, list)) or len(pair) != 2:
                raise ValueError(f"forbid has {shown(pair)}; expected (variable, label)")
            allowed[self._place(*pair, "forbid")] = False
        return self._restricted(allowed)

    def checked_labels(self, labels: npt.ArrayLike) -> LabelArray:
        """The labels of all variables, refused by name where they are none."""
        found = np.asarray(labels)
        if found.shape != (self.n_variables,) or found.dtype.kind not in "iu":
            expected = count(self.n_variables, "whole number")
            raise ValueError(f"labels has shape {found.shape} and type {found.dtype}; expected {expected}")
        bad = np.flatnonzero((found < 0) | (found >= self.n_labels))
        if len(bad):
            i = int(bad[0])
            raise ValueError(f"labels[{i}] is {found[i]}; variable {i} has {count(int(self.n_labels[i]), 'label')}")
        return np.ascontiguousarray(found, np.int32)

    def _place(self, variable: Any, label: Any, what: str) -> int:
        for name, value, end in (("variable", variable, self.n_variables), ("label", label, None)):
            if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
                raise ValueError(f"{what} has the {name} {shown(value)}; expected a whole number")
            end = int(self.n_labels[variable]) if end is None else end
            if not 0 <= value < end:
                of = f" of variable {variable}" if name == "label" else ""
                raise ValueError(f"{what} has the {name} {shown(value)}{of}; there are {end}")
        return int(self.unary_offsets[variable]) + int(label)

    def _restricted(self, allowed: Flags) -> FactorGraph:
        return replace(self, unaries=np.where(allowed, self.unaries, -np.inf))

    def __repr__(self) -> str:
        graphs = f", {count(self.n_graphs, 'graph')}" if self.n_graphs != 1 else ""
        return f"FactorGraph({count(self.n_variables, 'variable')}, {count(self.n_factors, 'factor')}{graphs})"
