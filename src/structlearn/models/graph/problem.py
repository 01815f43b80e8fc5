"""Labelled graphs bound to data."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from structlearn import _core
from structlearn.data.arrays import Flags, FloatArray, IntArray, LabelArray, digest
from structlearn.data.factor_graphs import FactorGraph
from structlearn.data.feature_pairs import FeaturePairs
from structlearn.data.ragged import Ragged, offsets_of
from structlearn.data.tokens.matrix import TokenMatrix
from structlearn.losses.bound import MAX_LEVEL_TABLE, NO_UNIT, BoundLoss
from structlearn.models.base import ByDecoder
from structlearn.models.graph.groups import FactorGroup, NodeGroup
from structlearn.models.graph.likelihoods.parts import GraphParts
from structlearn.models.graph.summed_problem import SummedGraphProblem
from structlearn.models.pair_weights import fixed_layout
from structlearn.models.token_scorer import token_scorer
from structlearn.waist.likelihood import LIKELIHOODS
from structlearn.waist.objective import Oracle
from structlearn.waist.planes import Outputs
from structlearn.wording import in_bytes

#: Bytes that the tables of an example's junction tree may take.
TREE_BYTES = 200_000_000
#: What its decoders cost: V variables, L labels, tree-width w, D values of the loss, k or s outputs asked for.
TREE_COSTS: ByDecoder = {
    "best": "V L^(w + 1)",
    "loss_augmented": "V L^(w + 1)",
    "second_best": "V L^(w + 1)",
    "k_best": "V L^(w + 1) + k V L",
    "loss_levels": "V L^(w + 1) D²",
    "sums": "V L^(w + 1)",
    "pair_marginals": "V L^(w + 1)",
    "samples": "V L^(w + 1) + s V L",
    "partial": "the same",
}


class GraphProblem(SummedGraphProblem):
    """A `Graph` model bound to data, for graphs of small tree-width. Outputs are label codes, see `Ragged`.

    `codes` is the truth, that of one graph after another, and in each graph that of one group of nodes after another;
    `allowed` says in the same order which labels they may have. `likelihood` names what the log-losses are, see
    `LIKELIHOODS`.
    """

    #: What the weights of factors are called together.
    factor_weights = "pairs"

    def __init__(
        self,
        *,
        nodes: Sequence[NodeGroup],
        factors: Sequence[FactorGroup],
        codes: LabelArray | None,
        loss: BoundLoss,
        allowed: Flags | None = None,
        pairs: FeaturePairs | None = None,
        tree_bytes: float = TREE_BYTES,
        likelihood: str = "exact",
    ):
        self.likelihood = LIKELIHOODS[likelihood]
        self._nodes = nodes
        self._factors = factors
        self._scored = [one for one in factors if one.table is not None]
        self._offsets = offsets_of(np.sum([group.counts for group in nodes], axis=0))
        self._codes = codes
        self._allowed = None if allowed is None else allowed.astype(np.uint8).ravel()
        self.truths = None if codes is None else Ragged(codes, self._offsets)
        self._loss = self._judged_loss = loss
        self._engine = self._network_engine(tree_bytes / 8)
        self._entries, self._widths = self._engine.trees()
        self._compose(None if pairs is None else fixed_layout(self._n_shared, pairs), grows=False)
        self.structure_bytes = int(8 * np.maximum(self._entries, 0).max(initial=0))

    def _network_engine(self, most: float) -> _core.NetworkEngine:
        offsets, n_labels = [group.offsets for group in self._nodes], [len(group.classes) for group in self._nodes]
        return _core.NetworkEngine(offsets, n_labels, [one.core() for one in self._scored], self._allowed, most)

    def _compose(self, layout: _core.PairLayout | None, *, grows: bool) -> None:
        sizes = np.full(len(self._offsets) - 1, self._n_shared)
        blocks, offsets, tied, at = [], [], [], 0
        for group in self._nodes:
            blocks.append((group.tokens, at, group.width, False))
            offsets.append(group.row_offsets)
            sizes = sizes + group.counts * len(group.classes)
            at += group.tokens.n_columns * group.width if layout is None else 0
        n_nodes = at
        for one in self._scored:
            if one.tokens is None:
                tied.append((at, one.width, 1.0))
                at += one.width
                continue
            blocks.append((one.tokens, at, one.width, False))
            offsets.append(one.offsets)
            sizes = sizes + np.diff(one.offsets) * one.width
            at += one.tokens.n_columns * one.width if layout is None else 0
        n_features = at if layout is None else layout.n_weights
        if layout is None and self._scored:
            self.weight_groups = {"nodes": (0, n_nodes), self.factor_weights: (n_nodes, n_features)}
        scores = token_scorer(offsets, blocks, tied, n_features, layout=layout)
        core = _core.Network(self._engine, scores)
        super().__init__(core, n_features, sizes, self.truths, self._loss, self._judged_loss, scores, layout, grows)

    @cached_property
    def _parts(self) -> GraphParts:
        (nodes,), (edges,) = self._nodes, self._factors
        L = len(nodes.classes)
        flags = None if self._allowed is None else self._allowed.astype(bool).reshape(-1, L)
        return GraphParts(nodes.offsets, edges.scopes, edges.offsets, L, edges.table, edges.shared, flags)

    @property
    def _groups(self) -> list[NodeGroup | FactorGroup]:
        return [*self._nodes, *self._factors]

    @property
    def _n_shared(self) -> int:
        return sum(one.width for one in self._scored if one.shared)

    @property
    def _feature_blocks(self) -> list[tuple[TokenMatrix, int]]:
        blocks = [(group.tokens, group.width) for group in self._nodes]
        return blocks + [(one.tokens, one.width) for one in self._scored if one.tokens is not None]

    @cached_property
    def _unaries(self) -> IntArray:
        counts = np.stack([group.counts for group in self._nodes], axis=1)
        n_labels = np.tile([len(group.classes) for group in self._nodes], len(counts))
        return offsets_of(np.repeat(n_labels, counts.ravel()))

    def _oracles(self) -> frozenset[Oracle]:
        """Levels only where the tables of all of them fit."""
        chains: frozenset[Oracle] = frozenset({"gibbs"})
        oracles = super()._oracles() | chains
        return oracles - {"loss_levels"} if self._level_bytes() > MAX_LEVEL_TABLE else oracles

    def _level_bytes(self) -> float:
        if self._loss.levels is None:
            return 0.0
        return float((8.0 * self._entries * self._loss.levels.n_levels).max(initial=0.0))

    def missing(self, oracle: str) -> str:
        if self._level_bytes() > MAX_LEVEL_TABLE:
            return (
                f": the best labels of every loss level would take {in_bytes(self._level_bytes())}; use "
                "rescaling='margin' with slack='linear'"
            )
        return NO_UNIT

    def factor_graph(self, i: int, theta: FloatArray) -> FactorGraph:
        """The graph of an example with these scores of its parts."""
        return FactorGraph(*self._engine.factor_graph(i, theta))

    def feature_totals(self) -> FloatArray:
        return np.asarray(np.sum([one.feature_totals() for one in self._groups], axis=0))

    def radii(self) -> FloatArray:
        # The differences of two outputs in different blocks of weights are at right angles.
        return np.asarray(np.sqrt(np.sum([one.squared_radii() for one in self._groups], axis=0)))

    def part_names(self, i: int, parts: IntArray) -> list[str]:
        return [self._part_name(i, part) for part in parts.tolist()]

    def _part_name(self, i: int, part: int) -> str:
        for g, group in enumerate(self._nodes):
            n, L = int(group.counts[i]), len(group.classes)
            if part < n * L:
                return self._node_name(i, g, part // L, group.classes[part % L])
            part -= n * L
        for shared in (False, True):
            for f, one in enumerate(self._factors):
                n = (1 if shared else len(one.of(i))) * one.width * (one.shared == shared)
                if part < n:
                    assert one.table is not None
                    factor, column = divmod(part, one.width)
                    return self._factor_name(i, f, None if shared else one.of(i)[factor], one.table.names[column])
                part -= n
        raise AssertionError("there are no more parts")

    def _node_name(self, i: int, group: int, node: int, label: Any) -> str:
        return f"node {node}: {label}"

    def _factor_name(self, i: int, group: int, scope: LabelArray | None, labels: str) -> str:
        """What a part of a factor over these nodes is called, or one that all factors have."""
        return labels if scope is None else f"edge {', '.join(map(str, scope))}: {labels}"

    def present(self, outputs: Outputs) -> Any:
        out = Ragged.of(outputs)
        classes = self._nodes[0].classes
        names: list[Any] = np.fromiter(classes, object, len(classes))[out.flat].tolist()
        return [names[begin:end] for begin, end in pairwise(out.offsets.tolist())]

    def sizes(self) -> dict[str, int]:
        return {"examples": self.n_examples, "nodes": int(self._offsets[-1]), "edges": len(self._factors[0].scopes)}

    def fingerprint(self) -> str:
        arrays: list[npt.NDArray[Any]] = [group.offsets for group in self._nodes]
        arrays += [array for one in self._factors for array in (one.scopes, one.offsets)]
        arrays += self._loss.identity
        for tokens, _ in self._feature_blocks:
            arrays += [tokens.indptr, tokens.columns, tokens.values]
        arrays += [each for each in (self._codes, self._allowed) if each is not None]
        if not self.likelihood.is_exact:
            arrays.append(np.frombuffer(self.likelihood.name.encode(), np.uint8))
        return digest(*arrays, *[one.table.columns for one in self._scored if one.table is not None])
