"""Outputs that are parse trees, with a vector for every span of tokens."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from structlearn.data.arrays import Flags, FloatArray
from structlearn.data.examples import check_examples
from structlearn.data.fields import check_distinct, check_tuple
from structlearn.data.labels import label_array, unknown_label
from structlearn.data.matchings import read_tables
from structlearn.data.ragged import offsets_of
from structlearn.data.token_features import KEYS
from structlearn.data.trees import ROOTS, Tree, Treebank, brackets, is_leaf, nodes, read_trees, unary_cycle
from structlearn.inference.grammar import best_tree
from structlearn.metrics.brackets import bracket_counts
from structlearn.models.grammar.sentences import check_leaves, read_tokens
from structlearn.outputs.base import Columns, Outputs, Rows
from structlearn.outputs.matchings import table_rows
from structlearn.wording import count, shown

#: Labels of a span, from the top: several where nodes are only children.
Chain = tuple[str, ...]


class TreeOutputs(Outputs):
    """Parse trees: K_Y(y, y′) is how many brackets (label, begin, end) both trees have.

    Every span of tokens has a number for each label, 1 for the brackets of the tree, so that a kernel of spans serves
    sentences of all lengths. Nodes may have any children; but of labels on one span, only chains are predicted that
    training had, and on the whole sentence such as a whole sentence had. Of all these trees the nearest is found
    exactly (Cocke, Kasami and Younger), in time in proportion to length³.

    X are sentences as for `Grammar`, dicts of "tokens", tags or (word, tag) pairs, and "features", here a table of
    spans: of n tokens n rows, for the first token of a span, and n columns, for the last, as an array (n, n,
    n_features) or lists of dicts. What stands where the last comes before the first plays no part. Y are trees as
    `Grammar` takes them; roots named "", ROOT, TOP or S1 count as no bracket, see `structlearn.data.brackets`.

    Attributes
    ----------
    chains_, tops_ : tuple of tuples of str
        The labels that one span has, from the top, within sentences and of whole ones; the most frequent first.
    classes_ : array
        The labels of brackets.

    Examples
    --------
    >>> from structlearn import VectorValuedRidge
    >>> def sentence(text):
    ...     "Tokens as word/tag; spans by the tags of their first and last token."
    ...     tokens = [tuple(token.split("/")) for token in text.split()]
    ...     spans = [[{f"{first} … {last}": 1.0} for _, last in tokens] for _, first in tokens]
    ...     return {"tokens": tokens, "features": spans}
    >>> X = [sentence("the/DT dog/NN barks/VBZ"), sentence("it/PRP has/VBZ a/DT bone/NN")]
    >>> Y = ["(S (NP (DT the) (NN dog)) (VP (VBZ barks)))", "(S (NP (PRP it)) (VP (VBZ has) (NP (DT a) (NN bone))))"]
    >>> ridge = VectorValuedRidge(TreeOutputs(), "linear", lam=0.01).fit(X, Y)
    >>> ridge.predict([sentence("a/DT cat/NN has/VBZ the/DT bone/NN")])
    [('S', ('NP', ('DT', 'a'), ('NN', 'cat')), ('VP', ('VBZ', 'has'), ('NP', ('DT', 'the'), ('NN', 'bone'))))]
    """

    chains_: tuple[Chain, ...]
    tops_: tuple[Chain, ...]

    @property
    def classes_(self) -> npt.NDArray[Any]:
        return label_array(sorted({label for chain in (*self.tops_, *self.chains_) for label in chain} - ROOTS))

    def read(self, X: Any, columns: Columns | None) -> Rows:
        check_examples("X", X)
        for i, x in enumerate(X):
            if not isinstance(x, Mapping) or set(x) != KEYS:
                raise ValueError(f"X[{i}] is {shown(x)}; expected a dict of 'tokens' and 'features', a table of spans")
            read_tokens(x["tokens"], f"X[{i}]['tokens']", "tags")
        tables, sentences = read_tables([x["features"] for x in X]), [x["tokens"] for x in X]
        for i, (shape, tokens) in enumerate(zip(tables.shapes.tolist(), sentences, strict=True)):
            if shape != [len(tokens)] * 2:
                raise ValueError(
                    f"X[{i}] has {count(len(tokens), 'token')} but {count(shape[0], 'row')} and "
                    f"{count(shape[1], 'column')} of features; a table of spans has one of each for every token"
                )
        rows = table_rows(tables, columns, "spans")
        kept = np.flatnonzero(np.concatenate([_spans(len(tokens)).ravel() for tokens in sentences]))
        return rows._replace(matrix=rows.matrix[kept], offsets=_offsets(sentences), places=sentences)

    def fit(self, Y: Any) -> Self:
        if Y is None:
            raise ValueError("this estimator requires y to be passed, but the target y is None")
        tops: Counter[Chain] = Counter()
        chains: Counter[Chain] = Counter()
        for i, tree in enumerate(read_trees(Y)):
            if is_leaf(tree):
                raise ValueError(f"Y[{i}] is the leaf {shown(tree)}; a tree has a label above its leaves")
            if (cycle := unary_cycle(tree)) is not None:
                told = "structlearn.data.remove_unary_cycles takes it out"
                raise ValueError(f"Y[{i}] has the unary cycle {' → '.join(cycle)}; {told}")
            *within, top = _chains(tree)
            tops[top] += 1
            chains.update(within)
        self.chains_, self.tops_ = (tuple(sorted(some, key=lambda c: (-some[c], c))) for some in (chains, tops))
        if not len(self.classes_):
            raise ValueError("no tree of y has a bracket; at least one is needed")
        return self

    def n_coordinates(self) -> int:
        return len(self.classes_)

    def targets(self, Y: Any, places: Sequence[Any]) -> FloatArray:
        classes: list[str] = self.classes_.tolist()
        tables = []
        for i, (tree, tokens) in enumerate(zip(self._trees(Y, places), places, strict=True)):
            table = np.zeros((len(tokens), len(tokens), len(classes)))
            for label, begin, end in brackets(tree):
                if label not in classes:
                    raise unknown_label(f"a label of Y[{i}]", label, classes)
                table[begin, end - 1, classes.index(label)] = 1.0
            tables.append(table[_spans(len(tokens))])
        return np.concatenate(tables)

    def nearest(self, vectors: FloatArray, places: Sequence[Any]) -> list[Tree]:
        """‖f − ỹ‖² is least where the sum of 2f − 1 over the brackets of the tree is largest."""
        parts, gains = pairwise(_offsets(places).tolist()), 2.0 * vectors - 1.0
        # A span without labels is none of the tree: what it holds belongs to the span around it.
        within, tops = ((), *self.chains_), self.tops_
        of_within, of_tops = self._members(within), self._members(tops)
        found = []
        for (begin, end), tokens in zip(parts, places, strict=True):
            n, scores = len(tokens), gains[begin:end] @ of_within.T
            table, chosen = np.zeros((n + 1, n + 1, 1)), np.zeros((n, n), np.int64)
            table[:-1, 1:, 0][_spans(n)], chosen[_spans(n)] = scores.max(axis=1), scores.argmax(axis=1)
            (_, *spans), _ = best_tree(np.zeros((n, 1)), [(0, 0, 0)], spans=table)
            labels = {(first, after): within[chosen[first, after - 1]] for _, first, after in spans}
            # The first token has as many spans as there are tokens, the last of them the whole sentence.
            labels = {(0, n): tops[int((of_tops @ gains[begin + n - 1]).argmax())], **labels}
            found.append(_tree(read_tokens(tokens, "X", "tags"), labels))
        return found

    def score(self, Y: Any, predicted: Any, places: Sequence[Any], sample_weight: FloatArray) -> float:
        """F1 of brackets, of all sentences together."""
        counts = bracket_counts(self._trees(Y, places), predicted)
        shared, found, true = (counts * sample_weight[:, None]).sum(axis=0)
        return float(2.0 * shared / (found + true)) if found + true else 1.0

    def check_learnt(self) -> None:
        for name, chains in (("chains_", self.chains_), ("tops_", self.tops_)):
            check_tuple(name, chains, tuple)
            check_distinct(name, chains)
            for k, chain in enumerate(chains):
                check_tuple(f"{name}[{k}]", chain, str)
                check_distinct(f"{name}[{k}]", chain)
        if not self.tops_ or not all((*self.tops_, *self.chains_)) or not len(self.classes_):
            raise ValueError(f"tops_ is {shown(self.tops_)} and chains_ {shown(self.chains_)}; trees have labels")

    def _trees(self, Y: Any, places: Sequence[Any]) -> Treebank:
        trees = read_trees(Y)
        if len(trees) != len(places):
            raise ValueError(f"X has {len(places)} sentences but Y has {len(trees)} trees")
        for i, (tokens, tree) in enumerate(zip(places, trees, strict=True)):
            check_leaves(tokens, tree, i, "tags")
        return trees

    def _members(self, chains: Sequence[Chain]) -> FloatArray:
        """Which labels chains have, (n_chains, n_labels)."""
        classes = self.classes_.tolist()
        return np.array([[label in chain for label in classes] for chain in chains], np.float64)


def _spans(n: int) -> Flags:
    """Which pairs of a first and a last token are spans, (n, n)."""
    return np.triu(np.ones((n, n), np.bool_))


def _offsets(sentences: Sequence[Any]) -> npt.NDArray[np.int64]:
    """Where the spans of each sentence begin."""
    return offsets_of([len(tokens) * (len(tokens) + 1) // 2 for tokens in sentences])


def _chains(tree: Tree) -> list[Chain]:
    """The labels that spans of a tree have, the whole sentence last.

    >>> _chains(("ROOT", ("S", ("VP", ("VB", "go")), (".", "."))))
    [('VP',), ('ROOT', 'S')]
    """
    found: dict[tuple[int, int], Chain] = {}
    for label, begin, end in nodes(tree):
        found[begin, end] = (label, *found.get((begin, end), ()))
    return [*found.values()]


def _tree(tokens: Sequence[Tree], labels: dict[tuple[int, int], Chain]) -> Tree:
    """The tree of the spans of a binary one, from the top, left before right, some of them without labels."""
    waiting: list[list[Tree]] = []  # what spans hold that are in no other yet, the leftmost last
    for (begin, end), chain in reversed(labels.items()):
        held = [tokens[begin]] if end == begin + 1 else [*waiting.pop(), *waiting.pop()]
        for label in reversed(chain):
            held = [(label, *held)]
        waiting.append(held)
    return waiting[0][0]
