"""Factor graphs: variables with labels, and scores of labels, pairs of them and larger groups."""

from structlearn.data.factor_graphs.factor_graph import FactorGraph
from structlearn.data.factor_graphs.factors import AtMostOne, Cardinality, Potts, TruncatedLinear
from structlearn.data.factor_graphs.grid_graph import GridGraph

__all__ = ["AtMostOne", "Cardinality", "FactorGraph", "GridGraph", "Potts", "TruncatedLinear"]
