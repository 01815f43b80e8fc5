"""Labels of nodes, pixels and sets, which sum over their outputs: all decoders of the table."""

import numpy as np

from structlearn.models import (
    Graph,
    Grid,
    MultiLabel,
    TypedGraph,
)
from tests.abilities.structure import enumerated
from tests.models.graph.enumerated_graph import EnumeratedGraph
from tests.models.grid.enumerated_grid import EnumeratedGrid
from tests.models.multilabel.enumerated_label_sets import EnumeratedMultiLabel
from tests.models.typed_graph.enumerated_typed_graph import (
    CLASSES,
    TEMPLATES,
    EnumeratedTypedGraph,
    factors_option,
    typed_labels,
    typed_network,
)
from tests.models.typed_graph.test_hidden_types import agrees


def graph(random, with_features):
    """A node alone, an edge, a triangle, and a square with a diagonal and a node apart."""
    L, sizes = 3, (1, 2, 3, 5)
    edges = [[], [(1, 0)], [(0, 1), (1, 2), (2, 0)], [(0, 1), (2, 1), (2, 3), (3, 0), (0, 2)]]
    X = [(random.random((n, 2)), pairs) for n, pairs in zip(sizes, edges, strict=True)]
    if with_features:
        X = [(nodes, pairs, random.random((len(pairs), 2))) for nodes, pairs in X]
    Y = [tuple(random.integers(L, size=n).tolist()) for n in sizes]
    form = "symmetric" if with_features else "free"
    return enumerated(
        "Graph(pairwise='symmetric')" if with_features else "Graph",
        Graph(classes=list(range(L)), pairwise=form),
        EnumeratedGraph(L, form),
        X,
        Y,
        singles=lambda x, y: np.eye(L)[list(y)],
        pairs=lambda x, y: pair_tables(x[1], y, L),
        partial=[None, [Y[1][0], None], [None, {0, 1}, 2], [None, None, Y[3][2], {Y[3][3], 0}, None]],
        agrees=lambda said, y: (
            said is None
            or all(s is None or label in (s if isinstance(s, set) else {s}) for s, label in zip(said, y, strict=True))
        ),
    )


class EnumeratedImages(EnumeratedGrid):
    """With outputs in rows and columns."""

    def outputs(self, image):
        return [np.array(y).reshape(image.shape[:2]) for y in super().outputs(image)]


def grid(random):
    """Images of which the shorter sides are short."""
    L, shapes = 2, ((1, 1), (2, 2), (3, 2), (1, 4))
    X = [random.random((*shape, 2)) for shape in shapes]
    Y = [random.integers(L, size=shape) for shape in shapes]
    Y[1][0] = 0, 1
    partial = [None, *(y.astype(object) for y in Y[1:])]
    partial[1][0, 1] = partial[2][1] = partial[3][0, 2:] = None
    partial[3][0, 1] = {0, 1}

    def pairs(x, y):
        steps = [(y[:, :-1], y[:, 1:]), (y[:-1], y[1:])]
        return tuple(np.eye(L)[first][..., None] * np.eye(L)[second][..., None, :] for first, second in steps)

    return enumerated(
        "Grid",
        Grid(classes=list(range(L))),
        EnumeratedImages(L, "free", 4, False, None),
        X,
        Y,
        singles=lambda x, y: np.eye(L)[y],
        pairs=pairs,
        partial=partial,
        agrees=lambda said, y: (
            said is None
            or all(
                s is None or label in (s if isinstance(s, set) else {s})
                for s, label in zip(said.flat, y.flat, strict=True)
            )
        ),
    )


def pair_tables(edges, y, L):
    """Of every edge, a table with a one for the labels of its ends."""
    found = np.zeros((len(edges), L, L))
    for table, (i, j) in zip(found, edges, strict=True):
        table[y[i], y[j]] = 1
    return found


def typed_graph(random):
    """Nodes of two types, and factors of two and of three nodes, some with features."""
    X = [typed_network(random, *sizes) for sizes in ((1, 0), (1, 1), (2, 1), (2, 2))]
    X = [
        (
            {kind: np.abs(rows) for kind, rows in nodes.items()},
            factors,
            {key: np.abs(rows) for key, rows in more.items()},
        )
        for nodes, factors, more in X
    ]
    Y = [typed_labels(random, x) for x in X]
    reference = EnumeratedTypedGraph(CLASSES, TEMPLATES)
    return enumerated(
        "TypedGraph",
        TypedGraph(factors_option(), CLASSES),
        reference,
        X,
        Y,
        singles=reference.singles,
        pairs=reference.joints,
        partial=[None, {"a": [None]}, {"a": [{"x", "z"}, Y[2]["a"][1]]}, {"a": [None, Y[3]["a"][1]], "b": Y[3]["b"]}],
        agrees=agrees,
    )


def multilabel(random):
    X, K = random.random((5, 2)), 4
    Y = random.integers(2, size=(5, K))
    partial = Y.astype(object)
    partial[1] = partial[2, 1:] = partial[3, ::2] = None
    model = MultiLabel(pairs="sparse", n_pairs=4)
    pairs = model.specify(X, Y).label_pairs
    return enumerated(
        "MultiLabel",
        model,
        EnumeratedMultiLabel(K, pairs),
        list(X),
        list(map(tuple, Y.tolist())),
        singles=lambda x, y: np.array(y, float),
        pairs=lambda x, y: pair_tables(pairs, y, 2),
        shown=lambda y: np.array(y, np.int32),
        partial=[list(row) for row in partial],
        agrees=lambda said, y: all(s is None or s == label for s, label in zip(said, y, strict=True)),
    )
