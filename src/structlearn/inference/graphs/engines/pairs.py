"""What engines that know pairs only refuse."""

from __future__ import annotations

import numpy as np

from structlearn.data.factor_graphs import FactorGraph
from structlearn.inference.graphs.refusals import UnsuitedGraphError
from structlearn.wording import count


def check_pairs(graph: FactorGraph, engine: str) -> None:
    """Refuses factors of more than two variables."""
    sizes = np.diff(graph.scope_offsets)
    large = np.flatnonzero(sizes > 2)
    if len(large):
        f = int(large[0])
        n = count(int(sizes[f]), "variable")
        raise UnsuitedGraphError(f"factor {{factor}} has {n}; {engine} takes pairs only", f)


def check_two_labels(graph: FactorGraph, engine: str) -> None:
    """Refuses variables with more labels than two, or fewer."""
    other = np.flatnonzero(graph.n_labels != 2)
    if len(other):
        i = int(other[0])
        n = count(int(graph.n_labels[i]), "label")
        raise UnsuitedGraphError(f"variable {{variables[0]}} has {n}; {engine} takes two a variable", variables=[i])
