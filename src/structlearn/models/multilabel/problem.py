"""Sets of labels bound to data: a graph whose nodes are the labels, with the same edges in every example."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from structlearn.data.arrays import FloatArray, LabelArray
from structlearn.data.ragged import Ragged
from structlearn.models.graph.problem import GraphProblem
from structlearn.models.graph.searched_problem import SearchedGraphProblem
from structlearn.waist.planes import Outputs

#: What a node of a label is called without it and with it.
STATES = ("not {}", "{}")
#: What two labels have, by the weight of their pair.
PAIR_STATES = ("neither {} nor {}", "{1} without {0}", "{0} without {1}", "{} and {}")


class _LabelSetOutputs(GraphProblem):
    """Names and outputs of label sets.

    Parameters
    ----------
    names : labels, in the order of the nodes
    as_sets : bool
        Whether outputs are sets of labels; otherwise they are rows of zeros and ones.
    """

    def __init__(self, *, names: tuple[Any, ...], as_sets: bool, **data: Any):
        self._names = names
        self._as_sets = as_sets
        super().__init__(**data)

    def present(self, outputs: Outputs) -> Any:
        table: LabelArray = Ragged.of(outputs).flat.reshape(-1, len(self._names))
        if not self._as_sets:
            return table
        return [{self._names[k] for k in np.flatnonzero(row)} for row in table]

    def label_probabilities(self, w: FloatArray) -> FloatArray:  # type: ignore[override]
        """P(y_k = 1 | x) of every example, (n_examples, n_labels)."""
        rows = [nodes[:, 1] for nodes in super().label_probabilities(w)]
        return np.array(rows).reshape(self.n_examples, len(self._names))

    def most_probable_labels(self, w: FloatArray) -> Ragged:
        return Ragged.of(self.label_probabilities(w) > 0.5)

    def _part_name(self, i: int, part: int) -> str:
        K = len(self._names)
        if part < 2 * K:
            return STATES[part % 2].format(self._names[part // 2])
        edge, pair = divmod(part - 2 * K, 4)
        first, second = self._factors[0].of(i)[edge].tolist()
        return PAIR_STATES[pair].format(self._names[first], self._names[second])

    def sizes(self) -> dict[str, int]:
        return {"examples": self.n_examples}


class MultiLabelProblem(_LabelSetOutputs):
    """A `MultiLabel` model bound to data, by junction trees."""


class SearchedMultiLabelProblem(_LabelSetOutputs, SearchedGraphProblem):
    """The same with another engine."""


def repeated_edges(
    pairs: tuple[tuple[int, int], ...], n: int
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The edges of n examples that have the same ones, their offsets, and the number of each in its example."""
    edges = np.array(pairs, np.int32).reshape(-1, 2)
    return np.tile(edges, (n, 1)), np.arange(n + 1) * len(edges), np.tile(np.arange(len(edges)), n)
