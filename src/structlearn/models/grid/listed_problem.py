"""Label images bound to data as graphs, with a list of their edges."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from structlearn import _core
from structlearn.data.arrays import FloatArray, IntArray, LabelArray
from structlearn.data.factor_graphs.grid_graph import edges_of
from structlearn.data.labels import label_array
from structlearn.data.ragged import Ragged, offsets_of
from structlearn.data.tokens.matrix import TokenMatrix
from structlearn.models.graph.groups import FactorGroup, NodeGroup
from structlearn.models.graph.pair_tables import PairTable
from structlearn.models.graph.problem import GraphProblem
from structlearn.models.grid.neighbours import Neighbours
from structlearn.waist.planes import Outputs
from structlearn.waist.problem import Problem

#: Bytes that the tables of an image's junction tree may take where no engine is named: so far trees are the quicker.
TREE_BYTES = 8_000_000


class ListedGridProblem(GraphProblem):
    """A `Grid` model bound to images as graphs: all that sums over labellings, or the best of many. Outputs are label
    codes, (rows, columns) of each image.

    Parameters
    ----------
    images : list of (n_rows, n_columns, n_columns of w) arrays
    channels : int
        How many of the last axis are no constant.
    neighbours : Neighbours
    table : PairTable or None
    classes : sequence
    data : what `GraphProblem` takes beside nodes and factors
    """

    def __init__(
        self,
        *,
        images: Sequence[FloatArray],
        channels: int,
        neighbours: Neighbours,
        table: PairTable | None,
        classes: Sequence[Any],
        **data: Any,
    ):
        self._shapes = [(image.shape[0], image.shape[1]) for image in images]
        self._steps = neighbours.steps
        self._classes = tuple(classes)
        paired = table is not None
        edges = [_edges(shape, self._steps) if paired else np.empty((0, 2), np.int32) for shape in self._shapes]
        tokens = None
        if paired and not neighbours.plain:
            tokens = TokenMatrix.from_matrix(_edge_features(images, channels, neighbours), intercept=False)
        pixels = np.concatenate([image.reshape(-1, image.shape[2]) for image in images])
        offsets = offsets_of([rows * columns for rows, columns in self._shapes])
        nodes = NodeGroup(TokenMatrix.from_matrix(pixels, intercept=False), offsets, self._classes)
        pairs = FactorGroup(np.concatenate(edges), offsets_of([len(one) for one in edges]), table, tokens)
        super().__init__(nodes=[nodes], factors=[pairs], **data)

    def pack(self, codes: Ragged, examples: IntArray) -> list[LabelArray]:
        return [code.reshape(self._shapes[i]) for code, i in zip(codes, examples.tolist(), strict=True)]

    def unpack(self, outputs: Outputs) -> Ragged:
        return Ragged.of([np.ravel(np.asarray(y)) for y in outputs])

    def present(self, outputs: Outputs) -> list[npt.NDArray[Any]]:
        names = label_array(self._classes)
        return [names[np.asarray(y)] for y in outputs]

    def label_probabilities(self, w: FloatArray) -> list[FloatArray]:
        """P(y_p = l | x) of every image, (n_rows, n_columns, n_labels)."""
        found = super().label_probabilities(w)
        return [nodes.reshape(*shape, -1) for nodes, shape in zip(found, self._shapes, strict=True)]

    def pair_probabilities(self, w: FloatArray) -> list[tuple[FloatArray, ...]]:  # type: ignore[override]
        """P(y_p = k, y_q = l | x) of every image: of each direction to neighbours, (…, …, n_labels, n_labels)."""
        return [self._by_direction(*both) for both in zip(super().pair_probabilities(w), self._shapes, strict=True)]

    def _by_direction(self, pairs: FloatArray, shape: tuple[int, int]) -> tuple[FloatArray, ...]:
        shapes = [(shape[0] - down, shape[1] - abs(right)) for down, right in self._steps]
        parts = Ragged(pairs, offsets_of([rows * columns if len(pairs) else 0 for rows, columns in shapes]))
        return tuple(part.reshape(*size, *pairs.shape[1:]) for part, size in zip(parts, shapes, strict=True))

    def most_probable_labels(self, w: FloatArray) -> Any:
        return [shares.argmax(axis=2).astype(np.int32) for shares in self.label_probabilities(w)]

    def with_growing_weights(self) -> None:
        """There are few channels."""

    def working_sets(self) -> _core.WorkingSets:
        # For the same reason planes are shorter as rows than as moves of pixels.
        return Problem.working_sets(self)

    def _node_name(self, i: int, group: int, node: int, label: Any) -> str:
        return "pixel {}, {}: {}".format(*divmod(node, self._shapes[i][1]), label)

    def _factor_name(self, i: int, group: int, scope: LabelArray | None, labels: str) -> str:
        if scope is None:
            return labels
        ends = [divmod(node, self._shapes[i][1]) for node in scope.tolist()]
        return "pixels {}, {} and {}, {}: {}".format(*ends[0], *ends[1], labels)

    def sizes(self) -> dict[str, int]:
        return {"examples": self.n_examples, "pixels": int(self._offsets[-1])}


def fits_in_trees(shapes: Sequence[tuple[int, int]], n_labels: int, neighbours: Neighbours) -> bool:
    """Whether junction trees may be small enough to be tried: a tree goes along the longer side.

    >>> near = Neighbours(4, False, None)
    >>> fits_in_trees([(8, 100)], 2, near), fits_in_trees([(30, 30)], 2, near)
    (True, False)
    """
    wider = len(neighbours.steps) // 2
    return all(
        np.log(rows * columns) + (min(rows, columns) + wider) * np.log(n_labels) <= np.log(TREE_BYTES)
        for rows, columns in shapes
    )


def _edges(shape: tuple[int, int], steps: Sequence[tuple[int, int]]) -> LabelArray:
    numbers = np.arange(shape[0] * shape[1], dtype=np.int32).reshape(shape)
    return np.concatenate([edges_of(numbers, *step) for step in steps])


def _edge_features(images: Sequence[FloatArray], channels: int, neighbours: Neighbours) -> sp.csr_array:
    """Of all pairs, in the order of their edges: those of each group of weights in columns of its own."""
    blocks = []
    for image in images:
        for k in range(len(neighbours.steps)):
            values = neighbours.features(image[:, :, :channels], k).reshape(-1, neighbours.n_features)
            columns = neighbours.n_features * (k % neighbours.n_groups) + np.arange(neighbours.n_features)
            blocks.append((values, np.broadcast_to(columns, values.shape)))
    values = np.concatenate([one for one, _ in blocks])
    indices = np.concatenate([one for _, one in blocks])
    width = neighbours.n_groups * neighbours.n_features
    indptr = np.arange(0, values.size + 1, neighbours.n_features)
    return sp.csr_array((values.ravel(), indices.ravel(), indptr), shape=(len(values), width))
