"""Labelled graphs bound to data."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from structlearn import _core
from structlearn.data.arrays import Flags, FloatArray, IntArray, LabelArray, digest
from structlearn.data.factor_graphs import FactorGraph
from structlearn.data.feature_pairs import FeaturePairs
from structlearn.data.ragged import Ragged, summed
from structlearn.data.tokens.matrix import TokenMatrix
from structlearn.losses.bound import MAX_LEVEL_TABLE, NO_UNIT, BoundLoss
from structlearn.models.base import ByDecoder
from structlearn.models.graph.likelihoods.parts import GraphParts
from structlearn.models.graph.pair_tables import PairTable
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

    `codes` is the truth; nodes and edges of one graph stand after those of another, and `edges` has the numbers of
    nodes in their graph. `rows` says where the features of each graph begin, if a row of `nodes` has those of
    `nodes_a_row` nodes, with weights of their own. `likelihood` names what the log-losses are, see `LIKELIHOODS`.
    """

    def __init__(
        self,
        *,
        nodes: TokenMatrix,
        offsets: IntArray,
        rows: IntArray | None = None,
        nodes_a_row: int = 1,
        edges: LabelArray,
        edge_offsets: IntArray,
        edge_tokens: TokenMatrix | None,
        table: PairTable | None,
        codes: LabelArray | None,
        classes: Sequence[Any],
        loss: BoundLoss,
        allowed: Flags | None = None,
        pairs: FeaturePairs | None = None,
        tree_bytes: float = TREE_BYTES,
        likelihood: str = "exact",
    ):
        self.likelihood = LIKELIHOODS[likelihood]
        self._nodes = nodes
        self._offsets = offsets
        self._row_offsets = offsets if rows is None else rows
        self._nodes_a_row = nodes_a_row
        self._edges = edges
        self._edge_offsets = edge_offsets
        self._edge_tokens = edge_tokens if table is not None else None
        self._table = table
        self._codes = codes
        self._classes = tuple(classes)
        self._labels = np.fromiter(classes, object, len(classes))
        self._allowed = None if allowed is None else allowed.astype(np.uint8).ravel()
        self.truths = None if codes is None else Ragged(codes, offsets)
        self._loss = self._judged_loss = loss
        shared, flags = self._edge_tokens is None, None if allowed is None else np.asarray(allowed, bool)
        self._parts = GraphParts(offsets, edges, edge_offsets, len(self._classes), table, shared, flags)
        self._engine = self._network_engine(tree_bytes / 8)
        self._entries, self._widths = self._engine.trees()
        self._compose(None if pairs is None else fixed_layout(self._n_shared, pairs), grows=False)
        self.structure_bytes = int(8 * np.maximum(self._entries, 0).max(initial=0))

    def _network_engine(self, most: float) -> _core.NetworkEngine:
        templates = []
        if self._table is not None:
            columns, width, shared = self._table.columns, self._table.width, self._edge_tokens is None
            scopes = np.ascontiguousarray(self._edges, np.int32).ravel()
            templates.append(_core.FactorTemplate(self._edge_offsets, scopes, 2, columns, width, shared))
        return _core.NetworkEngine([self._offsets], [len(self._classes)], templates, self._allowed, most)

    def _compose(self, layout: _core.PairLayout | None, *, grows: bool) -> None:
        width, n_shared, sizes = self._width, self._n_shared, np.diff(self._offsets) * len(self._classes)
        n_nodes = self._nodes.n_columns * width if layout is None else 0
        blocks, offsets, n_features = [(self._nodes, 0, width, False)], [self._row_offsets], n_nodes + n_shared
        if self._edge_tokens is not None and self._table is not None:
            blocks.append((self._edge_tokens, n_nodes, self._table.width, False))
            offsets.append(self._edge_offsets)
            sizes = sizes + np.diff(self._edge_offsets) * self._table.width
            n_features += self._edge_tokens.n_columns * self._table.width
        if layout is not None:
            n_features = layout.n_weights
        elif self._table is not None:
            self.weight_groups = {"nodes": (0, n_nodes), "pairs": (n_nodes, n_features)}
        scores = token_scorer(offsets, blocks, [(n_nodes, n_shared, 1.0)], n_features, layout=layout)
        core = _core.Network(self._engine, scores)
        super().__init__(
            core, n_features, sizes + n_shared, self.truths, self._loss, self._judged_loss, scores, layout, grows
        )

    @property
    def _width(self) -> int:
        """Parts that a row of the features of nodes scores."""
        return self._nodes_a_row * len(self._classes)

    @property
    def _n_shared(self) -> int:
        return self._table.width if self._table is not None and self._edge_tokens is None else 0

    @property
    def _feature_blocks(self) -> list[tuple[TokenMatrix, int]]:
        blocks = [(self._nodes, self._width)]
        if self._edge_tokens is not None and self._table is not None:
            blocks.append((self._edge_tokens, self._table.width))
        return blocks

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
        totals = self._nodes_a_row * summed(self._nodes.totals("node"), self._row_offsets)
        if self._edge_tokens is not None:
            return np.asarray(totals + summed(self._edge_tokens.totals("edge"), self._edge_offsets))
        return np.asarray(totals + np.diff(self._edge_offsets) * (self._table is not None))

    def radii(self) -> FloatArray:
        # In each block of weights every node and every edge moves from one part to another at most.
        squares = 2.0 * self._nodes_a_row * summed(self._nodes.norms(), self._row_offsets) ** 2
        if self._edge_tokens is not None:
            squares = squares + 2.0 * summed(self._edge_tokens.norms(), self._edge_offsets) ** 2
        elif self._table is not None:
            squares = squares + 2.0 * np.diff(self._edge_offsets) ** 2
        return np.asarray(np.sqrt(squares))

    def part_names(self, i: int, parts: IntArray) -> list[str]:
        return [self._part_name(i, part) for part in parts.tolist()]

    def _part_name(self, i: int, part: int) -> str:
        L, n = len(self._classes), int(self._offsets[i + 1] - self._offsets[i])
        if part < n * L:
            return f"node {part // L}: {self._classes[part % L]}"
        assert self._table is not None
        edge, pair = divmod(part - n * L, self._table.width)
        if self._edge_tokens is None:
            return self._table.names[pair]
        first, second = self._edges[self._edge_offsets[i] + edge].tolist()
        return f"edge {first}, {second}: {self._table.names[pair]}"

    def present(self, outputs: Outputs) -> list[list[Any]]:
        out = Ragged.of(outputs)
        names: list[Any] = self._labels[out.flat].tolist()
        return [names[begin:end] for begin, end in pairwise(out.offsets.tolist())]

    def sizes(self) -> dict[str, int]:
        return {"examples": self.n_examples, "nodes": self._nodes.n_tokens, "edges": len(self._edges)}

    def fingerprint(self) -> str:
        arrays: list[npt.NDArray[Any]] = [self._offsets, self._edges, self._edge_offsets, *self._loss.identity]
        for tokens in (self._nodes, self._edge_tokens):
            if tokens is not None:
                arrays += [tokens.indptr, tokens.columns, tokens.values]
        arrays += [each for each in (self._codes, self._allowed) if each is not None]
        if not self.likelihood.is_exact:
            arrays.append(np.frombuffer(self.likelihood.name.encode(), np.uint8))
        return digest(*arrays, *([] if self._table is None else [self._table.columns]))
