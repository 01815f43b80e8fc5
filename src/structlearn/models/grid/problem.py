"""Label images bound to data, without lists of their edges."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from structlearn.data.arrays import FloatArray, IntArray, LabelArray, digest
from structlearn.data.factor_graphs import FactorGraph, GridGraph, Potts
from structlearn.data.factor_graphs.grid_graph import first_of, second_of
from structlearn.data.labels import label_array
from structlearn.inference.graphs import Labelling
from structlearn.kernels.threads import in_order
from structlearn.models.explanation import PartFeatures
from structlearn.models.graph.pair_tables import PairTable
from structlearn.models.graph.refusals import refused_by_example
from structlearn.models.graph.search import Search
from structlearn.models.graph.summed_problem import WAYS_OUT
from structlearn.models.grid.likelihoods import Slopes, expected_pairs
from structlearn.models.grid.neighbours import Neighbours
from structlearn.models.grid.summed_problem import WITH_TREES, PixelTable, SummedGridProblem
from structlearn.waist.likelihood import LIKELIHOODS
from structlearn.waist.objective import Scaling
from structlearn.waist.planes import Outputs, Planes
from structlearn.waist.rows import SparseRows


class GridProblem(SummedGridProblem):
    """A `Grid` model bound to data. Outputs are label codes, (rows, columns) of each image.

    Where pairs have one table for all, or like to agree, engines that know grids get one; others get a list of the
    edges of one image at a time. `codes` are the truths, below 0 for labels that training never saw, `prices` what
    each label costs at each pixel, `allowed` flags of those that pixels may have. `likelihood` names what the
    log-losses are, see `LIKELIHOODS`.
    """

    oracles = frozenset({"best", "loss_augmented", "gibbs"})

    def __init__(
        self,
        *,
        images: Sequence[FloatArray],
        codes: Sequence[LabelArray] | None,
        classes: Sequence[Any],
        table: PairTable | None,
        neighbours: Neighbours,
        prices: PixelTable | None,
        search: Search,
        channels: int,
        allowed: PixelTable | None = None,
        likelihood: str = "exact",
    ):
        self.likelihood = LIKELIHOODS[likelihood]
        self.n_examples = len(images)
        self._images = images
        self._codes = codes
        self._classes = tuple(classes)
        self._table = table
        self._neighbours = neighbours
        # The last row is for labels that training never saw.
        self._prices = None if prices is None else prices.with_row(np.ones(len(classes)))
        self._allowed = allowed
        self._search = search
        self._channels = channels
        self.has_cheaper_planes = table is not None and search.has_cheaper_labellings
        # The last answer for each image in training from which an engine can go on.
        self._answers: dict[int, Labelling] = {}
        # A linear program's bound serves the exact objective as well.
        searched = table is not None and search.exactness == "approximate"
        self.exactness = "approximate" if searched else "exact"
        n_nodes = images[0].shape[2] * len(classes)
        width = 0 if table is None else neighbours.n_groups * neighbours.n_features * table.width
        self.n_features = n_nodes + width
        if table is not None:
            self.weight_groups = {"nodes": (0, n_nodes), "pairs": (n_nodes, self.n_features)}
        self._list_parts()

    def missing(self, oracle: str) -> str:
        if oracle == "sums":
            return f": {self.without_sums}; {WITH_TREES}, or {WAYS_OUT}"
        return (
            f": images of this width are searched by {self._search.name!r}, which finds the best labels alone; use "
            "rescaling='margin' with slack='linear'"
        )

    @property
    def without_sums(self) -> str:
        return f"log Z of images that are searched by {self._search.name!r} is not known"

    def best(self, w: FloatArray, examples: IntArray) -> list[LabelArray]:
        return [labels for labels, _ in self._all_found(w, examples, augmented=False)]

    def loss_augmented(self, w: FloatArray, examples: IntArray) -> list[LabelArray]:
        return [labels for labels, _ in self._all_found(w, examples, augmented=True)]

    def _planes(self, w: FloatArray, examples: IntArray, scaling: Scaling) -> Planes:
        outputs, values = self.augmented(w, examples)
        return self._planes_of(w, examples, outputs, values)

    def planes_above(self, w: FloatArray, examples: IntArray, scaling: Scaling, enough: FloatArray) -> Planes:
        if self._table is None:
            return self.oracle(w, examples, scaling)
        targets = dict(zip(examples.tolist(), (enough + self._true_features[examples] @ w).tolist(), strict=True))

        def above(i: int) -> tuple[LabelArray, float]:
            with refused_by_example(i):
                found = self._search.labelling_above(self.graph(i, w, augmented=True), targets[i], self._answers.get(i))
            if self._search.is_start(found):
                self._answers[i] = found
            return found.labels.reshape(self._images[i].shape[:2]), found.score

        found = list(in_order(above, examples.tolist(), self.n_threads))
        return self._planes_of(w, examples, [labels for labels, _ in found], np.array([score for _, score in found]))

    def _planes_of(self, w: FloatArray, examples: IntArray, outputs: list[LabelArray], values: FloatArray) -> Planes:
        rows, losses = self.differences(examples, outputs)
        return Planes(examples, rows, losses, outputs, values - self._true_features[examples] @ w)

    def augmented(self, w: FloatArray, examples: IntArray) -> tuple[list[LabelArray], FloatArray]:
        """argmax_ŷ ⟨w, Ψ(x_i, ŷ)⟩ + Δ(y_i, ŷ), and the bounds on its value that the engine proves."""
        found = self._all_found(w, examples, augmented=True)
        return [labels for labels, _ in found], np.array([value for _, value in found])

    def differences(self, examples: IntArray, outputs: Outputs) -> tuple[SparseRows, FloatArray]:
        pairs = zip(examples.tolist(), outputs, strict=True)
        found = list(in_order(lambda pair: self.joint_feature(*pair), pairs, self.n_threads))
        dense = self._true_features[examples] - np.array(found).reshape(-1, self.n_features)
        losses = [self.loss(i, y) for i, y in zip(examples.tolist(), outputs, strict=True)]
        return SparseRows.from_matrix(sp.csr_array(dense)), np.array(losses)

    def losses(self, outputs: Outputs) -> FloatArray:
        return np.array([self.loss(i, y) for i, y in enumerate(outputs)])

    def max_losses(self) -> FloatArray:
        assert self._prices is not None
        most = self._prices.rows.max(axis=1)
        return np.array([most[kinds].sum() for kinds in self._prices.kinds])

    def feature_at_random(self) -> FloatArray:
        """Σ_i Ψ(x_i, y) as expected where pixels have all labels that they may have with equal chance."""
        total, L = np.zeros(self.n_features), len(self._classes)
        for i, image in enumerate(self._images):
            shares = np.ones((*image.shape[:2], L)) if self._allowed is None else self._allowed.of(i).astype(np.float64)
            shares /= shares.sum(axis=2, keepdims=True)
            pairs = self._pairs(total, i)
            total += self._pushed(i, Slopes(shares, np.empty(0) if pairs is None else expected_pairs(shares, pairs)))
        return total

    def allows(self, i: int, codes: Any) -> bool:
        """Whether something is a labelling of an image that has none but the labels which its pixels may have."""
        found, shape = np.asarray(codes), self._images[i].shape[:2]
        if found.shape != shape or found.dtype != np.int32 or found.min() < 0 or found.max() >= len(self._classes):
            return False
        flags = None if self._allowed is None else self._allowed.of(i)
        return flags is None or bool(np.take_along_axis(flags, found[:, :, None], axis=2).all())

    def radii(self) -> FloatArray:
        # Every pixel and every pair moves from one weight to another at most.
        found = []
        for image in self._images:
            square = 2.0 * float(np.linalg.norm(image, axis=2).sum()) ** 2
            if self._table is not None:
                norms = [
                    np.linalg.norm(self._neighbours.features(self._channels_of(image), k), axis=2).sum()
                    for k in range(len(self._neighbours.steps))
                ]
                square += 2.0 * float(np.sum(norms)) ** 2
            found.append(np.sqrt(square))
        return np.array(found)

    def differing_parts(self, w: FloatArray) -> list[PartFeatures]:
        """What the truths of the first two examples, which have one input, have of all features together."""
        change = self.joint_feature(0, self._truth(0)) - self.joint_feature(1, self._truth(1))
        return [PartFeatures.of_row("joint_feature", sp.coo_array(change[None, :]))]

    def present(self, outputs: Outputs) -> list[npt.NDArray[Any]]:
        names = label_array(self._classes)
        return [names[np.asarray(y)] for y in outputs]

    def sizes(self) -> dict[str, int]:
        return {"examples": self.n_examples, "pixels": sum(image.shape[0] * image.shape[1] for image in self._images)}

    def fingerprint(self) -> str:
        shapes = np.array([image.shape for image in self._images])
        arrays = [] if self._codes is None else [code.ravel() for code in self._codes]
        arrays += [array for table in (self._prices, self._allowed) if table is not None for array in table.arrays()]
        if not self.likelihood.is_exact:
            arrays.append(np.frombuffer(self.likelihood.name.encode(), np.uint8))
        options = np.array([self._neighbours.n, self._neighbours.by_direction, self._neighbours.contrast or 0.0])
        columns = np.empty(0) if self._table is None else self._table.columns
        return digest(shapes, options, columns, *(image.ravel() for image in self._images), *arrays)

    def graph(self, i: int, w: FloatArray, *, augmented: bool = False) -> GridGraph | FactorGraph:
        """The scores of an image's labels and pairs, with the loss if asked for."""
        image, L = self._images[i], len(self._classes)
        n_nodes = image.shape[2] * L
        unaries = self._unaries(w, i, augmented=augmented)
        if self._table is None:
            return FactorGraph.pairwise(unaries.reshape(-1, L), np.empty((0, 2), np.int32), Potts(0.0))
        weights = w[n_nodes:].reshape(self._neighbours.n_groups, self._neighbours.n_features, -1)
        if len(weights) == self._neighbours.n_features == 1:
            return GridGraph(unaries, self._table.expanded(weights[0, 0]), neighbours=self._neighbours.n)
        scores = [
            self._neighbours.features(self._channels_of(image), k) @ weights[k % len(weights)]
            for k in range(len(self._neighbours.steps))
        ]
        if self._table.is_potts and all((one >= 0.0).all() for one in scores):
            return GridGraph(unaries, Potts(1.0), [one[:, :, 0] for one in scores], self._neighbours.n)
        return self._listed(unaries, scores)

    def _unaries(self, w: FloatArray, i: int, *, augmented: bool) -> FloatArray:
        image, L = self._images[i], len(self._classes)
        unaries = np.asarray(image @ w[: image.shape[2] * L].reshape(-1, L))
        if augmented:
            assert self._prices is not None
            unaries += self._prices.of(i)
        if self._allowed is not None:
            unaries[~self._allowed.of(i)] = -np.inf
        return unaries

    def _listed(self, unaries: FloatArray, scores: list[FloatArray]) -> FactorGraph:
        assert self._table is not None
        edges = GridGraph(np.zeros((*unaries.shape[:2], 1)), Potts(0.0), neighbours=self._neighbours.n).factor_graph
        flat = np.concatenate([one.reshape(-1, self._table.width) for one in scores])
        pairs = Potts(flat[:, 0]) if self._table.is_potts else self._table.expanded(flat)
        return FactorGraph.pairwise(unaries.reshape(-1, unaries.shape[2]), edges.scopes.reshape(-1, 2), pairs)

    def _all_found(self, w: FloatArray, examples: IntArray, *, augmented: bool) -> list[tuple[LabelArray, float]]:
        return list(in_order(lambda i: self._found(w, i, augmented=augmented), examples.tolist(), self.n_threads))

    def _found(self, w: FloatArray, i: int, *, augmented: bool) -> tuple[LabelArray, float]:
        """Labels, and the bound on the best score that they come with."""
        if self._table is None:
            # Pixels on their own need no engine.
            unaries = self._unaries(w, i, augmented=augmented)
            return unaries.argmax(axis=2).astype(np.int32), float(unaries.max(axis=2).sum())
        with refused_by_example(i):
            found = self._search.labelling(self.graph(i, w, augmented=augmented), self._answers.get(i))
        if augmented and self._search.is_start(found):
            self._answers[i] = found
        return found.labels.reshape(self._images[i].shape[:2]), self._search.value(found)

    @cached_property
    def _true_features(self) -> FloatArray:
        """Ψ(x_i, y_i) of every image."""
        rows = [self.joint_feature(i, self._truth(i)) for i in range(self.n_examples)]
        return np.array(rows).reshape(-1, self.n_features)

    def joint_feature(self, i: int, y: LabelArray) -> FloatArray:
        """Ψ(x_i, y)."""
        image, L = self._images[i], len(self._classes)
        rows, columns, channels = image.shape
        place = sp.csr_array((np.ones(y.size), (y.ravel(), np.arange(y.size))), shape=(L, rows * columns))
        parts = [(place @ image.reshape(-1, channels)).T.ravel()]
        if self._table is not None:
            parts.append(self._pair_counts(image, y).ravel())
        return np.concatenate(parts)

    def _pair_counts(self, image: FloatArray, y: LabelArray) -> FloatArray:
        assert self._table is not None
        near, L, width = self._neighbours, len(self._classes), self._table.width
        found = np.zeros((near.n_groups, near.n_features, width))
        for k, step in enumerate(near.steps):
            which = self._table.columns[first_of(y, *step).ravel() * L + second_of(y, *step).ravel()]
            has = which >= 0
            features = near.features(self._channels_of(image), k).reshape(-1, near.n_features)[has]
            for e in range(near.n_features):
                found[k % near.n_groups, e] += np.bincount(which[has], features[:, e], width)
        return found

    def _channels_of(self, image: FloatArray) -> FloatArray:
        """Without the constant feature."""
        return image[:, :, : self._channels]

    def _truth(self, i: int) -> LabelArray:
        assert self._codes is not None
        return self._codes[i]

    def loss(self, i: int, y: Any) -> float:
        """Δ of a labelling of an image."""
        assert self._prices is not None
        return float(np.take_along_axis(self._prices.of(i), np.asarray(y, np.int64)[:, :, None], axis=2).sum())
