"""Hypergraphs bound to data: flattened one after another, decoded and summed by the core."""

from __future__ import annotations

import sys
from collections.abc import Hashable, Sequence
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from structlearn import _core
from structlearn.data.arrays import FloatArray, IntArray, LabelArray, digest
from structlearn.data.hypergraphs import Hypergraph
from structlearn.data.ragged import Ragged, offsets_of
from structlearn.data.tokens.matrix import TokenMatrix
from structlearn.losses import AdditiveLoss, LocalParts, Loss, ZeroOneLoss
from structlearn.losses.bound import BoundLoss
from structlearn.losses.own import Truth, bound_own
from structlearn.models.composed import CodedOutputs, NumberedProblem
from structlearn.models.own.noted import noted
from structlearn.models.token_scorer import token_scorer
from structlearn.waist.planes import Outputs
from structlearn.wording import shown


class ImpossibleParts(AdditiveLoss):
    """Parts that are not among the possible ones, which stand in for the truth."""

    def parts(self, truth: Any, local: LocalParts) -> FloatArray:
        return np.array([float(part not in truth) for part in local.labels])


class HypergraphProblem(NumberedProblem):
    """A `HypergraphModel` bound to data. Outputs are codes of parts, see ``core/derivations/structure.hpp``."""

    def __init__(
        self,
        *,
        model: Any,
        X: Sequence[Any],
        graphs: list[Hypergraph],
        features: TokenMatrix,
        n_parts: IntArray,
        truths: list[frozenset[Hashable]] | None,
        allowed: list[frozenset[Hashable] | None] | None,
        loss: Loss,
        allow_unknown: bool,
    ):
        self._model = model
        self._X = X
        self.graphs = graphs
        self._features = features
        self._places = [{part: k for k, part in enumerate(graph.parts)} for graph in graphs]
        self.structure_bytes = sum(graph.nbytes for graph in graphs) + sum(map(sys.getsizeof, self._places))
        self._mask = None if allowed is None else _mask(graphs, allowed)
        self._engine = _flattened(graphs, n_parts, self._mask)
        self._given = _core.GivenDerivations(self._engine, _core.GivenScores(0, n_parts))
        if allowed is not None:
            self._check_allowed(n_parts)
        scores = token_scorer(n_parts, [(features, 0, 1, False)], [], features.n_columns)
        codes = None
        if truths is not None:
            codes = Ragged.of([self._code(i, truth, allow_unknown) for i, truth in enumerate(truths)])
            self._check_derived(codes, n_parts, allow_unknown)
        bound = BoundLoss() if truths is None else self._bound(loss, truths)
        core = _core.Derivations(self._engine, scores)
        super().__init__(core, features.n_columns, np.diff(n_parts), codes, bound, bound, scores)
        if codes is not None and not allow_unknown:
            self._check_ambiguity()

    def present(self, outputs: Outputs) -> list[Any]:
        presented = []
        for i, code in CodedOutputs.of(outputs):
            parts = [self.graphs[i].parts[part] for part in code[1:].tolist()]
            with noted(f"{type(self._model).__name__}.output(X[{i}], parts)"):
                presented.append(self._model.output(self._X[i], parts))
        return presented

    def reachable(self) -> npt.NDArray[np.bool_]:
        assert self.truths is not None
        return np.asarray(self.truths.flat[self.truths.offsets[:-1]] >= 0)

    def log_probabilities(self, w: FloatArray) -> FloatArray:
        return np.where(self.reachable(), -self.log_losses(w), -np.inf)

    def part_names(self, i: int, parts: IntArray) -> list[str]:
        return [str(self.graphs[i].parts[part]) for part in parts.tolist()]

    def label_probabilities(self, w: FloatArray) -> list[dict[Any, float]]:
        """P(part | x) of every part of every example."""
        found = zip(self.graphs, super().label_probabilities(w), strict=True)
        return [dict(zip(graph.parts, numbers.tolist(), strict=True)) for graph, numbers in found]

    def pair_probabilities(self, w: FloatArray) -> list[dict[frozenset[Any], float]]:
        """P(one step of the derivation brings both parts | x), for all pairs of parts that some step brings."""
        found = []
        for graph, numbers in zip(self.graphs, self._pair_marginals(w), strict=True):
            pairs: dict[frozenset[Any], float] = {}
            for (begin, end), number in zip(pairwise(graph.edge_parts.tolist()), numbers.tolist(), strict=True):
                parts = [graph.parts[k] for k in graph.part_numbers[begin:end].tolist()]
                for pair in map(frozenset, combinations(parts, 2)):
                    pairs[pair] = pairs.get(pair, 0.0) + number
            found.append(pairs)
        return found

    def radii(self) -> FloatArray:
        # ‖Ψ(y) − Ψ(ŷ)‖ ≤ Σ ‖φ(p)‖ over the parts of both.
        return 2.0 * self._largest(self._features.norms())

    def feature_totals(self) -> FloatArray:
        return self._largest(self._features.totals())

    def sizes(self) -> dict[str, int]:
        return {"examples": self.n_examples, "steps": sum(graph.n_edges for graph in self.graphs)}

    def fingerprint(self) -> str:
        assert self.truths is not None
        features = self._features
        graphs = [a for g in self.graphs for a in (g.edges, g.tails, g.edge_parts, g.part_numbers)]
        arrays = [features.indptr, features.columns, features.values, self.truths.flat, self.truths.offsets]
        masks = [] if self._mask is None else [self._mask]
        return digest(*arrays, *graphs, *masks, *self._loss.identity)

    def impossible_parts(self, possible: list[frozenset[Hashable] | None]) -> BoundLoss:
        """Δ: how many parts of an output are not possible; all are of an example of which nothing is said."""
        everything = [frozenset(graph.parts) for graph in self.graphs]
        said = [each if some is None else some for each, some in zip(everything, possible, strict=True)]
        truths = [
            Truth(parts, LocalParts((len(graph.parts),), graph.parts), (slice(None),), (np.empty(0, np.int64),))
            for graph, parts in zip(self.graphs, said, strict=True)
        ]
        return bound_own(ImpossibleParts(), truths, most=self._most)

    def _most(self, counts: list[npt.NDArray[np.int64]]) -> IntArray:
        """No less than what the parts of any output of each example count."""
        return np.round(self._largest(np.concatenate(counts).astype(np.float64))).astype(np.int64)

    def _largest(self, numbers: FloatArray) -> FloatArray:
        """The largest sum over the parts of an output, with a number for each part of each example."""
        _, found = self._given.best(np.ascontiguousarray(numbers, np.float64), np.arange(len(self.graphs)), 1)
        return found

    def _check_allowed(self, n_parts: IntArray) -> None:
        """Refuses restrictions that no output satisfies."""
        _, scores = self._given.best(np.zeros(int(n_parts[-1])), np.arange(len(self.graphs)), 1)
        if np.isneginf(scores).any():
            i = int(np.argmin(scores))
            raise ValueError(f"allowed[{i}] leaves no output of the hypergraph of X[{i}]")

    def _code(self, i: int, truth: frozenset[Hashable], allow_unknown: bool) -> LabelArray:
        place = self._places[i]
        unknown = [part for part in truth if part not in place]
        if unknown and not allow_unknown:
            raise ValueError(f"Y[{i}] has the part {shown(unknown[0])}, which no step of the hypergraph of X[{i}] has")
        return np.array([-1] if unknown else [len(truth), *sorted(place[part] for part in truth)], np.int32)

    def _check_ambiguity(self) -> None:
        """Looks at some derivations of the first examples; `check_model` looks at more."""
        for i in range(min(self.n_examples, 3)):
            found = self.ambiguity(np.zeros(self.n_features), i, 20)
            if found is not None:
                raise ValueError(found)

    def _check_derived(self, codes: Ragged, n_parts: IntArray, allow_unknown: bool) -> None:
        """Refuses truths that are no derivation: of all outputs, they must have the most true and no other parts."""
        theta = np.zeros(int(n_parts[-1]))
        for i, code in enumerate(codes):
            theta[n_parts[i] : n_parts[i + 1]] = -len(code)
            theta[n_parts[i] + code[1:]] = 1.0
        found = Ragged(*self._given.best(theta, np.arange(len(codes)), 1)[0])
        for i, (code, best) in enumerate(zip(codes, found, strict=True)):
            if code[0] >= 0 and not np.array_equal(code, best):
                if not allow_unknown:
                    raise ValueError(f"Y[{i}] cannot be derived: no output of the hypergraph of X[{i}] has its parts")
                code[:] = -1

    def ambiguity(self, w: FloatArray, i: int, k: int) -> str | None:
        """What is wrong with the k best derivations of an example, if they have a part twice, or the same parts."""
        found = self._core.k_best(w, np.array([i]), k, 1)[0]
        codes = [tuple(code[1:].tolist()) for code in Ragged(*found)]
        for code in codes:
            twice = next((part for part, next_part in pairwise(code) if part == next_part), None)
            if twice is not None:
                return f"a derivation of X[{i}] has the part {shown(self.graphs[i].parts[twice])} twice"
        if len(set(codes)) < len(codes):
            parts = next(code for at, code in enumerate(codes) if code in codes[:at])
            named = shown([self.graphs[i].parts[part] for part in parts])
            return f"two derivations of X[{i}] have the same parts, {named}; an output must be derived in one way only"
        return None

    def _bound(self, loss: Loss, truths: list[frozenset[Hashable]]) -> BoundLoss:
        if isinstance(loss, ZeroOneLoss):
            return BoundLoss()
        return bound_own(loss, [self._truth(i, truth) for i, truth in enumerate(truths)], most=self._most)

    def _truth(self, i: int, truth: frozenset[Hashable]) -> Truth:
        n, place = len(self.graphs[i].parts), self._places[i]
        unknown = {part: n + k for k, part in enumerate(part for part in truth if part not in place)}
        numbers = np.array([unknown[part] if part in unknown else place[part] for part in truth], np.int64)
        local = LocalParts((n + len(unknown),), (*self.graphs[i].parts, *unknown))
        return Truth(truth, local, (slice(n),), (numbers,))


def _mask(graphs: list[Hypergraph], allowed: list[frozenset[Hashable] | None]) -> npt.NDArray[np.uint8]:
    """Whether outputs may have each part of each example."""
    flags = [
        possible is None or part in possible
        for graph, possible in zip(graphs, allowed, strict=True)
        for part in graph.parts
    ]
    return np.array(flags, np.uint8)


def _flattened(
    graphs: list[Hypergraph], n_parts: IntArray, allowed: npt.NDArray[np.uint8] | None
) -> _core.DerivationEngine:
    """All hypergraphs one after another; numbers of items and parts stay those within each."""
    edges = offsets_of(np.concatenate([np.diff(graph.edges) for graph in graphs]))
    brought = offsets_of(np.concatenate([np.diff(graph.edge_parts) for graph in graphs]))
    return _core.DerivationEngine(
        offsets_of([graph.n_items for graph in graphs]),
        edges,
        np.concatenate([graph.tails for graph in graphs]),
        brought,
        np.concatenate([graph.part_numbers for graph in graphs]),
        n_parts,
        allowed,
    )
