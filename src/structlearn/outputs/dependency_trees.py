"""Outputs that are dependency trees, with a vector for every arc that there may be."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Self

import numpy as np

from structlearn.data.arrays import Flags, FloatArray, IntArray
from structlearn.data.dependency_trees import DependencyTrees, read_dependency_trees
from structlearn.data.labels import LabelCodes, declared_classes, label_array, observed_classes, unknown_label
from structlearn.data.matchings import read_tables
from structlearn.data.options import flag_option
from structlearn.data.ragged import offsets_of
from structlearn.inference.dependency import best_dependency_tree
from structlearn.outputs.base import Columns, Outputs, Rows
from structlearn.outputs.matchings import table_rows
from structlearn.wording import count


class DependencyTreeOutputs(Outputs):
    """The head of every token: K_Y(y, y′) is how many arcs, with their labels, both trees have.

    Every arc that there may be has a vector: a number, 1 for the arcs of the tree, or where arcs have labels a number
    for each of these. So a kernel of arcs serves sentences of all lengths, and the nearest tree is found exactly
    (Eisner 1996; Chu and Liu 1965, Edmonds 1967).

    X are tables of arcs, in the forms in which `Matching` takes tables of pairs: of n tokens n + 1 rows, of the heads,
    the first that of the root, and n columns, of the tokens. What stands where a token is its own head plays no part. Y
    are trees as `DependencyTree` takes them.

    Parameters
    ----------
    projective : bool
        Whether arcs may not cross.
    single_root : bool
        Whether only one token of a sentence has the root as head.

    Attributes
    ----------
    classes_ : array or None
        The labels of arcs; None where these have none.

    Examples
    --------
    >>> from structlearn import VectorValuedRidge
    >>> def arcs(tags):
    ...     "Pairs of tags of a head and a token."
    ...     return [[{f"{head} → {tag}": 1.0} for tag in tags] for head in ["ROOT", *tags]]
    >>> X = [arcs(["NOUN", "VERB"]), arcs(["DET", "NOUN", "VERB"])]
    >>> Y = [[(2, "nsubj"), (0, "root")], [(2, "det"), (3, "nsubj"), (0, "root")]]
    >>> ridge = VectorValuedRidge(DependencyTreeOutputs(), "linear", lam=0.01).fit(X, Y)
    >>> ridge.predict([arcs(["DET", "NOUN", "VERB", "NOUN"])])
    [[(2, 'det'), (3, 'nsubj'), (0, 'root'), (3, 'nsubj')]]
    """

    def __init__(self, projective: bool = True, single_root: bool = True):
        self.projective = projective
        self.single_root = single_root

    def check_options(self) -> None:
        flag_option("projective", self.projective)
        flag_option("single_root", self.single_root)

    def read(self, X: Any, columns: Columns | None) -> Rows:
        tables = read_tables(X)
        for i, (n, m) in enumerate(tables.shapes.tolist()):
            if n != m + 1:
                raise ValueError(
                    f"X[{i}] has {count(n, 'row')} and {count(m, 'column')}; a table of arcs has a row for the root "
                    "and each token, and a column for each token"
                )
        lengths = tables.shapes[:, 1]
        rows = table_rows(tables, columns, "arcs")
        kept = np.flatnonzero(np.concatenate([_arcs(n).ravel() for n in lengths.tolist()]))
        return rows._replace(matrix=rows.matrix[kept], offsets=offsets_of(lengths**2), places=lengths)

    def fit(self, Y: Any) -> Self:
        if Y is None:
            raise ValueError("this estimator requires y to be passed, but the target y is None")
        labels = read_dependency_trees(Y).labels
        self.classes_ = None
        if labels is not None:
            self.classes_ = label_array(observed_classes([label for tree in labels for label in tree]))
        return self

    def n_coordinates(self) -> int:
        return 1 if self.classes_ is None else len(self.classes_)

    def targets(self, Y: Any, places: IntArray) -> FloatArray:
        trees = self._trees(Y, places, single_root=bool(self.single_root))
        tables = []
        for i, n in enumerate(places.tolist()):
            table, codes = np.zeros((n + 1, n, self.n_coordinates())), self._codes(trees, i)
            if self.classes_ is not None and trees.labels is not None and -1 in codes:
                t = codes.index(-1)
                raise unknown_label(f"the label of Y[{i}][{t}]", trees.labels[i][t], self.classes_.tolist())
            table[np.array(trees.heads[i], np.int64), np.arange(n), codes] = 1.0
            tables.append(table[_arcs(n)])
        return np.concatenate(tables)

    def nearest(self, vectors: FloatArray, places: IntArray) -> list[list[Any]]:
        found = []
        for n, (begin, end) in zip(places.tolist(), pairwise(offsets_of(places**2).tolist()), strict=True):
            found.append(self._best(vectors[begin:end], n) if n else [])
        return found

    def _best(self, arcs: FloatArray, n: int) -> list[Any]:
        """‖f − ỹ‖² is least where the sum of 2f − 1 over the arcs of the tree is largest."""
        scores = np.zeros((n + 1, n + 1, self.n_coordinates()))
        scores[:, 1:][_arcs(n)] = 2.0 * arcs - 1.0
        tree, _ = best_dependency_tree(scores, projective=bool(self.projective), single_root=bool(self.single_root))
        if self.classes_ is None:
            return [int(head) for head in tree[:, 0]]
        classes = self.classes_.tolist()
        return [(int(head), classes[label]) for head, label in tree]

    def score(self, Y: Any, predicted: Any, places: IntArray, sample_weight: FloatArray) -> float:
        """The share of tokens with the right head, and label where arcs have some, of sentences with weights."""
        truth, found = (self._trees(trees, places) for trees in (Y, predicted))
        right = [
            np.array([*zip(truth.heads[i], self._codes(truth, i), strict=True)]).reshape(-1, 2)
            == np.array([*zip(found.heads[i], self._codes(found, i), strict=True)]).reshape(-1, 2)
            for i in range(len(places))
        ]
        weights = np.repeat(sample_weight, places)
        return float(np.average(np.concatenate(right).all(axis=1), weights=weights)) if weights.any() else 1.0

    def check_learnt(self) -> None:
        if self.classes_ is not None:
            self.classes_ = label_array(declared_classes(self.classes_, "classes_"))

    def _trees(self, Y: Any, lengths: IntArray, *, single_root: bool = False) -> DependencyTrees:
        trees = read_dependency_trees(Y, [range(n) for n in lengths.tolist()], single_root=single_root)
        if any(trees.heads) and (trees.labels is None) != (self.classes_ is None):
            has, had = ("no labels", "had some") if trees.labels is None else ("labels", "had none")
            raise ValueError(f"Y has {has} of arcs, but training {had}")
        return trees

    def _codes(self, trees: DependencyTrees, i: int) -> list[int]:
        """Those of the labels of a tree, −1 for what is none of training."""
        if self.classes_ is None or trees.labels is None:
            return [0] * len(trees.heads[i])
        codes: list[int] = LabelCodes(self.classes_.tolist(), allow_unknown=True).encode(trees.labels[i], "Y").tolist()
        return codes


def _arcs(n: int) -> Flags:
    """Which of the pairs of a head and a token may be arcs, (n + 1, n): all but those from a token to itself.

    >>> _arcs(2).astype(int).tolist()
    [[1, 1], [0, 1], [1, 0]]
    """
    return ~np.eye(n + 1, n, -1, dtype=bool)
