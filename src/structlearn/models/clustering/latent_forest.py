"""Clusterings as the trees of a latent forest."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from structlearn.data.arrays import FloatArray, IntArray, LabelArray
from structlearn.data.clusterings import to_labels
from structlearn.data.item_pairs import BoundPairs
from structlearn.data.ragged import Ragged, owners_of
from structlearn.models.base import ByDecoder
from structlearn.models.clustering.pairs import PairModel, PairSpec, pair_parts
from structlearn.models.explanation import PartFeatures
from structlearn.waist.latent import LatentProblem, Start
from structlearn.waist.objective import Oracle
from structlearn.waist.planes import Outputs
from structlearn.waist.rows import SparseRows


class LatentForest(PairModel):
    """F(x, y, h) = Σ_(i, j)∈h ⟨w, x_ij⟩ over forests h of links between items; the clusters of y are the trees of h.

    What holds a cluster together is a tree of links and not all of its pairs: two mentions of a person may have
    nothing in common and still be linked by way of a third. The data have the clusters only, the forest is latent
    (Yu 2011, section 5.4.2). Predictions, most violating outputs and completions are spanning forests of greatest
    weight, found exactly by Kruskal's algorithm.

    An example's input is an `ItemPairs`; its output is an array with a label for every item or a list of clusters, and
    predictions are labels, numbered as they appear. Items come in the order of the text.

    Parameters
    ----------
    r : float
        What a link across clusters costs. The loss is Δ(y, ŷ, ĥ) = n − k(y) − Σ_(i, j)∈ĥ l(y, (i, j)) for n items in
        k(y) clusters, with l = 1 for a link within a cluster and −r for one across: links that are missing, plus r
        times those that are wrong. With r < 1 more items are linked: recall for precision.

    Notes
    -----
    Learning begins with every item linked to the one before it in its cluster.

    Where the pairs of an example do not connect a cluster, no forest can: its parts that are connected then count as
    the true clusters, so that the loss is 0 for what can be achieved, and only for that.

    An item alone is its own cluster; an example without items has the empty output, and nothing to learn from.

    Examples
    --------
    >>> from structlearn import LatentStructuralSVM
    >>> from structlearn.data import ItemPairs
    >>> def points(*places):
    ...     "Numbers, with their distances as features of pairs."
    ...     gaps = [abs(a - b) for i, a in enumerate(places) for b in places[i + 1 :]]
    ...     return ItemPairs(len(places), [[1.0, gap] for gap in gaps])
    >>> X = [points(0.0, 5.0, 1.0, 2.0, 6.0), points(3.0, 7.0, 4.0, 8.0)]
    >>> svm = LatentStructuralSVM(LatentForest(), C=100).fit(X, [[0, 1, 0, 0, 1], [[0, 2], [1, 3]]])
    >>> svm.predict([points(1.0, 2.0, 3.0, 9.0, 4.0)])
    [array([0, 0, 0, 1, 0], dtype=int32)]
    >>> svm.predict_latent([points(1.0, 2.0, 3.0, 9.0, 4.0)])
    [((0, 1), (1, 2), (2, 4))]
    """

    refusals: ClassVar[ByDecoder] = {
        "second_best": "every forest that spans the true clusters is as good as the truth",
        "k_best": "forests that differ in links alone are the same clustering",
        "loss_levels": "the best forest of every number of wrong links is a matroid intersection, which is not written",
        "sums": "sums over forests, unlike those over trees, have no determinant",
        "partial": "its truths are partial already: the links within clusters are latent",
    }

    @property
    def costs(self) -> ByDecoder:
        return {"best": "N² log N", "loss_augmented": "N² log N"}

    def __init__(self, r: float = 1.0):
        self.r = r

    def bind(self, spec: PairSpec, X: Any, Y: Any = None, *, allow_unknown: bool = False) -> LatentForestProblem:
        pairs = BoundPairs.of(X, spec.n_inputs)
        return LatentForestProblem(pairs, spec.n_inputs, None if Y is None else pairs.labels(Y), float(self.r))

    def loss_in_words(self) -> str:
        return "links that are missing" + (" or wrong" if self.r == 1.0 else f", and {self.r:g} times those wrong")

    def check_options(self) -> None:
        if not (isinstance(self.r, numbers.Real) and 0.0 < self.r < np.inf):
            raise ValueError(f"r is {self.r!r}; it must be a positive number")


class LatentForestProblem(LatentProblem):
    """A `LatentForest` bound to data. Outputs are arrays of links, places in the list of all pairs, increasing."""

    oracles: frozenset[Oracle] = frozenset({"best", "loss_augmented"})

    def __init__(self, pairs: BoundPairs, n_features: int, labels: LabelArray | None, r: float):
        self.n_examples = len(pairs.item_offsets) - 1
        self.n_features = n_features
        self._pairs = pairs
        self._engine, self._scorer = pairs.core()
        self._labels = labels
        self._r = r
        # n − k(y), with the clusters that the pairs connect.
        self._n_links = None if labels is None else np.array([len(h) for h in self._nearest()], np.float64)

    def missing(self, oracle: str) -> str:
        return ": LatentForest has no such decoder; use rescaling='margin' with slack='linear'"

    def best(self, w: FloatArray, examples: IntArray) -> list[IntArray]:
        return self._heaviest(self._scores(w, examples), examples)

    def loss_augmented(self, w: FloatArray, examples: IntArray) -> list[IntArray]:
        return self._heaviest(self._scores(w, examples), examples, inside=-1.0, across=self._r)

    def complete(self, w: FloatArray, examples: IntArray) -> list[IntArray]:
        return self._heaviest(self._scores(w, examples), examples, across=-np.inf, floor=-np.inf)

    def between(self, examples: IntArray, left: Outputs, right: Outputs) -> SparseRows:
        left, right = Ragged.of(left, np.int64), Ragged.of(right, np.int64)
        rows = self._scorer.forest_differences(left.flat, left.offsets, right.flat, right.offsets)
        return SparseRows(*rows)

    def differing_parts(self, w: FloatArray) -> list[PartFeatures]:
        """See `ComposedProblem.differing_parts`: the links that only one of the two best forests has."""
        left, right = self.complete(w, np.arange(2))
        return pair_parts(self._pairs, left, right - self._pairs.pairs_of(1).start, "link {}-{}")

    def output_losses(self, examples: IntArray, outputs: Outputs) -> FloatArray:
        assert self._labels is not None
        assert self._n_links is not None
        forests = Ragged.of(outputs, np.int64)
        links, owner = forests.flat, owners_of(forests.offsets)
        items = self._pairs.item_offsets[examples][owner]
        inside = self._labels[items + self._pairs.first[links]] == self._labels[items + self._pairs.second[links]]
        right = np.bincount(owner, weights=inside, minlength=len(examples))
        wrong = np.bincount(owner, weights=~inside, minlength=len(examples))
        return np.asarray(self._n_links[examples] - right + self._r * wrong)

    def max_losses(self) -> FloatArray:
        assert self._n_links is not None
        alike = np.zeros(int(self._pairs.kind_offsets[-1]))
        across = self._heaviest(alike, np.arange(self.n_examples), inside=-np.inf, floor=-np.inf)
        return self._n_links + self._r * np.array([len(h) for h in across])

    def radii(self) -> FloatArray:
        # A forest of n items has at most n − 1 links.
        most = np.maximum(np.diff(self._pairs.item_offsets) - 1, 0)
        return np.asarray(2.0 * most * self._pairs.longest())

    def random_completions(self, random: np.random.Generator) -> list[IntArray]:
        return self._in_order(random.random(len(self._pairs.first)))

    def start(self, random: np.random.Generator) -> Start:
        return Start(completions=self._nearest())

    def completions_of(self, latent: Sequence[Any]) -> list[IntArray]:
        return [self._completion(i, h) for i, h in enumerate(latent)]

    def present(self, outputs: Outputs) -> list[LabelArray]:
        presented = []
        for n, links in zip(np.diff(self._pairs.item_offsets), outputs, strict=True):
            ends = self._pairs.first[links], self._pairs.second[links]
            graph = sp.coo_array((np.ones(len(links)), ends), shape=(n, n))
            presented.append(to_labels(sp.csgraph.connected_components(graph, directed=False)[1], int(n)))
        return presented

    def present_latent(self, outputs: Outputs) -> list[Any]:
        return [
            tuple(sorted(zip(self._pairs.first[h].tolist(), self._pairs.second[h].tolist(), strict=True)))
            for h in outputs
        ]

    def sizes(self) -> dict[str, int]:
        return self._pairs.sizes()

    def fingerprint(self) -> str:
        assert self._labels is not None
        return self._pairs.fingerprint(self._labels, np.array([self._r]))

    def _scores(self, w: FloatArray, examples: IntArray) -> FloatArray:
        """Of the kinds of pairs, one example after another."""
        return self._scorer.scores(np.ascontiguousarray(w), np.ascontiguousarray(examples, np.int64), self.n_threads)

    def _heaviest(
        self, scores: FloatArray, examples: IntArray, *, inside: float = 0.0, across: float = 0.0, floor: float = 0.0
    ) -> list[IntArray]:
        """Heaviest forests of links whose score, plus a term for those inside or across clusters, exceeds the floor."""
        examples = np.ascontiguousarray(examples, np.int64)
        found = self._engine.forests(scores, examples, self._labels, inside, across, floor, self.n_threads)
        return _forests(*found)

    def _nearest(self) -> list[IntArray]:
        """The truths with every item linked to the one before it in its cluster, as far as there are such pairs."""
        return self._in_order(self._pairs.second - self._pairs.first)

    def _in_order(self, keys: Any) -> list[IntArray]:
        """The truths with forests of pairs inside clusters, those of small keys first."""
        assert self._labels is not None
        orders = []
        for i in range(self.n_examples):
            place = self._pairs.pairs_of(i)
            orders.append(place.start + np.argsort(keys[place], kind="stable"))
        order = np.concatenate([np.empty(0, np.int64), *orders])
        return _forests(*self._engine.forests_in_order(order, self._labels))

    def _completion(self, i: int, h: Any) -> IntArray:
        assert self._labels is not None
        assert self._n_links is not None
        place, items = self._pairs.pairs_of(i), self._pairs.items_of(i)
        first, second, labels = self._pairs.first[place], self._pairs.second[place], self._labels[items]
        n = len(labels)
        links = np.sort(np.asarray(h, np.int64).reshape(-1, 2), axis=1)
        codes = first.astype(np.int64) * n + second
        order = np.argsort(codes)
        at = np.minimum(np.searchsorted(codes, links @ [n, 1], sorter=order), max(len(codes) - 1, 0))
        for (a, b), k in zip(links.tolist(), at.tolist(), strict=True):
            if not len(codes) or codes[order[k]] != a * n + b:
                raise ValueError(f"latent part {i} has the link {(a, b)}, which is no pair of the example")
            if labels[a] != labels[b]:
                raise ValueError(f"latent part {i} has the link {(a, b)}, whose items are in different clusters")
        chosen = place.start + order[at] if len(at) else np.empty(0, np.int64)
        graph = sp.coo_array((np.ones(len(links)), (links[:, 0], links[:, 1])), shape=(n, n))
        n_trees = sp.csgraph.connected_components(graph, directed=False)[0] if n else 0
        if len(links) != n - n_trees:
            raise ValueError(f"latent part {i} has a cycle of links; it must be a forest")
        if len(links) != self._n_links[i]:
            raise ValueError(f"latent part {i} has {len(links)} links; its clusters need {int(self._n_links[i])}")
        return np.sort(chosen)


def _forests(links: IntArray, offsets: IntArray) -> list[IntArray]:
    return [np.sort(h) for h in Ragged(links, offsets)]
