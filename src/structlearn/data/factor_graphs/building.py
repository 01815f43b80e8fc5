"""From what users have to the flat arrays of a factor graph; everything is checked here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from structlearn.data.arrays import FloatArray, IntArray, LabelArray, checked_scores
from structlearn.data.factor_graphs.factors import AtMostOne, Cardinality, Kind, Potts, TruncatedLinear
from structlearn.data.fields import LARGEST
from structlearn.data.ragged import offsets_of
from structlearn.wording import count, shown

if TYPE_CHECKING:
    from structlearn.data.factor_graphs.factor_graph import FactorGraph

#: The scores of the edges of a pairwise graph.
Pairwise = npt.ArrayLike | Sequence[npt.ArrayLike] | Potts | TruncatedLinear
#: (scope, scores): the variables of a factor, and a table or a compact form of what their labels score.
Factor = tuple[Sequence[int], npt.ArrayLike | Potts | TruncatedLinear | Cardinality | AtMostOne]
#: The fields of a `FactorGraph`, by name.
Fields = dict[str, Any]


def from_factors(n_labels: npt.ArrayLike, factors: Iterable[Factor]) -> Fields:
    sizes = _sizes(n_labels)
    unary_offsets = offsets_of(sizes)
    unaries = np.zeros(int(unary_offsets[-1]))
    constant = 0.0
    scopes: list[LabelArray] = []
    kinds: list[int] = []
    values: list[FloatArray] = []
    for f, factor in enumerate(factors):
        if not isinstance(factor, (tuple, list)) or len(factor) != 2:
            raise ValueError(f"factors[{f}] is {shown(factor)}; expected (scope, scores)")
        scope = _scope(factor[0], len(sizes), f"factors[{f}]")
        kind, scores = _factor(factor[1], sizes[scope], f"factors[{f}]")
        if len(scope) > 1:
            scopes.append(scope)
            kinds.append(kind)
            values.append(scores)
        elif len(scope) == 1:
            unaries[unary_offsets[scope[0]] : unary_offsets[scope[0] + 1]] += scores
        else:
            constant += float(scores[0])
    return _fields(
        sizes,
        unaries,
        scope_offsets=offsets_of([len(scope) for scope in scopes]),
        scopes=np.concatenate([*scopes, np.empty(0, np.int32)]),
        kinds=np.array(kinds, np.uint8),
        value_offsets=offsets_of([len(one) for one in values])[:-1],
        values=np.concatenate([*values, np.empty(0)]),
        constant=constant,
    )


def from_pairs(unaries: Any, edges: npt.ArrayLike, pairwise: Pairwise) -> Fields:
    sizes, scores = _unaries(unaries)
    scopes = checked_edges(edges, len(sizes))
    kind, value_offsets, values = edge_values(pairwise, sizes[scopes])
    return _fields(
        sizes,
        scores,
        scope_offsets=np.arange(0, scopes.size + 1, 2),
        scopes=scopes.ravel(),
        kinds=np.full(len(scopes), kind, np.uint8),
        value_offsets=value_offsets,
        values=values,
    )


def edges_of_adjacency(adjacency: Any, of: str = "variable") -> tuple[LabelArray, int]:
    """The pairs of a symmetric matrix, and of how many variables, or what else it is of."""
    if not sp.issparse(adjacency) and np.ndim(adjacency) != 2:
        raise ValueError(f"adjacency is {shown(adjacency)}; expected a matrix with a row and a column for each {of}")
    matrix = sp.coo_array(adjacency)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"adjacency has shape {matrix.shape}; expected a row and a column for each {of}")
    unclear = np.flatnonzero(matrix.data != matrix.data)
    if len(unclear):
        i, j = matrix.row[unclear[0]], matrix.col[unclear[0]]
        raise ValueError(f"adjacency[{i}, {j}] is nan; 0 says that two {of}s are no neighbours")
    there = matrix.data != 0
    first, second = matrix.row[there].astype(np.int64), matrix.col[there].astype(np.int64)
    loops = np.flatnonzero(first == second)
    if len(loops):
        raise ValueError(
            f"adjacency[{first[loops[0]]}, {first[loops[0]]}] is not zero: a {of} is no neighbour of itself"
        )
    n = matrix.shape[0]
    upper = np.unique((first * n + second)[first < second])
    lower = np.unique((second * n + first)[first > second])
    alone = np.setxor1d(upper, lower)
    if len(alone):
        i, j = divmod(int(alone[0]), n)
        i, j = (j, i) if alone[0] in upper else (i, j)
        raise ValueError(
            f"adjacency[{i}, {j}] is zero but adjacency[{j}, {i}] is not; expected a symmetric matrix, since {of}s are "
            "neighbours of each other"
        )
    return np.stack([upper // n, upper % n], axis=1).astype(np.int32), n


def parts_of_networkx(graph: Any, unary: str, pairwise: Pairwise | str) -> tuple[list[Any], IntArray, Any]:
    edges, listed = numbered_edges(graph)
    unaries = [attribute_of(data, unary, f"node {shown(node)}") for node, data in graph.nodes(data=True)]
    if isinstance(pairwise, str):
        return unaries, edges, [attribute_of(data, pairwise, f"edge {shown((u, v))}") for u, v, data in listed]
    return unaries, edges, pairwise


def numbered_edges(graph: Any) -> tuple[IntArray, list[tuple[Any, Any, Any]]]:
    """The edges of an undirected networkx graph by the numbers of their nodes, and as they are, with attributes."""
    if getattr(graph, "is_directed", lambda: True)():
        raise ValueError(f"graph is {shown(graph)}; expected an undirected networkx graph")
    number = {node: i for i, node in enumerate(graph.nodes)}
    listed = list(graph.edges(data=True))
    return np.array([(number[u], number[v]) for u, v, _ in listed], np.int64).reshape(-1, 2), listed


def joined(graphs: Sequence[FactorGraph]) -> Fields:
    if not graphs:
        raise ValueError("graphs is empty; expected at least one FactorGraph")
    variables = offsets_of([graph.n_variables for graph in graphs])
    values = offsets_of([len(graph.values) for graph in graphs])
    fields = {
        name: np.concatenate([getattr(graph, name) for graph in graphs])
        for name in ("constants", "n_labels", "unaries", "kinds", "values")
    }
    scope_sizes = np.concatenate([np.diff(graph.scope_offsets) for graph in graphs])
    return fields | {
        "variable_offsets": np.concatenate(
            [graph.variable_offsets[:-1] + begin for graph, begin in zip(graphs, variables, strict=False)]
            + [variables[-1:]]
        ),
        "scope_offsets": offsets_of(scope_sizes),
        "scopes": np.concatenate(
            [graph.scopes + np.int32(begin) for graph, begin in zip(graphs, variables, strict=False)]
        ),
        "value_offsets": np.concatenate(
            [graph.value_offsets + begin for graph, begin in zip(graphs, values, strict=False)]
        ),
    }


def edge_values(pairwise: Pairwise, sizes: npt.NDArray[Any]) -> tuple[Kind, IntArray, FloatArray]:
    """The kind, the places and the values of edges whose ends have these numbers of labels, (n_edges, 2)."""
    if isinstance(pairwise, (Potts, TruncatedLinear)):
        return _compact_edges(pairwise, sizes)
    if not len(sizes):
        return Kind.TABLE, np.empty(0, np.int64), np.empty(0)
    if isinstance(pairwise, Sequence) and len(pairwise) and np.ndim(pairwise[0]) == 2:
        return _listed_tables(pairwise, sizes)
    return _stacked_tables(np.ascontiguousarray(pairwise, np.float64), sizes)


def _compact_edges(pairwise: Potts | TruncatedLinear, sizes: npt.NDArray[Any]) -> tuple[Kind, IntArray, FloatArray]:
    unequal = np.flatnonzero(sizes[:, 0] != sizes[:, 1])
    if len(unequal):
        e = int(unequal[0])
        raise ValueError(
            f"edges[{e}] joins variables of {sizes[e, 0]} and {sizes[e, 1]} labels; {_name(pairwise)} needs as many"
        )
    rows = pairwise.values(len(sizes), _name(pairwise))
    kind = Kind.POTTS if isinstance(pairwise, Potts) else Kind.TRUNCATED_LINEAR
    return kind, _places(len(sizes), *rows.shape), rows.ravel()


def _stacked_tables(tables: FloatArray, sizes: npt.NDArray[Any]) -> tuple[Kind, IntArray, FloatArray]:
    """One table for all edges, or one an edge."""
    shape, n_edges = tables.shape, len(sizes)
    if len(shape) not in (2, 3) or shape[:-2] not in ((), (n_edges,)) or (sizes != shape[-2:]).any():
        expected = " or ".join(str((*front, *sizes[0].tolist())) for front in ((), (n_edges,)))
        mixed = "" if (sizes == sizes[0]).all() else "; where numbers of labels differ, give a list of tables"
        raise ValueError(f"pairwise has shape {shape}; expected {expected}{mixed}")
    rows = checked_scores(tables, "pairwise").reshape(-1, shape[-2] * shape[-1])
    return Kind.TABLE, _places(n_edges, *rows.shape), rows.ravel()


def _listed_tables(given: Sequence[Any], sizes: npt.NDArray[Any]) -> tuple[Kind, IntArray, FloatArray]:
    if len(given) != len(sizes):
        raise ValueError(f"pairwise has {count(len(given), 'table')}; there are {count(len(sizes), 'edge')}")
    tables = []
    for e, one in enumerate(given):
        table, expected = np.asarray(one, np.float64), tuple(sizes[e].tolist())
        if table.shape != expected:
            raise ValueError(f"pairwise[{e}] has shape {table.shape}; the ends of its edge have {expected} labels")
        tables.append(checked_scores(table, f"pairwise[{e}]").ravel())
    return Kind.TABLE, offsets_of([len(table) for table in tables])[:-1], np.concatenate(tables)


def _places(n_edges: int, n_rows: int, width: int) -> IntArray:
    """Where the values of each edge begin: one row for all of them, or one an edge."""
    return np.arange(n_edges, dtype=np.int64) * width if n_rows != 1 else np.zeros(n_edges, np.int64)


def _factor(given: Any, sizes: npt.NDArray[Any], name: str) -> tuple[Kind, FloatArray]:
    if isinstance(given, (Potts, TruncatedLinear)):
        if len(sizes) != 2 or sizes[0] != sizes[1]:
            raise ValueError(
                f"{name} is {_name(given)}, for two variables with as many labels; its variables have {sizes.tolist()}"
            )
        kind = Kind.POTTS if isinstance(given, Potts) else Kind.TRUNCATED_LINEAR
        return kind, given.values(None, name).ravel()
    if isinstance(given, (Cardinality, AtMostOne)):
        if len(sizes) < 2 or (sizes != 2).any():
            raise ValueError(f"{name} is {_name(given)}, for variables of two labels; it has {sizes.tolist()}")
        return Kind.CARDINALITY, given.values(len(sizes), name)
    table = np.asarray(given, np.float64)
    if table.shape != tuple(sizes.tolist()):
        raise ValueError(f"{name} is a table of shape {table.shape}; its variables have {tuple(sizes.tolist())} labels")
    return Kind.TABLE, checked_scores(table, name).ravel()


def _scope(given: Any, n_variables: int, name: str) -> LabelArray:
    scope = np.asarray(given)
    if scope.ndim != 1 or (scope.size and scope.dtype.kind not in "iu"):
        raise ValueError(f"{name} has the scope {shown(given)}; expected the numbers of its variables")
    bad = scope[(scope < 0) | (scope >= n_variables)]
    if len(bad):
        raise ValueError(f"{name} names variable {bad[0]}; there are {count(n_variables, 'variable')}")
    if len(np.unique(scope)) < len(scope):
        raise ValueError(f"{name} has the scope {tuple(scope.tolist())}, which has a variable twice")
    return scope.astype(np.int32)


def _sizes(n_labels: npt.ArrayLike) -> LabelArray:
    sizes = np.asarray(n_labels)
    if sizes.ndim != 1 or (sizes.size and sizes.dtype.kind not in "iu"):
        raise ValueError(f"n_labels is {shown(n_labels)}; expected a whole number for each variable")
    bad = np.flatnonzero((sizes < 1) | (sizes > LARGEST))
    if len(bad):
        raise ValueError(f"n_labels[{bad[0]}] is {sizes[bad[0]]}; a variable has at least one label")
    return sizes.astype(np.int32)


def _unaries(given: Any) -> tuple[LabelArray, FloatArray]:
    if isinstance(given, np.ndarray) and given.dtype != object:
        table = np.ascontiguousarray(given, np.float64)
        if table.ndim != 2 or (len(table) and not table.shape[1]):
            raise ValueError(f"unaries has shape {table.shape}; expected (n_variables, n_labels)")
        return np.full(len(table), table.shape[1], np.int32), checked_scores(table, "unaries").ravel()
    rows = []
    for i, one in enumerate(given):
        row = np.asarray(one, np.float64)
        if row.ndim != 1 or not len(row):
            raise ValueError(f"unaries[{i}] has shape {row.shape}; expected a score for each of one or more labels")
        rows.append(checked_scores(row, f"unaries[{i}]"))
    return np.array([len(row) for row in rows], np.int32), np.concatenate([*rows, np.empty(0)])


def checked_edges(given: npt.ArrayLike, n: int, *, name: str = "edges[{}]", of: str = "variable") -> LabelArray:
    """Pairs of n variables or nodes, each pair once, refused where they are none; messages call one of them `name`."""
    edges = np.asarray(given)
    if not edges.size:
        return np.empty((0, 2), np.int32)
    if edges.ndim != 2 or edges.shape[1] != 2 or edges.dtype.kind not in "iu":
        every = name.format(":")
        raise ValueError(
            f"{every} has shape {edges.shape} and type {edges.dtype}; expected (n_edges, 2), whole numbers"
        )
    bad = np.argwhere((edges < 0) | (edges >= n))
    if len(bad):
        e, k = bad[0].tolist()
        raise ValueError(f"{name.format(e)} names {of} {edges[e, k]}; there are {count(n, of)}")
    loops = np.flatnonzero(edges[:, 0] == edges[:, 1])
    if len(loops):
        raise ValueError(f"{name.format(loops[0])} joins {of} {edges[loops[0], 0]} to itself")
    key = edges.min(axis=1).astype(np.int64) * n + edges.max(axis=1)
    order = np.argsort(key, kind="stable")
    again = np.flatnonzero(np.diff(key[order]) == 0)
    if len(again):
        e, before = int(order[again[0] + 1]), int(order[again[0]])
        raise ValueError(f"{name.format(e)} joins the {of}s of edge {before}, {edges[e].tolist()}; give each pair once")
    return edges.astype(np.int32)


def attribute_of(data: Any, name: str, owner: str) -> Any:
    """An attribute of a node or an edge, refused by name where it has none."""
    if name not in data:
        raise ValueError(f"{owner} has no attribute {name!r}")
    return data[name]


def _name(compact: Any) -> str:
    return type(compact).__name__


def _fields(sizes: LabelArray, unaries: FloatArray, *, constant: float = 0.0, **factors: Any) -> Fields:
    whole = {"constants": np.array([constant]), "variable_offsets": np.array([0, len(sizes)], np.int64)}
    return whole | {"n_labels": sizes, "unaries": unaries} | factors
