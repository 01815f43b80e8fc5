"""Labelled graphs bound to data, whose labels an engine of `structlearn.inference.graphs` finds, a graph at a time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from structlearn import _core
from structlearn.data.arrays import FloatArray, IntArray, LabelArray
from structlearn.data.ragged import Ragged, summed
from structlearn.inference.graphs import JunctionTree, Labelling
from structlearn.kernels.threads import in_order
from structlearn.losses.bound import BoundLoss
from structlearn.models.graph.node_moves import NodeMixtures
from structlearn.models.graph.problem import TREE_BYTES, GraphProblem
from structlearn.models.graph.refusals import refused_by_example
from structlearn.models.graph.search import Search
from structlearn.waist.objective import Oracle, Scaling
from structlearn.waist.planes import Outputs, Planes
from structlearn.waist.problem import Problem
from structlearn.waist.rows import SparseRows
from structlearn.wording import in_bytes

#: Nodes from which on a graph climbs the dual node by node as well, and bytes that this may take.
LARGE, MOST_MARGINALS = 300, 400_000_000


class Found(NamedTuple):
    """What an engine found for an example: codes, their score, a bound on the best, and μ where it is fractional."""

    labels: LabelArray
    score: float
    bound: float
    mu: FloatArray | None


class SearchedGraphProblem(GraphProblem):
    """A `Graph` model bound to data of any tree-width.

    The upper bounds that engines prove are the bounds of its planes, so that the primal is never too low; a linear
    program's fractional outputs are planes of their own, and the objective is then the relaxed one.
    """

    def __init__(self, *, search: Search, **data: Any):
        self._search = search
        self._mixed: tuple[_core.PartLoss, _core.NodeMoves] | None = None
        self.exactness = search.exactness
        # The last answer for each example in training from which an engine can go on.
        self._answers: dict[int, Labelling] = {}
        super().__init__(**data)
        self.has_cheaper_planes = search.has_cheaper_labellings
        if self.exactness == "relaxed":
            # Moves between parts have no fractions.
            self._scores = None
        if (mixtures := self.mixtures()) is not None:
            self.structure_bytes += 8 * mixtures.n_marginals

    def _oracles(self) -> frozenset[Oracle]:
        return frozenset({"best", "loss_augmented", "gibbs"} if self._loss.parts is not None else {"best", "gibbs"})

    def missing(self, oracle: str) -> str:
        if oracle == "sums":
            return f": log Z of graphs that are searched by {self._search.name!r} is not known; {self.ways_out}"
        return (
            f": graphs of this width are searched by {self._search.name!r}, which finds the best labels alone; use "
            "rescaling='margin' with slack='linear' and a loss that adds up over labels"
        )

    def parts_at_random(self) -> FloatArray:
        # Without a tree: the labels that nodes may have are independent where all are equally likely.
        found, n_labels = np.empty(int(self.part_offsets[-1])), np.diff(self._unaries)
        shares = np.ones(int(self._unaries[-1])) if self._allowed is None else self._allowed.astype(np.float64)
        shares /= np.repeat(summed(shares, self._unaries), n_labels)
        for i in range(self.n_examples):
            first = self._unaries[self._offsets[i] : self._offsets[i + 1]]
            joint = [self._independent(shares, n_labels, one.of(i) + self._offsets[i]) for one in self._scored]
            mine = shares[first[0] : self._unaries[self._offsets[i + 1]]]
            parts = found[self.part_offsets[i] : self.part_offsets[i + 1]]
            self._engine.fold(i, mine, np.concatenate([np.empty(0), *joint]), parts)
        return found

    def _independent(self, shares: FloatArray, n_labels: IntArray, scopes: IntArray) -> FloatArray:
        """Of factors over these nodes: the joint labels, whose shares are the products of those of the labels."""
        joint = np.ones((len(scopes), 1))
        for nodes in scopes.T if len(scopes) else ():
            each = shares[self._unaries[nodes][:, None] + np.arange(n_labels[nodes[0]])]
            joint = (joint[:, :, None] * each[:, None, :]).reshape(len(scopes), -1)
        return joint.ravel() if len(scopes) else np.empty(0)

    def with_growing_weights(self) -> Any:
        return None if self.exactness == "relaxed" else super().with_growing_weights()

    def best_scored(self, w: FloatArray, examples: IntArray) -> tuple[Outputs, FloatArray]:
        found = self._all_found(w, examples, None)
        codes = Ragged.of([each.labels for each in found])
        return self.pack(codes, examples), np.array([each.score for each in found])

    def best_with(self, loss: _core.PartLoss, w: FloatArray, examples: IntArray) -> tuple[Outputs, FloatArray]:
        outputs, losses, _ = self.best_bounded(loss, w, examples)
        return outputs, losses

    def best_bounded(
        self, loss: _core.PartLoss, w: FloatArray, examples: IntArray
    ) -> tuple[Outputs, FloatArray, FloatArray]:
        found = self._all_found(w, examples, loss)
        codes = Ragged.of([each.labels for each in found])
        excess = np.array([max(0.0, each.bound - each.score) for each in found])
        losses = self._core.losses(examples, codes.flat, codes.offsets, loss)
        return self.pack(codes, examples), losses, excess

    def _augmented(self, w: FloatArray, examples: IntArray) -> tuple[Outputs, FloatArray, FloatArray]:
        planes = self._planes(w, examples, Scaling("margin", "linear"))
        return planes.outputs, planes.losses, planes.bounds

    def _planes(self, w: FloatArray, examples: IntArray, scaling: Scaling) -> Planes:
        assert self._loss.parts is not None
        assert self.truths is not None
        found = self._all_found(w, examples, self._loss.parts)
        return self._found_planes(examples, found, self._true_scores(w, examples))

    def planes_above(self, w: FloatArray, examples: IntArray, scaling: Scaling, enough: FloatArray) -> Planes:
        truths = self._true_scores(w, examples)
        return self._found_planes(examples, self._all_found(w, examples, self._loss.parts, enough + truths), truths)

    def _found_planes(self, examples: IntArray, found: list[Found], truths: FloatArray) -> Planes:
        codes, bounds = Ragged.of([each.labels for each in found]), np.array([each.bound for each in found])
        outputs = self.pack(codes, examples)
        if self.exactness == "relaxed":
            fractional, losses = self._fractional(examples, found)
            return Planes(examples, fractional, losses, outputs, bounds - truths)
        losses = self._losses(self._loss, examples, codes)
        return Planes(examples, self._rows(examples, codes), losses, outputs, bounds - truths)

    def _true_scores(self, w: FloatArray, examples: IntArray) -> FloatArray:
        """What the truths score with the constant part of the loss: less than this is no violation."""
        assert self.truths is not None
        assert self._loss.parts is not None
        scores = []
        for i in examples.tolist():
            one = np.array([i])
            scores.append(float(self.scores(w, one) @ self.true_parts(one)) + self._loss.parts.truth(i))
        return np.array(scores)

    def _all_found(
        self, w: FloatArray, examples: IntArray, loss: _core.PartLoss | None, enough: FloatArray | None = None
    ) -> list[Found]:
        targets = [None] * len(examples) if enough is None else enough.tolist()
        asked = zip(examples.tolist(), targets, strict=True)
        return list(in_order(lambda one: self._found(w, one[0], loss, one[1]), asked, self.n_threads))

    def _found(self, w: FloatArray, i: int, loss: _core.PartLoss | None, enough: float | None = None) -> Found:
        """The best labels, or for training some that score more than `enough`, whose `bound` is then their own."""
        theta = self.scores(w, np.array([i]))
        if loss is not None:
            loss.add(i, theta)
        graph = self.factor_graph(i, theta)
        start = self._answers.get(i)
        with refused_by_example(i):
            found = (
                self._search.labelling(graph, start)
                if enough is None
                else self._search.labelling_above(graph, enough, start)
            )
        if loss is not None and self._search.is_start(found):
            self._answers[i] = found
        shares, joint = found.details.get("marginals"), found.details.get("joint")
        mu = None
        if shares is not None and joint is not None and len(shares.flat) == len(graph.unaries):
            mu = np.empty(len(theta))
            self._engine.fold(i, shares.flat, joint.flat, mu)
        # A fractional plane is violated as much as the bound says.
        bound = self._search.value(found) if enough is None or mu is not None else found.score
        return Found(found.labels, found.score, bound, mu)

    def _fractional(self, examples: IntArray, found: list[Found]) -> tuple[SparseRows, FloatArray]:
        """Rows and losses of outputs that may be fractional."""
        assert self._loss.parts is not None
        indptr, indices, values, losses = [0], [], [], []
        for i, each in zip(examples.tolist(), found, strict=True):
            one = np.array([i])
            mu = each.mu if each.mu is not None else self.part_counts(i, each.labels)
            row, prices = np.zeros(self.n_features), np.zeros(len(mu))
            self.push(self.true_parts(one) - mu, one, np.ones(1), row)
            self._loss.parts.add(i, prices)
            there = np.flatnonzero(row)
            indptr.append(indptr[-1] + len(there))
            indices.append(there)
            values.append(row[there])
            losses.append(max(0.0, float(prices @ mu) - self._loss.parts.truth(i)))
        return SparseRows(np.array(indptr), np.concatenate(indices), np.concatenate(values)), np.array(losses)

    def mixtures(self) -> NodeMixtures | None:
        return None if self.truths is None else self.mixtures_of(self.truths, self._loss)

    def mixtures_of(self, truths: Ragged, loss: BoundLoss) -> NodeMixtures | None:
        """Distributions over labellings, where graphs are so large that whole labellings move them slowly."""
        if loss.parts is None or self.grows or np.diff(self._offsets).max() < LARGE:
            return None
        if self._mixed is None or self._mixed[0] is not loss.parts:
            self._mixed = loss.parts, _core.NodeMoves(self._core, loss.parts)
        found = NodeMixtures(self._mixed[1], truths)
        return found if 8 * found.n_marginals <= MOST_MARGINALS else None

    def working_sets(self) -> _core.WorkingSets:
        fractional = self.exactness == "relaxed" or self.mixtures() is not None
        return Problem.working_sets(self) if fractional else super().working_sets()


def bound_graphs(search: Search, data: Mapping[str, Any], tree: type[Any], searched: type[Any]) -> Any:
    """The problem with junction trees if these are asked for or all are small, and the searched one otherwise."""
    # Without pairs every tree is a node, whatever the engine.
    if search.name in ("auto", JunctionTree.name) or all(one.table is None for one in data["factors"]):
        problem = tree(**data)
        if not len(problem.too_wide):
            return problem
        if search.name != "auto":
            raise ValueError(
                f"the junction tree of X[{problem.too_wide[0]}] would take more than {in_bytes(TREE_BYTES)}: its "
                "tree-width is too large; take another engine"
            )
    return searched(search=search, tree_bytes=0, **data)
